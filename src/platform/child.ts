import { spawn, type ChildProcess } from 'node:child_process';
import { Reaper } from './reaper.ts';
import { atMost, pause } from './turns.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** What the child gets beside the harmless part of our own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What that part is: where things are and who the user is, or language and time zone alone. Absent: `surroundings`. */
  readonly inherits?: 'surroundings' | 'language';
}

/** Why there is no such process, or not any more. */
export type ProcessEnd =
  | {
      readonly code: 'COMMAND_NOT_FOUND' | 'COMMAND_NOT_EXECUTABLE' | 'CWD_INVALID';
      readonly command: string;
    }
  | { readonly code: 'COMMAND_LINE_TOO_LONG' | 'OPEN_FILES_EXHAUSTED' }
  /** `error`: the system's name of it. */
  | { readonly code: 'PROCESS_NOT_STARTED'; readonly error: string }
  | { readonly code: 'PROCESS_EXITED'; readonly exitCode: number | null }
  | { readonly code: 'PROCESS_KILLED'; readonly signal: string }
  /** It goes on, but nobody can talk with it. */
  | { readonly code: 'STDOUT_CLOSED' | 'STDIN_CLOSED' };

/**
 * What a child inherits: where things are, who the user is, language, proxies, and where Node keeps what it compiled.
 * Nothing else, so that a secret of one server, or ours, is not given to all.
 */
const INHERITED =
  /^(?:PATH|PATHEXT|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_\w+|TZ|TMPDIR|TMP|TEMP|XDG_\w+|(?:HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|SSL_CERT_(?:FILE|DIR)|APPDATA|LOCALAPPDATA|SYSTEMROOT|SYSTEMDRIVE|USERPROFILE|USERNAME|PROGRAMFILES|COMSPEC|HOMEDRIVE|HOMEPATH|PROCESSOR_ARCHITECTURE)$/i;

const LANGUAGE = /^(?:LANG|LC_\w+|TZ)$/;

/** Waits in ms: for a child to end after its stdin closed, and again after SIGTERM. */
const GRACE_MS = 2_000;
/** A child that ends closes its streams, too, and the system tells that first: its own cause is waited for so long. */
const MOMENT_MS = 500;
const POLL_MS = 25;
const HAS_GROUPS = process.platform !== 'win32';

/** Groups that live, to be ended when Assay ends without having had time to do it in order, or at all. */
const reaper = new Reaper(HAS_GROUPS ? '/bin/sh' : undefined);
process.on('exit', () => {
  for (const pid of reaper.groups) signalGroup(pid, 'SIGKILL');
});

/** A child process in a group of its own, so that whatever it starts ends with it. */
export class Child {
  /** Without streams, or undefined, where it could not be started. */
  readonly #process: ChildProcess | undefined;
  #isEnding = false;
  /**
   * Resolves with the first cause once the process and its whole group are gone. A process with which nobody can talk any
   * more, as it closed its stdin or stdout, is ended.
   */
  readonly ended: Promise<ProcessEnd>;

  constructor(options: ChildOptions) {
    const started = start(options);
    if (started instanceof Error) {
      this.ended = Promise.resolve(startFailure(options.command, started));
      return;
    }
    this.#process = started;
    const { pid } = started;
    if (pid !== undefined) reaper.add(pid);
    // What can no longer be read of its last words is lost; its end is seen elsewhere.
    started.stderr?.on('error', () => undefined);
    this.ended = this.#watch(started, options.command);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Writes one message in pieces, in one system call where it can. */
  write(pieces: readonly Buffer[]): void {
    const stdin = this.#process?.stdin;
    if (stdin?.writable !== true) return;
    stdin.cork();
    for (const piece of pieces) stdin.write(piece);
    stdin.uncork();
  }

  /** Bytes that were written and not taken; 0 as long as it takes what comes. */
  get untakenBytes(): number {
    const stdin = this.#process?.stdin;
    return stdin?.writableNeedDrain === true ? stdin.writableLength : 0;
  }

  /** Called when all is taken, after some of it was not. */
  onDrain(handler: () => void): void {
    this.#process?.stdin?.on('drain', handler);
  }

  onOutput(handler: (chunk: Buffer) => void): void {
    this.#process?.stdout?.on('data', handler);
  }

  /** Reads no more of its output, or goes on. */
  holdOutput(isHeld: boolean): void {
    if (isHeld) this.#process?.stdout?.pause();
    else this.#process?.stdout?.resume();
  }

  /** Resolves when all of its output was read. */
  get outputRead(): Promise<void> {
    const stdout = this.#process?.stdout;
    return new Promise((resolve) => {
      if (stdout === undefined || stdout === null || stdout.readableEnded || stdout.destroyed) resolve();
      else stdout.once('close', resolve);
    });
  }

  onErrorOutput(handler: (chunk: Buffer) => void): void {
    this.#process?.stderr?.on('data', handler);
  }

  /** Orderly end: stdin closed, then SIGTERM, then SIGKILL, with a wait before each (2026-07-28, basic/transports/stdio#shutdown). */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#process?.stdin?.end();
    if ((await atMost(this.ended, GRACE_MS)) !== undefined) return;
    this.signal('SIGTERM');
    if ((await atMost(this.ended, GRACE_MS)) !== undefined) return;
    this.signal('SIGKILL');
    await this.ended;
  }

  signal(name: NodeJS.Signals): void {
    if (this.pid !== undefined) signalGroup(this.pid, name);
  }

  async #watch(child: ChildProcess, command: string): Promise<ProcessEnd> {
    const exited = new Promise<ProcessEnd>((resolve) => {
      child.once('error', (error) => resolve(startFailure(command, error)));
      child.once('exit', (exitCode, signal) =>
        resolve(signal === null ? { code: 'PROCESS_EXITED', exitCode } : { code: 'PROCESS_KILLED', signal }),
      );
    });
    const end = await Promise.race([exited, this.#fallenSilent(child, exited)]);
    if (child.pid === undefined) return end;
    child.stdin?.end();
    await sweep(child.pid);
    await exited;
    return end;
  }

  /** Resolves when the process lives on without its stdin or stdout. */
  async #fallenSilent(child: ChildProcess, exited: Promise<ProcessEnd>): Promise<ProcessEnd> {
    const end = await new Promise<ProcessEnd>((resolve) => {
      for (const event of ['end', 'error'])
        child.stdout?.once(event, () => resolve({ code: 'STDOUT_CLOSED' }));
      child.stdin?.on('error', () => resolve({ code: 'STDIN_CLOSED' }));
    });
    await atMost(exited, MOMENT_MS);
    return this.#isEnding ? exited : end;
  }
}

/** The process, or the error where the system refuses at once. */
function start({ command, args, cwd, env, inherits }: ChildOptions): ChildProcess | Error {
  try {
    return spawn(command, args, {
      cwd,
      env: { ...inheritedEnv(inherits === 'language' ? LANGUAGE : INHERITED), ...env },
      detached: HAS_GROUPS,
      windowsHide: true,
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** What Node says beside the code may hold arguments, and these may be secret. */
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

/** Ends what the leader of a group left behind. */
async function sweep(pid: number): Promise<void> {
  if (signalGroup(pid, 'SIGTERM')) {
    const deadlineMs = performance.now() + GRACE_MS;
    while (signalGroup(pid, 0) && performance.now() < deadlineMs) await pause(POLL_MS);
    signalGroup(pid, 'SIGKILL');
  }
  reaper.remove(pid);
}

/** False when nobody of the group is left. */
function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(HAS_GROUPS ? -pid : pid, name);
    return true;
  } catch {
    return false;
  }
}

function inheritedEnv(names: RegExp): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(process.env))
    if (value !== undefined && names.test(key)) env[key] = value;
  return env;
}
