import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Exit code of a program ended by a signal, as shells define it. */
export const INTERRUPTED: number = 130;
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Under npm, Ctrl+C arrives twice: from the terminal, and a moment later from npm. */
const NPM_ECHO_MS = 1_000;

/**
 * Resolves on the first signal, which asks for an orderly shutdown; a second one exits immediately. The end of the npm
 * process that started this one counts as a first signal.
 */
export function waitForStop(): Promise<void> {
  const isNpm = isStartedByNpm(process.env);
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    const ask = (): void => {
      askedMs ??= performance.now();
      resolve();
    };
    for (const signal of SIGNALS)
      process.on(signal, () => {
        const isEcho = isNpm && askedMs !== undefined && performance.now() - askedMs < NPM_ECHO_MS;
        if (askedMs !== undefined && !isEcho) process.exit(INTERRUPTED);
        ask();
      });
    if (isNpm) onNpmEnd(ask);
  });
}

/** On the first signal, closes what is open and ends the process with `INTERRUPTED`. */
export function exitOnStop(close: () => Promise<void>): void {
  void waitForStop().then(async () => {
    await close();
    process.exit(INTERRUPTED);
  });
}

const LOOK_INTERVAL_MS = 250;
/** Script names npm uses in the foreground: `npm start`, and `npx assay-mcp serve`. */
const FOREGROUND: ReadonlySet<string | undefined> = new Set(['start', 'npx']);

interface ProcessFacts {
  readonly parent: number;
  readonly commandLine: string;
}

/** Whether npm started this process in the foreground, so that it should not outlive npm. */
function isStartedByNpm(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.platform !== 'win32' && FOREGROUND.has(env['npm_lifecycle_event']);
}

/**
 * Calls back once when the npm that started this process has ended. npm forwards SIGTERM and SIGINT only to its shell,
 * and SIGHUP not at all; the shell ends without telling its child. Call only if `isStartedByNpm`.
 */
function onNpmEnd(call: () => void): void {
  const parent = process.ppid;
  const npm = npmAbove(parent);
  const look = setInterval(() => {
    // A process whose parent has ended is reparented.
    if (process.ppid === parent && (npm === undefined || isAlive(npm))) return;
    clearInterval(look);
    call();
  }, LOOK_INTERVAL_MS).unref();
}

/** The npm above this shell; undefined if the parent is npm itself or nothing can be determined. */
function npmAbove(parent: number): number | undefined {
  const shell = factsOf(parent);
  if (shell === undefined || isNpm(shell)) return undefined;
  const above = factsOf(shell.parent);
  return above !== undefined && isNpm(above) && isAlive(shell.parent) ? shell.parent : undefined;
}

/** By npm's own process title. */
function isNpm({ commandLine }: ProcessFacts): boolean {
  return /^np[mx]\b/.test(commandLine);
}

function factsOf(pid: number): ProcessFacts | undefined {
  try {
    return process.platform === 'linux' ? factsInProc(pid) : factsByPs(pid);
  } catch {
    return undefined;
  }
}

/** Slim containers have no `ps`. In `PID (name) STATE PPID …`, the name may contain anything. */
function factsInProc(pid: number): ProcessFacts {
  const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [, parent] = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(parent), commandLine: readFileSync(`/proc/${pid}/cmdline`, 'utf8') };
}

function factsByPs(pid: number): ProcessFacts | undefined {
  const line = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' });
  const [, parent, commandLine] = /^ *(\d+) +(.*)/.exec(line) ?? [];
  return commandLine === undefined ? undefined : { parent: Number(parent), commandLine };
}

/** Whether a process of this user has this id. The id may have been reused since. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
