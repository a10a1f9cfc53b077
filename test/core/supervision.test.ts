import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cause } from '../../src/core/cause.ts';
import {
  INITIAL_STATE,
  isWorthWaiting,
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
