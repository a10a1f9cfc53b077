import type { WithheldTool } from '@assay-mcp/kit/verification/report';
import { join } from 'node:path';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ChildOptions } from '@assay-mcp/kit/platform/child';
import { pause } from '@assay-mcp/kit/platform/pause';
import type { ArgumentSet } from '../arguments/choose-arguments.ts';
import type { ArgumentContext } from '../arguments/heuristics.ts';
import { listHosts } from '../judge/contacts.ts';
import { type Background, collectBackground, isQuiet } from '../judge/effects.ts';
import type {
  Mechanism,
  MissingMechanism,
  Observation,
  OpenSandbox,
  SandboxOptions,
} from '@assay-mcp/sandbox/observation';
import type { Seed } from '../seed.ts';
import { type Explored, type ExploredTool, exploreTools, type SetupCall } from './explore-tools.ts';
import { type ListedTool, type SandboxedServerFault, SandboxedServer } from './sandboxed-server.ts';

/** How the sandboxes of one server are opened. */
export interface Setting {
  readonly openSandbox: OpenSandbox;
  readonly sandbox: SandboxOptions;
  readonly server: ChildOptions;
  readonly seed: Seed;
  /** The folder of the seed data, as the server sees it. */
  readonly seedPath: string;
  readonly callMs: number;
  /** Time limit for finding arguments with which tools can be called, in ms. */
  readonly exploreMs: number;
  /** Arguments that are tried before generated ones. */
  readonly given: (tool: string) => readonly ArgumentSet[];
  /** Names of tools that must not be called. */
  readonly skipped: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** What is known about a server before its tools are tested. */
export interface Examined {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly ListedTool[];
  readonly context: ArgumentContext;
  readonly explored: ReadonlyMap<string, ExploredTool>;
  /** Calls after which there is data. */
  readonly creatingCalls: readonly SetupCall[];
  readonly background: Background;
  /** Time in ms after its first list during which it is still starting. */
  readonly startMs: number;
  readonly mechanisms: readonly Mechanism[];
  readonly missing: readonly MissingMechanism[];
  readonly withheld: readonly WithheldTool[];
  /** Hosts that it asked for without a call. */
  readonly hosts: readonly string[];
  /** The server that was watched without a call, which still runs. The caller closes it. */
  readonly idle: SandboxedServer;
}

/** A first start may compile, migrate or wait for a slow machine. */
const START_LIMIT_MS = 30_000;
/** A start is over after as many ms without activity as it took to the first list, within these limits. */
const QUIET_MS = 1_500;
const MAX_QUIET_MS = 5_000;
const MAX_SETTLE_MS = 15_000;
const SETTLE_STEP_MS = 250;
const IDLE_MS = 1_500;
/** Time limit for one call while arguments are sought, in ms. */
const EXPLORED_CALL_MS = 5_000;
const EXPLORED_SETTLE_MS = 40;

export function openServer({
  openSandbox,
  sandbox,
  server,
  signal,
}: Setting): Promise<Result<SandboxedServer, SandboxedServerFault>> {
  return SandboxedServer.open({ openSandbox, sandbox, server, startLimitMs: START_LIMIT_MS, signal });
}

/** Lists the tools of a server, watches it without a call, and in another process finds arguments for them. */
export async function examineServer(setting: Setting): Promise<Result<Examined, SandboxedServerFault>> {
  const open = (): ReturnType<typeof openServer> =>
    openServer(setting).catch((error: unknown) => err(toFault(error)));
  const [watched, called] = await Promise.all([open(), open()]);
  let idle: SandboxedServer | undefined;
  try {
    if (!watched.ok) return watched;
    if (!called.ok) return called;
    const sandboxed = watched.value;
    const [{ starting, startMs, idle: withoutCall }, { tools: explored, knowledge, creatingCalls }] =
      await Promise.all([watchStart(sandboxed, setting), explore(called.value, setting)]);
    idle = sandboxed;
    const { mechanisms, missing } = sandboxed.sandbox;
    return ok({
      ...sandboxed.serverVersion,
      tools: sandboxed.tools,
      context: { ...seedContextOf(setting), knowledge },
      explored,
      creatingCalls,
      background: collectBackground(starting, withoutCall, { seed: setting.seedPath }),
      startMs,
      mechanisms,
      missing,
      withheld: sandboxed.withheld,
      hosts: listHosts([...starting, withoutCall]),
      idle,
    });
  } catch (error) {
    return err(toFault(error));
  } finally {
    for (const opened of [watched, called])
      if (opened.ok && opened.value !== idle) await opened.value.close();
  }
}

function toFault(error: unknown): SandboxedServerFault {
  return { code: 'SERVER_FAILED', message: error instanceof Error ? error.message : String(error) };
}

async function watchStart(
  sandboxed: SandboxedServer,
  setting: Setting,
): Promise<{
  readonly starting: readonly Observation[];
  readonly startMs: number;
  readonly idle: Observation;
}> {
  const start = await settled(sandboxed, setting);
  await pause(IDLE_MS);
  return { ...start, idle: await sandboxed.observe() };
}

/** Watches the start until it is over. A server that is always busy counts as having none. */
async function settled(
  sandboxed: SandboxedServer,
  { seedPath, signal }: Setting,
): Promise<{ readonly starting: readonly Observation[]; readonly startMs: number }> {
  const quietMs = Math.min(MAX_QUIET_MS, Math.max(QUIET_MS, sandboxed.openMs));
  const starting = [await sandboxed.observe()];
  let startMs = 0;
  for (let passedMs = 0; passedMs < startMs + quietMs && !signal.aborted;) {
    await pause(SETTLE_STEP_MS);
    passedMs += SETTLE_STEP_MS;
    const observation = await sandboxed.observe();
    starting.push(observation);
    if (!isQuiet(observation, { seed: seedPath })) startMs = passedMs;
    if (passedMs >= MAX_SETTLE_MS) return { starting, startMs: 0 };
  }
  return { starting, startMs };
}

function seedContextOf({ seed, seedPath }: Setting): Omit<ArgumentContext, 'knowledge'> {
  const paths = (names: readonly string[]): readonly string[] => names.map((name) => join(seedPath, name));
  return { folder: seedPath, files: paths(seed.files), folders: paths(seed.folders) };
}

async function explore(sandboxed: SandboxedServer, setting: Setting): Promise<Explored> {
  const opened: SandboxedServer[] = [];
  try {
    return await exploreTools(sandboxed, {
      tools: sandboxed.tools.filter(({ name }) => !setting.skipped.has(name)),
      place: seedContextOf(setting),
      given: setting.given,
      reopen: async () => {
        const another = await openServer(setting);
        if (!another.ok) return undefined;
        opened.push(another.value);
        return another.value;
      },
      callMs: Math.min(setting.callMs, EXPLORED_CALL_MS),
      timeMs: setting.exploreMs,
      settleMs: EXPLORED_SETTLE_MS,
      signal: setting.signal,
    });
  } finally {
    for (const another of opened) await another.close();
  }
}
