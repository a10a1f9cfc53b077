import { readFile, stat } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pickDeclaredHints } from '@assay-mcp/kit/hint';
import { type JsonObject, parseObject } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { AcceptedFinding, VerifyReport } from '@assay-mcp/kit/verification/report';
import type { VerifyRun, VerifyTarget } from '@assay-mcp/kit/verification/verifier';
import type { VerifyFault } from '@assay-mcp/kit/verification/verify-fault';
import { type ArgumentSet, chooseArguments } from './arguments/choose-arguments.ts';
import { applyBaseline, readBaseline } from './baseline.ts';
import { type Examined, examineServer, openServer, type Setting } from './experiment/examine-server.ts';
import { endWithoutCall, runTool, type ServerRun, type ToolTrials } from './experiment/run-tool.ts';
import type { ListedTool } from './experiment/sandboxed-server.ts';
import { runTools } from './experiment/run-tools.ts';
import { type WatchedTool, watchTools } from './experiment/watch-tools.ts';
import { type Fixtures, serializeFixtures, NO_FIXTURES, readFixtures } from './fixtures.ts';
import type { FileFault } from './read-json-file.ts';
import { judgeTool } from './judge/judge-tool.ts';
import type { Observation, OpenSandbox } from '@assay-mcp/sandbox/observation';
import { createOpenSandbox } from '@assay-mcp/sandbox/open-sandbox';
import { startConfined } from '@assay-mcp/sandbox/start-confined';
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
}

export function openVerifier(
  means: VerifierMeans = { openSandbox: createOpenSandbox(), startConfined },
): Verifier {
  return {
    verify: (request) => withServer(request, means, (prepared) => verify(request, prepared)),
    draftFixtures: (request) =>
      withServer(request, means, ({ examined, fixtures }) => {
        const drafts = examined.tools.map(({ name, inputSchema }) => {
          const own = fixtures.tools.get(name)?.calls ?? [];
          const recorded = request.recorded.get(name) ?? [];
          const wanted = { name, inputSchema, recorded, fixtures: own, limit: 2 };
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
  readonly fixtures: Fixtures;
  readonly baseline: readonly AcceptedFinding[];
}

/** Reads the files, starts the server once, and cleans up. */
async function withServer<T>(
  request: VerifyRequest,
  { openSandbox, startConfined }: VerifierMeans,
  work: (prepared: Prepared) => Promise<Result<T, VerifyFault>>,
): Promise<Result<T, VerifyFault>> {
  const fixtures = await readAs(request.fixtures, readFixtures, NO_FIXTURES);
  if (!fixtures.ok) return fixtures;
  const baseline = await readAs(request.baseline, readBaseline, []);
  if (!baseline.ok) return baseline;
  const seed = await seedOf(request, fixtures.value);
  if (!seed.ok) return seed;
  const comparer = new ContentComparer(startConfined);
  try {
    const path = request.ownEnv['PATH'] ?? '';
    const digest = await hashPackage(request.command, request.cwd, path);
    const [started = '', ...args] = request.command;
    const program = [await resolveInterpreter(started, { cwd: request.cwd, path }), ...args];
    const parts = { openSandbox: comparer.compares(openSandbox), seed: seed.value, fixtures: fixtures.value };
    const setting = settingOf({ ...request, command: program }, parts);
    const examined = await examineServer(setting);
    if (!examined.ok) return examined;
    const known = examined.value.tools.map(({ name }) => name);
    const unknown = [...request.tools, ...fixtures.value.tools.keys()].find((name) => !known.includes(name));
    if (unknown !== undefined) return err({ code: 'TOOL_UNKNOWN', name: unknown, known });
    const prepared = { examined: examined.value, setting, digest };
    return await work({ ...prepared, fixtures: fixtures.value, baseline: baseline.value });
  } finally {
    await comparer.close();
    await seed.value.remove();
  }
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
    skipped: new Set(skips.map(([name]) => name)),
    signal: request.signal,
  };
}

/** Path of the seed data in every sandbox, so that evidence of two runs names the same paths. */
const SEED_PATH = join(tmpdir(), 'assay-verify');
const PACE = { controlMs: 100, settleMs: 60, lateMs: 700 } as const;
const MAX_PARALLEL = 8;
/** Time after which a late effect of a read-only tool is no longer seen. */
const WATCH_MS = 10_000;

/** Tools mostly wait for late effects, so two of them share a core. */
function parallelTools(): number {
  return Math.min(2 * availableParallelism(), MAX_PARALLEL);
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
  const { callMs: callLimitMs, repeats } = request.limits;
  const run: ServerRun = {
    pace: { ...PACE, startMs, callLimitMs, repeats },
    ...{ seed: setting.seedPath, startTargets: background.startTargets, signal },
    openServer: () => openServer({ ...setting, signal }),
  };
  const planned = chosen.map((tool) => ({ ...tool, sets: setsOf(tool, request, prepared) }));
  // The same for every tool.
  let atEnd: Promise<Observation | undefined> | undefined;
  const ending = (): Promise<Observation | undefined> => (atEnd ??= endWithoutCall(run));
  const tasks = planned.map(({ name: tool, sets }) => ({
    tool,
    run: (): Promise<ToolTrials> =>
      prepared.setting.skipped.has(tool)
        ? Promise.resolve({ trials: [], stopped: 'skipped' })
        : runTool({ ...run, tool, sets, endWithoutCall: ending }),
  }));
  const [trials, { trials: alone, unwatched }] = await Promise.all([
    runTools(tasks, parallelTools(), progressOf(request, tasks.length)),
    watchTools(readOnlyOf(planned), {
      ...run,
      watchMs: WATCH_MS,
      background: background.targets,
      parallel: 2,
    }),
  ]);
  const tools = planned.map(({ name, digest, annotations }, at) => {
    const { trials: own, stopped } = trials[at] ?? { trials: [], stopped: 'time_limit' as const };
    const late = alone.get(name);
    const given = { trials: late === undefined ? own : [...own, late], unwatched: unwatched.get(name) };
    const facts = { name, digest, declared: pickDeclaredHints(annotations) };
    return judgeTool(facts, { ...given, stopped, background, mechanisms, seed: setting.seedPath });
  });
  return ok({
    server: {
      name: examined.name,
      version: examined.version,
      command: request.command,
      packageDigest: prepared.digest,
    },
    startedMs,
    tookMs: Date.now() - startedMs,
    mechanisms,
    missing: examined.missing,
    ...(examined.withheld.length > 0 && { withheld: examined.withheld }),
    tools,
    ...applyBaseline(baseline, tools),
  });
}

function progressOf({ onProgress }: VerifyRequest, total: number): (tool: string) => void {
  let done = 0;
  return (tool) => onProgress({ done: (done += 1), total, tool });
}

type PlannedTool = ListedTool & { readonly sets: readonly ArgumentSet[] };

/** The tools that promise to change nothing, with the arguments with which they are watched. */
function readOnlyOf(tools: readonly PlannedTool[]): readonly WatchedTool[] {
  return tools.flatMap(({ name, annotations, sets }) =>
    pickDeclaredHints(annotations).readOnlyHint === true ? [{ name, sets: sets.slice(0, 1) }] : [],
  );
}

/** None for a tool that must not be called. */
function setsOf(
  { name, inputSchema }: ListedTool,
  { limits, recorded }: VerifyRequest,
  { examined, fixtures }: Prepared,
): readonly ArgumentSet[] {
  const fixture = fixtures.tools.get(name);
  if (fixture?.skip !== undefined) return [];
  const own = fixture?.calls ?? [];
  const real = recorded.get(name) ?? [];
  const limit = real.length + Math.max(limits.sets, own.length);
  const wanted = { name, inputSchema, recorded: real, fixtures: own, limit };
  return chooseArguments(wanted, examined.context);
}

function withPlaceholder(calls: readonly JsonObject[], folder: string): readonly JsonObject[] {
  return calls.map((args) => parseObject(JSON.stringify(args).replaceAll(folder, '{seed}')));
}
