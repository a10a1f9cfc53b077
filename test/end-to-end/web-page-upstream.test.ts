import { expect, it } from 'vitest';
import { serverIn } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at } from '../support/json.ts';
import { bodyOf, serveWeb } from '../support/web-server.ts';

it('a server whose URL is a web page is reported as such; one that only mislabels its JSON works', async () => {
  const page = await serveWeb((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<!doctype html><p>Hello'),
  );
  const mislabelled = await serveWeb((request, response) => {
    void bodyOf(request).then((text) => {
      const answer = answerTo(text);
      response.writeHead(answer === '' ? 202 : 200, { 'content-type': 'text/html' }).end(answer);
    });
  });
  const assay = await startGateway({
    servers: {
      page: { url: `http://127.0.0.1:${page}/` },
      sse: { type: 'sse', url: `http://127.0.0.1:${page}/` },
      mislabelled: { type: 'streamable-http', url: `http://127.0.0.1:${mislabelled}/` },
    },
  });
  await assay.settled();
  const health = await assay.health();
  const shown = ['page', 'sse', 'mislabelled'].map((name) => at(serverIn(health, name), 'causeCode') ?? 'up');
  expect(shown).toEqual(['ENDPOINT_NOT_MCP', 'ENDPOINT_NOT_MCP', 'up']);
  expect(at(serverIn(health, 'page'), 'cause')).toContain('it responded with a web page');
});

/** The response of a legacy server without lists; empty for notifications. */
function answerTo(text: string): string {
  const { id, method } = JSON.parse(text === '' ? '{}' : text) as { id?: number; method?: string };
  if (id === undefined) return '';
  const initialized = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    serverInfo: { name: 'x', version: '1' },
  };
  const outcome =
    method === 'initialize' ? { result: initialized } : { error: { code: -32601, message: 'unknown' } };
  return JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
}
