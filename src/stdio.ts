import { EXIT } from './core/errors.ts';
import type { Refusal } from './core/refusal.ts';
import { err, ok, type Result } from './core/result.ts';
import type { EarlyStart } from './early-start.ts';
import type { StdioOptions } from './edges/cli/runtime.ts';
import { SoleClient } from './gateway/catalog/client-session.ts';
import type { View } from './gateway/catalog/view.ts';
import type { Opened } from './opening.ts';
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
  const { catalog, log, settings, start, close } = opened.value;
  const shown = await shownOf(given, opened.value);
  if (!shown.ok) {
    await close();
    return shown;
  }
  const { view } = shown.value;
  // Where all is known the client is answered first: to start a process takes longer than that.
  const isKnown = catalog.servers.every(({ capabilities }) => capabilities !== undefined);
  const startAll = (): void => {
    start();
    shown.value.start?.();
  };
  const starting = isKnown ? setTimeout(startAll, START_AFTER_MS) : undefined;
  if (starting === undefined) startAll();
  const { stdin: input, stdout: output } = process;
  await runStdioDoor({ input, output, view, settings, log, sole, stopping: stopping.signal });
  clearTimeout(starting);
  // Servers wait to be told of their client; who never said a word can do nothing for them.
  sole.introduce(undefined);
  await Promise.all([close(), shown.value.close?.()]);
  process.stdin.destroy();
  // What a client does not read would keep the process alive for ever.
  if (process.stdout.writableLength > 0) process.exit(EXIT.done);
  return ok(undefined);
}

interface ShownView {
  readonly view: View;
  /** Reads what may have changed since it was last known. */
  readonly start?: () => void;
  readonly close?: () => Promise<void>;
}

/** What the client is to see. Where that is everything, nobody needs the store for it. */
async function shownOf(given: StdioOptions, opened: Opened): Promise<Result<ShownView, Refusal>> {
  const { attached, catalog, ground, settings } = opened;
  if (attached !== undefined) return ok({ view: attached });
  if (given.all === true) return ok({ view: catalog.all });
  const { openToolsets } = await import('./open-toolsets.ts');
  const { toolsets, views, close } = await openToolsets(catalog, {
    ground,
    settings,
    store: opened.store,
    isPersonal: false,
  });
  const read = (): void => void toolsets.ready();
  if (given.toolset === undefined) {
    if (!toolsets.isRecalled) read();
    return ok({ view: views.current, start: read, close });
  }
  const ready = await toolsets.ready();
  const view = views.of(given.toolset);
  if (ready.ok && view !== undefined) return ok({ view, close });
  const refusal = ready.ok ? toolsets.unknown(given.toolset) : ready.error;
  await close();
  return err(refusal);
}
