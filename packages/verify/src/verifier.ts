import { readFile, stat } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import pLimit from 'p-limit';
import { pickDeclaredHints } from '@assay-mcp/kit/hint';
import { type JsonObject, parseObject } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { AcceptedFinding, VerifyReport } from '@assay-mcp/kit/verification/report';
import type { VerifyRun, VerifyTarget } from '@assay-mcp/kit/verification/verifier';
import type { VerifyFault } from '@assay-mcp/kit/verification/verify-fault';
import { type ArgumentSet, chooseArguments, createSet, toFixtureSets } from './arguments/choose-arguments.ts';
import { coverSchema } from './arguments/cover-schema.ts';
import { kindOfTool } from './arguments/tool-words.ts';
import { applyBaseline, readBaseline } from './baseline.ts';
import { type Examined, examineServer, openServer, type Setting } from './experiment/examine-server.ts';
import {
  endWithoutCall,
  hasSucceeded,
  runTool,
  type ServerRun,
  type ToolRun,
  type ToolTrials,
} from './experiment/run-tool.ts';
import type { ListedTool, SandboxedServerFault } from './experiment/sandboxed-server.ts';
import { findMemoryChanges } from './experiment/memory-changes.ts';
import type { CallableTool } from './experiment/views.ts';
import { type Watched, type WatchedTool, type WatchRun, watchTools } from './experiment/watch-tools.ts';
import { type Fixtures, serializeFixtures, NO_FIXTURES, readFixtures, type ToolDraft } from './fixtures.ts';
import type { FileFault } from './read-json-file.ts';
import { judgeTool, withChangesInMemory } from './judge/judge-tool.ts';
import { isSuccess, type Trial } from './judge/trial.ts';
import type { ToolReport, UnobservedReason } from '@assay-mcp/kit/verification/verdict';
import type { Observation, OpenSandbox } from '@assay-mcp/sandbox/observation';
import { listAttempts } from './report/attempts.ts';
import { createOpenSandbox } from '@assay-mcp/sandbox/open-sandbox';
import { startConfined, startFetcher } from '@assay-mcp/sandbox/start-confined';
import { type FetchedProgram, fetchPackage, type StartFetcher } from './package/fetch-package.ts';
import { isInstalled, parseNpx } from './package/npx-command.ts';
import { hashPackage } from './package-digest.ts';
import { resolveInterpreter } from '@assay-mcp/kit/platform/real-interpreter';
import { prepareSeed, type Seed } from './seed.ts';
import { ContentComparer, type StartConfined } from './state/content-comparer.ts';

/** The verifier of hints in this process. */
export interface Verifier {
  /** Calls the tools of a server in sandboxes and judges their hints. */
  readonly verify: (request: VerifyRequest) => Promise<Result<VerifyReport, VerifyFault>>;
  /** The text of a fixtures file to fill in, with the arguments that would be used. */
  readonly draftFixtures: (request: VerifyRequest) => Promise<Result<string, VerifyFault>>;
}

export interface VerifyRequest extends VerifyTarget, VerifyRun {
  /** Variables of this process: PATH is searched for the command. */
  readonly ownEnv: Readonly<Record<string, string | undefined>>;
  /** Path of the fixtures file. */
  readonly fixtures: string | undefined;
  /** Path of the baseline file. */
  readonly baseline: string | undefined;
  /** The tools to verify; empty: all. */
  readonly tools: readonly string[];
  /** The tools whose attempts are reported. */
  readonly explain?: readonly string[] | 'all';
  readonly limits: VerifyLimits;
}

export interface VerifyLimits {
  /** Time limit for the whole run, in ms. */
  readonly timeMs: number;
  /** Time limit for one call, in ms. */
  readonly callMs: number;
  /** Number of different sets of arguments per tool, in addition to those of recorded calls. */
  readonly sets: number;
  /** Number of identical calls with each set. */
  readonly repeats: number;
}

/** What a verifier needs of the machine. */
interface VerifierMeans {
  readonly openSandbox: OpenSandbox;
  readonly startConfined: StartConfined;
  readonly startFetcher: StartFetcher;
}

export function openVerifier(
  means: VerifierMeans = { openSandbox: createOpenSandbox(), startConfined, startFetcher },
): Verifier {
  return {
    verify: (request) => withServer(request, means, (prepared) => verify(request, prepared)),
    draftFixtures: (request) =>
      withServer(request, means, ({ examined, fixtures }) => {
        const drafts = examined.tools.map(({ name, inputSchema }) => {
          const own = fixtures.tools.get(name)?.calls ?? [];
          const recorded = request.recorded.get(name) ?? [];
          const found = examined.explored.get(name)?.sets ?? [];
          const wanted = { name, inputSchema, recorded, found, fixtures: own, limit: 2 };
          const calls = chooseArguments(wanted, examined.context).map(({ args }) => args);
          return { name, calls: own.length > 0 ? own : withPlaceholder(calls, examined.context.folder) };
        });
        return Promise.resolve(ok(serializeFixtures(drafts)));
      }),
  };
}

interface Prepared {
  readonly examined: Examined;
  readonly setting: Setting;
  /** Digest of the server's program. */
  readonly digest: string;
  readonly fetched: FetchedProgram | undefined;
  readonly fixtures: Fixtures;
  readonly baseline: readonly AcceptedFinding[];
}

/** Reads the files, starts the server once, and cleans up. */
async function withServer<T>(
  request: VerifyRequest,
  { openSandbox, startConfined, startFetcher }: VerifierMeans,
  work: (prepared: Prepared) => Promise<Result<T, VerifyFault>>,
): Promise<Result<T, VerifyFault>> {
  const fixtures = await readAs(request.fixtures, readFixtures, NO_FIXTURES);
  if (!fixtures.ok) return fixtures;
  const baseline = await readAs(request.baseline, readBaseline, []);
  if (!baseline.ok) return baseline;
  const found = await fetchIfWanted(request, startFetcher);
  if (!found.ok) return found;
  const fetched = found.value;
  const seed = await seedOf(request, fixtures.value);
  if (!seed.ok) {
    await fetched?.remove();
    return seed;
  }
  const comparer = new ContentComparer(startConfined);
  let idle: { readonly close: () => Promise<void> } | undefined;
  try {
    const path = request.ownEnv['PATH'] ?? '';
    const command = fetched?.command ?? request.command;
    const digest = await hashPackage(command, request.cwd, path);
    const [started = '', ...args] = command;
    const program = [await resolveInterpreter(started, { cwd: request.cwd, path }), ...args];
    const parts = { openSandbox: comparer.compares(openSandbox), seed: seed.value, fixtures: fixtures.value };
    const setting = settingOf({ ...request, command: program }, parts);
    const examined = await examineServer(setting);
    if (!examined.ok) return mentionSkippedScripts(examined, fetched);
    ({ idle } = examined.value);
    const known = examined.value.tools.map(({ name }) => name);
    const explained = request.explain === 'all' ? [] : (request.explain ?? []);
    const unknown = [...request.tools, ...explained, ...fixtures.value.tools.keys()].find(
      (name) => !known.includes(name),
    );
    if (unknown !== undefined) return err({ code: 'TOOL_UNKNOWN', name: unknown, known });
    const prepared = { examined: examined.value, setting, digest, fetched };
    return await work({ ...prepared, fixtures: fixtures.value, baseline: baseline.value });
  } finally {
    await idle?.close();
    await comparer.close();
    await seed.value.remove();
    await fetched?.remove();
  }
}

/** The package that a command of npx names, unless it is installed where npx would look. */
async function fetchIfWanted(
  { command, cwd, ownEnv, signal }: VerifyRequest,
  startFetcher: StartFetcher,
): Promise<Result<FetchedProgram | undefined, VerifyFault>> {
  const wanted = parseNpx(command);
  if (wanted === undefined) return ok(undefined);
  if (!wanted.ok) return err({ code: 'ARGUMENTS_INVALID', reason: wanted.error });
  if (await isInstalled(wanted.value, cwd)) return ok(undefined);
  const fetched = await fetchPackage(wanted.value, { cwd, ownEnv, startFetcher, signal });
  if (fetched.ok) return fetched;
  return err({ code: 'PACKAGE_NOT_FETCHED', name: wanted.value.spec, reason: fetched.error });
}

/** A server that does not start may lack what a script of installation would have built. */
function mentionSkippedScripts<T>(
  examined: Extract<Result<T, SandboxedServerFault>, { ok: false }>,
  fetched: FetchedProgram | undefined,
): Result<never, SandboxedServerFault> {
  const { error } = examined;
  const skipped = fetched?.facts.skippedScripts ?? [];
  if (error.code !== 'SERVER_FAILED' || skipped.length === 0) return err(error);
  return err({
    ...error,
    message: `${error.message}. The install scripts of ${skipped.join(', ')} were not run`,
  });
}

async function readAs<T>(
  file: string | undefined,
  read: (text: string) => Result<T, FileFault>,
  absent: T,
): Promise<Result<T, VerifyFault>> {
  if (file === undefined) return ok(absent);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return err({ code: 'FILE_UNREADABLE', file, problem });
  }
  const value = read(text);
  return value.ok ? value : err({ ...value.error, file });
}

/** The path of a seed folder is relative to the fixtures file. */
async function seedOf(request: VerifyRequest, { seed }: Fixtures): Promise<Result<Seed, VerifyFault>> {
  if (seed === undefined || request.fixtures === undefined) return ok(await prepareSeed(undefined));
  const folder = resolve(dirname(request.fixtures), seed);
  const isFolder = await stat(folder).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
  if (isFolder) return ok(await prepareSeed(folder));
  const problem = `there is no folder ${folder}`;
  return err({ code: 'FIXTURES_INVALID', field: 'seed', problem, file: request.fixtures });
}

interface SettingParts extends Pick<Setting, 'openSandbox' | 'seed'> {
  readonly fixtures: Fixtures;
}

function settingOf(request: VerifyRequest, parts: SettingParts): Setting {
  const { openSandbox, seed, fixtures } = parts;
  const withSeedPath = (text: string): string => text.replaceAll('{seed}', SEED_PATH);
  const [command = '', ...args] = request.command.map(withSeedPath);
  const env = Object.fromEntries(
    Object.entries(request.env).map(([name, value]) => [name, withSeedPath(value)]),
  );
  const skips = [...fixtures.tools].filter(([, { skip }]) => skip !== undefined);
  return {
    openSandbox,
    seed,
    seedPath: SEED_PATH,
    sandbox: {
      program: { command, args },
      cwd: request.cwd,
      roots: [{ path: SEED_PATH, from: seed.folder }],
    },
    server: { command, args, cwd: request.cwd, env },
    callMs: request.limits.callMs,
    exploreMs: request.limits.timeMs * EXPLORED_SHARE,
    given: (tool) => givenSets(tool, request, fixtures),
    skipped: new Set(skips.map(([name]) => name)),
    signal: request.signal,
  };
}

/** Share of the time limit in which arguments are sought. */
const EXPLORED_SHARE = 0.3;
/** Given arguments of one tool that are tried while others are sought. */
const MAX_GIVEN = 3;

/** The first arguments of real calls and of the fixtures file. */
function givenSets(tool: string, { recorded }: VerifyRequest, fixtures: Fixtures): readonly ArgumentSet[] {
  const own = fixtures.tools.get(tool)?.calls ?? [];
  const real = (recorded.get(tool) ?? []).map((args) => createSet(args, 'recorded'));
  return [...real, ...toFixtureSets(own, SEED_PATH)].slice(0, MAX_GIVEN);
}

/** Path of the seed data in every sandbox, so that evidence of two runs names the same paths. */
const SEED_PATH = join(tmpdir(), 'assay-verify');
const PACE = { controlMs: 100, settleMs: 60, lateMs: 700, roundMs: 300 } as const;
const MAX_PARALLEL = 8;
/** Time after which a late effect of a read-only tool is no longer seen. */
const WATCH_MS = 10_000;

/** Tools mostly wait for late effects, so two of them share a core. */
function parallelTools(): number {
  return Math.min(2 * availableParallelism(), MAX_PARALLEL);
}

/** A server that is only watched takes less of a core. */
function parallelWaits(): number {
  return Math.min(2 * parallelTools(), MAX_PARALLEL);
}

async function verify(
  request: VerifyRequest,
  prepared: Prepared,
): Promise<Result<VerifyReport, VerifyFault>> {
  const { examined, setting, baseline } = prepared;
  const startedMs = Date.now();
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.limits.timeMs)]);
  const chosen = examined.tools.filter(
    ({ name }) => request.tools.length === 0 || request.tools.includes(name),
  );
  const { background, mechanisms, startMs } = examined;
  const run: ServerRun = {
    pace: { ...PACE, startMs, callLimitMs: request.limits.callMs, repeats: request.limits.repeats },
    ...{ seed: setting.seedPath, startTargets: background.startTargets, signal },
    openServer: () => openServer({ ...setting, signal }),
  };
  const limits = { first: pLimit(parallelTools()), again: pLimit(parallelWaits()) };
  const planned = chosen.map((tool) => planOf(tool, request, prepared));
  let atEnd: Promise<Observation | undefined> | undefined; // the same for every tool
  const ending = (): Promise<Observation | undefined> => (atEnd ??= endWithoutCall(run));
  const onDone = progressOf(request, planned.length);
  const runOne = async (planned: PlannedTool): Promise<ToolTrials> => {
    const trials: ToolTrials = setting.skipped.has(planned.name)
      ? { trials: [], stopped: 'skipped' }
      : await runTool({ ...run, ...planned, tool: planned.name, limits, endWithoutCall: ending });
    onDone(planned.name);
    return trials;
  };
  const tried = Promise.all(planned.map(runOne));
  const { idle, creatingCalls } = examined;
  const waiting = { watchMs: WATCH_MS, background: background.targets, parallel: parallelWaits() };
  const [trials, { trials: alone, unwatched }, inMemory] = await Promise.all([
    tried,
    watchReadOnly(planned, { ...run, ...waiting, idle, creatingCalls }, tried),
    findMemoryChanges(planned.map(toCallable), { ...run, creatingCalls }),
  ]);
  const tools = planned.map((tool, at) => {
    const { trials: run, stopped } = trials[at] ?? { trials: [], stopped: 'time_limit' as const };
    const watched = { trial: alone.get(tool.name), unwatched: unwatched.get(tool.name) };
    return withChangesInMemory(
      reportTool(tool, { run, stopped, watched }, request, prepared),
      inMemory.get(tool.name),
    );
  });
  return ok({
    server: {
      ...{ name: examined.name, version: examined.version, command: request.command },
      packageDigest: prepared.digest,
    },
    startedMs,
    tookMs: Date.now() - startedMs,
    mechanisms,
    missing: examined.missing,
    ...pickOptionalFields(prepared),
    tools,
    ...applyBaseline(baseline, tools),
  });
}

/** What the report says only if there is something to say. */
function pickOptionalFields({
  examined,
  fetched,
}: Prepared): Pick<VerifyReport, 'withheld' | 'fetched' | 'hosts'> {
  const { withheld, hosts } = examined;
  return {
    ...(withheld.length > 0 && { withheld }),
    ...(fetched !== undefined && { fetched: fetched.facts }),
    ...(hosts.length > 0 && { hosts }),
  };
}

interface ToolRunResult {
  readonly run: readonly Trial[];
  readonly stopped: UnobservedReason | undefined;
  readonly watched: { readonly trial: Trial | undefined; readonly unwatched: UnobservedReason | undefined };
}

function reportTool(
  { name, digest, annotations }: ListedTool,
  { run, stopped, watched }: ToolRunResult,
  { explain }: VerifyRequest,
  { examined, setting }: Prepared,
): ToolReport {
  const { background, mechanisms } = examined;
  // A tool that the time limit left out was called once while arguments were sought.
  const explored = examined.explored.get(name);
  const quiet = run.length === 0 && stopped === 'time_limit' ? explored?.quiet : undefined;
  const trials = [...run, quiet, watched.trial].filter((trial) => trial !== undefined);
  const sought = explored?.attempts.map(({ answer }) => answer) ?? [];
  const given = { trials, sought, unwatched: watched.unwatched, stopped, background, mechanisms };
  const facts = { name, digest, declared: pickDeclaredHints(annotations) };
  const judged = judgeTool(facts, { ...given, seed: setting.seedPath });
  const isExplained = explain === 'all' || explain?.includes(name) === true;
  return isExplained ? { ...judged, attempts: listAttempts(explored, run) } : judged;
}

function progressOf({ onProgress }: VerifyRequest, total: number): (tool: string) => void {
  let done = 0;
  return (tool) => onProgress({ done: (done += 1), total, tool });
}

interface PlannedTool extends ListedTool, Pick<ToolRun, 'sets' | 'variants' | 'setups' | 'creatingCalls'> {
  /** Whether all calls failed while arguments were sought. */
  readonly hasFailed: boolean;
}

/**
 * Watches the tools that promise to change nothing. Those that failed while arguments were sought may only be slow: they
 * are watched if they succeed later.
 */
async function watchReadOnly(
  tools: readonly PlannedTool[],
  run: WatchRun,
  tried: Promise<readonly ToolTrials[]>,
): Promise<Watched> {
  const readOnly = tools.filter(({ annotations }) => pickDeclaredHints(annotations).readOnlyHint === true);
  const atOnce = await watchTools(readOnly.filter(({ hasFailed }) => !hasFailed).map(toWatched), run);
  const trials = await tried;
  const late = readOnly.filter(
    (tool) => tool.hasFailed && trials[tools.indexOf(tool)]?.trials.some(hasSucceeded) === true,
  );
  const later = await watchTools(late.map(toWatched), { ...run, idle: undefined });
  return {
    trials: new Map([...atOnce.trials, ...later.trials]),
    unwatched: new Map([...atOnce.unwatched, ...later.unwatched]),
  };
}

function toWatched({ name, sets, setups }: PlannedTool): WatchedTool {
  return { name, sets: sets.slice(0, 1), setup: setups[0] ?? [] };
}

function toCallable({ name, annotations, sets, variants, setups: [setup = []] }: PlannedTool): CallableTool {
  const { readOnlyHint, destructiveHint, idempotentHint } = pickDeclaredHints(annotations);
  const isReadOnly = readOnlyHint === true;
  return {
    ...{ name, isReadOnly, sets, variants, setup },
    isIdempotent: !isReadOnly && idempotentHint === true,
    isAdditive: !isReadOnly && destructiveHint === false,
  };
}

/** How a tool is called. Not at all if it must not be. */
function planOf(
  tool: ListedTool,
  { limits, recorded }: VerifyRequest,
  { examined, fixtures }: Prepared,
): PlannedTool {
  const { name, inputSchema } = tool;
  const fixture = fixtures.tools.get(name);
  if (fixture?.skip !== undefined)
    return { ...tool, sets: [], variants: [], setups: [[]], creatingCalls: [], hasFailed: false };
  const own = fixture?.calls ?? [];
  const real = recorded.get(name) ?? [];
  const { sets: found = [], setups = [[]], attempts = [] } = examined.explored.get(name) ?? {};
  const hasFailed = attempts.length > 0 && !attempts.some(({ answer }) => isSuccess(answer));
  // Neither what failed is tried again and again, nor other arguments of a tool that takes very long with some.
  const isOne =
    hasFailed || attempts.some(({ answer }) => answer.kind === 'failed' && answer.reason === 'timeout');
  const limit = real.length + Math.max(isOne ? 1 : limits.sets, own.length);
  const sets = chooseArguments(
    { name, inputSchema, recorded: real, found, fixtures: own, limit },
    examined.context,
  );
  const [base] = sets;
  const isCovered = base === undefined || own.length > 0 || isOne;
  const variants = isCovered ? [] : coverSchema({ name, inputSchema, base }, examined.context);
  return {
    ...tool,
    sets,
    variants,
    setups,
    creatingCalls: mayFindMore(tool) && !hasFailed ? examined.creatingCalls : [],
    hasFailed,
  };
}

/**
 * Whether a tool says that it destroys nothing, and may find more to destroy where other tools have created data. One
 * that creates something itself finds it when it is called again.
 */
function mayFindMore({ name, annotations }: ListedTool): boolean {
  const { readOnlyHint, destructiveHint } = pickDeclaredHints(annotations);
  return readOnlyHint !== true && destructiveHint === false && kindOfTool(name) !== 'creates';
}

/** Successful arguments of one tool that a fixtures file may get. */
const MAX_WRITTEN = 5;

/** The text of a fixtures file with the arguments that worked in a run that explains all tools. */
export function draftFromReport({ tools }: VerifyReport): string {
  return serializeFixtures(
    tools.map(({ name, attempts = [], coverage }): ToolDraft => {
      const worked = attempts.filter(({ isSuccess, after }) => isSuccess && after.length === 0);
      const calls = withPlaceholder(
        worked.slice(0, MAX_WRITTEN).map(({ args }) => args),
        SEED_PATH,
      );
      if (calls.length > 0) return { name, calls };
      const after = [...new Set(attempts.flatMap((attempt) => attempt.after))];
      const answer = attempts.at(-1)?.answer ?? 'it was not called';
      const todo =
        coverage.successfulCalls > 0
          ? `Called with values that ${after.join(', ')} returned. Nothing to do, unless other arguments matter.`
          : `Add arguments to "calls". The last answer: ${answer}`;
      return { name, calls, todo };
    }),
  );
}

function withPlaceholder(calls: readonly JsonObject[], folder: string): readonly JsonObject[] {
  return calls.map((args) => parseObject(JSON.stringify(args).replaceAll(folder, '{seed}')));
}
