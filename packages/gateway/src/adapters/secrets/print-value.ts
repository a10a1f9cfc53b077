import { isUtf8 } from 'node:buffer';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import type { ProcessEnd } from '@assay-mcp/kit/platform/child';
import { err, ok, type Result } from '@assay-mcp/kit/result';

/** Maximum length of a value, from a file or a program. */
export const MAX_VALUE_BYTES: number = 64 * 1024;
/** Maximum time in ms for a program to print a value and exit. */
const MAX_PRINT_MS = 10_000;

/**
 * What a program prints, without a shell. It inherits what servers inherit, and no variables of entries. The error is a
 * phrase after "which", without anything that the program wrote: that may be the value.
 */
export async function printValue(
  [command, ...args]: readonly [string, ...string[]],
  cwd: string,
  limitMs: number = MAX_PRINT_MS,
): Promise<Result<string, string>> {
  const child = PLAIN_LAUNCHER.launch({ command, args, cwd, env: {} });
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.onOutput((chunk) => {
    bytes += chunk.length;
    if (bytes > MAX_VALUE_BYTES) child.signal('SIGKILL');
    else chunks.push(chunk);
  });
  // Read, so that it does not wait for a reader; not kept, as it may name the value.
  child.onErrorOutput(() => undefined);
  child.endInput();
  const end = await waitAtMost(Promise.all([child.ended, child.outputRead]), limitMs);
  if (end === undefined) {
    child.signal('SIGKILL');
    await child.ended;
    return err(`did not print it and exit within ${limitMs / 1_000} s`);
  }
  if (bytes > MAX_VALUE_BYTES) return err(`printed more than ${MAX_VALUE_BYTES / 1_024} KiB`);
  const fault = findEndFault(end[0]);
  if (fault !== undefined) return err(fault);
  const output = Buffer.concat(chunks);
  return isUtf8(output) ? ok(output.toString('utf8')) : err('printed something that is not UTF-8 text');
}

function findEndFault(end: ProcessEnd): string | undefined {
  switch (end.code) {
    case 'PROCESS_EXITED':
      return end.exitCode === 0 ? undefined : `exited with code ${end.exitCode ?? 'unknown'}`;
    case 'PROCESS_KILLED':
      return `was ended by ${end.signal}`;
    case 'COMMAND_NOT_FOUND':
      return 'was not found';
    case 'STDOUT_CLOSED':
      return 'closed its output without exiting';
    default:
      return `could not be run (${end.code})`;
  }
}
