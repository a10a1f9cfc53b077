// Which of the operator's secrets are sent with a call, and where calls go.
import { beforeAll, describe, expect, it } from 'vitest';
import type { OpenapiOptions } from '../../../../src/adapters/sources/openapi/open-openapi.ts';
import { serveWeb } from '../../../../../../test/support/web-server.ts';
import { echoWeb, type EchoWeb } from '../../../../../../test/support/echo-web.ts';
import type { Json, JsonObject } from '../../../../../../test/support/json.ts';
import { operationOf } from '../../../../../../test/support/openapi-document.ts';
import {
  callTool,
  openSource,
  textIn,
  toolsIn,
  toolsOf,
} from '../../../../../../test/support/openapi-source.ts';
import { writeText } from '../../../../../../test/support/paths.ts';

let web: EchoWeb;
beforeAll(async () => {
  web = await echoWeb();
});

const securitySchemes = {
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  query: { type: 'apiKey', in: 'query', name: 'key' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
  bearer: { type: 'http', scheme: 'Bearer' },
  basic: { type: 'http', scheme: 'basic' },
  oauth: { type: 'oauth2', flows: {} },
  openid: { type: 'openIdConnect', openIdConnectUrl: 'https://a.example' },
  digest: { type: 'http', scheme: 'digest' },
  tls: { type: 'mutualTLS' },
  other: { $ref: '#/components/securitySchemes/bearer' },
};

interface Sent {
  readonly url: string;
  readonly authorization?: string;
  readonly 'x-key'?: string;
  readonly cookie?: string;
}

async function sent(
  security: JsonObject,
  options: Partial<OpenapiOptions>,
  args: Json = {},
): Promise<Sent | string> {
  const { document = {}, ...operation } = security;
  const more = { components: { securitySchemes }, servers: [{ url: web.url }], ...(document as JsonObject) };
  const { tools } = await toolsIn(operationOf(operation, more), options);
  const text = textIn(await callTool(tools[0]!, args));
  const [seen] = web.taken();
  if (seen === undefined) return text;
  const { authorization, 'x-key': key, cookie } = seen.headers;
  return {
    url: seen.url,
    ...(authorization !== undefined && { authorization }),
    ...(typeof key === 'string' && { 'x-key': key }),
    ...(cookie !== undefined && { cookie }),
  };
}

const need = (...names: readonly string[]): JsonObject => Object.fromEntries(names.map((name) => [name, []]));
const basic = `Basic ${Buffer.from('ünn:p:w').toString('base64')}`;

describe('a security scheme', () => {
  it.each<[scheme: string, credential: OpenapiOptions['credentials'][string], sent: Sent]>([
    ['header', 'k', { url: '/x', 'x-key': 'k' }],
    ['header', 'k\n', { url: '/x', 'x-key': 'k' }],
    ['query', 'a&b', { url: '/x?key=a%26b' }],
    ['cookie', 'a;b', { url: '/x', cookie: 'sid=a%3Bb' }],
    ['bearer', 't', { url: '/x', authorization: 'Bearer t' }],
    ['bearer', 'bearer t', { url: '/x', authorization: 'Bearer t' }],
    ['other', 't', { url: '/x', authorization: 'Bearer t' }],
    ['oauth', 't', { url: '/x', authorization: 'Bearer t' }],
    ['openid', 't', { url: '/x', authorization: 'Bearer t' }],
    ['basic', 'ünn:p:w', { url: '/x', authorization: basic }],
    ['basic', { username: 'ünn', password: 'p:w' }, { url: '/x', authorization: basic }],
  ])('%s sends the credential %j as the scheme requires', async (scheme, credential, expected) => {
    expect(await sent({ security: [need(scheme)] }, { credentials: { [scheme]: credential } })).toEqual(
      expected,
    );
  });

  it.each<[scheme: string, lack: string]>([
    ['header', 'a key for the scheme "header"'],
    ['bearer', 'a token for the scheme "bearer"'],
    ['oauth', 'a token for the scheme "oauth"'],
    ['basic', 'a username and a password for the scheme "basic"'],
    ['digest', 'the scheme "digest" (http digest), which is not supported'],
    ['tls', 'the scheme "tls" (mutualTLS), which is not supported'],
    ['none', 'the scheme "none", which the document does not define'],
    ['constructor', 'the scheme "constructor", which the document does not define'],
  ])(
    '%s without a usable credential sends no request, and the error says what to do',
    async (scheme, lack) => {
      const credentials = scheme === 'tls' || scheme === 'digest' ? { [scheme]: 'x' } : {};
      expect(await sent({ security: [need(scheme)] }, { credentials })).toBe(
        `ERROR The call was not made: it needs ${lack}. An operator gives it in "credentials" of this source.`,
      );
    },
  );

  it('sends no request if its credential cannot be a header value, and does not reveal it', async () => {
    const text = await sent({ security: [need('header')] }, { credentials: { header: 'se\ncret' } });
    expect(text).toBe(
      'ERROR The credential for the header "X-Key" contains a character that is not allowed in a header.',
    );
  });
});

describe('security', () => {
  const all = { header: 'k', query: 'q', bearer: 't' };
  const root = { document: { security: [need('header')] } };

  it.each<
    [
      what: string,
      security: JsonObject,
      credentials: Readonly<Record<string, string>>,
      expected: Sent | string,
    ]
  >([
    ['of the document applies if the operation declares none', root, all, { url: '/x', 'x-key': 'k' }],
    [
      'of the operation overrides that of the document',
      { ...root, security: [need('query')] },
      all,
      { url: '/x?key=q' },
    ],
    ['that is an empty list requires nothing', { ...root, security: [] }, all, { url: '/x' }],
    ['that is absent requires nothing', {}, all, { url: '/x' }],
    [
      'sends all credentials of one alternative',
      { security: [need('header', 'query')] },
      all,
      { url: '/x?key=q', 'x-key': 'k' },
    ],
    [
      'uses the first alternative whose credentials are all available',
      { security: [need('header', 'basic'), need('query')] },
      all,
      { url: '/x?key=q' },
    ],
    ['uses only one alternative', { security: [need('query'), need('header')] }, all, { url: '/x?key=q' }],
    ['may be satisfied by an empty alternative', { security: [need('basic'), {}] }, all, { url: '/x' }],
    ['may be an object instead of a list', { security: need('header') }, all, { url: '/x', 'x-key': 'k' }],
    [
      'lists what each alternative lacks if none is satisfied',
      { security: [need('header', 'query'), need('bearer')] },
      { header: 'k' },
      'ERROR The call was not made: it needs a key for the scheme "query", or a token for the scheme "bearer". An operator gives it in "credentials" of this source.',
    ],
  ])('%s', async (_, security, credentials, expected) => {
    expect(await sent(security, { credentials })).toEqual(expected);
  });

  it('is satisfied by a header that the operator set for all requests', async () => {
    const headers = { authorization: 'Custom x', 'X-Other': 'y' };
    expect(await sent({ security: [need('bearer')] }, { headers })).toEqual({
      url: '/x',
      authorization: 'Custom x',
    });
    const both = { headers, credentials: { bearer: 't' } };
    expect(await sent({ security: [need('bearer')] }, both)).toEqual({
      url: '/x',
      authorization: 'Bearer t',
    });
  });

  it('needs no arguments for values that the operator configured', async () => {
    const parameters = [
      { name: 'key', in: 'query' },
      { name: 'x-key', in: 'header' },
      { name: 'X-Tenant', in: 'header' },
    ];
    const document = operationOf(
      { parameters, security: [need('query', 'header')] },
      { components: { securitySchemes } },
    );
    const { tools } = await toolsIn(document, { credentials: all, headers: { 'x-tenant': 'mine' } });
    expect(tools[0]?.definition.inputSchema['properties']).toEqual({});
  });
});

describe('secrets', () => {
  it('are not forwarded when a server redirects to another origin', async () => {
    const port = await serveWeb((_, response) => {
      response.writeHead(302, { location: `${web.url}/elsewhere` }).end();
    });
    const servers = [{ url: `http://127.0.0.1:${port}` }];
    const options = { credentials: { header: 'k' }, headers: { 'X-Own': 'o' } };
    const document = operationOf(
      { security: [need('header')] },
      { servers, components: { securitySchemes } },
    );
    const { tools } = await toolsIn(document, options);
    await callTool(tools[0]!, {});
    const [seen] = web.taken();
    expect([seen?.url, seen?.headers['x-key'], seen?.headers['x-own']]).toEqual([
      '/elsewhere',
      undefined,
      undefined,
    ]);
  });
});

describe('a server', () => {
  const serverUsed = async (
    parts: JsonObject,
    options: Partial<OpenapiOptions> = {},
  ): Promise<string | undefined> => {
    const { root = [], item, operation } = parts;
    const get = { responses: {}, ...(operation !== undefined && { servers: operation }) };
    const paths = { '/x': { get, ...(item !== undefined && { servers: item }) } };
    const { tools, skipped } = await toolsIn({ ...operationOf({}), paths, servers: root }, options);
    if (tools[0] === undefined) return skipped[0]?.why;
    await callTool(tools[0], {});
    return web.taken()[0]?.url;
  };
  const server = (path: string): Json => [{ url: `${web.url}${path}` }];

  it("of an operation takes precedence over its path's, which takes precedence over the document's", async () => {
    const [root, item, operation] = [server('/r'), server('/i'), server('/o')];
    expect(await serverUsed({ root })).toBe('/r/x');
    expect(await serverUsed({ root, item })).toBe('/i/x');
    expect(await serverUsed({ root, item, operation })).toBe('/o/x');
    expect(await serverUsed({ root, item, operation: [] })).toBe('/i/x');
    expect(await serverUsed({ root, item, operation }, { baseUrl: `${web.url}/base/` })).toBe('/base/x');
  });

  it('uses the defaults of its variables', async () => {
    const variables = {
      version: { default: 'v2', enum: ['v1', 'v2'] },
      port: { default: web.url.split(':')[2]! },
    };
    expect(await serverUsed({ root: [{ url: 'http://127.0.0.1:{port}/{version}', variables }] })).toBe(
      '/v2/x',
    );
  });

  it('is skipped in favor of the next one if it cannot be used', async () => {
    const bad = ['ftp://a.example', 'https://a:b@a.example', 'http://[', '{none}'].map((url) => ({ url }));
    expect(await serverUsed({ root: [...bad, ...(server('/good') as readonly Json[])] })).toBe('/good/x');
  });

  it.each<[servers: Json, why: string]>([
    [[], 'names no server: its server "/" is relative to a file: give baseUrl'],
    [[{ url: '/v1' }], 'names no server: its server "/v1" is relative to a file: give baseUrl'],
    [
      [{ url: '{base}/v1' }],
      'names no server: its server "{base}/v1" has no default for "base": give baseUrl',
    ],
  ])('list %j in a file makes the document unusable without baseUrl', async (servers, why) => {
    const path = writeText(JSON.stringify({ ...operationOf({}), servers }), 'api.json');
    expect(await openSource(path).read(AbortSignal.timeout(5_000))).toEqual({
      ok: false,
      error: { code: 'DOCUMENT_INVALID', document: path, reason: why },
    });
    expect((await toolsOf(openSource(path, { baseUrl: web.url }))).tools).toHaveLength(1);
  });

  it('that is not a web server causes its operation to be skipped', async () => {
    expect(await serverUsed({ root: [{ url: 'ftp://a.example' }] })).toBe(
      'its server "ftp://a.example" is not an http or https URL without a password',
    );
  });
});

describe('secrets for a document read from a URL', () => {
  const secured = { security: [need('header')] };

  async function callFrom(elsewhere: string, options: Partial<OpenapiOptions>): Promise<string> {
    const more = { components: { securitySchemes }, servers: [{ url: elsewhere }] };
    const document = JSON.stringify(operationOf(secured, more));
    const port = await serveWeb((_, response) => response.end(document));
    const source = openSource(`http://127.0.0.1:${port}/openapi.json`, options);
    const { tools } = await toolsOf(source);
    return textIn(await callTool(tools[0]!, {}));
  }

  it('are sent to that origin only, unless the operator allows others', async () => {
    const credentials = { header: 'k' };
    expect(await callFrom(web.url, { credentials })).toBe(
      `ERROR The call was not made: the document sends it to ${web.url}, a different origin, and the credentials and headers of this source are not for that origin. To allow this, an operator can set "baseUrl".`,
    );
    expect(web.taken()).toEqual([]);
    await callFrom(web.url, { credentials, baseUrl: web.url });
    expect(web.taken().map(({ headers }) => headers['x-key'])).toEqual(['k']);
  });
});
