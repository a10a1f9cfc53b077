// Tracks every process that the bench starts, so that all of them end with it, however it ends.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 2_000;
const STDERR_KEPT = 2_000;

export interface Running {
  readonly pid: number;
  /** Why it no longer runs, with the end of its stderr; `undefined` while it runs. */
  readonly ending: () => string | undefined;
  /** Resolves with the first match in its stdout; rejects if it ends first. */
  readonly saying: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Terminates it and its process group. */
  readonly end: () => void;
}

export interface SpawnOptions {
  readonly cwd?: string | undefined;
  /** Variables in addition to the bench's own. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The program; by default the Node that runs the bench. */
  readonly command?: string | undefined;
}

export class Processes {
  readonly #children = new Set<ChildProcess>();

  /** Starts a program with these arguments; the caller handles its streams. */
  spawn(
    args: readonly string[],
    { cwd, env, command = process.execPath }: SpawnOptions = {},
  ): ChildProcessWithoutNullStreams {
    // Its own group: an interrupt at the terminal reaches only the bench, which stops its children in order, and one
    // signal reaches a child with all its descendants.
    const options = { cwd, env: { ...process.env, ...env }, detached: true };
    const child = spawn(command, args, { ...options, stdio: 'pipe' });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    child.stdin.on('error', () => undefined);
    return child;
  }

  /** The same, collecting its output. */
  start(args: readonly string[], options: SpawnOptions = {}): Running {
    const child = this.spawn(args, options);
    const { pid } = child;
    if (pid === undefined) {
      child.on('error', () => undefined);
      throw new Error(`cannot start ${options.command ?? 'node'}: is it installed?`);
    }
    let heard = '';
    let stderr = '';
    let ending: string | undefined;
    child.stdout.on('data', (chunk: Buffer) => (heard = (heard + String(chunk)).slice(-STDERR_KEPT)));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + String(chunk)).slice(-STDERR_KEPT);
    });
    child.on('error', (error) => (ending ??= error.message));
    child.on('exit', (code, signal) => {
      ending ??= `ended with ${signal ?? String(code)}. ${stderr.trim()}`;
    });
    const saying = async (pattern: RegExp): Promise<RegExpExecArray> => {
      for (;;) {
        const match = pattern.exec(heard);
        if (match !== null) return match;
        if (ending !== undefined) throw new Error(ending);
        await sleep(20);
      }
    };
    const end = (): void => {
      signalGroup(child, 'SIGTERM');
    };
    return { pid, ending: () => ending, saying, end };
  }

  /** Terminates all, then kills the rest. */
  async endAll(): Promise<void> {
    this.#signalAll('SIGTERM');
    const untilMs = performance.now() + PATIENCE_MS;
    while (this.#living().length > 0 && performance.now() < untilMs) await sleep(50);
    this.killAll();
  }

  /** For when the bench itself exits and cannot wait. */
  killAll(): void {
    this.#signalAll('SIGKILL');
    this.#children.clear();
  }

  #living(): ChildProcess[] {
    return [...this.#children].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  }

  #signalAll(signal: NodeJS.Signals): void {
    for (const child of this.#living()) signalGroup(child, signal);
  }
}

export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port);
        else reject(new Error('no free port'));
      });
    });
  });
}

export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The whole group ended by itself between the check and the signal.
  }
}
