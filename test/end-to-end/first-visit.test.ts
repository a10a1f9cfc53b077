import { UnauthorizedError, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { at } from '../support/json.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const ADVICE = 'assay token create NAME';

const originOf = ({ port }: Gateway): string => `http://127.0.0.1:${port}`;

describe('without a required token', () => {
  let origin: string;
  beforeAll(async () => {
    origin = originOf(await startGateway());
  });

  it('GET / shows people a page that explains how to connect, without external content', async () => {
    const page = await send(`${origin}/`, { method: 'GET', headers: BROWSER });
    expect([page.status, page.type]).toEqual([200, 'text/html']);
    expect(page.text).toContain(`claude mcp add --transport http assay ${origin}/mcp\n`);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.text).not.toMatch(/<script|<style|style="|(?:src|href)="http/);
  });

  it('GET / gives programs links', async () => {
    for (const headers of [{}, { accept: 'application/json' }, { accept: '*/*' }]) {
      const answer = await send(`${origin}/`, { method: 'GET', headers });
      expect(answer.type).toBe('application/json');
      expect(answer.json()).toMatchObject({
        name: 'Assay',
        mcpNeedsToken: false,
        links: { mcp: `${origin}/mcp`, docs: `${origin}/docs` },
      });
    }
  });

  it('GET /mcp explains to a browser that this is for MCP clients, and to a program in JSON', async () => {
    const page = await send(`${origin}/mcp`, { method: 'GET', headers: BROWSER });
    expect([page.status, page.type, page.headers.allow]).toEqual([405, 'text/html', 'POST']);
    expect(page.text).toContain('answers MCP clients, not browsers: <a href="/">');
    const answer = await send(`${origin}/mcp`, { method: 'GET', headers: { accept: 'text/event-stream' } });
    expect([answer.status, answer.type]).toEqual([405, 'application/json']);
  });

  it('POST /mcp with another content type, or none, names the right one', async () => {
    const messageOf = async (headers: Record<string, string>): Promise<unknown> =>
      at((await send(`${origin}/mcp`, { method: 'POST', headers, body: '{}' })).json(), 'error', 'message');
    expect(await messageOf({ 'content-type': 'text/plain' })).toBe(
      'Content-Type "text/plain" is not supported. Send the body as JSON, with "Content-Type: application/json".',
    );
    expect(await messageOf({})).toBe(
      'The Content-Type header is missing. Send the body with "Content-Type: application/json".',
    );
  });
});

describe('with a required token, and no issuer', () => {
  let gateway: Gateway;
  let origin: string;
  beforeAll(async () => {
    gateway = await startGateway({ env: { ASSAY_TOKEN: 'a-token-of-more-than-16-characters' } });
    origin = originOf(gateway);
  });

  it('a client that looks for a sign-in learns that it needs a token', async () => {
    const answers = [
      await send(`${origin}/.well-known/oauth-protected-resource/mcp`, { method: 'GET' }),
      await send(`${origin}/.well-known/oauth-authorization-server`, { method: 'GET' }),
      await send(`${origin}/register`, { method: 'POST', body: '{}' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 403]);
    for (const answer of answers) expect(at(answer.json(), 'error_description')).toContain(ADVICE);
  });

  it('the official client shows that to its user, instead of a failure of /register', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { authProvider: PROVIDER });
    const failure = await client.connect(transport).catch((error: unknown) => error);
    expect(failure).not.toBeInstanceOf(UnauthorizedError);
    expect(String(failure)).toContain(ADVICE);
  });

  it('a client without a token is logged once, with the remedy', async () => {
    const headers = { 'user-agent': 'some-editor/1.0' };
    for (let count = 0; count < 3; count += 1)
      expect((await send(`${origin}/mcp`, { method: 'POST', headers, body: '{}' })).status).toBe(401);
    const lines = gateway
      .stderr()
      .split('\n')
      .filter((line) => line.includes('some-editor'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(ADVICE);
  });

  it('GET / and GET /mcp say so in a browser', async () => {
    const root = await send(`${origin}/`, { method: 'GET', headers: BROWSER });
    expect(root.text).toContain('--header &#34;Authorization: Bearer &#60;token&#62;&#34;');
    const page = await send(`${origin}/mcp`, { method: 'GET', headers: BROWSER });
    expect([page.status, page.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect(page.text).toContain(ADVICE);
  });
});

const PROVIDER: OAuthClientProvider = {
  redirectUrl: 'http://127.0.0.1/callback',
  clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
  clientInformation: () => undefined,
  saveClientInformation: () => undefined,
  tokens: () => undefined,
  saveTokens: () => undefined,
  redirectToAuthorization: () => undefined,
  saveCodeVerifier: () => undefined,
  codeVerifier: () => '',
};
