import { Console } from 'node:console';
import type { StdioOptions } from '../../core/command-options.ts';
import { EXIT } from '../../core/errors.ts';
import type { Runtime } from './runtime.ts';

/** `assay stdio`. Returns the exit code when the client has closed its side. */
export async function runStdioCommand(
  { runStdio }: Pick<Runtime, 'runStdio'>,
  options: StdioOptions,
): Promise<number> {
  // Sends all console output, including that of libraries, to stderr: stdout carries JSON-RPC only.
  globalThis.console = new Console(process.stderr, process.stderr);
  const ended = await runStdio(options);
  if (ended.ok) return EXIT.done;
  const { printRefusal } = await import('./output.ts');
  return printRefusal(ended.error);
}
