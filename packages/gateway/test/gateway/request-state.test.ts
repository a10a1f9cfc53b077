import { expect, it } from 'vitest';
import { KeySealer } from '../../src/adapters/auth/sealer.ts';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { ok } from '@assay-mcp/kit/result';
import type { Decision, PolicyTool } from '../../src/core/policy/policy.ts';
import { type Identity, LOCAL_USER } from '../../src/core/subject.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import type { StoredKey } from '../../src/gateway/ports/store.ts';
import { buildApprovalBinding } from '../../src/gateway/relay/approval-request.ts';
import { createRelay } from '../../src/gateway/relay/pipeline.ts';
import { Call } from '../../src/gateway/relay/call.ts';
import { openState, sealState, type RequestState } from '../../src/gateway/relay/request-state.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import { derivedKeysOf } from '../../../../test/support/encryption-keys.ts';
import { toolWith } from '../core/policy/tools.ts';
import { inventoryOf, listed, NOTHING_ASKS, SILENT, tool } from './listed-server.ts';

/** A sealer with one key, in memory. */
function sealer(): KeySealer {
  let keys: readonly StoredKey[] = [];
  return new KeySealer({
    derivedKeys: derivedKeysOf(false),
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

/** The differences from the call of `ask` by the local user at the endpoint `all`. */
interface Other {
  readonly number?: string;
  readonly identity?: Identity;
  readonly endpoint?: string;
  readonly method?: string;
  readonly name?: string;
  readonly decision?: Decision;
}

function callsOf(): {
  readonly server: ReturnType<typeof listed>;
  readonly called: (other?: Other) => Promise<Call>;
} {
  const tools = [
    tool('ask', { description: 'Asks.' }),
    tool('tell', { annotations: { idempotentHint: true } }),
  ];
  const server = listed('s', { tools }, { trust: true });
  const relay = createRelay({ ...NOTHING_ASKS, sealer: sealer() });
  const called = async (other: Other = {}): Promise<Call> => {
    const { number = '1', endpoint = 'all', method = 'tools/call', name = 's_ask' } = other;
    const view = new View({
      endpoint,
      servers: () => [server],
      isAggregated: true,
      settled: () => Promise.resolve(),
    });
    const call = new Call({
      caller: { era: 'modern', relay, view, clientInfo: undefined, logLevel: undefined },
      identity: other.identity ?? LOCAL_USER,
      message: buildOwnRequest(method, { name, arguments: { a: JSON.rawJSON(number) } }),
      cancellation: new Cancellation(),
      client: { notify: () => undefined, ask: undefined },
      logLevel: undefined,
    });
    const found = await view.tool(name);
    call.entry = found.ok ? found.value : undefined;
    call.decision = other.decision ?? ASKED;
    return call;
  };
  return { server, called };
}

const ASKED: Decision = { kind: 'ask', per: 'call', reasons: [{ code: 'unannotated' }] };

const STATE: RequestState = { kind: 'suspended', id: { replica: 'r', nonce: 'n' } };

it('a sealed state is valid only for the tool definition that it was issued for', async () => {
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

const OTHERS: Readonly<Record<string, Other>> = {
  subject: { identity: { ...LOCAL_USER, subject: 'eve' } },
  endpoint: { endpoint: 'servers/s' },
  method: { method: 'prompts/get' },
};

it.each(Object.entries(OTHERS))('a sealed state is not valid for another %s', async (_, other) => {
  const { called } = callsOf();
  const sealed = await sealState(await called(), 's', STATE);
  expect(await openState(await called(other), 's', sealed)).toMatchObject({ ok: false });
});

it('a sealed state is not valid for another name or server, even with the same definition', async () => {
  const { called } = callsOf();
  const call = await called();
  const sealed = await sealState(call, 's', STATE);
  expect(await openState(call, 'other', sealed)).toMatchObject({ ok: false });
  const renamed = await called({ name: 's_tell' });
  renamed.entry = call.entry;
  expect(await openState(renamed, 's', sealed)).toMatchObject({ ok: false });
});

it('an approval is bound to its subject, server, tool, definition, arguments and reason', async () => {
  const { called } = callsOf();
  const bindings = new Set<string>();
  const bind = (call: Call, about: PolicyTool): void => {
    // The fields that identify an approval, except the session, which counts for session approvals only.
    const { subject, toolKey, digest, argumentsHash } = buildApprovalBinding(call, about);
    bindings.add([subject, toolKey, digest, argumentsHash].join());
  };
  const call = await called();
  const about = toolWith([]);
  bind(call, about);
  bind(await called(), about);
  expect(bindings.size).toBe(1);
  const moved = await called();
  const elsewhere = listed('s');
  const transport = { ...elsewhere.spec.transport, command: 'another' };
  Object.defineProperty(elsewhere, 'spec', { value: { ...elsewhere.spec, transport } });
  moved.entry = moved.entry && { ...moved.entry, server: elsewhere };
  bind(moved, about);
  bind(call, { ...about, name: 'other' });
  bind(call, { ...about, digest: 'other' });
  bind(await called({ identity: { ...LOCAL_USER, subject: 'eve' } }), about);
  bind(await called({ number: '2' }), about);
  bind(await called({ decision: { ...ASKED, reasons: [{ code: 'session_labels' }] } }), about);
  bind(await called({ decision: { kind: 'ask', per: 'session', reasons: ASKED.reasons } }), about);
  bind(await called({ name: 's_tell' }), about);
  expect(bindings.size).toBe(9);
});

it('a sealed state and an approval are bound to numbers as written, not as rounded', async () => {
  const { called } = callsOf();
  const [one, other] = [await called({ number: '0.1' }), await called({ number: '0.10000000000000000555' })];
  const sealed = await sealState(one, 's', STATE);
  expect(await openState(other, 's', sealed)).toMatchObject({ ok: false, error: { code: 'STATE_INVALID' } });
  const [hash, otherHash] = [one, other].map(
    (call) => buildApprovalBinding(call, toolWith([])).argumentsHash,
  );
  expect(hash).not.toBe(otherHash);
});
