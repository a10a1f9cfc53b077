import { expect, it } from 'vitest';
import { KeySealer } from '../../src/adapters/auth/sealer.ts';
import { Cancellation } from '../../src/core/cancellation.ts';
import { ok } from '../../src/core/result.ts';
import { LOCAL_USER } from '../../src/core/subject.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import type { StoredKey } from '../../src/gateway/ports/store.ts';
import { Call } from '../../src/gateway/relay/call.ts';
import { openState, sealState, type RequestState } from '../../src/gateway/relay/request-state.ts';
import { ownRequest } from '../../src/protocol/message.ts';
import { inventoryOf, listed, NOTHING_ASKS, SILENT, tool } from './listed-server.ts';

/** With one key, in memory. */
function sealer(): KeySealer {
  let keys: readonly StoredKey[] = [];
  return new KeySealer({
    log: SILENT,
    openStore: () =>
      Promise.resolve(
        ok({
          keys: () => Promise.resolve(ok(keys)),
          ensureKey: (key: StoredKey) => Promise.resolve(ok((keys = [keys[0] ?? key])[0] ?? key)),
          addKey: (key: StoredKey) => Promise.resolve(ok(void (keys = [key, ...keys]))),
        }),
      ),
  });
}

it('a sealed state holds for the definition of the tool that it was given for, and for no other', async () => {
  const server = listed('s', { tools: [tool('ask', { description: 'Asks.' })] });
  const calls = { ...NOTHING_ASKS, sealer: sealer() };
  const called = async (): Promise<Call> => {
    const view = new View({
      endpoint: 'all',
      calls,
      servers: () => [server],
      isAggregated: true,
      settled: () => Promise.resolve(),
    });
    const call = new Call({
      caller: { era: 'modern', view, clientInfo: undefined, logLevel: undefined },
      identity: LOCAL_USER,
      message: ownRequest('tools/call', { name: 's_ask', arguments: { a: 1 } }),
      cancellation: new Cancellation(),
      client: { notify: () => undefined, ask: undefined },
      logLevel: undefined,
    });
    const found = await view.tool('s_ask');
    call.entry = found.ok ? found.value : undefined;
    return call;
  };
  const state: RequestState = { kind: 'suspended', id: { replica: 'r', nonce: 'n' } };
  const sealed = await sealState(await called(), 's', state);
  expect(await openState(await called(), 's', sealed)).toEqual(ok(state));
  const now = inventoryOf({ tools: [tool('ask', { description: 'Deletes.' })] });
  server.lists.inventory = { ...server.lists.inventory, ...now };
  expect(await openState(await called(), 's', sealed)).toMatchObject({
    ok: false,
    error: { code: 'STATE_INVALID' },
  });
});
