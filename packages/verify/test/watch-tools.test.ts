// How late effects are attributed to the tools that were called in one server.
import { describe, expect, it } from 'vitest';
import { err, ok } from '@assay-mcp/kit/result';
import type { CalledServer } from '../src/experiment/run-tool.ts';
import { type Watched, watchTools } from '../src/experiment/watch-tools.ts';
import { collectEffects } from '../src/judge/effects.ts';
import type { Trial } from '../src/judge/trial.ts';
import type { StateChange } from '@assay-mcp/sandbox/observation';
import { answer, created, observation, SEED } from './observations.ts';

interface Server {
  /** What the call of a tool changes before the next observation. */
  readonly during?: Readonly<Record<string, StateChange>>;
  /** What a server changes after all calls; `called`: the tools that were called in it. */
  readonly late?: (called: readonly string[]) => readonly StateChange[];
  /** The tool that ends its server. */
  readonly ends?: string;
}

/** The first two observations are about the start, then there is one for each call, and the last one is late. */
function sandboxed({ during = {}, late = () => [], ends }: Server, called: string[]): CalledServer {
  const changes: StateChange[] = [];
  let observations = 0;
  return {
    get hasEnded() {
      return ends !== undefined && called.includes(ends);
    },
    openMs: 0,
    call: (name) => {
      called.push(name);
      if (during[name] !== undefined) changes.push(during[name]);
      return Promise.resolve({ answer: answer() });
    },
    observe: () => {
      observations += 1;
      const isLate = observations > 2 + called.length;
      return Promise.resolve(
        observation({ changes: [...changes.splice(0), ...(isLate ? late(called) : [])] }),
      );
    },
    finish: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

interface Seen {
  readonly watched: Watched;
  /** The tools that were called in each server, in the order of its start. */
  readonly servers: readonly (readonly string[])[];
}

/** Watches the tools `a`, `b` and `c`. `failing`: the number of the server that does not start. */
async function watch(
  server: Server,
  failing = 0,
  signal = new AbortController().signal,
  idle?: CalledServer,
): Promise<Seen> {
  const servers: string[][] = [];
  const watched = await watchTools(
    ['a', 'b', 'c'].map((name) => ({
      name,
      setup: [],
      sets: [{ args: {}, origin: 'fixture', shape: '{}' }],
    })),
    {
      pace: { controlMs: 1, startMs: 0, settleMs: 0, lateMs: 0, roundMs: 0, callLimitMs: 1_000, repeats: 2 },
      ...{ seed: SEED, startTargets: new Set(), background: new Set(['/seed/usual']), watchMs: 1 },
      ...{ parallel: 1, signal, idle, creatingCalls: [] },
      openServer: () => {
        const called: string[] = [];
        servers.push(called);
        return Promise.resolve(
          servers.length === failing
            ? err({ code: 'SERVER_NOT_STARTED' } as never)
            : ok(sandboxed(server, called)),
        );
      },
    },
  );
  return { watched, servers };
}

const targets = ({ calls, late }: Trial): readonly string[] =>
  [...calls.map((call) => call.observation), late].flatMap((one) =>
    collectEffects(one, { seed: SEED }).map(({ target }) => target),
  );
const effectsOf = ({ trials }: Watched): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries([...trials].map(([name, trial]) => [name, targets(trial)]));
const inControl = ({ control }: Trial): readonly string[] => control.changes.map(({ path }) => path);

const TOGETHER = ['a', 'b', 'c'];
const EACH = [[], ['a'], ['b'], ['c']];
/** If something changed after the call of `b` at once, so that late effects of all were not waited for. */
const B_ALONE = [[], TOGETHER, ['a', 'c'], ['b']];
const LATE = [created('/seed/late')];

describe('tools that are watched', () => {
  it('are called together once, and not alone if nothing changes that is not usual', async () => {
    for (const late of [() => [], () => [created('/seed/usual')]]) {
      const { watched, servers } = await watch({ late });
      expect(servers).toEqual([TOGETHER]);
      expect(watched).toEqual({ trials: new Map(), unwatched: new Map() });
    }
  });

  it('are called together in a server that runs already, unless it has ended', async () => {
    const called: string[] = [];
    const ended = ['c'];
    const running = (own: string[]): CalledServer => sandboxed({ ends: 'c' }, own);
    expect((await watch({}, 0, undefined, sandboxed({}, called))).servers).toEqual([]);
    expect(called).toEqual(TOGETHER);
    expect((await watch({}, 0, undefined, running(ended))).servers).toEqual([TOGETHER]);
    expect(ended).toEqual(['c']);
  });

  it('are watched alone if something changes, so that it is attributed to one of them', async () => {
    const { watched, servers } = await watch({ late: (called) => (called.includes('b') ? LATE : []) });
    expect(servers).toEqual([TOGETHER, ...EACH]);
    expect(effectsOf(watched)).toEqual({ a: [], b: ['/seed/late'], c: [] });
    expect(watched.unwatched).toEqual(new Map());
  });

  it('are watched alone if something changes at once, and the others together', async () => {
    const during = { b: created('/seed/file') };
    const { watched, servers } = await watch({ during });
    expect(servers).toEqual([TOGETHER, ...B_ALONE]);
    expect(effectsOf(watched)).toEqual({ b: ['/seed/file'] });
    expect(watched.unwatched).toEqual(new Map());
  });

  it('are all watched alone if something also changes without the one that changes something at once', async () => {
    const during = { b: created('/seed/late') };
    const { watched, servers } = await watch({
      during,
      late: (called) => (called.includes('c') ? LATE : []),
    });
    expect(servers).toEqual([TOGETHER, ...B_ALONE, ['a'], ['c']]);
    expect(effectsOf(watched)).toEqual({ a: [], b: ['/seed/late'], c: ['/seed/late'] });
    expect(watched.unwatched).toEqual(new Map());
  });

  it('are compared with a server that is watched without a call', async () => {
    const { watched } = await watch({ late: () => LATE });
    expect([...watched.trials.values()].map(inControl)).toEqual([
      ['/seed/late'],
      ['/seed/late'],
      ['/seed/late'],
    ]);
  });

  it('are watched alone if one of them ends its server', async () => {
    const { servers } = await watch({ ends: 'a' });
    expect(servers).toEqual([['a'], [], ['a'], ['a'], ['b'], ['c']]);
  });

  it('all remain open if only several of them together have an effect', async () => {
    const { watched } = await watch({ late: (called) => (called.length > 1 ? LATE : []) });
    expect(Object.fromEntries(watched.unwatched)).toEqual({
      a: 'unattributed_change',
      b: 'unattributed_change',
      c: 'unattributed_change',
    });
  });

  it('remain open if only several of them together have a late effect, though one also has one at once', async () => {
    const during = { b: created('/seed/file') };
    let servers = 0;
    const late = (called: readonly string[]): readonly StateChange[] => {
      servers += 1;
      // The first server is not watched that long, since something changes at once.
      return servers > 1 && called.includes('a') && called.includes('b') ? LATE : [];
    };
    const { watched } = await watch({ during, late });
    expect([...watched.unwatched.keys()]).toEqual(TOGETHER);
  });

  it('remain open if their server does not start', async () => {
    const all = { a: 'server_failed', b: 'server_failed', c: 'server_failed' };
    expect(Object.fromEntries((await watch({}, 1)).watched.unwatched)).toEqual(all);
    // The fifth server is for `c` alone.
    const late = (called: readonly string[]): readonly StateChange[] => (called.includes('b') ? LATE : []);
    expect(Object.fromEntries((await watch({ late }, 5)).watched.unwatched)).toEqual({
      c: 'server_failed',
    });
  });

  it('remain open at the time limit', async () => {
    const { watched } = await watch({}, 0, AbortSignal.abort());
    expect(Object.fromEntries(watched.unwatched)).toEqual({
      a: 'time_limit',
      b: 'time_limit',
      c: 'time_limit',
    });
  });
});
