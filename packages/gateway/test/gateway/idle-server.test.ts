import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { ok } from '@assay-mcp/kit/result';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import { type Decision, NO_POLICY } from '../../src/core/policy/policy.ts';
import { LOCAL_USER } from '../../src/core/subject.ts';
import type { Server } from '../../src/gateway/catalog/server.ts';
import { ServerUse } from '../../src/gateway/catalog/server-use.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import type { Connect, Link } from '../../src/gateway/ports/link.ts';
import type { Log } from '../../src/gateway/ports/log.ts';
import { type Answer, Call } from '../../src/gateway/relay/call.ts';
import { createRelay } from '../../src/gateway/relay/pipeline.ts';
import { listLink } from './list-link.ts';
import { type Given, listed, NOTHING_ASKS, SILENT, tool } from './listed-server.ts';
import type { Json } from '../../../../test/support/json.ts';

const READS = tool('act', { annotations: { readOnlyHint: true } });
const DESTROYS = tool('act', { annotations: { destructiveHint: true } });

interface Opened {
  readonly server: Server;
  /** What happened to its processes, in order. */
  readonly events: string[];
  readonly call: () => Promise<Answer>;
  /** The decisions about calls, by what the tool declared. */
  readonly decided: (boolean | undefined)[];
}

interface Made extends Given {
  /** What its processes list. */
  readonly tools?: readonly Json[];
  readonly decide?: () => Decision;
  /** Answers a call. */
  readonly answer?: (send: () => ReturnType<Link['send']>) => ReturnType<Link['send']>;
}

function open({ tools = [READS], decide, answer = (send) => send(), ...given }: Made = {}): Opened {
  const events: string[] = [];
  const decided: (boolean | undefined)[] = [];
  const connect: Connect = (_, { events: on }) => {
    events.push('start');
    const link = listLink((method) => JSON.stringify(method === 'tools/list' ? { tools } : {}));
    const send: Link['send'] = (request) => {
      if (request.message.method !== 'tools/call') return link.send(request);
      events.push('call');
      return answer(() => link.send(request));
    };
    const close: Link['close'] = (cause) => {
      events.push('stop');
      on.ended(cause);
      return Promise.resolve();
    };
    return Promise.resolve(ok({ ...link, send, close }));
  };
  const server = listed(
    's',
    {},
    {
      connect,
      idleMs: 300_000,
      remembered: { tools: [READS] },
      onChange: () => view.invalidate(),
      ...given,
    },
  );
  onTestFinished(() => server.stop());
  const policy = {
    ...NO_POLICY,
    decide: ({ tool: called }: { readonly tool?: Call['tool'] }): Decision => {
      decided.push(called?.hints.readOnlyHint.emitted);
      return decide?.() ?? { kind: 'allow', reasons: [{ code: 'own_tool' }] };
    },
  };
  const relay = createRelay({ ...NOTHING_ASKS, policy: { current: policy } });
  const view = new View({
    endpoint: 'all',
    servers: () => [server],
    isAggregated: true,
    settled: () => Promise.resolve(),
  });
  const call = (): Promise<Answer> =>
    relay.answer(
      new Call({
        caller: { era: 'legacy', relay, view, clientInfo: undefined, logLevel: undefined },
        identity: LOCAL_USER,
        message: buildOwnRequest('tools/call', { name: 's_act', arguments: {} }),
        cancellation: new Cancellation(),
        client: { notify: () => undefined, ask: undefined },
        logLevel: undefined,
      }),
    );
  return { server, events, call, decided };
}

const IDLE = { state: 'idle', lost: undefined };

describe('a server whose lists are known', () => {
  it('is not started until a call needs it, and then it is up', async () => {
    const { server, events, call } = open();
    server.startWhenNeeded(true);
    expect([server.state, events]).toEqual([IDLE, []]);
    await server.settled();
    expect((await call()).kind).toBe('relayed');
    expect([server.state.state, events]).toEqual(['up', ['start', 'call']]);
  });

  it.each([
    ['its entry has "keepAlive": true', { keepAlive: true }],
    ['servers.idleMs is 0', { idleMs: 0 }],
    ['the process is a command, which has no idle time', { idleMs: undefined }],
  ] as const)('is started at once if %s', async (_, given) => {
    const { server, events } = open(given as Made);
    server.startWhenNeeded(true);
    await expect.poll(() => server.state.state).toBe('up');
    expect(events).toEqual(['start']);
  });

  it('is not started by a refused call, a log level, a refresh or a settled list', async () => {
    const { server, events, call } = open({ decide: () => ({ kind: 'refuse', reasons: [] }) });
    server.startWhenNeeded(true);
    expect(await call()).toMatchObject({ kind: 'refused', refusal: { code: 'CALL_REFUSED' } });
    await server.requestLogLevel('debug');
    expect(await server.lists.readAgain()).toBe(false);
    server.startToList('tools');
    server.wake();
    expect([server.state, events]).toEqual([IDLE, []]);
  });

  it('is started by an operator who reads its lists again', async () => {
    const { server, events } = open();
    server.startWhenNeeded(true);
    await server.tryNow();
    expect([server.state.state, events]).toEqual(['up', ['start']]);
  });
});

it('a server whose lists are not known is started at once if they are wanted, else by their first reading', async () => {
  const { server, events } = open({ remembered: undefined } as unknown as Made);
  server.startWhenNeeded(false);
  expect([server.state, events]).toEqual([IDLE, []]);
  server.startToList('tools');
  await expect.poll(() => server.state.state).toBe('up');
  const other = open({ remembered: undefined } as unknown as Made);
  other.server.startWhenNeeded(true);
  await expect.poll(() => other.server.state.state).toBe('up');
});

describe('a call that wakes a server', () => {
  it('is decided with the definition that the server lists then', async () => {
    const { server, call, decided, events } = open({ tools: [DESTROYS] });
    server.startWhenNeeded(true);
    expect((await call()).kind).toBe('relayed');
    expect([decided, events]).toEqual([
      [true, undefined],
      ['start', 'call'],
    ]);
  });

  it('finds no tool that the server has no longer', async () => {
    const { server, call, events } = open({ tools: [] });
    server.startWhenNeeded(true);
    expect(await call()).toEqual({ kind: 'refused', refusal: { code: 'TOOL_UNKNOWN', name: 's_act' } });
    expect(events).toEqual(['start']);
  });

  it('starts one process, however many calls need it', async () => {
    const { server, call, events } = open();
    server.startWhenNeeded(true);
    const answers = await Promise.all([call(), call(), call()]);
    expect(answers.map(({ kind }) => kind)).toEqual(['relayed', 'relayed', 'relayed']);
    expect(events.filter((event) => event === 'start')).toHaveLength(1);
  });
});

describe('a running server', () => {
  const up = async (made: Made = {}): Promise<Opened> => {
    const opened = open(made);
    opened.server.start();
    await expect.poll(() => opened.server.state.state).toBe('up');
    return opened;
  };
  /** As if it had not been used for so long. */
  const pass = (server: Server, minutes: number): void => {
    server.use.lastUsedMs -= minutes * 60_000;
    server.adopt(server.spec);
  };
  /** A timer that is set later than that of its stop also runs later. */
  const due = (): Promise<void> => sleep(1);

  it('is stopped when it was not used for its idle time, and started again by the next call', async () => {
    const { server, events, call } = await up();
    pass(server, 4);
    await due();
    expect(server.state.state).toBe('up');
    pass(server, 1);
    await expect.poll(() => server.state).toEqual(IDLE);
    expect(events).toEqual(['start', 'stop']);
    expect((await call()).kind).toBe('relayed');
    expect(events).toEqual(['start', 'stop', 'start', 'call']);
  });

  it('keeps running while a call is in progress, a task is open or a client is subscribed', async () => {
    const held = Promise.withResolvers<undefined>();
    const { server, events, call } = await up({ trust: true, answer: (send) => held.promise.then(send) });
    const listener = (): void => undefined;
    const kept: unknown[] = [];
    const keep = async (): Promise<void> => {
      pass(server, 6);
      await due();
      kept.push([server.isBusy, server.state.state]);
    };
    const answer = call();
    await expect.poll(() => events).toContain('call');
    await keep();
    server.use.taskOpened('1', undefined);
    held.resolve(undefined);
    await answer;
    await keep();
    await server.subscriptions.subscribe('a://b', listener);
    server.use.taskEnded('1');
    await keep();
    expect(kept).toEqual([
      [true, 'up'],
      [true, 'up'],
      [true, 'up'],
    ]);
    server.subscriptions.unsubscribe('a://b', listener);
    await expect.poll(() => server.isBusy).toBe(false);
    pass(server, 6);
    await expect.poll(() => server.state).toEqual(IDLE);
  });

  it('is not stopped soon after a tool that is not known to be read-only, and the log says what is lost', async () => {
    const lines: unknown[] = [];
    const log: Log = { ...SILENT, info: (text, fields) => void lines.push([text, fields]) };
    const { server, call } = await up({ log });
    await call();
    pass(server, 29);
    await due();
    expect(server.state.state).toBe('up');
    pass(server, 1);
    await expect.poll(() => server.state).toEqual({ state: 'idle', lost: 'possible' });
    expect(lines).toContainEqual([
      'server is idle: its process was stopped, as it was not used. What it kept in memory is lost, and the next call starts it',
      { server: 's', unusedMs: expect.any(Number) as number, keptState: 'possible' },
    ]);
  });

  it('always runs once its entry has "keepAlive": true', async () => {
    const { server } = await up();
    pass(server, 6);
    await expect.poll(() => server.state).toEqual(IDLE);
    server.adopt({ ...server.spec, keepAlive: true });
    await expect.poll(() => server.state.state).toBe('up');
    pass(server, 60);
    await due();
    expect(server.state.state).toBe('up');
  });
});

it('a task is open until it ends or its time is over, and a new process has none', () => {
  const use = new ServerUse();
  use.taskOpened('a', undefined);
  use.taskOpened('b', -1);
  expect(use.isInUse).toBe(true);
  use.taskEnded('a');
  expect(use.isInUse).toBe(false);
  use.taskOpened('c', 60_000);
  use.restarted();
  expect(use.isInUse).toBe(false);
});
