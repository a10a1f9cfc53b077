import { pause } from '../../platform/turns.ts';
import type { ArgumentSet } from '../arguments/choose-arguments.ts';
import { effectsOf } from '../judge/effects.ts';
import type { Trial, TrialCall } from '../judge/trial.ts';
import type { Observation } from '../observation.ts';
import { controlWindow, type ServerRun } from './run-tool.ts';

export interface WatchedTool {
  readonly name: string;
  /** Each is called once. */
  readonly sets: readonly ArgumentSet[];
}

export interface Watched {
  /** One trial for each tool that was watched alone, because something changed while all were watched. */
  readonly trials: ReadonlyMap<string, Trial>;
  /** Whether something changed that no tool alone did, nor the server without a call. */
  readonly isUnattributed: boolean;
}

export interface WatchRun extends ServerRun {
  readonly watchMs: number;
  /** Targets of effects that the server has without a call. */
  readonly background: ReadonlySet<string>;
  /** Number of servers that may run at once. */
  readonly parallel: number;
}

const NOTHING: Watched = { trials: new Map(), isUnattributed: false };

/**
 * Calls tools in one server and watches it for late effects. If there are any, each tool is watched alone, and the
 * server without a call, so that a late effect is attributed to the tool that has it.
 */
export async function watchTools(tools: readonly WatchedTool[], run: WatchRun): Promise<Watched> {
  const callable = tools.filter(({ sets }) => sets.length > 0);
  if (callable.length === 0) return NOTHING;
  const shared = await watch(callable, run);
  const together = targetsOf(shared, run);
  const isQuiet = together.size === 0 && shared?.hasEnded !== true;
  if (isQuiet || run.signal.aborted) return NOTHING;
  const queue: (readonly WatchedTool[])[] = [[], ...callable.map((tool) => [tool])];
  const alone = new Map<string, Trial>();
  let control: Trial | undefined;
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const trial = await watch(next, run);
      if (next[0] === undefined) control = trial;
      else if (trial !== undefined) alone.set(next[0].name, trial);
    }
  };
  await Promise.all(Array.from({ length: run.parallel }, work));
  const usual = targetsOf(control, run);
  const known = new Set([...usual, ...[...alone.values()].flatMap((trial) => [...targetsOf(trial, run)])]);
  const idle = control?.late;
  return {
    trials: new Map(
      [...alone].map(([name, trial]) => [
        name,
        idle === undefined ? trial : { ...trial, control: joined(trial.control, idle) },
      ]),
    ),
    isUnattributed: control === undefined || [...together].some((target) => !known.has(target)),
  };
}

function targetsOf(trial: Trial | undefined, { seed, background }: WatchRun): ReadonlySet<string> {
  const seen = trial === undefined ? [] : [...trial.calls.map(({ observation }) => observation), trial.late];
  const effects = seen.flatMap((observation) => effectsOf(observation, { seed }));
  const counted = effects.filter(({ noise, target }) => noise === undefined && !background.has(target));
  return new Set(counted.map(({ target }) => target));
}

/** A trial with the calls of all these tools. Undefined if the server does not start. */
async function watch(
  tools: readonly WatchedTool[],
  run: WatchRun,
): Promise<(Trial & { readonly hasEnded: boolean }) | undefined> {
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  const sandboxed = opened.value;
  const { pace, signal } = run;
  try {
    const pending = new Set(run.startTargets);
    const observe = async (): Promise<Observation> => {
      const observation = await sandboxed.observe();
      for (const { target } of effectsOf(observation, run)) pending.delete(target);
      return observation;
    };
    const control = await controlWindow(observe, sandboxed.openMs, { ...run, pending });
    const stillPending = new Set(pending);
    const calls: TrialCall[] = [];
    for (const { name, sets } of tools)
      for (const { args } of sets) {
        if (sandboxed.hasEnded || signal.aborted) break;
        const atMs = Date.now();
        const { answer } = await sandboxed.call(name, args, { limitMs: pace.callLimitMs, signal });
        await pause(pace.settleMs);
        calls.push({ number: calls.length + 1, atMs, answer, observation: await observe() });
      }
    await pause(run.watchMs, signal);
    const first = tools[0]?.sets[0];
    return {
      args: first?.args ?? {},
      origin: first?.origin ?? 'generated',
      shape: first?.shape ?? '',
      ...{ control, pending: stillPending, calls, late: await observe() },
      ...{ end: undefined, endWithoutCall: undefined, replay: undefined },
      hasEnded: sandboxed.hasEnded,
    };
  } finally {
    await sandboxed.close();
  }
}

function joined(one: Observation, other: Observation): Observation {
  return {
    ...one,
    changes: [...one.changes, ...other.changes],
    events: [...one.events, ...other.events],
    network: [...one.network, ...other.network],
  };
}
