import { describe, expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { getDefaultSettings } from '../../src/core/resolve-settings.ts';
import type { Refusal } from '../../src/core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { LOCAL_USER } from '../../src/core/subject.ts';
import { relayDeps } from '../../src/gateway/catalog/call-deps.ts';
import type { Server } from '../../src/gateway/catalog/server.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import type { Reply } from '../../src/gateway/ports/link.ts';
import { createRelay } from '../../src/gateway/relay/pipeline.ts';
import { Call } from '../../src/gateway/relay/call.ts';
import { sendAgain } from '../../src/gateway/relay/send-again.ts';
import { buildOwnRequest, readServerMessage } from '@assay-mcp/protocol/message';
import { buildNotificationText } from '@assay-mcp/protocol/reply';
import { inventoryOf, listed, NOTHING_ASKS, tool } from './listed-server.ts';

const LOST: Refusal = { code: 'SERVER_ENDED', server: 's', cause: { code: 'CONNECTION_CLOSED' } };
const UNSENT: Refusal = { ...LOST, code: 'SERVER_UNREACHED' };
const LATE: Refusal = { code: 'SERVER_TIMEOUT', server: 's', limitMs: 10_000 };
const CUT_SHORT: Refusal = { ...LOST, cause: { code: 'RESPONSE_INCOMPLETE' } };
const IDEMPOTENT = { idempotentHint: true };

interface Opened {
  readonly call: Call;
  readonly server: Server;
  /** The client's notifications. */
  readonly notifications: string[];
}

interface Given {
  readonly annotations?: Readonly<Record<string, boolean>>;
  readonly retries?: number;
  readonly params?: Readonly<Record<string, string>>;
}

function open({ annotations = IDEMPOTENT, retries = 3, params = {} }: Given = {}): Opened {
  const server = listed('s', { tools: [tool('set', { annotations })] }, { trust: true });
  const limits = { ...getDefaultSettings(), 'limits.retries': retries };
  const notifications: string[] = [];
  const relay = createRelay(
    relayDeps({ sealer: NOTHING_ASKS.sealer, replica: '', limits, retries: { chance: () => 0 } }),
  );
  const view = new View({
    endpoint: 'all',
    servers: () => [server],
    isAggregated: true,
    settled: () => Promise.resolve(),
  });
  const call = new Call({
    caller: { era: 'legacy', relay, view, clientInfo: undefined, logLevel: undefined },
    identity: LOCAL_USER,
    message: buildOwnRequest('tools/call', { name: 's_set', arguments: {}, ...params }),
    cancellation: new Cancellation(),
    client: { notify: (note) => notifications.push(note.method), ask: undefined },
    logLevel: undefined,
  });
  call.entry = view.listing('tools').entries[0];
  call.decision = { kind: 'ask', per: 'call', reasons: [{ code: 'destructive', origin: 'default' }] };
  call.timeoutMs = 10_000;
  return { call, server, notifications };
}

const DONE = replyOf('{"jsonrpc":"2.0","id":1,"result":{}}');

function replyOf(text: string): Result<Reply, Refusal> {
  const message = readServerMessage(Buffer.from(text));
  if (message.kind !== 'response') throw new Error('no response');
  return ok({ message, era: 'legacy' });
}

interface Run {
  readonly result: Result<Reply, Refusal>;
  /** For each resend, whether the previous attempt did not reach the server. */
  readonly resent: readonly boolean[];
  readonly limitsMs: readonly number[];
}

/** Fails with each of the refusals in turn, and then succeeds. */
async function run(
  { call, server }: Opened,
  [refusal = LOST, ...others]: readonly Refusal[] = [LOST],
  sentMs = performance.now(),
): Promise<Run> {
  const resent: boolean[] = [];
  const limitsMs: number[] = [];
  const resend = (isUnsent: boolean): Promise<Result<Reply, Refusal>> => {
    resent.push(isUnsent);
    limitsMs.push(call.timeoutMs);
    const next = others.shift();
    return Promise.resolve(next === undefined ? DONE : err(next));
  };
  return { result: await sendAgain({ call, server, refusal, sentMs, resend }), resent, limitsMs };
}

function sentTimes({ result }: Run): number | undefined {
  return result.ok || !('sent' in result.error) ? undefined : result.error.sent.times;
}

describe('a call whose connection was lost', () => {
  it('is resent within the rest of its time limit, which is then restored', async () => {
    const opened = open();
    const { result, resent, limitsMs } = await run(opened, [LOST, CUT_SHORT]);
    expect([result, resent]).toEqual([DONE, [false, false]]);
    expect(Math.max(...limitsMs)).toBeLessThan(10_000 - 49);
    expect(opened.call.timeoutMs).toBe(10_000);
  });

  it.each<readonly [string, Opened]>([
    ['the tool is not idempotent', open({ annotations: { destructiveHint: false } })],
    ['retries are off', open({ retries: 0 })],
    ['it carries request state of its server', open({ params: { requestState: 'x' } })],
    ['it carries input responses for its server', open({ params: { inputResponses: 'x' } })],
    ['its server has sent a request to the client', changed((call) => (call.wasAsked = true))],
    ['it concerns a task', changed((call) => (call.task = {}))],
    [
      'the tool has changed',
      changed((_, server) => {
        const tools = [tool('set', { annotations: IDEMPOTENT, description: 'other' })];
        server.lists.inventory = { ...server.lists.inventory, ...inventoryOf({ tools }) };
      }),
    ],
    [
      'the tool is gone',
      changed((_, server) => (server.lists.inventory = { ...server.lists.inventory, tools: [] })),
    ],
  ])('is not resent if %s, and its effect is unknown', async (_, opened) => {
    const tried = await run(opened);
    expect([tried.resent, sentTimes(tried)]).toEqual([[], 1]);
  });

  it('is not resent after its time limit, or if its client has cancelled it', async () => {
    const late = await run(open(), [LOST], performance.now() - 9_960);
    expect([late.resent, sentTimes(late)]).toEqual([[], 1]);
    const opened = open();
    const cancelled = run(opened);
    opened.call.cancellation.cancel();
    expect(await cancelled).toMatchObject({ result: err({ code: 'CANCELLED' }), resent: [] });
  });

  it('fails with the first cause if a permanent failure follows', async () => {
    const tried = await run(open(), [LOST, LATE]);
    expect(tried.result).toEqual(err({ ...LOST, sent: { effect: 'unknown', times: 2, mayRepeat: true } }));
  });

  it('may be repeated by its client without another approval, unless it timed out', async () => {
    const lost = approved(open({ retries: 0 }));
    await run(lost);
    expect(lost.call.deps.repeats.take(lost.call)).toBe(true);
    const late = approved(open());
    expect(sentTimes(await run(late, [LATE]))).toBe(1);
    expect(late.call.deps.repeats.take(late.call)).toBe(false);
  });

  it('does not repeat progress after a resend, since progress must increase', async () => {
    const { call, notifications } = open();
    const note = readServerMessage(buildNotificationText('notifications/progress', '{"progress":1}'));
    if (note.kind !== 'notification') throw new Error('no notification');
    call.repeats = 1;
    call.onNotification(note, note.bytes);
    call.onNotification(note, note.bytes);
    call.repeats = 2;
    call.onNotification(note, note.bytes);
    expect(notifications).toHaveLength(2);
  });
});

describe('a call that did not reach its server', () => {
  it.each([{ idempotentHint: false }, IDEMPOTENT])(
    'is resent once, idempotent or not: %o',
    async (annotations) => {
      const tried = await run(open({ annotations, retries: 0 }), [UNSENT, UNSENT]);
      expect(tried).toMatchObject({ result: err(UNSENT), resent: [true] });
    },
  );

  it('is not resent if the second attempt is lost, unless its tool is idempotent', async () => {
    const added = await run(open({ annotations: { idempotentHint: false } }), [UNSENT, LOST]);
    expect([added.resent, sentTimes(added)]).toEqual([[true], 1]);
    const set = await run(open(), [UNSENT, LOST]);
    expect([set.resent, set.result]).toEqual([[true, false], DONE]);
  });
});

function approved(opened: Opened): Opened {
  return { ...opened, call: Object.assign(opened.call, { approval: { id: 'a', by: 'ann', scope: 'once' } }) };
}

function changed(change: (call: Call, server: Server) => void): Opened {
  const opened = open();
  change(opened.call, opened.server);
  return opened;
}
