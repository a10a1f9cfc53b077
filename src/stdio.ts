import { EXIT, type Refusal } from './core/errors.ts';
import { ok, type Result } from './core/result.ts';
import type { EarlyStart } from './early-start.ts';
import type { StdioOptions } from './edges/cli/runtime.ts';
import { untilStopped } from './stopping.ts';

/** Speaks MCP on stdin and stdout until the client closes its side or a signal comes. */
export async function runStdio(given: StdioOptions, early?: EarlyStart): Promise<Result<undefined, Refusal>> {
  const stopped = untilStopped();
  const isAttached = given.attach === true;
  const [{ openAttached, openCatalog }, { runStdioDoor }] = await Promise.all([
    import('./opening.ts'),
    import('./edges/mcp/stdio-door.ts'),
  ]);
  const options = { ...given, isQuiet: false, transport: 'pipe' } as const;
  const opened = await (isAttached ? openAttached(options) : openCatalog(options, early));
  if (!opened.ok) return opened;
  const { view, log, settings, start, close } = opened.value;
  start();
  const door = runStdioDoor({ input: process.stdin, output: process.stdout, view, settings, log });
  await Promise.race([door, stopped]);
  await close();
  process.stdin.destroy();
  // What a client does not read would keep the process alive for ever.
  if (process.stdout.writableLength > 0) process.exit(EXIT.done);
  return ok(undefined);
}
