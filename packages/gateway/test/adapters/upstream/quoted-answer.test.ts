// How much of an invalid response reaches the log, where a user who registered its URL could read it.
import { expect, it } from 'vitest';
import { exchangeHttp } from '../../../src/adapters/upstream/http-exchange.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import { HttpClient } from '@assay-mcp/kit/platform/http-client';
import { endLater } from '../../../../../test/support/endings.ts';
import { serveWeb } from '../../../../../test/support/web-server.ts';

/** The part of a response of 5,000 characters that the log quotes. */
async function quotedOf(type: string | undefined): Promise<unknown> {
  const port = await serveWeb((_, response) =>
    response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end('x'.repeat(5_000)),
  );
  const client = new HttpClient(`http://127.0.0.1:${port}`);
  endLater(() => client.close());
  const logged: unknown[] = [];
  const keep = (text: string, more?: Readonly<Record<string, unknown>>): void =>
    void logged.push([text, more?.['text']]);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  await new Promise<void>((resolve) => {
    exchangeHttp({
      client,
      request: { method: 'GET', path: '/', headers: [], body: undefined },
      isStream: false,
      endsWithResponse: true,
      server: 'remote',
      log,
      onMessage: () => undefined,
      onEnd: () => resolve(),
    });
  });
  expect(logged).toEqual([
    ['server sent something that is not a JSON-RPC message; it is ignored', (logged[0] as unknown[])[1]],
  ]);
  return (logged[0] as unknown[])[1];
}

it.each([
  ['application/json', 'x'.repeat(200)],
  ['application/problem+json; charset=utf-8', 'x'.repeat(200)],
  ['text/plain', undefined],
  [undefined, undefined],
])('a response of type %s that is not a message has at most its beginning logged', async (type, text) => {
  expect(await quotedOf(type)).toBe(text);
});
