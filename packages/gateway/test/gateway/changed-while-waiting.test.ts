import { describe, expect, it, onTestFinished } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { type Decision, NO_POLICY } from '../../src/core/policy/policy.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { LOCAL_USER } from '../../src/core/subject.ts';
import type { Server } from '../../src/gateway/catalog/server.ts';
import { ResultCache } from '../../src/gateway/catalog/result-cache.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import type { Connect, Link } from '../../src/gateway/ports/link.ts';
import { type Answer, Call } from '../../src/gateway/relay/call.ts';
import { createRelay } from '../../src/gateway/relay/pipeline.ts';
import type { Relay } from '../../src/gateway/relay/call.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import type { Json } from '../../../../test/support/json.ts';
import { listLink } from './list-link.ts';
import { inventoryOf, listed, NOTHING_ASKS, tool } from './listed-server.ts';

const ALLOW: Decision = { kind: 'allow', reasons: [{ code: 'own_tool' }] };
const SAME = [tool('act')];
const OTHER = [tool('act', { annotations: { destructiveHint: true } })];
const READING = [tool('act', { annotations: { readOnlyHint: true, openWorldHint: false } })];
const CACHE = { 'cache.ttlMs': 60_000, 'cache.maxBytes': 1_000_000 };
const UNREADABLE = 'its list cannot be read';

interface Opened {
  readonly relay: Relay;
  readonly server: Server;
  readonly view: View;
  /** For each call that reached the server, the number of the process that received it. */
  readonly sent: number[];
  /** Ends the process. */
  readonly end: () => void;
  readonly revoke: () => void;
}

interface Given {
  /** Whether results are cached. */
  readonly isCached?: boolean;
  /** The server's tools after a restart. */
  readonly then?: readonly Json[] | typeof UNREADABLE;
  /** Sends the calls to the first process. */
  readonly first?: (opened: Pick<Opened, 'end'>, send: Link['send']) => Link['send'];
}

async function open({
  then = SAME,
  first = (_, send) => send,
  isCached = false,
}: Given = {}): Promise<Opened> {
  const sent: number[] = [];
  let starts = 0;
  let end = (): void => undefined;
  const connect: Connect = (_, { events }) => {
    starts += 1;
    const start = starts;
    const tools = start === 1 ? (isCached ? READING : SAME) : then;
    const list = (method: string): string =>
      JSON.stringify(method !== 'tools/list' || tools === UNREADABLE ? {} : { tools });
    const link = listLink(list);
    end = () => events.ended({ code: 'CONNECTION_CLOSED' });
    const plain: Link['send'] = (request) => link.send(request);
    const answered = start === 1 ? first({ end }, plain) : plain;
    const send: Link['send'] = (request) => {
      if (request.message.method !== 'tools/call') return plain(request);
      sent.push(start);
      return answered(request);
    };
    return Promise.resolve(ok({ ...link, send }));
  };
  const limits = { 'limits.requestsPerServer': 1 };
  const server = listed('s', {}, { connect, limits, trust: isCached });
  server.start();
  onTestFinished(() => server.stop());
  await server.waitUntilReady(new Cancellation());
  let isValid = true;
  const relay = createRelay({
    ...NOTHING_ASKS,
    tokens: { gate: { isHolder: () => isValid, refresh: () => Promise.resolve() } },
    policy: { current: { ...NO_POLICY, decide: () => ALLOW } },
    ...(isCached && { results: new ResultCache({ limits: CACHE, nowMs: () => 0 }) }),
  });
  const view = new View({
    endpoint: 'all',
    servers: () => [server],
    isAggregated: true,
    settled: () => Promise.resolve(),
  });
  return { server, relay, view, sent, end: () => end(), revoke: () => (isValid = false) };
}

function act({ relay, view }: Pick<Opened, 'relay' | 'view'>): Promise<Answer> {
  return relay.answer(
    new Call({
      caller: { era: 'legacy', relay, view, clientInfo: undefined, logLevel: undefined },
      identity: LOCAL_USER,
      message: buildOwnRequest('tools/call', { name: 's_act', arguments: {} }),
      cancellation: new Cancellation(),
      client: { notify: () => undefined, ask: undefined },
      logLevel: undefined,
    }),
  );
}

const CHANGED = { kind: 'refused', refusal: { code: 'TOOL_CHANGED', tool: 's_act' } };

describe('a call decided while its server was down', () => {
  async function callWhileDown(given: Given): Promise<{ answered: Answer; sent: readonly number[] }> {
    const { server, relay, view, sent, end } = await open(given);
    end();
    await expect.poll(() => server.link).toBeUndefined();
    return { answered: await act({ relay, view }), sent };
  }

  it('is sent when the server is up again', async () => {
    const { answered, sent } = await callWhileDown({});
    expect([answered.kind, sent]).toEqual(['relayed', [2]]);
  });

  it.each([
    ['the tool has changed by then', OTHER],
    ['the tool is gone by then', []],
    ['the tools cannot be listed then', UNREADABLE],
  ] as const)('is not sent if %s', async (_, then) => {
    expect(await callWhileDown({ then })).toEqual({ answered: CHANGED, sent: [] });
  });
});

it('a call that did not reach its server is resent after a restart only if the tool is unchanged', async () => {
  const cause = { code: 'CONNECTION_CLOSED' } as const;
  const first: Given['first'] =
    ({ end }) =>
    () => {
      end();
      return Promise.resolve(err({ code: 'SERVER_UNREACHED', server: 's', cause }));
    };
  const same = await open({ first });
  expect([(await act(same)).kind, same.sent]).toEqual(['relayed', [1, 2]]);
  const other = await open({ first, then: OTHER });
  expect([await act(other), other.sent]).toEqual([CHANGED, [1]]);
});

it.each([
  [SAME, 'relayed', [1, 1]],
  [OTHER, 'refused', [1]],
] as const)('a queued call is sent only if the tool is unchanged: %j', async (tools, kind, reached) => {
  const held = Promise.withResolvers<undefined>();
  const { server, relay, view, sent } = await open({
    first: (_, send) => (request) => held.promise.then(() => send(request)),
  });
  const before = act({ relay, view });
  const waiting = act({ relay, view });
  server.lists.inventory = { ...server.lists.inventory, ...inventoryOf({ tools }) };
  held.resolve(undefined);
  expect((await before).kind).toBe('relayed');
  expect([(await waiting).kind, sent]).toEqual([kind, reached]);
});

it('a call that waited for an identical call is not sent if the tool has changed by then', async () => {
  const held = Promise.withResolvers<undefined>();
  const { server, relay, view, sent } = await open({
    isCached: true,
    first: (_, send) => (request) => held.promise.then(() => send(request)),
  });
  const before = act({ relay, view });
  await expect.poll(() => sent).toEqual([1]);
  const waiting = act({ relay, view });
  server.lists.inventory = { ...server.lists.inventory, ...inventoryOf({ tools: OTHER }) };
  held.resolve(undefined);
  expect((await before).kind).toBe('relayed');
  expect([await waiting, sent]).toEqual([CHANGED, [1]]);
});

describe('a call whose token ends while it waits is not sent', () => {
  const ENDED = {
    kind: 'refused',
    refusal: { code: 'TOKEN_REQUIRED', reason: expect.any(String) as string },
  };
  const hold = (): { readonly first: NonNullable<Given['first']>; readonly release: () => void } => {
    const held = Promise.withResolvers<undefined>();
    const first: Given['first'] = (_, send) => (request) => held.promise.then(() => send(request));
    return { first, release: () => held.resolve(undefined) };
  };

  it.each([
    ['in the queue', false],
    ['for an identical call, whose result it does not get', true],
  ])('%s', async (_, isCached) => {
    const { first, release } = hold();
    const { relay, view, sent, revoke } = await open({ first, isCached });
    const before = act({ relay, view });
    await expect.poll(() => sent).toEqual([1]);
    const waiting = act({ relay, view });
    revoke();
    release();
    expect((await before).kind).toBe('relayed');
    expect([await waiting, sent]).toEqual([ENDED, [1]]);
  });

  it('for a server that starts', async () => {
    const { server, relay, view, sent, end, revoke } = await open();
    end();
    await expect.poll(() => server.link).toBeUndefined();
    const waiting = act({ relay, view });
    revoke();
    expect([await waiting, sent]).toEqual([ENDED, []]);
  });

  it('for a retry', async () => {
    const cause = { code: 'CONNECTION_CLOSED' } as const;
    let revoke = (): void => undefined;
    const first: Given['first'] = (opened) => () => {
      opened.end();
      revoke();
      return Promise.resolve(err({ code: 'SERVER_UNREACHED', server: 's', cause }));
    };
    const opened = await open({ first });
    revoke = opened.revoke;
    expect([await act(opened), opened.sent]).toEqual([ENDED, [1]]);
  });
});
