import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { getFaultName, guardCallback, type Peer } from './guarded.ts';
import { waitAtMost, pause } from './pause.ts';
import { planStart } from './plan-start.ts';
import { Reaper } from './reaper.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Variables for the child in addition to the inherited ones. */
  readonly env: Readonly<Record<string, string>>;
  /** What the child inherits: locations and user, or only language and time zone. Defaults to `environment`. */
  readonly inherits?: 'environment' | 'language';
  /**
   * Data that the child can read from descriptor 3. With it, the child gets none of the descriptors that Assay
   * inherited. If absent, the child has no descriptor 3.
   */
  readonly input3?: Buffer;
  /** Receives the handles that the child sends over Node's IPC channel, which is closed after `handles` messages. */
  readonly onHandle?: (handle: unknown) => void;
  /** Defaults to 1. */
  readonly handles?: number;
  /** Time in ms for the child to end after its stdin closed, and again after SIGTERM. Defaults to 2,000. */
  readonly graceMs?: number;
  /**
   * Removes what the process may have left elsewhere; `isOrderly`: it ended by itself or after its stdin closed, without
   * a signal. `end` waits for it.
   */
  readonly cleanUp?: (end: ProcessEnd, isOrderly: boolean) => Promise<void>;
}

/** Why a process did not start or has ended. */
export type ProcessEnd =
  | {
      readonly code: 'COMMAND_NOT_FOUND' | 'COMMAND_NOT_EXECUTABLE' | 'CWD_INVALID';
      readonly command: string;
    }
  | { readonly code: 'COMMAND_LINE_TOO_LONG' | 'OPEN_FILES_EXHAUSTED' }
  /** `error`: the system's error code. */
  | { readonly code: 'PROCESS_NOT_STARTED'; readonly error: string }
  | { readonly code: 'PROCESS_EXITED'; readonly exitCode: number | null }
  | { readonly code: 'PROCESS_KILLED'; readonly signal: string }
  /** The process still runs but cannot be communicated with. */
  | { readonly code: 'STDOUT_CLOSED' | 'STDIN_CLOSED' }
  /** It was killed because handling its output failed. `error`: the name of the error. */
  | { readonly code: 'READING_FAILED'; readonly error: string };

/**
 * Variables that a child inherits: locations, the user, language, proxies, and Node's compile cache. Nothing else, so
 * that a secret of Assay or of one server does not reach every server.
 */
const INHERITED =
  /^(?:PATH|PATHEXT|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_\w+|TZ|TMPDIR|TMP|TEMP|XDG_\w+|(?:HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|SSL_CERT_(?:FILE|DIR)|APPDATA|LOCALAPPDATA|SYSTEMROOT|SYSTEMDRIVE|USERPROFILE|USERNAME|PROGRAMFILES|COMSPEC|HOMEDRIVE|HOMEPATH|PROCESSOR_ARCHITECTURE)$/i;

const LANGUAGE = /^(?:LANG|LC_\w+|TZ)$/;

/** Default of `graceMs`. */
export const DEFAULT_GRACE_MS = 2_000;
/** Time in ms to wait for the exit event of a child that closed its streams: an exiting child often does so first. */
const MOMENT_MS = 500;
const POLL_MS = 25;
const HAS_GROUPS = process.platform !== 'win32';

/** Running process groups, to be killed if Assay ends without an orderly shutdown. */
const reaper = new Reaper(HAS_GROUPS ? '/bin/sh' : undefined);
process.on('exit', () => {
  for (const pid of reaper.groups) signalGroup(pid, 'SIGKILL');
});

/** A child process in its own process group, so that its descendants end with it. */
export class Child {
  /** Without streams, or undefined, if the process could not be started. */
  readonly #process: ChildProcess | undefined;
  /** Time in ms to end after its stdin closed, and again after SIGTERM. */
  graceMs: number;
  #ending: Promise<void> | undefined;
  #wasSignalled = false;
  readonly #cleanedUp: Promise<void> | undefined;
  readonly #fault = Promise.withResolvers<ProcessEnd>();
  #hasFault = false;
  /** For faults in callbacks on its data. */
  readonly peer: Peer;
  /**
   * Resolves with the first cause once the process and its whole group are gone. A process that closes its stdin or
   * stdout is ended, because it can no longer be communicated with.
   */
  readonly ended: Promise<ProcessEnd>;

  constructor(options: ChildOptions) {
    const { graceMs = DEFAULT_GRACE_MS, cleanUp } = options;
    this.graceMs = graceMs;
    this.peer = { name: `process ${basename(options.command)}`, end: (error) => this.#failed(error) };
    const started = start(options, this.peer);
    if (started instanceof Error) {
      this.ended = Promise.resolve(startFailure(options.command, started));
      return;
    }
    this.#process = started;
    const { pid } = started;
    if (pid !== undefined) reaper.add(pid);
    // Read errors on stderr can be ignored; the end of the process is detected elsewhere.
    started.stderr?.on('error', () => undefined);
    this.ended = this.#watch(started, options.command);
    this.#cleanedUp =
      cleanUp && this.ended.then((end) => cleanUp(end, end.code === 'PROCESS_EXITED' && !this.#wasSignalled));
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Writes one message given in pieces, in a single system call if possible. */
  write(pieces: readonly Buffer[]): void {
    const stdin = this.#process?.stdin;
    if (stdin?.writable !== true) return;
    stdin.cork();
    for (const piece of pieces) stdin.write(piece);
    stdin.uncork();
  }

  endInput(): void {
    this.#process?.stdin?.end();
  }

  /** Number of bytes written but not read by the child; 0 while it keeps up. */
  get unreadBytes(): number {
    const stdin = this.#process?.stdin;
    return stdin?.writableNeedDrain === true ? stdin.writableLength : 0;
  }

  /** Called when everything was read after some of it had to wait. */
  onDrain(handler: () => void): void {
    this.#process?.stdin?.on('drain', guardCallback(this.peer, handler));
  }

  onOutput(handler: (chunk: Buffer) => void): void {
    this.#process?.stdout?.on('data', this.#reader(handler));
  }

  /** Pauses or resumes reading the child's output. */
  holdOutput(isHeld: boolean): void {
    if (isHeld) this.#process?.stdout?.pause();
    else this.#process?.stdout?.resume();
  }

  /** Resolves when all of the child's output was read. */
  get outputRead(): Promise<void> {
    return closed(this.#process?.stdout);
  }

  /** The same for what it wrote to stderr. */
  get errorOutputRead(): Promise<void> {
    return closed(this.#process?.stderr);
  }

  onErrorOutput(handler: (chunk: Buffer) => void): void {
    this.#process?.stderr?.on('data', this.#reader(handler));
  }

  #reader(handler: (chunk: Buffer) => void): (chunk: Buffer) => void {
    return guardCallback(this.peer, (chunk: Buffer) => {
      if (!this.#hasFault) handler(chunk);
    });
  }

  #failed(error: unknown): void {
    this.#hasFault = true;
    this.#fault.resolve({ code: 'READING_FAILED', error: getFaultName(error) });
    this.signal('SIGKILL');
  }

  /**
   * Orderly shutdown: closes stdin, then SIGTERM, then SIGKILL, with a wait before each signal
   * (2026-07-28, basic/transports/stdio#shutdown).
   */
  end(): Promise<void> {
    return (this.#ending ??= this.#end());
  }

  async #end(): Promise<void> {
    this.#process?.stdin?.end();
    if ((await waitAtMost(this.ended, this.graceMs)) === undefined) {
      this.signal('SIGTERM');
      if ((await waitAtMost(this.ended, this.graceMs)) === undefined) this.signal('SIGKILL');
    }
    await this.ended;
    await this.#cleanedUp;
  }

  signal(name: NodeJS.Signals): void {
    this.#wasSignalled = true;
    if (this.pid !== undefined) signalGroup(this.pid, name);
  }

  async #watch(child: ChildProcess, command: string): Promise<ProcessEnd> {
    const exited = new Promise<ProcessEnd>((resolve) => {
      child.once('error', (error) => resolve(startFailure(command, error)));
      child.once('exit', (exitCode, signal) =>
        resolve(signal === null ? { code: 'PROCESS_EXITED', exitCode } : { code: 'PROCESS_KILLED', signal }),
      );
    });
    const end = await Promise.race([this.#fault.promise, exited, this.#pipeClosed(child, exited)]);
    if (child.pid === undefined) return end;
    child.stdin?.end();
    await sweep(child.pid, this.#ending === undefined ? DEFAULT_GRACE_MS : this.graceMs);
    await exited;
    return end;
  }

  /** Resolves if the process stays alive without its stdin or stdout. */
  async #pipeClosed(child: ChildProcess, exited: Promise<ProcessEnd>): Promise<ProcessEnd> {
    const end = await new Promise<ProcessEnd>((resolve) => {
      for (const event of ['end', 'error'])
        child.stdout?.once(event, () => resolve({ code: 'STDOUT_CLOSED' }));
      child.stdin?.on('error', () => resolve({ code: 'STDIN_CLOSED' }));
    });
    await waitAtMost(exited, MOMENT_MS);
    return this.#ending === undefined ? end : exited;
  }
}

function closed(stream: Readable | null | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (stream === undefined || stream === null || stream.readableEnded || stream.destroyed) resolve();
    else stream.once('close', resolve);
  });
}

/** The process, or the error if the system refuses at once. */
function start(options: ChildOptions, peer: Peer): ChildProcess | Error {
  const { cwd, inherits, input3, onHandle, handles = 1 } = options;
  const env = { ...listInheritedEnv(inherits === 'language' ? LANGUAGE : INHERITED), ...options.env };
  const planned = planStart(options, env);
  if (typeof planned === 'string') return Object.assign(new Error(planned), { code: planned });
  try {
    const child = spawn(planned.command, planned.args, {
      cwd,
      env,
      windowsVerbatimArguments: planned.isVerbatim,
      detached: HAS_GROUPS,
      windowsHide: true,
      stdio: [
        ...['pipe' as const, 'pipe' as const, 'pipe' as const],
        ...(input3 === undefined ? [] : ['pipe' as const, ...coverDescriptors()]),
        ...(onHandle === undefined ? [] : ['ipc' as const]),
      ],
    });
    const third = input3 === undefined ? undefined : (child.stdio as ChildProcess['stdio'] | undefined)?.[3];
    if (third instanceof Writable) third.on('error', () => undefined).end(input3);
    let received = 0;
    if (onHandle !== undefined)
      child.on(
        'message',
        guardCallback(peer, (_: unknown, handle: unknown) => {
          received += 1;
          if (received > handles) return;
          onHandle(handle);
          if (received === handles && child.connected) child.disconnect();
        }),
      );
    return child;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Uses only the code: Node's message may contain arguments, which may be secret. */
function startFailure(command: string, error: NodeJS.ErrnoException): ProcessEnd {
  switch (error.code) {
    case 'ENOENT':
      return { code: 'COMMAND_NOT_FOUND', command };
    case 'EACCES':
      return { code: 'COMMAND_NOT_EXECUTABLE', command };
    case 'ENOTDIR':
      return { code: 'CWD_INVALID', command };
    case 'E2BIG':
      return { code: 'COMMAND_LINE_TOO_LONG' };
    case 'EMFILE':
    case 'ENFILE':
      return { code: 'OPEN_FILES_EXHAUSTED' };
    default:
      return { code: 'PROCESS_NOT_STARTED', error: error.code ?? error.message };
  }
}

/** Ends the processes that the leader of a group left behind. */
async function sweep(pid: number, graceMs: number): Promise<void> {
  if (signalGroup(pid, 'SIGTERM')) {
    const deadlineMs = performance.now() + graceMs;
    while (signalGroup(pid, 0) && performance.now() < deadlineMs) await pause(POLL_MS);
    signalGroup(pid, 'SIGKILL');
  }
  reaper.remove(pid);
}

/** False if the group has no processes left. */
function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(HAS_GROUPS ? -pid : pid, name);
    return true;
  } catch {
    return false;
  }
}

/** The variables that a child inherits, or those of them with such names. */
export function listInheritedEnv(
  names: RegExp = INHERITED,
  from: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(from))
    if (value !== undefined && names.test(key)) env[key] = value;
  return env;
}

let covers: readonly ('ignore' | number)[] | undefined;

/**
 * Descriptors from 4 on: replaces each one that Assay inherited by `/dev/null`, since Node would pass it on to every
 * child. They do not change after startup.
 */
function coverDescriptors(): readonly ('ignore' | number)[] {
  return (covers ??= coversOf(readdirSync('/proc/self/fdinfo').map(Number).filter(isInherited)));
}

function coversOf(inherited: readonly number[]): readonly ('ignore' | number)[] {
  if (inherited.length === 0) return [];
  const nothing = openSync('/dev/null', 'r+');
  return Array.from({ length: Math.max(...inherited) - 3 }, (_, index) =>
    inherited.includes(index + 4) ? nothing : 'ignore',
  );
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return descriptor > 3 && flags !== undefined && (parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}

/** O_CLOEXEC, on x86-64 and arm64. */
const CLOSE_ON_EXEC = 0o2000000;
