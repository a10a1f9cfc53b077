import { writeFileSync } from 'node:fs';
import { open, readFile, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import type { Child, ChildOptions } from '@assay-mcp/kit/platform/child';
import type { Launcher } from '@assay-mcp/kit/platform/launcher';
import { waitAtMost, pause } from '@assay-mcp/kit/platform/pause';
import type {
  Mechanism,
  MissingMechanism,
  NoiseClass,
  Observation,
  Sandbox,
  TracedEvent,
} from './observation.ts';
import { findSecretAt } from './canaries.ts';
import { findArea, isMountPoint, type Layout, toPlace } from './layout.ts';
import { NetworkSink, SINK_COMMAND, SINK_EXECUTIONS, SINK_HANDLES } from './network-sink.ts';
import { findDatabasePath, isGitIndex, isLockName, classifyNoiseByName } from './noise.ts';
import { OverlayChanges, type Place } from './overlay-changes.ts';
import type { Machine } from './probe.ts';
import { buildBwrapArgs, buildUnshareArgs } from './setup-script.ts';
import { OBSERVED_BUDGET, StateReader, type OverlayFolders } from './state.ts';
import { TraceReader } from './trace-reader.ts';

export interface SandboxParts {
  /** Private to Assay; removed at the end. */
  readonly folder: string;
  readonly layout: Layout;
  readonly machine: Extract<Machine, { canConfine: true }>;
  readonly launcher: Launcher;
  /** The requested working folder. */
  readonly startCwd: string;
  /** Paths in the home folder. */
  readonly canaries: ReadonlySet<string>;
  readonly systemFolders: readonly string[];
  readonly systemLinks: Readonly<Record<string, string>>;
  readonly replaced: Readonly<Record<string, string>>;
}

/** Open handles keep the mounts readable after the last process of their namespace has ended. */
interface Evidence {
  readonly handles: readonly FileHandle[];
  readonly overlays: readonly OverlayFolders[];
  readonly evidenceFolder: string;
}

const POLL_MS = 3;
const MAX_END_MS = 5_000;
/** Time for the server to end after its stdin closed, and again after SIGTERM. */
const FINISH_MS = 1_000;
const INHERITED = /^(?:PATH|USER|LOGNAME|SHELL|TERM|LANG|LC_\w+|TZ)$/;

/** One server in its sandbox. */
export class RunningSandbox implements Sandbox {
  readonly #parts: SandboxParts;
  readonly #trace: TraceReader;
  readonly #sink = new NetworkSink();
  #child: Child | undefined;
  #prepared: Promise<Evidence | undefined> = Promise.resolve(undefined);
  readonly #changes: OverlayChanges;
  #markMs = Date.now();
  #observing: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
    const { layout, canaries } = parts;
    const context = {
      cwd: layout.cwd,
      secretAt: (path: string) => findSecretAt(path, layout.home, canaries),
      isNoisy: (path: string) => isNoisyPlace(toPlace(layout, path)),
    };
    this.#trace = new TraceReader(context, SINK_EXECUTIONS);
    this.#changes = new OverlayChanges({
      folderOf: (path) => findArea(layout, path)?.path,
      placeOf: (path) => toPlace(layout, path),
      isMountPoint: (path) => isMountPoint(layout, path),
    });
  }

  get missing(): readonly MissingMechanism[] {
    return this.#parts.machine.missing;
  }

  get mechanisms(): readonly Mechanism[] {
    const missing = new Set(this.missing.map(({ mechanism }) => mechanism));
    const all: readonly Mechanism[] = [
      'overlay',
      'syscall_trace',
      'no_io_uring',
      'empty_network',
      'canaries',
    ];
    return all.filter((mechanism) => !missing.has(mechanism));
  }

  launch(options: ChildOptions): Child {
    if (this.#child !== undefined) throw new Error('A sandbox starts one server. Open another sandbox.');
    const { folder, machine, launcher } = this.#parts;
    writeFileSync(
      join(folder, 'args'),
      this.#args(options)
        .map((arg) => `${arg}\0`)
        .join(''),
      { mode: 0o600 },
    );
    const child = launcher.launch({
      command: machine.programs.unshare,
      args: [
        ...buildUnshareArgs(machine.isPrivileged),
        ...['sh', join(folder, 'setup.sh'), ...SINK_COMMAND, options.command, ...options.args],
      ],
      cwd: '/',
      env: {
        PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`,
      },
      inherits: 'language',
      onHandle: (handle) => this.#sink.serve(handle),
      handles: SINK_HANDLES,
    });
    this.#child = child;
    this.#prepared = this.#prepare(child);
    // `observe` and `close` report a failure.
    this.#prepared.catch(() => undefined);
    return child;
  }

  observe(): Promise<Observation> {
    const observation = this.#observing.then(() => this.#observe());
    this.#observing = observation.catch(() => undefined);
    return observation;
  }

  async finish(): Promise<void> {
    const child = this.#child;
    const evidence = await this.#prepared;
    if (child === undefined || evidence === undefined) return;
    child.endInput();
    if ((await waitAtMost(child.ended, FINISH_MS)) !== undefined) return;
    const init = await initPid(join(evidence.evidenceFolder, 'info'));
    if (init === undefined) return;
    for (const pid of await childrenOf(init)) kill(pid, 'SIGTERM');
    await waitAtMost(child.ended, FINISH_MS);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  #args({ cwd, env }: ChildOptions): readonly string[] {
    const { folder, layout, startCwd, systemFolders, systemLinks, replaced, machine } = this.#parts;
    const inherited = Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && INHERITED.test(name) ? [[name, value] as const] : [],
    );
    const ownEnv = {
      HOME: layout.home,
      TMPDIR: '/tmp',
      TMP: '/tmp',
      TEMP: '/tmp',
    };
    return buildBwrapArgs({
      ...{ folder, layout, systemFolders, systemLinks, replaced },
      user: machine.isPrivileged ? undefined : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
      cwd: cwd === startCwd ? layout.cwd : cwd,
      // Node's channel is the first descriptor after stderr. The sink does not pass it on.
      env: {
        ...Object.fromEntries(inherited),
        ...ownEnv,
        ...env,
        NODE_CHANNEL_FD: '3',
      },
    });
  }

  /** Undefined if the sandbox could not be built. */
  async #prepare(child: Child): Promise<Evidence | undefined> {
    const { folder, layout } = this.#parts;
    const status = { hasEnded: false };
    void child.ended.then(() => (status.hasEnded = true));
    const inside = `/proc/${child.pid ?? 0}/root${folder}/w`;
    for (;;) {
      const ready = await open(`${inside}/e/ready`).catch(() => undefined);
      await ready?.close();
      if (ready !== undefined) break;
      if (status.hasEnded) return undefined;
      await pause(POLL_MS);
    }
    const handles: FileHandle[] = [];
    const hold = async (path: string): Promise<string> => {
      const handle = await open(path);
      handles.push(handle);
      return `/proc/self/fd/${handle.fd}`;
    };
    const state = await hold(inside);
    const evidenceFolder = await hold(`${inside}/e`);
    const overlays: OverlayFolders[] = [];
    for (const [n, { path, lower }] of layout.areas.entries())
      overlays.push({
        path,
        lower,
        upper: `${state}/s/${n}/u`,
        merged: await hold(`${inside}/m/${n}`),
      });
    // Opened to read and write, it does not wait for the other side.
    const go = await open(join(folder, 'go'), 'r+');
    handles.push(go);
    await go.write('\n');
    return { handles, overlays, evidenceFolder };
  }

  async #observe(): Promise<Observation> {
    const evidence = await this.#prepared;
    const sinceMs = this.#markMs;
    const incomplete = new Set<'changes' | 'events'>();
    if (evidence === undefined) {
      if (this.#child !== undefined) incomplete.add('changes').add('events');
      return {
        ...this.#marked(sinceMs),
        changes: [],
        events: [],
        network: [],
        mapped: [],
        incomplete: [...incomplete],
      };
    }
    const isTraced = this.#parts.machine.programs.strace !== undefined;
    const file = join(evidence.evidenceFolder, 'trace');
    const trace = isTraced ? this.#sink.named(await this.#trace.read(file)) : undefined;
    if (trace?.isComplete === false) incomplete.add('events');
    const { changes, isComplete } = await this.#changes.read(evidence.overlays);
    if (!isComplete) incomplete.add('changes');
    return {
      ...this.#marked(sinceMs),
      changes,
      events: await this.#withNoise(trace?.events ?? [], evidence.overlays),
      mapped: await this.#withoutNoise(trace?.mapped ?? [], evidence.overlays),
      network: [...(trace?.network ?? []), ...this.#sink.take({ isTraced })].sort((a, b) => a.atMs - b.atMs),
      incomplete: [...incomplete],
    };
  }

  #marked(sinceMs: number): Pick<Observation, 'sinceMs' | 'untilMs' | 'mechanisms'> {
    this.#markMs = Date.now();
    return { sinceMs, untilMs: this.#markMs, mechanisms: this.mechanisms };
  }

  /** The events with the harmless purposes that they suggest. */
  async #withNoise(
    events: readonly TracedEvent[],
    overlays: readonly OverlayFolders[],
  ): Promise<readonly TracedEvent[]> {
    const other = new Set(
      events.flatMap((event) => (event.kind === 'content' && event.isNumber !== true ? [event.path] : [])),
    );
    const known = new Map<string, NoiseClass | undefined>();
    const found: TracedEvent[] = [];
    for (const event of events) {
      const path = 'isIndirect' in event ? undefined : noisePathOf(event);
      if (path !== undefined && !known.has(path))
        known.set(path, await this.#noiseAt(path, overlays, !other.has(path)));
      const noise = path === undefined ? undefined : known.get(path);
      found.push(
        noise === undefined || !CAN_BE_NOISE.has(event.kind) ? event : ({ ...event, noise } as TracedEvent),
      ); // These kinds have it.
    }
    return found;
  }

  async #withoutNoise(
    paths: readonly string[],
    overlays: readonly OverlayFolders[],
  ): Promise<readonly string[]> {
    const found: string[] = [];
    for (const path of paths)
      if ((await this.#noiseAt(path, overlays, false)) === undefined) found.push(path);
    return found;
  }

  #noiseAt(
    path: string,
    overlays: readonly OverlayFolders[],
    isNumber: boolean,
  ): Promise<NoiseClass | undefined> {
    const { layout } = this.#parts;
    const area = findArea(layout, path);
    const overlay = overlays.find((one) => one.path === area?.path);
    const reader = overlay && new StateReader(overlay, { ...OBSERVED_BUDGET });
    return classifyEventNoise(path, toPlace(layout, path), { reader, isNumber });
  }

  async #close(): Promise<void> {
    const child = this.#child;
    const status = { hasEnded: child === undefined };
    void child?.ended.then(() => (status.hasEnded = true));
    const evidence = await waitAtMost(
      this.#prepared.catch(() => undefined),
      MAX_END_MS,
    );
    const init = evidence && (await initPid(join(evidence.evidenceFolder, 'info')));
    // When the first process of the namespace dies, the kernel kills all others, and those that wait for it exit
    // normally.
    if (init !== undefined && !status.hasEnded) kill(init, 'SIGKILL');
    if (child !== undefined && (await waitAtMost(child.ended, MAX_END_MS)) === undefined)
      child.signal('SIGKILL');
    await child?.ended;
    await this.#observing;
    this.#sink.close();
    if (evidence !== undefined) {
      if (init !== undefined) await ended(init);
      await Promise.all(evidence.handles.map((handle) => handle.close()));
    }
    await rm(this.#parts.folder, { recursive: true, force: true });
  }
}

/** The path that decides whether an event is noise. */
function noisePathOf(event: TracedEvent): string | undefined {
  if ('to' in event) return event.to;
  return 'path' in event ? event.path : undefined;
}

/** Process id of the first process in the sandbox, as reported by bubblewrap. */
async function initPid(infoPath: string): Promise<number | undefined> {
  const pid = /"child-pid": (\d+)/.exec(await readFile(infoPath, 'utf8').catch(() => ''))?.[1];
  return pid === undefined ? undefined : Number(pid);
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
  return text
    .split(' ')
    .map(Number)
    .filter((child) => child > 0);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

async function ended(pid: number): Promise<void> {
  const deadlineMs = performance.now() + MAX_END_MS;
  while (performance.now() < deadlineMs) {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
    // A zombie has ended, but its parent has not waited for it yet.
    if (stat === undefined || stat.includes(') Z')) return;
    await pause(POLL_MS);
  }
}

type Reader = Pick<StateReader, 'existed' | 'source'>;

const CAN_BE_NOISE: ReadonlySet<TracedEvent['kind']> = new Set<TracedEvent['kind']>([
  ...(['write', 'open_to_write', 'content', 'attributes', 'delete', 'create_folder'] as const),
  ...(['delete_folder', 'create_special', 'rename', 'link'] as const),
]);

/** Whether a path itself makes changes noise. */
function isNoisyPlace(place: Place): boolean {
  return place.isTemporary || classifyNoiseByName(place) !== undefined;
}

/** The noise class of what was done to a path. `isNumber`: nothing but numbers was written there. */
async function classifyEventNoise(
  path: string,
  place: Place,
  { reader, isNumber }: { readonly reader: Reader | undefined; readonly isNumber: boolean },
): Promise<NoiseClass | undefined> {
  if (place.isTemporary) return 'temporary';
  if (isGitIndex(path)) return 'git_index';
  if (isLockName(path) && isNumber) return 'lock';
  if ((await reader?.existed(path)) === true) return undefined;
  const database = findDatabasePath(path);
  if (database === undefined) return classifyNoiseByName(place);
  return (await reader?.source(database))?.isDatabase === true ? 'database' : undefined;
}
