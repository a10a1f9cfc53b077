import { Console } from 'node:console';
import { parseArgs } from 'node:util';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { surviveStrayFaults } from '@assay-mcp/kit/platform/guarded';
import { waitForStop } from '@assay-mcp/kit/platform/stop-signals';
import type { StdioOptions } from '../core/command-options.ts';
import type { EarlyStart } from './early-start.ts';
import type { StdioStreams } from './stdio.ts';

/** The command that started this process: an executable and its first argument. */
export const OWN_COMMAND: readonly string[] = [process.execPath, process.argv[1] ?? ''];

/** An attached client needs little of the program, so the table of exit codes is not loaded for it. */
const DONE = 0;

/** Runs `assay stdio` until the client has closed its side. Resolves with the exit code. */
export async function serveStdio(options: StdioOptions, early?: EarlyStart): Promise<number> {
  // Sends all console output, including that of libraries, to stderr: stdout carries JSON-RPC only.
  globalThis.console = new Console(process.stderr, process.stderr);
  try {
    const ended = await serveProcess(options, early);
    if (ended.ok) return DONE;
    const { printRefusal } = await import('../edges/cli/output.ts');
    return printRefusal(ended.error);
  } finally {
    await early?.end();
  }
}

/**
 * Speaks MCP on stdin and stdout until the client closes its side or a signal arrives, and all requests are answered.
 */
async function serveProcess(
  given: StdioOptions,
  early: EarlyStart | undefined,
): Promise<Result<undefined, Refusal>> {
  const stopping = new AbortController();
  void waitForStop().then(() => stopping.abort());
  const { stdin: input, stdout: output } = process;
  const stopSurviving = surviveStrayFaults();
  const streams = { input, output, early, stopping: stopping.signal };
  const done = await runStdio(given, streams, OWN_COMMAND).finally(stopSurviving);
  if (!done.ok) return done;
  input.destroy();
  // Output that the client does not read would keep the process alive.
  if (output.writableLength > 0) process.exit(DONE);
  return ok(undefined);
}

/**
 * Serves the client of these streams, which stay open: in this process, or with `attach` through the gateway of the home.
 * Without `ownCommand`, the command that starts this program, no gateway is started in the background.
 */
export async function runStdio(
  given: StdioOptions,
  streams: StdioStreams,
  ownCommand?: readonly string[],
): Promise<Result<undefined, Refusal>> {
  const { attach: isAttached, ...here } = given;
  const serveHere = async (own: StdioStreams): Promise<Result<undefined, Refusal>> =>
    (await import('./stdio.ts')).runStdio(here, own);
  if (isAttached !== true) return serveHere(streams);
  const { attach } = await import('./attach.ts');
  const write = given.writeLog ?? ((line: string) => void process.stderr.write(line));
  return attach(given, streams, { ownCommand, note: (text) => write(`assay: ${text}\n`), serveHere });
}

/** The options of a plain `assay stdio`. Undefined if the command line must parse, reject or explain the arguments. */
export function parseStdioOptions(argv: readonly string[]): StdioOptions | undefined {
  const [, , command, ...args] = argv;
  if (command !== 'stdio') return undefined;
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    const options = {
      ...{ config: text, home: text, toolset: text },
      ...{ attach: flag, all: flag, search: flag, 'no-background': flag },
    } as const;
    const { values } = parseArgs({ args, options, allowPositionals: false });
    const { 'no-background': isAlone, ...given } = values;
    if ([given.all, given.search, given.toolset].filter((one) => one !== undefined).length > 1)
      return undefined;
    return isAlone === true ? { ...given, background: false } : given;
  } catch {
    return undefined;
  }
}
