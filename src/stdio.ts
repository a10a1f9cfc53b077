import { EXIT } from './core/errors.ts';
import type { Refusal } from './core/refusal.ts';
import { ok, type Result } from './core/result.ts';
import type { EarlyStart } from './early-start.ts';
import type { StdioOptions } from './edges/cli/runtime.ts';
import { SoleClient } from './gateway/client-session.ts';
import { untilStopped } from './stopping.ts';

/** How long in ms the client has the processor for itself. */
const START_AFTER_MS = 50;

/** Speaks MCP on stdin and stdout until the client closes its side or a signal comes, and all is answered. */
export async function runStdio(given: StdioOptions, early?: EarlyStart): Promise<Result<undefined, Refusal>> {
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  const isAttached = given.attach === true;
  const [{ openAttached, openCatalog }, { runStdioDoor }] = await Promise.all([
    import('./opening.ts'),
    import('./edges/mcp/stdio-door.ts'),
  ]);
  const options = { ...given, isQuiet: false, transport: 'pipe' } as const;
  const sole = new SoleClient();
  const before = { early, sole };
  const opened = await (isAttached ? openAttached(options, before) : openCatalog(options, before));
  if (!opened.ok) return opened;
  const { catalog, view, log, settings, start, close } = opened.value;
  // Where all is known the client is answered first: to start a process takes longer than that.
  const isKnown = catalog.servers.every(({ capabilities }) => capabilities !== undefined);
  const starting = isKnown ? setTimeout(start, START_AFTER_MS) : undefined;
  if (starting === undefined) start();
  const { stdin: input, stdout: output } = process;
  await runStdioDoor({ input, output, view, settings, log, sole, stopping: stopping.signal });
  clearTimeout(starting);
  // Servers wait to be told of their client; who never said a word can do nothing for them.
  sole.introduce(undefined);
  await close();
  process.stdin.destroy();
  // What a client does not read would keep the process alive for ever.
  if (process.stdout.writableLength > 0) process.exit(EXIT.done);
  return ok(undefined);
}
