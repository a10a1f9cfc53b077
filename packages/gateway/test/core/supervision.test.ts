import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cause } from '../../src/core/cause.ts';
import {
  INITIAL_STATE,
  isWorthWaiting,
  computeIdleStopMs,
  computeNextState,
  type DownState,
  type ServerState,
  type ServerEvent,
} from '../../src/core/supervision.ts';

const ended = (cause: Cause, nowMs = 0, chance = 0.5): ServerEvent => ({
  kind: 'ended',
  cause,
  nowMs,
  chance,
});
const ready = (nowMs: number): ServerEvent => ({ kind: 'ready', nowMs });
const exited = (exitCode: number): Cause => ({ code: 'PROCESS_EXITED', exitCode });
const SHUTDOWN: Cause = { code: 'SHUTTING_DOWN' };
const STOPPED: ServerEvent = { kind: 'stopped', cause: SHUTDOWN };
const BROKEN = exited(1);
const NO_COMMAND: Cause = { code: 'COMMAND_NOT_FOUND', command: 'x' };

function stateAfter(...events: readonly ServerEvent[]): ServerState {
  return events.reduce(computeNextState, INITIAL_STATE);
}

function downAfter(...events: readonly ServerEvent[]): DownState {
  const current = stateAfter(...events);
  if (!('nextMs' in current)) throw new Error(`it is ${current.state}`);
  return current;
}

describe('a server that exits', () => {
  it('is retried after doubling pauses, and backs off for a minute after the sixth exit in a row', () => {
    const states = [1, 2, 3, 4, 5, 6, 7, 50].map((count) =>
      downAfter(...Array.from({ length: count }, () => ended(BROKEN))),
    );
    expect(states.map(({ state, nextMs, failures }) => [state, nextMs, failures])).toEqual([
      ['restarting', 250, 1],
      ['restarting', 500, 2],
      ['restarting', 1_000, 3],
      ['restarting', 2_000, 4],
      ['restarting', 4_000, 5],
      ['backoff', 60_000, 6],
      ['backoff', 60_000, 7],
      ['backoff', 60_000, 50],
    ]);
  });

  it('is retried up to 20 % earlier or later, so that many do not restart at the same time', () => {
    expect([downAfter(ended(BROKEN, 0, 0)).nextMs, downAfter(ended(BROKEN, 0, 1)).nextMs]).toEqual([
      200, 300,
    ]);
  });

  it('keeps the first cause of its outage, however it fails afterwards', () => {
    const outage = [ready(0), ended({ code: 'PROCESS_KILLED', signal: 'SIGSEGV' }, 1), ended(exited(2), 2)];
    expect(downAfter(...outage).cause).toEqual({ code: 'PROCESS_KILLED', signal: 'SIGSEGV' });
    expect(downAfter(...outage, ready(3), ended(exited(3), 4))).toMatchObject({
      cause: { code: 'PROCESS_KILLED', signal: 'SIGSEGV' },
      failures: 3,
    });
  });

  it('begins a new outage if it was ready for more than ten seconds', () => {
    const late = [ended(BROKEN, 0), ready(1_000), ended(exited(9), 11_001)];
    expect(downAfter(...late)).toEqual({
      state: 'restarting',
      cause: exited(9),
      wasReady: true,
      failures: 1,
      endedMs: 11_001,
      nextMs: 11_251,
    });
  });

  it('waits for a sign-in if it lacks one, and is retried once a minute', () => {
    const cause: Cause = { code: 'SIGN_IN_NEEDED', server: 's', subject: 'local' };
    expect(downAfter(ended(cause, 100))).toMatchObject({
      state: 'unauthorized',
      cause,
      nextMs: 60_100,
    });
  });

  it('refuses calls with a permanent cause as the reason, and is retried once a minute', () => {
    expect(downAfter(ready(0), ended(BROKEN, 1), ended(NO_COMMAND, 2))).toEqual({
      state: 'refused',
      cause: NO_COMMAND,
      wasReady: true,
      failures: 2,
      endedMs: 2,
      nextMs: 60_002,
    });
  });
});

describe('a call', () => {
  it('waits for a server that was ready and is restarting, not for one that was never ready', () => {
    expect(isWorthWaiting(downAfter(ready(0), ended(BROKEN, 1)), 2)).toBe(true);
    expect(isWorthWaiting(downAfter(ended(BROKEN, 1)), 2)).toBe(false);
  });

  it('wakes a server in backoff or refusal, but not within five seconds of its last attempt', () => {
    const backingOff = downAfter(ready(0), ...Array.from({ length: 6 }, () => ended(BROKEN, 100)));
    const refused = downAfter(ended(NO_COMMAND, 100));
    for (const current of [backingOff, refused])
      expect([isWorthWaiting(current, 5_099), isWorthWaiting(current, 5_100)]).toEqual([false, true]);
  });
});

describe('a server that nothing needs', () => {
  const unneeded: ServerEvent = { kind: 'unneeded', lost: undefined };
  const needed: ServerEvent = { kind: 'needed' };

  it('is idle, whether it ran before or not, until a request needs it', () => {
    for (const before of [[], [ready(0)]])
      expect([stateAfter(...before, unneeded), stateAfter(...before, unneeded, needed)]).toEqual([
        { state: 'idle', lost: undefined },
        { state: 'starting', isWoken: true },
      ]);
  });

  it('is not idle while it is down, so that its cause is kept', () => {
    expect(stateAfter(ended(BROKEN, 1), unneeded)).toEqual(stateAfter(ended(BROKEN, 1)));
  });

  it('has not failed when its connection ends, and is not started by a request while it runs', () => {
    expect(stateAfter(ready(0), unneeded, ended(BROKEN, 9)).state).toBe('idle');
    expect(stateAfter(ready(0), needed)).toEqual(stateAfter(ready(0)));
  });

  it('stops when it was not used for its time, or for 30 minutes if it may keep state', () => {
    const minute = 60_000;
    const stopMs = (keptState: 'observed' | 'possible' | undefined, idleMs = 5 * minute): number =>
      computeIdleStopMs({ idleMs, lastUsedMs: minute, keptState }, 2 * minute) / minute;
    expect([stopMs(undefined), stopMs('possible'), stopMs('observed')]).toEqual([4, 29, 29]);
    expect([stopMs('possible', 90 * minute), stopMs(undefined, 1)]).toEqual([89, 0]);
  });
});

it('a stopped supervision stays stopped, and a ready server is up whatever happened before', () => {
  const event = fc.oneof(
    fc.nat().map(ready),
    fc
      .record({
        nowMs: fc.nat(),
        chance: fc.double({ min: 0, max: 1, noNaN: true }),
        cause: fc.constantFrom(BROKEN, NO_COMMAND),
      })
      .map(({ nowMs, chance, cause }) => ended(cause, nowMs, chance)),
  );
  fc.assert(
    fc.property(fc.array(event), fc.array(event), (before, after) => {
      expect(stateAfter(...before, STOPPED, ...after)).toEqual({ state: 'stopped', cause: SHUTDOWN });
      expect(stateAfter(...before, ready(7)).state).toBe('up');
    }),
  );
});
