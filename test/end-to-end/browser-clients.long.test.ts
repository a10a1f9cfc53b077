import { beforeAll, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { BOTH, initializeOf } from '../support/legacy.ts';
import { modernBody, modernHeaders } from '../support/modern.ts';
import { startBrowser } from '../support/pages.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';
import { serveWeb } from '../support/web-server.ts';

let assay: Gateway;
let token: string;
let browser: Awaited<ReturnType<typeof startBrowser>>;
let listed: string;
let other: string;
beforeAll(async () => {
  const home = tempDir();
  token = await keepToken(home, 'page');
  const serve = async (): Promise<string> =>
    `http://localhost:${await serveWeb((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'))}`;
  [listed, other] = await Promise.all([serve(), serve()]);
  assay = await startGateway({
    servers: { plain: fixture('plain') },
    home,
    settings: { settings: { 'mcp.allowedOrigins': listed } },
  });
  await assay.settled();
  browser = await startBrowser();
});

interface Fetched {
  readonly status: number;
  readonly session: string | null;
  readonly text: string;
}

/** Sends requests from a page of this origin, one after the other; the id of a session goes into later ones. */
async function fetchFrom(
  origin: string,
  requests: readonly { readonly method: string; readonly headers: object; readonly body?: string }[],
): Promise<readonly (Fetched | string)[]> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(origin);
    return await page.evaluate(
      async ([url, all]) => {
        const answers: (Fetched | string)[] = [];
        let session: string | null = null;
        for (const { method, headers, body } of all) {
          try {
            const more = session === null ? {} : { 'Mcp-Session-Id': session };
            const init = { method, headers: { ...headers, ...more }, ...(body !== undefined && { body }) };
            const response = await fetch(url, init);
            session ??= response.headers.get('mcp-session-id');
            answers.push({ status: response.status, session, text: await response.text() });
          } catch (error) {
            answers.push(String(error));
          }
        }
        return answers;
      },
      [assay.url, requests] as const,
    );
  } finally {
    await context.close();
  }
}

it('a page of a listed origin uses a session and calls tools from a browser; a page of another gets nothing', async () => {
  const sent = { 'content-type': 'application/json', accept: BOTH, ...bearer(token) };
  const params = { name: 'plain_echo', arguments: { text: 'from a page' } };
  const legacy = [
    { method: 'POST', headers: sent, body: initializeOf('2025-11-25') },
    {
      method: 'POST',
      headers: { ...sent, 'MCP-Protocol-Version': '2025-11-25' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }),
    },
    { method: 'DELETE', headers: bearer(token) },
  ];
  const modern = {
    method: 'POST',
    headers: { ...modernHeaders('tools/call', params), 'Mcp-Param-Any': 'x', ...bearer(token) },
    body: modernBody('tools/call', { params }),
  };
  const [begun, called, ended] = (await fetchFrom(listed, legacy)) as readonly Fetched[];
  expect([begun?.status, called?.status, ended?.status]).toEqual([200, 200, 204]);
  expect(begun?.session).toMatch(/./);
  expect(called?.text).toContain('from a page');
  const [result] = (await fetchFrom(listed, [modern])) as readonly Fetched[];
  expect([result?.status, result?.text]).toEqual([200, expect.stringContaining('from a page')]);
  const [refused] = (await fetchFrom(listed, [
    { ...modern, headers: modernHeaders('tools/call', params) },
  ])) as readonly Fetched[];
  expect([refused?.status, refused?.text]).toEqual([401, expect.stringContaining('TOKEN_REQUIRED')]);
  expect(await fetchFrom(other, [...legacy.slice(0, 1), modern])).toEqual(
    Array.from({ length: 2 }, () => 'TypeError: Failed to fetch'),
  );
});
