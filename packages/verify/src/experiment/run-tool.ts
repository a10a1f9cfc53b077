import type { UnobservedReason } from '@assay-mcp/kit/verification/verdict';
import type { Result } from '@assay-mcp/kit/result';
import { pause } from '@assay-mcp/kit/platform/pause';
import type { ArgumentSet } from '../arguments/choose-arguments.ts';
import { collectEffects, isQuiet } from '../judge/effects.ts';
import { answersDiffer } from '../judge/signals.ts';
import { isSuccess, type Answer, type Trial, type TrialCall } from '../judge/trial.ts';
import type { Observation } from '@assay-mcp/sandbox/observation';
import type { SandboxedServerFault, SandboxedServer } from './sandboxed-server.ts';

/** Times in ms, and numbers of calls. */
export interface Pace {
  /** Idle time before the first call, to see effects without a call. */
  readonly controlMs: number;
  /**
   * How long the server keeps starting after its first list. The first call waits for a quiet period of this length.
   */
  readonly startMs: number;
  /** Time after each call. */
  readonly settleMs: number;
  /** Time after the last call. */
  readonly lateMs: number;
  /** Time limit for one call. */
  readonly callLimitMs: number;
  /** Number of identical calls with each set of arguments, at least 2. */
  readonly repeats: number;
}

/** How servers are started and watched, whatever tool is called. */
export interface ServerRun {
  readonly pace: Pace;
  readonly seed: string;
  /** Files that the server changes when it starts. */
  readonly startTargets: ReadonlySet<string>;
  readonly openServer: () => Promise<Result<CalledServer, SandboxedServerFault>>;
  readonly signal: AbortSignal;
}

export interface ToolRun extends ServerRun {
  readonly tool: string;
  readonly sets: readonly ArgumentSet[];
  /** What the server does when it is asked to end and no tool was called. Undefined if it does not start. */
  readonly endWithoutCall: () => Promise<Observation | undefined>;
}

/** The part of a sandboxed server that a run needs. */
export type CalledServer = Pick<
  SandboxedServer,
  'call' | 'observe' | 'hasEnded' | 'openMs' | 'finish' | 'close'
>;

export interface ToolTrials {
  readonly trials: readonly Trial[];
  readonly stopped: UnobservedReason | undefined;
}

/**
 * Calls a tool with each set of arguments, in one sandbox as long as nothing fails. A set is tried again in a fresh
 * one, with more time for late effects, if it fails after others, seems not to be idempotent, or has effects that may
 * be from the start of the server.
 */
export async function runTool(run: ToolRun): Promise<ToolTrials> {
  const trials: Trial[] = [];
  let sandboxed: CalledServer | undefined;
  let isFresh = true;
  let pending = new Set(run.startTargets);
  const isStopped = (): boolean => run.signal.aborted;
  try {
    for (const set of run.sets) {
      if (isStopped()) return { trials, stopped: 'time_limit' };
      if (sandboxed === undefined || sandboxed.hasEnded) {
        await sandboxed?.close();
        sandboxed = undefined;
        const opened = await run.openServer();
        if (!opened.ok) return { trials, stopped: isStopped() ? 'time_limit' : 'server_failed' };
        sandboxed = opened.value;
        isFresh = true;
        pending = new Set(run.startTargets);
      }
      const pace = isFresh ? run.pace : { ...run.pace, startMs: 0 };
      const trial = await runTrial(sandboxed, set, {
        ...run,
        pace,
        pending,
        isLast: set === run.sets.at(-1),
      });
      const again = !isFresh && !trial.calls.some(({ answer }) => isSuccess(answer));
      const isDoubtful = !isStopped() && (again || seemsToRepeat(trial, run) || mayBeOfStart(trial, run));
      trials.push(isDoubtful ? await inFreshWorld(set, run, trial) : trial);
      isFresh = false;
    }
  } finally {
    await sandboxed?.close();
  }
  if (isStopped()) return { trials, stopped: 'time_limit' };
  return { trials: await withReplays(trials, run), stopped: undefined };
}

/** Whether a repeated call changed something, which may be a late effect of the call before it. */
function seemsToRepeat(trial: Trial, { seed }: ToolRun): boolean {
  return trial.calls
    .slice(1)
    .some(({ observation }) =>
      collectEffects(observation, { seed }).some(
        ({ kind, noise }) => kind !== 'network' && noise === undefined,
      ),
    );
}

/** Whether something changed that the start of the server was still expected to change. */
function mayBeOfStart({ pending, calls, late }: Trial, { seed }: ToolRun): boolean {
  return [...calls.map(({ observation }) => observation), late].some((observation) =>
    collectEffects(observation, { seed }).some(({ target }) => pending.has(target)),
  );
}

/** Repeats the trial alone, with more time after each call. Returns the former one if the server does not start. */
async function inFreshWorld(set: ArgumentSet, run: ToolRun, former: Trial): Promise<Trial> {
  const opened = await run.openServer();
  if (!opened.ok) return former;
  try {
    const pace = { ...run.pace, startMs: 2 * run.pace.startMs, settleMs: run.pace.lateMs };
    const pending = new Set(run.startTargets);
    return await runTrial(opened.value, set, { ...run, pace, pending, isLast: true });
  } finally {
    await opened.value.close();
  }
}

interface TrialRun extends ToolRun {
  /** What the start of this process is still expected to change. Updated with each observation. */
  readonly pending: Set<string>;
  /** Whether nothing follows in this sandbox, so that late effects are waited for. */
  readonly isLast: boolean;
}

async function runTrial(sandboxed: CalledServer, set: ArgumentSet, run: TrialRun): Promise<Trial> {
  const { tool, pace, isLast, signal } = run;
  const { args, origin, shape } = set;
  const observe = (): Promise<Observation> => observed(sandboxed, run);
  const control = await controlWindow(observe, sandboxed.openMs, run);
  const pending = new Set(run.pending);
  const calls: TrialCall[] = [];
  for (let number = 1; number <= pace.repeats; number += 1) {
    const atMs = Date.now();
    const { answer } = await sandboxed.call(tool, args, { limitMs: pace.callLimitMs, signal });
    await pause(pace.settleMs);
    calls.push({ number, atMs, answer, observation: await observe() });
    // A call that failed with these arguments fails again.
    if (number === 1 && !isSuccess(answer)) break;
    if (sandboxed.hasEnded || signal.aborted) break;
  }
  if (isLast && !signal.aborted) await pause(pace.lateMs);
  const late = await observe();
  const end = isLast && !signal.aborted ? await ending(sandboxed) : undefined;
  const isEventful = end !== undefined && collectEffects(end, run).some(({ noise }) => noise === undefined);
  const endWithoutCall = isEventful ? await run.endWithoutCall() : undefined;
  return {
    ...{ args, origin, shape, control, pending, calls, late },
    ...{ end, endWithoutCall, replay: undefined },
  };
}

async function ending(sandboxed: CalledServer): Promise<Observation | undefined> {
  if (sandboxed.hasEnded) return undefined;
  await sandboxed.finish();
  return sandboxed.observe();
}

/** Starts a server and asks it to end without a call in between. Undefined if it does not start. */
export async function endWithoutCall(run: ServerRun): Promise<Observation | undefined> {
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  const sandboxed = opened.value;
  try {
    const pending = new Set(run.startTargets);
    await controlWindow(() => observed(sandboxed, { ...run, pending }), sandboxed.openMs, {
      ...run,
      pending,
    });
    return await ending(sandboxed);
  } finally {
    await sandboxed.close();
  }
}

const MAX_WINDOWS = 10;
/** Servers that start at the same time slow each other down, up to this factor. */
const MAX_SLOWNESS = 10;
const MIN_DELAY_MS = 5_000;
/** What follows the first list may take as long as the start until then, this many times. */
const MAX_DELAY_FACTOR = 3;

type Waiting = Pick<TrialRun, 'pace' | 'seed' | 'pending' | 'signal'>;

/** Observes effects without a call. Waits until the server has finished starting. */
export async function controlWindow(
  observe: () => Promise<Observation>,
  openMs: number,
  { pace: { controlMs, startMs }, seed, pending, signal }: Waiting,
): Promise<Observation> {
  await observe();
  const delayMs = Math.max(MIN_DELAY_MS, MAX_DELAY_FACTOR * openMs);
  const maxWindows = Math.max(MAX_WINDOWS, Math.min(MAX_SLOWNESS * startMs, startMs + delayMs) / controlMs);
  for (let window = 1, quietMs = 0; ; window += 1) {
    await pause(controlMs);
    const control = await observe();
    quietMs = isQuiet(control, { seed }) ? quietMs + controlMs : 0;
    const isStarted = startMs === 0 || (pending.size === 0 && quietMs >= startMs);
    const isOver = isStarted && quietMs > 0;
    if (isOver || window >= maxWindows || signal.aborted) return control;
  }
}

async function observed(
  sandboxed: CalledServer,
  { seed, pending }: Pick<TrialRun, 'seed' | 'pending'>,
): Promise<Observation> {
  const observation = await sandboxed.observe();
  for (const { target } of collectEffects(observation, { seed })) pending.delete(target);
  return observation;
}

/** Adds the first answer of a new process to one trial whose identical calls were answered differently. */
async function withReplays(trials: readonly Trial[], run: ToolRun): Promise<readonly Trial[]> {
  const at = trials.findIndex((trial) => answersDiffer(trial) && !hasChanged(trial, run));
  const trial = trials[at];
  if (trial === undefined) return trials;
  const replay = await replayed(trial, run);
  return replay === undefined ? trials : trials.with(at, { ...trial, replay });
}

function hasChanged({ calls }: Trial, { seed }: ToolRun): boolean {
  return calls.some(({ observation }) =>
    collectEffects(observation, { seed }).some(({ kind }) => kind !== 'network'),
  );
}

async function replayed({ args }: Trial, run: ToolRun): Promise<Answer | undefined> {
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  try {
    return (await opened.value.call(run.tool, args, { limitMs: run.pace.callLimitMs, signal: run.signal }))
      .answer;
  } finally {
    await opened.value.close();
  }
}
