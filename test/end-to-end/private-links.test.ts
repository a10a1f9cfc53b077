import { describe, expect, it } from 'vitest';
import { startAsking } from '../fixtures/asking-http.ts';
import { startNotifier } from '../fixtures/notifier-http.ts';
import { startAssay } from '../support/assay.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at } from '../support/json.ts';
import { BOTH, openSession } from '../support/legacy.ts';
import { modernBody, modernCall, modernHeaders } from '../support/modern.ts';
import { openThings } from '../support/open-things.ts';

/** Invalid JSON, but only a parser that reads the whole string notices. */
const BROKEN = `"clientInfo":{"name":"${'x'.repeat(100)}\\q","version":"1"}`;

describe('client info that is invalid JSON', () => {
  it('is refused in a legacy handshake, and in a modern call does not affect the next one', async () => {
    const legacy = await startAsking('legacy');
    endLater(() => legacy.close());
    const assay = await startAssay({ servers: { h: { url: legacy.url } } });
    await assay.settled();
    const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},${BROKEN}}}`;
    const headers = { 'content-type': 'application/json', accept: BOTH };
    const refused = (await send(assay.url, { headers, body: initialize })).json();
    expect(at(refused, 'error', 'data', 'code')).toBe('MESSAGE_NOT_JSON');
    const params = { name: 'h_pid', arguments: {} };
    const body = modernBody('tools/call', { params }).replace(
      /"clientInfo":\{[^}]*\}|"io.modelcontextprotocol\/clientInfo":\{[^}]*\}/,
      BROKEN.replace('"clientInfo"', '"io.modelcontextprotocol/clientInfo"'),
    );
    await send(assay.url, { headers: modernHeaders('tools/call', params), body });
    expect(await modernCall(assay.url, 'h_pid')).toBe(String(process.pid));
  });
});

describe('a private link', () => {
  it('does not block shutdown after its server has gone', async () => {
    const http = await startNotifier({ era: 'legacy' });
    const assay = await startAssay({ servers: { s: { url: http.url } } });
    await assay.settled();
    const session = await openSession(assay.url);
    await session.ask('resources/subscribe', { uri: 'note://one' });
    await http.close();
    await until('it is noticed', async () =>
      (await openThings(assay)).privateLinks === 0 ? true : undefined,
    );
    expect(await assay.stop()).toBe(0);
  });

  it('is not reopened after its client has left, even if the client had subscriptions', async () => {
    const http = await startNotifier({ era: 'legacy' });
    endLater(() => http.close());
    const assay = await startAssay({ servers: { s: { url: http.url } } });
    await assay.settled();
    const session = await openSession(assay.url);
    expect(await session.ask('resources/subscribe', { uri: 'note://one' })).toMatchObject({ result: {} });
    expect(await openThings(assay)).toMatchObject({ privateLinks: 1 });
    await http.close();
    await until('it is noticed', async () =>
      (await openThings(assay)).privateLinks === 0 ? true : undefined,
    );
    await session.end();
    const again = await startNotifier({ era: 'legacy', port: http.port });
    endLater(() => again.close());
    await sleep(2_500);
    expect(await openThings(assay)).toMatchObject({ privateLinks: 0 });
  });
});
