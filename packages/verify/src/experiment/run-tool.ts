import type { LimitFunction } from 'p-limit';
import type { UnobservedReason } from '@assay-mcp/kit/verification/verdict';
import type { Result } from '@assay-mcp/kit/result';
import { pause } from '@assay-mcp/kit/platform/pause';
import type { ArgumentSet } from '../arguments/choose-arguments.ts';
import { collectEffects, isQuiet } from '../judge/effects.ts';
import { answersDiffer } from '../judge/signals.ts';
import { isSuccess, NOTHING, type Answer, type Trial, type TrialCall } from '../judge/trial.ts';
import type { Observation } from '@assay-mcp/sandbox/observation';
import { prepareServer } from './prepare-server.ts';
import type { SetupCall } from './explore-tools.ts';
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
  /** Time between two rounds of calls of the tools that show data. */
  readonly roundMs: number;
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
  /** Each is called repeatedly. */
  readonly sets: readonly ArgumentSet[];
  /** Each is called once, after the first of `sets`. */
  readonly variants: readonly ArgumentSet[];
  /** Calls that precede those of the tool, in alternatives: the next is tried if no call succeeds. At least one. */
  readonly setups: readonly (readonly SetupCall[])[];
  /** Calls of other tools after which there is more that this one could destroy. It is then also called after these. */
  readonly creatingCalls: readonly SetupCall[];
  /** What the server does when it is asked to end and no tool was called. Undefined if it does not start. */
  readonly endWithoutCall: () => Promise<Observation | undefined>;
  readonly limits: RunLimits;
}

/** Limits how many servers run at the same time. */
export interface RunLimits {
  /** For a tool with all its sets. */
  readonly first: LimitFunction;
  /** For a set that is called again in a server of its own. */
  readonly again: LimitFunction;
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
 * Calls a tool with its arguments, with the first setup after which a call succeeds. A tool that does not answer in time
 * is not called again with another setup.
 */
export async function runTool(run: ToolRun): Promise<ToolTrials> {
  const both = [runWithSetups(run), callWithMoreData(run)] as const;
  await Promise.allSettled(both);
  const [last, trial] = await Promise.all(both);
  if (trial === undefined || !hasSucceeded(trial) || !last.trials.some(hasSucceeded)) return last;
  return { ...last, trials: [...last.trials, trial] };
}

async function runWithSetups(run: ToolRun): Promise<ToolTrials> {
  let last: ToolTrials = { trials: [], stopped: undefined };
  for (const setup of run.setups) {
    last = await runWithSetup({ ...run, setup });
    if (last.stopped !== undefined || last.trials.some((trial) => hasSucceeded(trial) || hasTimedOut(trial)))
      return last;
  }
  return last;
}

/**
 * What one call with the first set does where other tools have created data. What happens there without the call is part
 * of its control, since it may be a late effect of their calls.
 */
async function callWithMoreData(run: ToolRun): Promise<Trial | undefined> {
  const { creatingCalls: setup, pace, signal } = run;
  const [set] = run.sets;
  if (setup.length === 0 || set === undefined) return undefined;
  const withData = { ...run, setup, pace: { ...pace, repeats: 1 } };
  return run.limits.again(async () => {
    const trial = signal.aborted ? undefined : await inFreshWorld(set, withData);
    if (trial === undefined || !hasSucceeded(trial) || !hasChanged(trial, run)) return trial;
    const idle = await watchWithoutCall(withData);
    return idle && { ...trial, control: joinObservations(trial.control, idle) };
  });
}

export function hasSucceeded({ calls }: Pick<Trial, 'calls'>): boolean {
  return calls.some(({ answer }) => isSuccess(answer));
}

function hasTimedOut({ calls }: Trial): boolean {
  return calls.some(({ answer }) => answer.kind === 'failed' && answer.reason === 'timeout');
}

interface PreparedRun extends ToolRun {
  readonly setup: readonly SetupCall[];
}

/** Calls a tool with each set of arguments, some of which are repeated in a fresh sandbox while the next are tried. */
async function runWithSetup(run: PreparedRun): Promise<ToolTrials> {
  const begun: Promise<Trial>[] = [];
  const onTrial = (trial: Promise<Trial>): void => {
    // A rejection is thrown below.
    trial.catch(() => undefined);
    begun.push(trial);
  };
  const stopped = await run.limits
    .first(() => trySets(run, onTrial))
    .finally(() => Promise.allSettled(begun));
  const trials = await Promise.all(begun);
  const reason = run.signal.aborted ? 'time_limit' : stopped;
  return { trials: reason === undefined ? await withReplays(trials, run) : trials, stopped: reason };
}

/**
 * Calls a tool with each set of arguments, in one sandbox as long as nothing fails. A set is repeated in a fresh one,
 * with more time for late effects, if it fails after others, seems not to be idempotent, or has effects that may be
 * from the start of the server or from the calls before. Returns why it stopped early.
 */
async function trySets(
  run: PreparedRun,
  onTrial: (trial: Promise<Trial>) => void,
): Promise<UnobservedReason | undefined> {
  let sandboxed: CalledServer | undefined;
  let replace: Rebind = same;
  let isFresh = true;
  let pending = new Set(run.startTargets);
  // Late effects and those of the end are watched after the last set, when all variants have been called.
  const sets = run.sets.length === 1 && run.variants.length > 0 ? [...run.sets, ...run.sets] : run.sets;
  try {
    for (const [at, set] of sets.entries()) {
      if (run.signal.aborted) break;
      if (sandboxed === undefined || sandboxed.hasEnded) {
        await sandboxed?.close();
        sandboxed = undefined;
        const opened = await run.openServer();
        if (!opened.ok) return 'server_failed';
        sandboxed = opened.value;
        isFresh = true;
        pending = new Set(run.startTargets);
        replace = await prepareServer(sandboxed, run.setup, run);
      }
      const pace = isFresh ? startPace(run) : { ...run.pace, startMs: 0 };
      const isLast = at === sets.length - 1;
      const trial = await runTrial(sandboxed, replace(set), { ...run, pace, pending, isLast });
      const hasFailedLater = !isFresh && !hasSucceeded(trial);
      onTrial(hasFailedLater || isDoubtful(trial, run) ? repeated(set, run, trial) : Promise.resolve(trial));
      if (isFresh && hasSucceeded(trial) && !sandboxed.hasEnded) {
        const variants = await runVariants(sandboxed, run.variants.map(replace), { ...run, pending });
        const again = variants
          .filter((one) => !hasSucceeded(one) && hasOtherFlag(one, set))
          .slice(0, MAX_AGAIN);
        for (const variant of variants)
          onTrial(again.includes(variant) ? repeated(variant, run, variant) : Promise.resolve(variant));
      }
      isFresh = false;
    }
  } finally {
    await sandboxed?.close();
  }
  return undefined;
}

/** Variants with a flag that failed after other calls, and are tried in a fresh sandbox. */
const MAX_AGAIN = 2;

/** Whether a variant has another value of a flag, such as `overwrite`, than the arguments that it varies. */
function hasOtherFlag({ shape }: ArgumentSet, base: ArgumentSet): boolean {
  return [...shape.matchAll(/"[^"]{1,100}":(?:true|false)/g)].some(([flag]) => !base.shape.includes(flag));
}

function repeated(set: ArgumentSet, run: PreparedRun, former: Trial): Promise<Trial> {
  return run.limits.again(async () =>
    run.signal.aborted ? former : ((await inFreshWorld(set, run)) ?? former),
  );
}

/** Whether other causes than the call itself are possible for what was seen. */
function isDoubtful(trial: Trial, run: PreparedRun): boolean {
  return seemsToRepeat(trial, run) || mayBeOfStart(trial, run) || mayBeOfSetup(trial, run);
}

type Rebind = (set: ArgumentSet) => ArgumentSet;
const same: Rebind = (set) => set;

/** After a setup, late effects of its calls are waited for. */
export function startPace({ pace, setup }: Pick<PreparedRun, 'pace' | 'setup'>): Pace {
  return setup.length === 0 ? pace : { ...pace, startMs: Math.max(pace.startMs, pace.lateMs) };
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

/** Whether something changed that a late effect of the setup may have changed. */
function mayBeOfSetup(trial: Trial, { setup, seed }: PreparedRun): boolean {
  return setup.length > 0 && hasChanged(trial, { seed });
}

/** A trial alone in a new server, with more time after each call. Undefined if the server does not start. */
async function inFreshWorld(set: ArgumentSet, run: PreparedRun): Promise<Trial | undefined> {
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  try {
    const replace = await prepareServer(opened.value, run.setup, run);
    const pending = new Set(run.startTargets);
    const pace = slowPace(run);
    return await runTrial(opened.value, replace(set), { ...run, pace, pending, isLast: true });
  } finally {
    await opened.value.close();
  }
}

function slowPace(run: PreparedRun): Pace {
  return { ...run.pace, startMs: 2 * startPace(run).startMs, settleMs: run.pace.lateMs };
}

/** What happens in a new server in at least the time of `inFreshWorld`, without a call. Undefined if it does not start. */
async function watchWithoutCall(run: PreparedRun): Promise<Observation | undefined> {
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  const sandboxed = opened.value;
  try {
    await prepareServer(sandboxed, run.setup, run);
    const waiting = { ...run, pace: slowPace(run), pending: new Set(run.startTargets) };
    const observe = (): Promise<Observation> => observed(sandboxed, waiting);
    const control = await controlWindow(observe, sandboxed.openMs, waiting);
    await pause(3 * run.pace.lateMs, run.signal);
    return joinObservations(control, await observe());
  } finally {
    await sandboxed.close();
  }
}

export function joinObservations(one: Observation, other: Observation): Observation {
  return {
    ...one,
    changes: [...one.changes, ...other.changes],
    events: [...one.events, ...other.events],
    network: [...one.network, ...other.network],
  };
}

interface TrialRun extends PreparedRun {
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
  const usualEnd = isEventful ? await controlEnding(run) : undefined;
  return {
    ...{ args, origin, shape, control, pending, calls, late },
    ...{ end, endWithoutCall: usualEnd, replay: undefined },
  };
}

/** What the server does at its end without a call of the tool, but with those of the setup. */
function controlEnding(run: TrialRun): Promise<Observation | undefined> {
  return run.setup.length === 0 ? run.endWithoutCall() : endWithoutCall({ ...run, setup: run.setup });
}

/** Time for the settling after a call that is not repeated, and for all of these calls, in ms. */
const VARIANT_SETTLE_MS = 20;
const VARIANTS_MS = 3_000;

/** Calls a tool once with each of these arguments, as far as time allows. */
async function runVariants(
  sandboxed: CalledServer,
  variants: readonly ArgumentSet[],
  run: Omit<TrialRun, 'isLast'>,
): Promise<readonly Trial[]> {
  const { tool, pace, signal } = run;
  const trials: Trial[] = [];
  const endMs = Date.now() + VARIANTS_MS;
  for (const { args, origin, shape } of variants) {
    const atMs = Date.now();
    if (atMs >= endMs || sandboxed.hasEnded || signal.aborted) break;
    const pending = new Set(run.pending);
    const limitMs = Math.min(pace.callLimitMs, VARIANTS_MS);
    const { answer } = await sandboxed.call(tool, args, { limitMs, signal });
    await pause(VARIANT_SETTLE_MS);
    const observation = await observed(sandboxed, run);
    trials.push({
      ...{ args, origin, shape, pending, calls: [{ number: 1, atMs, answer, observation }] },
      ...{ control: NOTHING, late: NOTHING, end: undefined, endWithoutCall: undefined, replay: undefined },
    });
    // The server may still be busy with a call that was given up.
    if (answer.kind === 'failed' && answer.reason === 'timeout') break;
  }
  return trials;
}

async function ending(sandboxed: CalledServer): Promise<Observation | undefined> {
  if (sandboxed.hasEnded) return undefined;
  await sandboxed.finish();
  return sandboxed.observe();
}

/** Starts a server and asks it to end without a call in between. Undefined if it does not start. */
export async function endWithoutCall(
  run: ServerRun & { readonly setup?: readonly SetupCall[] },
): Promise<Observation | undefined> {
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  const sandboxed = opened.value;
  try {
    await prepareServer(sandboxed, run.setup ?? [], run);
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
async function withReplays(trials: readonly Trial[], run: PreparedRun): Promise<readonly Trial[]> {
  const at = trials.findIndex((trial) => answersDiffer(trial) && !hasChanged(trial, run));
  const trial = trials[at];
  if (trial === undefined) return trials;
  const replay = await run.limits.again(() => replayed(trial, run));
  return replay === undefined ? trials : trials.with(at, { ...trial, replay });
}

function hasChanged({ calls }: Trial, { seed }: Pick<ServerRun, 'seed'>): boolean {
  return calls.some(({ observation }) =>
    collectEffects(observation, { seed }).some(({ kind }) => kind !== 'network'),
  );
}

async function replayed(trial: Trial, run: PreparedRun): Promise<Answer | undefined> {
  const opened = await run.openServer();
  if (!opened.ok) return undefined;
  try {
    // Values of a setup differ in each process, and so do the answers.
    await prepareServer(opened.value, run.setup, run);
    const { args } = trial;
    return (await opened.value.call(run.tool, args, { limitMs: run.pace.callLimitMs, signal: run.signal }))
      .answer;
  } finally {
    await opened.value.close();
  }
}
