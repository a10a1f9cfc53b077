import { beforeAll, describe, expect, it } from 'vitest';
import { startMade, type MadeHttp } from '../fixtures/http-made.ts';
import { toolOf } from '../fixtures/peer.ts';
import { serverIn, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient } from '../support/clients.ts';
import { endLater, until } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at, namesAt, type Json, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk, modernBody, modernHeaders, modernSend } from '../support/modern.ts';
import { tempDir } from '../support/paths.ts';
import { startShared, type SharedAssay } from '../support/shared-assay.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const SQL = toolOf('sql', {
  region: { type: 'string', 'x-mcp-header': 'Region' },
  limit: { type: 'integer', 'x-mcp-header': 'Limit' },
  dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
  where: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'zone' } } },
  query: { type: 'string' },
});
const WRONG = toolOf('wrong', { score: { type: 'number', 'x-mcp-header': 'Score' } });
const TOOLS = [toolOf('plain'), SQL, WRONG];

type Sent = Readonly<Record<string, string | string[] | undefined>>;

/** Starts a server and records the `Mcp-Param-…` headers of each call that reaches it. */
async function startSql(era: 'legacy' | 'modern'): Promise<{ made: MadeHttp; sent: readonly Sent[] }> {
  const sent: Sent[] = [];
  const made = await startMade({
    era,
    tools: TOOLS,
    own: ({ incoming, response }) => {
      if (incoming.method !== 'tools/call') return false;
      const params = Object.entries(response.req.headers).filter(([name]) => name.startsWith('mcp-param-'));
      sent.push(Object.fromEntries(params));
      return false;
    },
  });
  endLater(() => made.close());
  return { made, sent };
}

interface Sql {
  readonly name: string;
  /** The endpoint that lists only this server. */
  readonly url: string;
  readonly sent: readonly Sent[];
}

let shared: SharedAssay;
let servers = 0;
beforeAll(async () => {
  shared = await startShared();
});

/** Starts such a server and adds it to the shared Assay. */
async function addSql(era: 'legacy' | 'modern'): Promise<Sql> {
  const { made, sent } = await startSql(era);
  const name = `${era}${(servers += 1)}`;
  await shared.add({ [name]: { type: 'http', url: made.url } });
  return { name, url: shared.assay.url.replace(/all$/, `servers/${name}`), sent };
}

describe('a call to a tool with header parameters', () => {
  let assay: Gateway;
  beforeAll(async () => {
    const [legacy, modern] = await Promise.all([startSql('legacy'), startSql('modern')]);
    ({ assay } = shared);
    await shared.add({
      l: { type: 'http', url: legacy.made.url },
      m: { type: 'http', url: modern.made.url },
    });
  });

  /** Checks the status, JSON-RPC code and reported header of a modern HTTP call, for servers of both eras. */
  const check = async (
    args: string | undefined,
    headers: Readonly<Record<string, string | readonly string[]>>,
    expected: readonly [status: number, header?: string],
  ): Promise<void> => {
    for (const name of ['l_sql', 'm_sql']) {
      const body = modernBody('tools/call', { params: { name, arguments: 'ARGS' } });
      const answer = await send(assay.url, {
        headers: { ...modernHeaders('tools/call', { name }), ...headers },
        body: args === undefined ? body.replace('"arguments":"ARGS",', '') : body.replace('"ARGS"', args),
      });
      const code = at(answer.json(), 'error', 'code');
      const header = at(answer.json(), 'error', 'data', 'header');
      const [status, named] = expected;
      const wanted = named === undefined ? [status, undefined, undefined] : [status, -32020, named];
      expect([args, headers, answer.status, code, header]).toEqual([args, headers, ...wanted]);
    }
  };

  it('is executed if the headers match the arguments', async () => {
    await check('{"region":"us-west1","query":"q"}', { 'mcp-param-region': 'us-west1' }, [200]);
    await check('{"region":"us-west1"}', { 'MCP-PARAM-REGION': '  us-west1  ' }, [200]);
    await check('{"region":"Hello, 世界"}', { 'mcp-param-region': '=?base64?SGVsbG8sIOS4lueVjA==?=' }, [200]);
    await check('{"region":"plain"}', { 'mcp-param-region': '=?base64?cGxhaW4=?=' }, [200]);
    await check('{"region":""}', { 'mcp-param-region': '' }, [200]);
    await check('{"region":"=?base64?YQ"}', { 'mcp-param-region': '=?base64?YQ' }, [200]);
    await check('{"dry":false}', { 'mcp-param-dry-run': 'false' }, [200]);
    await check('{"where":{"zone":"a"}}', { 'mcp-param-zone': 'a' }, [200]);
    for (const header of ['42', '42.0', '4.2e1'])
      await check('{"limit":42}', { 'mcp-param-limit': header }, [200]);
    await check('{"limit":42.0}', { 'mcp-param-limit': '42' }, [200]);
  });

  it('needs no header for null, absent or non-scalar values', async () => {
    for (const args of [
      undefined,
      'null',
      '{}',
      '{"region":null}',
      '{"where":{}}',
      '{"where":7}',
      '{"region":["a"]}',
    ])
      await check(args, {}, [200]);
    await check('{"limit":9007199254740993}', {}, [200]);
  });

  it('is refused with HTTP 400 and -32020 if a header is missing', async () => {
    await check('{"region":"us-west1"}', {}, [400, 'Mcp-Param-Region']);
    await check('{"region":""}', {}, [400, 'Mcp-Param-Region']);
    await check('{"limit":0}', {}, [400, 'Mcp-Param-Limit']);
    await check('{"dry":false}', {}, [400, 'Mcp-Param-Dry-Run']);
    await check('{"where":{"zone":"a"}}', {}, [400, 'Mcp-Param-zone']);
  });

  it('is refused if a header differs from its argument, or has none', async () => {
    await check('{"region":"us-west1"}', { 'mcp-param-region': 'us-west2' }, [400, 'Mcp-Param-Region']);
    await check('{"region":"us-west1"}', { 'mcp-param-region': 'US-WEST1' }, [400, 'Mcp-Param-Region']);
    await check('{"limit":42}', { 'mcp-param-limit': '43' }, [400, 'Mcp-Param-Limit']);
    await check('{"limit":42}', { 'mcp-param-limit': '0x2a' }, [400, 'Mcp-Param-Limit']);
    const beyond = { 'mcp-param-limit': '9007199254740992' };
    await check('{"limit":9007199254740993}', beyond, [400, 'Mcp-Param-Limit']);
    await check('{"dry":true}', { 'mcp-param-dry-run': 'True' }, [400, 'Mcp-Param-Dry-Run']);
    for (const args of [undefined, '{}', '{"region":null}'])
      await check(args, { 'mcp-param-region': 'us-west1' }, [400, 'Mcp-Param-Region']);
  });

  it('is refused if a header is badly encoded or duplicated', async () => {
    for (const header of ['=?base64?SGVsbG8?=', '=?base64?SGVs!!!bG8=?=', '=?base64?/w==?=', 'caf\u00e9'])
      await check('{"region":"Hello"}', { 'mcp-param-region': header }, [400, 'Mcp-Param-Region']);
    await check('{"region":"a, b"}', { 'mcp-param-region': ['a', 'b'] }, [400, 'Mcp-Param-Region']);
  });

  it('is refused if parsers could disagree about its arguments', async () => {
    const header = { 'mcp-param-region': 'a' };
    await check('{"region":"a","region":"b"}', header, [400, 'Mcp-Param-Region']);
    await check('{"region":"a","REGION":"b"}', header, [400, 'Mcp-Param-Region']);
    const body = modernBody('tools/call', { params: { name: 'm_sql', arguments: { region: 'a' } } });
    const twice = await send(assay.url, {
      headers: { ...modernHeaders('tools/call', { name: 'm_sql' }), ...header },
      body: body.replace('"arguments":', '"arguments":{"region":"b"},"arguments":'),
    });
    expect([twice.status, at(twice.json(), 'error', 'code')]).toEqual([400, -32600]);
  });

  it('may carry headers that match no parameter', async () => {
    await check('{"query":"q"}', { 'mcp-param-query': 'another', 'mcp-param-x': '1' }, [200]);
  });

  it('needs no headers from a legacy client or over stdio', async () => {
    const session = await openSession(assay.url);
    expect(await session.call('l_sql', { region: 'a' })).toBe('{"region":"a"}');
    const made = await startSql('legacy');
    const pipe = openStdio({ servers: { l: { type: 'http', url: made.made.url } } });
    await pipe.initialize();
    expect(await pipe.call('l_sql', { region: 'a' })).toBe('{"region":"a"}');
  });
});

describe('parameter headers', () => {
  const ARGUMENTS: JsonObject = { region: ' é', limit: -7, dry: true, where: { zone: 'a b' }, query: 'q' };
  const HEADERS: Sent = {
    'mcp-param-region': '=?base64?IMOp?=',
    'mcp-param-limit': '-7',
    'mcp-param-dry-run': 'true',
    'mcp-param-zone': 'a b',
  };

  it('are sent to a modern HTTP server for any client: legacy or modern, over HTTP or stdio', async () => {
    const { made, sent } = await startSql('modern');
    const servers = { m: { type: 'http', url: made.url } };
    const assay = await startGateway({ servers });
    await assay.settled();
    await (await openSession(assay.url)).call('m_sql', ARGUMENTS);
    const client = await connectClient({ url: assay.url }, 'modern');
    await client.listTools();
    await client.callTool({ name: 'm_sql', arguments: ARGUMENTS });
    const pipe = openStdio({ servers });
    await pipe.initialize();
    await pipe.call('m_sql', ARGUMENTS);
    expect(sent).toEqual([HEADERS, HEADERS, HEADERS]);
  });

  it('are sent only for arguments with a value, and not for other tools', async () => {
    const { url, sent } = await addSql('modern');
    const session = await openSession(url);
    await session.call('sql', { region: null, limit: 1e2, query: 'q' });
    await session.call('plain', { region: 'a' });
    await session.call('sql', { region: { a: 1 }, limit: 2 ** 53, where: [] });
    expect(sent).toEqual([{ 'mcp-param-limit': '100' }, {}, {}]);
  });

  it('are not sent to a legacy server', async () => {
    const { url, sent } = await addSql('legacy');
    await (await openSession(url)).call('sql', ARGUMENTS);
    expect(sent).toEqual([{}]);
  });

  it('are sent right after a start, when only the cached catalog knows the tool', async () => {
    const { made, sent } = await startSql('modern');
    const servers = { m: { type: 'http', url: made.url } };
    const home = tempDir();
    const first = await startGateway({ servers, home });
    await first.settled();
    await first.stop();
    const second = await startGateway({ servers, home });
    const refused = await modernSend(second.url, 'tools/call', {
      params: { name: 'm_sql', arguments: { limit: 1 } },
    });
    expect([refused.status, at(refused.json(), 'error', 'code')]).toEqual([400, -32020]);
    await (await openSession(second.url)).call('m_sql', { limit: 1 });
    expect(sent).toEqual([{ 'mcp-param-limit': '1' }]);
  });
});

describe('a tool with invalid header declarations', () => {
  const listed = async (url: string): Promise<Readonly<Record<string, readonly Json[]>>> => ({
    legacy: namesAt(await (await openSession(url)).ask('tools/list'), 'result', 'tools'),
    modern: namesAt(await modernAsk(url, 'tools/list'), 'result', 'tools'),
  });

  it('is withheld from all clients, with a reason, if its server is modern', async () => {
    const { name, url } = await addSql('modern');
    const { assay } = shared;
    expect(await listed(url)).toEqual({ legacy: ['plain', 'sql'], modern: ['plain', 'sql'] });
    const answer = await modernAsk(url, 'tools/call', { params: { name: 'wrong', arguments: {} } });
    expect(at(answer, 'error', 'data', 'code')).toBe('TOOL_WITHHELD');
    const warning = `${name}: wrong is withheld: inputSchema.properties.score["x-mcp-header"] is on a type other than string, integer or boolean`;
    expect(JSON.stringify(await assay.health())).toContain(JSON.stringify(warning).slice(1, -1));
    await until('the log says so', () => (assay.stderr().includes('wrong is withheld') ? true : undefined));
  });

  it('is withheld only from modern clients if its server is legacy', async () => {
    const { name, url } = await addSql('legacy');
    expect(await listed(url)).toEqual({ legacy: ['plain', 'sql', 'wrong'], modern: ['plain', 'sql'] });
    const health = JSON.stringify(await shared.assay.health());
    expect(health).toContain(`${name}: wrong is withheld from modern clients: `);
    expect(await (await openSession(url)).call('wrong', { score: 1 })).toBe('{"score":1}');
  });

  it('is withheld from legacy clients too once its server becomes modern', async () => {
    const home = tempDir();
    const before = await startSql('legacy');
    const { port } = before.made;
    const servers = { s: { type: 'http', url: before.made.url } };
    const first = await startGateway({ servers, home });
    await first.settled();
    expect((await listed(first.url))['legacy']).toContain('s_wrong');
    await first.stop();
    await before.made.close();
    const after = await startMade({ era: 'modern', tools: TOOLS, port });
    endLater(() => after.close());
    const second = await startGateway({ servers, home });
    await until('it is up in the new era', async () =>
      at(serverIn(await second.health(), 's'), 'era') === 'modern' ? true : undefined,
    );
    await until('the list is new', async () =>
      (await listed(second.url))['legacy']?.includes('s_wrong') === true ? undefined : true,
    );
  });
});
