import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url));
/** The program under test; ASSAY_TEST_MAIN names another build of it. */
export const MAIN: string =
  process.env['ASSAY_TEST_MAIN'] ?? join(ROOT, 'packages', 'gateway', 'dist', 'main.js');

const PATIENCE_MS = 5_000;

export interface Running {
  /** Resolves with the first match in its output; rejects if it exits before, or at the time limit. */
  saying(pattern: RegExp): Promise<string>;
  /** Stops it, and waits until it has exited. */
  end(): Promise<void>;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The programs of one run, which all end with it. Each leads a process group, so that its children end too. */
export class Programs {
  readonly #children = new Set<ChildProcess>();
  readonly #killAll = (): void => {
    for (const child of this.#children) signalGroup(child, 'SIGKILL');
  };

  constructor() {
    process.once('exit', this.#killAll);
  }

  start(args: readonly string[]): Running {
    const { child, heard } = this.#spawn(args);
    const saying = async (pattern: RegExp): Promise<string> => {
      for (let waitedMs = 0; waitedMs < 30_000; waitedMs += 20) {
        const found = pattern.exec(heard.stdout)?.[0];
        if (found !== undefined) return found;
        if (child.exitCode !== null) break;
        await sleep(20);
      }
      throw new Error(`node ${args.join(' ')} did not say ${String(pattern)}:\n${heard.stderr}`);
    };
    return { saying, end: () => this.#end([child]) };
  }

  /** Runs a program until it exits, and then ends its remaining children. */
  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const { child, heard } = this.#spawn(args, env);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    signalGroup(child, 'SIGKILL');
    this.#children.delete(child);
    return { code, ...heard };
  }

  /** Stops all running programs, and waits until they have exited. */
  async end(): Promise<void> {
    await this.#end([...this.#children]);
    process.off('exit', this.#killAll);
  }

  async #end(children: readonly ChildProcess[]): Promise<void> {
    for (const child of children) signalGroup(child, 'SIGTERM');
    const endMs = performance.now() + PATIENCE_MS;
    while (children.some(isRunning) && performance.now() < endMs) await sleep(20);
    for (const child of children) {
      signalGroup(child, 'SIGKILL');
      this.#children.delete(child);
    }
  }

  #spawn(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): { child: ChildProcess; heard: { stdout: string; stderr: string } } {
    const child = spawn(process.execPath, args, {
      detached: true,
      env: { ...cleanEnv(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    const heard = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (heard.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (heard.stderr += text));
    return { child, heard };
  }
}

/** The environment without variables that would affect Assay, Node or the suite. */
export function cleanEnv(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(ASSAY_(?!TEST_MAIN)|VITEST|NODE_OPTIONS|NODE_ENV|DEBUG|FORCE_COLOR)/.test(name)
      ? []
      : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The whole group has ended already.
  }
}
