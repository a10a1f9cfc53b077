import { pause } from '@assay-mcp/kit/platform/pause';
import { ok } from '@assay-mcp/kit/result';
import { runConcurrently } from '@assay-mcp/kit/run-concurrently';
import type { ArgumentSet } from '../arguments/choose-arguments.ts';
import { collectEffects } from '../judge/effects.ts';
import type { Trial, TrialCall } from '../judge/trial.ts';
import type { Observation } from '@assay-mcp/sandbox/observation';
import type { UnobservedReason } from '@assay-mcp/kit/verification/verdict';
import type { SetupCall } from './explore-tools.ts';
import { prepareServer } from './prepare-server.ts';
import { type CalledServer, controlWindow, joinObservations, type ServerRun, startPace } from './run-tool.ts';

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
  /** Calls that precede those of every tool, after which there is data. */
  readonly creatingCalls: readonly SetupCall[];
  /** A server whose start is over, in which the tools are called together first. It is closed. */
  readonly idle?: CalledServer | undefined;
}

/**
 * Calls tools in one server and watches it for late effects. If there are any, tools are watched apart, and the server
 * without a call, so that a late effect is attributed to the tool that has it.
 */
export async function watchTools(tools: readonly WatchedTool[], run: WatchRun): Promise<Watched> {
  const callable = tools.filter(({ sets }) => sets.length > 0);
  if (callable.length === 0) return NO_EFFECTS;
  const shared = await watch(callable, listSetup(callable, run), { ...run, isFirst: true });
  if (shared === undefined || run.signal.aborted) {
    const reason = run.signal.aborted ? 'time_limit' : FAILED;
    return { trials: new Map(), unwatched: new Map(callable.map(({ name }) => [name, reason])) };
  }
  if (isClean(shared, run)) return NO_EFFECTS;
  const { control, together, trials, clean } = await watchApart(callable, shared, run);
  const known = new Set([control, ...trials.values()].flatMap((trial) => [...targetsOf(trial, run)]));
  const isAttributed =
    control !== undefined &&
    together !== undefined &&
    [...targetsOf(together, run)].every((target) => known.has(target));
  const reasonFor = (name: string): UnobservedReason | undefined => {
    if (run.signal.aborted) return 'time_limit';
    if (!isAttributed) return 'unattributed_change';
    return trials.has(name) || clean.has(name) ? undefined : FAILED;
  };
  const unwatched = callable.flatMap(({ name }) => {
    const reason = reasonFor(name);
    return reason === undefined ? [] : [[name, reason] as const];
  });
  return { trials, unwatched: new Map(unwatched) };
}

const FAILED = 'server_failed';
const NO_EFFECTS: Watched = { trials: new Map(), unwatched: new Map() };

interface Apart {
  /** Without a call. */
  readonly control: Trial | undefined;
  /** With calls of all tools, and watched for late effects. */
  readonly together: Trial | undefined;
  /** One for each tool that was watched alone. */
  readonly trials: ReadonlyMap<string, Trial>;
  /** Names of tools that were watched together, in a server in which nothing changed. */
  readonly clean: ReadonlySet<string>;
}

/**
 * Watches the tools alone after whose calls something changed at once, and the others together. If something changes
 * there too, those are also watched alone.
 */
async function watchApart(tools: readonly WatchedTool[], shared: SharedTrial, run: WatchRun): Promise<Apart> {
  // Without a call, the server is watched after the setups of all tools.
  const watchEach = (groups: readonly (readonly WatchedTool[])[]): Promise<readonly WatchedGroup[]> =>
    runConcurrently(groups, run.parallel, async (group) => ({
      group,
      trial: await watch(group, listSetup(group.length === 0 ? tools : group, run), run),
    }));
  const all = shared.isWatched ? [] : [tools];
  const split = splitByActivity(tools, shared);
  const watched = await watchEach([[], ...all, ...split]);
  const [idle] = watched;
  const first = watched.slice(1 + all.length);
  const several = first.filter(({ group }) => group.length > 1);
  const clean = several.filter(({ trial }) => isClean(trial, run));
  const doubtful = several.filter((one) => !clean.includes(one));
  const second = await watchEach(doubtful.flatMap(({ group }) => group.map((tool) => [tool])));
  const trials = [...first, ...second].flatMap(({ group, trial }) => {
    const [tool] = group;
    if (tool === undefined || group.length > 1 || trial === undefined) return [];
    const control =
      idle?.trial === undefined ? trial.control : joinObservations(trial.control, idle.trial.late);
    return [[tool.name, { ...trial, control }] as const];
  });
  return {
    control: idle?.trial,
    together: shared.isWatched ? shared : watched[1]?.trial,
    trials: new Map(trials),
    clean: new Set(clean.flatMap(({ group }) => group.map(({ name }) => name))),
  };
}

interface SharedTrial extends Trial {
  /** Names of the tools after whose calls something changed at once. */
  readonly active: ReadonlySet<string>;
  readonly hasEnded: boolean;
  /** Whether it was watched for late effects. */
  readonly isWatched: boolean;
}

interface WatchedGroup {
  readonly group: readonly WatchedTool[];
  readonly trial: SharedTrial | undefined;
}

/** The tools that had no effect at once, and each of the others alone. */
function splitByActivity(
  tools: readonly WatchedTool[],
  shared: SharedTrial,
): readonly (readonly WatchedTool[])[] {
  const each = tools.map((tool) => [tool]);
  // Tools after the one that ended the server were not called.
  if (shared.hasEnded) return each;
  const rest = tools.filter(({ name }) => !shared.active.has(name));
  if (rest.length === tools.length || rest.length === 0) return each;
  return [rest, ...each.filter(([tool]) => tool !== undefined && shared.active.has(tool.name))];
}

function isClean(trial: SharedTrial | undefined, run: WatchRun): boolean {
  return trial !== undefined && !trial.hasEnded && targetsOf(trial, run).size === 0;
}

function targetsOf(trial: Trial | undefined, run: WatchRun): ReadonlySet<string> {
  const seen = trial === undefined ? [] : [...trial.calls.map(({ observation }) => observation), trial.late];
  return collectTargets(seen, run);
}

function collectTargets(seen: readonly Observation[], { seed, background }: WatchRun): ReadonlySet<string> {
  const effects = seen.flatMap((observation) => collectEffects(observation, { seed }));
  const counted = effects.filter(({ noise, target }) => noise === undefined && !background.has(target));
  return new Set(counted.map(({ target }) => target));
}

/** The calls that precede those of tools, each once. */
function listSetup(tools: readonly WatchedTool[], { creatingCalls }: WatchRun): readonly SetupCall[] {
  return [...new Set([...tools.flatMap(({ setup }) => setup), ...creatingCalls])];
}

/**
 * A trial with the calls of all these tools. Undefined if the server does not start. `isFirst`: late effects are not
 * waited for if something changes at once, since the tools are then watched apart in any case.
 */
async function watch(
  tools: readonly WatchedTool[],
  setup: readonly SetupCall[],
  { isFirst = false, ...run }: WatchRun & { readonly isFirst?: boolean },
): Promise<SharedTrial | undefined> {
  const idle = isFirst && run.idle?.hasEnded === false ? run.idle : undefined;
  const opened = idle === undefined ? await run.openServer() : ok(idle);
  if (!opened.ok) return undefined;
  const sandboxed = opened.value;
  const { signal } = run;
  const pace = idle === undefined ? run.pace : { ...run.pace, startMs: 0 };
  try {
    const pending = new Set(idle === undefined ? run.startTargets : []);
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
    const active = new Set<string>();
    for (const { name, sets } of tools)
      for (const { args } of sets.map(replace)) {
        if (sandboxed.hasEnded || signal.aborted) break;
        const atMs = Date.now();
        const { answer } = await sandboxed.call(name, args, { limitMs: pace.callLimitMs, signal });
        await pause(pace.settleMs);
        const observation = await observe();
        calls.push({ number: calls.length + 1, atMs, answer, observation });
        if (collectTargets([observation], run).size > 0) active.add(name);
      }
    const isWatched = !isFirst || (!sandboxed.hasEnded && active.size === 0);
    if (isWatched) await pause(run.watchMs, signal);
    const first = tools[0]?.sets[0];
    return {
      args: first?.args ?? {},
      origin: first?.origin ?? 'generated',
      shape: first?.shape ?? '',
      ...{ control, pending: stillPending, calls, late: await observe() },
      ...{ end: undefined, endWithoutCall: undefined, replay: undefined },
      ...{ active, hasEnded: sandboxed.hasEnded, isWatched },
    };
  } finally {
    await sandboxed.close();
  }
}
