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
  #isUnstartable = false;
  /**
   * Resolves with the first cause, a phrase, once the process and its whole group are gone. A process with which
   * nobody can talk any more, as it closed its stdin or stdout, is ended.
   */
  readonly ended: Promise<string>;

  constructor(options: ChildOptions) {
    const started = start(options);
    if (started instanceof Error) {
      this.#isUnstartable = isLasting(started);
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

  /** There is no such command, or it may not be executed: known once `ended` has resolved. */
  get isUnstartable(): boolean {
    return this.#isUnstartable;
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

  async #watch(child: ChildProcess, command: string): Promise<string> {
    const exited = new Promise<string>((resolve) => {
      child.once('error', (error) => {
        this.#isUnstartable = isLasting(error);
        resolve(startFailure(command, error));
      });
      child.once('exit', (code, signal) =>
        resolve(signal === null ? `exited with code ${String(code)}` : `was ended by ${signal}`),
      );
    });
    const cause = await Promise.race([exited, this.#fallenSilent(child, exited)]);
    if (child.pid === undefined) return cause;
    child.stdin?.end();
    await sweep(child.pid);
    await exited;
    return cause;
  }

  /** Resolves with the cause when the process lives on without its stdin or stdout. */
  async #fallenSilent(child: ChildProcess, exited: Promise<string>): Promise<string> {
    const cause = await new Promise<string>((resolve) => {
      for (const event of ['end', 'error'])
        child.stdout?.once(event, () => resolve('closed its stdout without ending'));
      child.stdin?.on('error', () => resolve('closed its stdin without ending'));
    });
    await atMost(exited, MOMENT_MS);
    return this.#isEnding ? exited : cause;
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

/** Not so where the system is only short of something. */
function isLasting({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR' || code === 'E2BIG';
}

/** A phrase; what Node says beside the code may hold arguments, and these may be secret. */
function startFailure(command: string, error: NodeJS.ErrnoException): string {
  const shown = JSON.stringify(command);
  switch (error.code) {
    case 'ENOENT':
      return `cannot be started: there is no command ${shown}, or its cwd does not exist`;
    case 'EACCES':
      return `cannot be started: ${shown} may not be executed`;
    case 'ENOTDIR':
      return `cannot be started: its cwd is no folder, or ${shown} lies in something that is none`;
    case 'E2BIG':
      return 'cannot be started: its arguments or its environment are too long';
    case 'EMFILE':
    case 'ENFILE':
      return 'cannot be started: too many files are open';
    default:
      return `cannot be started: ${error.code ?? error.message}`;
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
