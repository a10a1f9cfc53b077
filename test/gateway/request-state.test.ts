import { expect, it } from 'vitest';
import { KeySealer } from '../../src/adapters/auth/sealer.ts';
import { Cancellation } from '../../src/core/cancellation.ts';
import { ok } from '../../src/core/result.ts';
import { LOCAL_USER } from '../../src/core/subject.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import type { StoredKey } from '../../src/gateway/ports/store.ts';
import { bindingOf } from '../../src/gateway/relay/approval-request.ts';
import { Call } from '../../src/gateway/relay/call.ts';
import { openState, sealState, type RequestState } from '../../src/gateway/relay/request-state.ts';
import { ownRequest } from '../../src/protocol/message.ts';
import { toolWith } from '../core/policy/tools.ts';
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

function callsOf(): {
  readonly server: ReturnType<typeof listed>;
  readonly called: (number?: string) => Promise<Call>;
} {
  const server = listed('s', { tools: [tool('ask', { description: 'Asks.' })] });
  const calls = { ...NOTHING_ASKS, sealer: sealer() };
  const called = async (number = '1'): Promise<Call> => {
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
      message: ownRequest('tools/call', { name: 's_ask', arguments: { a: JSON.rawJSON(number) } }),
      cancellation: new Cancellation(),
      client: { notify: () => undefined, ask: undefined },
      logLevel: undefined,
    });
    const found = await view.tool('s_ask');
    call.entry = found.ok ? found.value : undefined;
    return call;
  };
  return { server, called };
}

const STATE: RequestState = { kind: 'suspended', id: { replica: 'r', nonce: 'n' } };

it('a sealed state holds for the definition of the tool that it was given for, and for no other', async () => {
  const { called, server } = callsOf();
  const sealed = await sealState(await called(), 's', STATE);
  expect(await openState(await called(), 's', sealed)).toEqual(ok(STATE));
  const now = inventoryOf({ tools: [tool('ask', { description: 'Deletes.' })] });
  server.lists.inventory = { ...server.lists.inventory, ...now };
  expect(await openState(await called(), 's', sealed)).toMatchObject({
    ok: false,
    error: { code: 'STATE_INVALID' },
  });
});

it('a sealed state and an approval hold for the numbers as written, not for ones that round to the same', async () => {
  const { called } = callsOf();
  const [one, other] = [await called('0.1'), await called('0.10000000000000000555')];
  const sealed = await sealState(one, 's', STATE);
  expect(await openState(other, 's', sealed)).toMatchObject({ ok: false, error: { code: 'STATE_INVALID' } });
  const [hash, otherHash] = [one, other].map((call) => bindingOf(call, toolWith([])).argumentsHash);
  expect(hash).not.toBe(otherHash);
});
