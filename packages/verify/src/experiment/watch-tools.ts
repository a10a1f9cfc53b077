import { pause } from '@assay-mcp/kit/platform/pause';
import type { ArgumentSet } from '../arguments/choose-arguments.ts';
import { collectEffects } from '../judge/effects.ts';
import type { Trial, TrialCall } from '../judge/trial.ts';
import type { Observation } from '@assay-mcp/sandbox/observation';
import type { UnobservedReason } from '@assay-mcp/kit/verification/verdict';
import type { SetupCall } from './explore-tools.ts';
import { prepareServer } from './prepare-server.ts';
import { controlWindow, type ServerRun, startPace } from './run-tool.ts';

export interface WatchedTool {
  readonly name: string;
  /** Each is called once. */
  readonly sets: readonly ArgumentSet[];
  /** Calls that precede it. */
  readonly setup: readonly SetupCall[];
}

export interface Watched {
  /** One trial for each tool that was watched alone, because something changed while all were watched. */
  readonly trials: ReadonlyMap<string, Trial>;
  /** Why it is unknown whether a tool has late effects. */
  readonly unwatched: ReadonlyMap<string, UnobservedReason>;
}

export interface WatchRun extends ServerRun {
  readonly watchMs: number;
  /** Targets of effects that the server has without a call. */
  readonly background: ReadonlySet<string>;
  /** Number of servers that may run at once. */
  readonly parallel: number;
}

/**
 * Calls tools in one server and watches it for late effects. If there are any, each tool is watched alone, and the
 * server without a call, so that a late effect is attributed to the tool that has it.
 */
export async function watchTools(tools: readonly WatchedTool[], run: WatchRun): Promise<Watched> {
  const callable = tools.filter(({ sets }) => sets.length > 0);
  const watched = new Map<string, Trial>();
  const unwatched = (reason: UnobservedReason | undefined): Watched['unwatched'] =>
    new Map(
      callable.flatMap(({ name }) => {
        const own = run.signal.aborted ? 'time_limit' : (reason ?? (watched.has(name) ? undefined : FAILED));
        return own === undefined ? [] : [[name, own]];
      }),
    );
  if (callable.length === 0) return { trials: watched, unwatched: new Map() };
  const setup = setupOf(callable);
  const shared = await watch(callable, setup, run);
  if (shared === undefined || run.signal.aborted) return { trials: watched, unwatched: unwatched(FAILED) };
  const together = targetsOf(shared, run);
  if (together.size === 0 && !shared.hasEnded) return { trials: watched, unwatched: new Map() };
  const control = await watchAlone(callable, watched, run);
  const known = [control, ...watched.values()].flatMap((trial) => [...targetsOf(trial, run)]);
  const isAttributed = control !== undefined && [...together].every((target) => known.includes(target));
  return { trials: watched, unwatched: unwatched(isAttributed ? undefined : 'unattributed_change') };
}

const FAILED = 'server_failed';

/** Adds a trial for each tool. Resolves with one without a call, whose effects are those of the others' controls too. */
async function watchAlone(
  tools: readonly WatchedTool[],
  watched: Map<string, Trial>,
  run: WatchRun,
): Promise<Trial | undefined> {
  const queue: (readonly WatchedTool[])[] = [[], ...tools.map((tool) => [tool])];
  let control: Trial | undefined;
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      // Without a call, the server is watched after the setups of all tools.
      const trial = await watch(next, setupOf(next.length === 0 ? tools : next), run);
      if (next[0] === undefined) control = trial;
      else if (trial !== undefined) watched.set(next[0].name, trial);
    }
  };
  await Promise.all(Array.from({ length: run.parallel }, work));
  const idle = control?.late;
  if (idle !== undefined)
    for (const [name, trial] of watched)
      watched.set(name, { ...trial, control: joined(trial.control, idle) });
  return control;
}

function targetsOf(trial: Trial | undefined, { seed, background }: WatchRun): ReadonlySet<string> {
  const seen = trial === undefined ? [] : [...trial.calls.map(({ observation }) => observation), trial.late];
  const effects = seen.flatMap((observation) => collectEffects(observation, { seed }));
  const counted = effects.filter(({ noise, target }) => noise === undefined && !background.has(target));
  return new Set(counted.map(({ target }) => target));
}

/** The calls that precede those of tools, each once. */
function setupOf(tools: readonly WatchedTool[]): readonly SetupCall[] {
  return [...new Set(tools.flatMap(({ setup }) => setup))];
}

/** A trial with the calls of all these tools. Undefined if the server does not start. */
async function watch(
  tools: readonly WatchedTool[],
  setup: readonly SetupCall[],
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
      for (const { target } of collectEffects(observation, run)) pending.delete(target);
      return observation;
    };
    const replace = await prepareServer(sandboxed, setup, run);
    const control = await controlWindow(observe, sandboxed.openMs, {
      ...run,
      pace: startPace({ pace, setup }),
      pending,
    });
    const stillPending = new Set(pending);
    const calls: TrialCall[] = [];
    for (const { name, sets } of tools)
      for (const { args } of sets.map(replace)) {
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
