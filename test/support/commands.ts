import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { CommandLine, CommandResult } from '../fixtures/command-host.ts';
import { cleanEnv, spawnAssay } from './assay.ts';
import { IS_OTHER_BUILD, ROOT } from './place.ts';

const HOST = join(ROOT, 'test', 'fixtures', 'command-host.ts');
/** Hosts without a command. They outlive a test file, and end when this process does: their channel closes. */
const idle: ChildProcess[] = [];

/**
 * Runs a command of the built program to its end, in a process that has run others before; commands at the same time have a
 * process each. What only a new process shows (signals, a terminal, its start) needs `spawnAssay`.
 */
export async function runAssay(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
): Promise<CommandResult> {
  if (IS_OTHER_BUILD) return spawnAssay(args, options);
  const host = idle.pop() ?? startHost();
  const line: CommandLine = { args, env: cleanEnv(options.env), stdin: options.stdin ?? '' };
  const over = new AbortController();
  const ended = once(host, 'exit', over).then(([code, signal]) => {
    throw new Error(`assay ${args.join(' ')} ended the process of the commands: ${String(code ?? signal)}`);
  });
  const answered = once(host, 'message', over);
  host.send(line);
  const [result] = (await Promise.race([answered, ended])) as [CommandResult];
  ended.catch(() => undefined);
  over.abort();
  if (result.code === null) host.disconnect();
  else idle.push(host);
  return result;
}

function startHost(): ChildProcess {
  const host = fork(HOST, { env: cleanEnv(), stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  host.unref();
  host.channel?.unref();
  return host;
}
