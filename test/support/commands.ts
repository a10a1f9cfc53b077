import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandCode, CommandLine } from '../fixtures/command-host.ts';
import { cleanEnv, spawnAssay } from './assay.ts';
import { IS_OTHER_BUILD, ROOT, tempDir } from './paths.ts';

const HOST = join(ROOT, 'test', 'fixtures', 'command-host.ts');
/** Idle host processes. They outlive a test file and exit with this process, when their channel closes. */
const idle: ChildProcess[] = [];

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

export interface CommandResult {
  /** `null` if its process would not have exited by itself. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface Command {
  /** Its stderr so far. */
  readonly stderr: () => string;
  readonly ended: Promise<CommandResult>;
}

/**
 * Runs a command of the built program to its end, in a reused process; concurrent commands each get their own.
 * Behavior that only a new process shows (signals, a terminal, startup) needs `spawnAssay`.
 */
export async function runAssay(args: readonly string[], given: Given = {}): Promise<CommandResult> {
  return IS_OTHER_BUILD ? spawnAssay(args, given) : startCommand(args, given).ended;
}

export function startCommand(args: readonly string[], { env, stdin = '' }: Given = {}): Command {
  const host = idle.pop() ?? startHost();
  const folder = tempDir();
  const read = (name: string): string =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';
  const over = new AbortController();
  const gone = once(host, 'exit', over).then(([code, signal]) => {
    throw new Error(`assay ${args.join(' ')} ended the process of the commands: ${String(code ?? signal)}`);
  });
  gone.catch(() => undefined);
  const answered = once(host, 'message', over);
  const line: CommandLine = { args, env: cleanEnv(env), stdin, folder };
  host.send(line);
  const end = async (): Promise<CommandResult> => {
    const [{ code }] = (await Promise.race([answered, gone])) as [{ readonly code: CommandCode }];
    over.abort();
    if (code === null) host.disconnect();
    else idle.push(host);
    return { code, stdout: read('stdout'), stderr: read('stderr') };
  };
  return { stderr: () => read('stderr'), ended: end() };
}

function startHost(): ChildProcess {
  const host = fork(HOST, { env: cleanEnv(), stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  host.unref();
  host.channel?.unref();
  return host;
}
