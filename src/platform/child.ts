import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { atMost, pause } from './waiting.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** What the child gets beside the harmless part of our own environment. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * What a child inherits: where things are, who the user is, language and proxies. Nothing else, so that a secret of
 * one server, or ours, is not given to all.
 */
const INHERITED =
  /^(?:PATH|PATHEXT|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_\w+|TZ|TMPDIR|TMP|TEMP|XDG_\w+|(?:HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|APPDATA|LOCALAPPDATA|SYSTEMROOT|SYSTEMDRIVE|USERPROFILE|USERNAME|PROGRAMFILES|COMSPEC|HOMEDRIVE|HOMEPATH|PROCESSOR_ARCHITECTURE)$/i;

/** Waits in ms: for a child to end after its stdin closed, and again after SIGTERM. */
const GRACE_MS = 2_000;
const POLL_MS = 25;
const HAS_GROUPS = process.platform !== 'win32';

/** Groups that live, to be ended when Assay ends without having had time to do it in order. */
const groups = new Set<number>();
process.on('exit', () => {
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
});

/** A child process in a group of its own, so that whatever it starts ends with it. */
export class Child {
  readonly #process: ChildProcessWithoutNullStreams;
  /** Resolves with the cause, a phrase, once the process and its whole group are gone. */
  readonly ended: Promise<string>;

  constructor(options: ChildOptions) {
    this.#process = spawn(options.command, options.args, {
      cwd: options.cwd,
      env: { ...inheritedEnv(), ...options.env },
      detached: HAS_GROUPS,
      windowsHide: true,
    });
    const { pid } = this.#process;
    if (pid !== undefined) groups.add(pid);
    this.ended = this.#watch(options.command);
    // A child that closes its end early is seen by its exit; the broken pipe tells nothing more.
    this.#process.stdin.on('error', () => undefined);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Writes one message in pieces, in one system call where it can. */
  write(pieces: readonly Buffer[]): void {
    const { stdin } = this.#process;
    stdin.cork();
    for (const piece of pieces) stdin.write(piece);
    stdin.uncork();
  }

  onOutput(handler: (chunk: Buffer) => void): void {
    this.#process.stdout.on('data', handler);
  }

  onErrorOutput(handler: (chunk: Buffer) => void): void {
    this.#process.stderr.on('data', handler);
  }

  /** Orderly end: stdin closed, then SIGTERM, then SIGKILL, with a wait before each (2026-07-28, basic/transports/stdio#shutdown). */
  async end(): Promise<void> {
    this.#process.stdin.end();
    if ((await atMost(this.ended, GRACE_MS)) !== undefined) return;
    this.signal('SIGTERM');
    if ((await atMost(this.ended, GRACE_MS)) !== undefined) return;
    this.signal('SIGKILL');
    await this.ended;
  }

  signal(name: NodeJS.Signals): void {
    if (this.#process.pid !== undefined) signalGroup(this.#process.pid, name);
  }

  async #watch(command: string): Promise<string> {
    const cause = await new Promise<string>((resolve) => {
      this.#process.once('error', (error: NodeJS.ErrnoException) => resolve(startFailure(command, error)));
      this.#process.once('exit', (code, signal) =>
        resolve(signal === null ? `exited with code ${String(code)}` : `was ended by ${signal}`),
      );
    });
    if (this.#process.pid !== undefined) await sweep(this.#process.pid);
    return cause;
  }
}

function startFailure(command: string, error: NodeJS.ErrnoException): string {
  const shown = JSON.stringify(command);
  if (error.code === 'ENOENT')
    return `cannot be started: there is no command ${shown}, or its cwd does not exist`;
  if (error.code === 'EACCES') return `cannot be started: ${shown} may not be executed`;
  return `cannot be started: ${error.code ?? error.message}`;
}

/** Ends what the leader of a group left behind. */
async function sweep(pid: number): Promise<void> {
  if (signalGroup(pid, 'SIGTERM')) {
    const deadlineMs = Date.now() + GRACE_MS;
    while (signalGroup(pid, 0) && Date.now() < deadlineMs) await pause(POLL_MS);
    signalGroup(pid, 'SIGKILL');
  }
  groups.delete(pid);
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

function inheritedEnv(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(process.env))
    if (value !== undefined && INHERITED.test(key)) env[key] = value;
  return env;
}
