import { Console } from 'node:console';
import { EXIT } from '../core/errors.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { EarlyStart } from './early-start.ts';
import { isOpenWith, withEnvironment } from './environment.ts';
import { openAttached, openCatalog, type OpenCatalog } from './open-catalog.ts';
import { openToolsets } from './records.ts';
import { SoleClient } from '../gateway/catalog/client-session.ts';
import type { View } from '../gateway/catalog/view.ts';
import type { StdioOptions } from '../core/command-options.ts';
import { runStdioServer, type StdioServerOptions } from '../edges/mcp/stdio-server.ts';
import { surviveStrayFaults } from '../platform/guarded.ts';
import { waitForStop } from '../platform/stop-signals.ts';

/** Delay in ms before servers start, so that the client is answered first. */
const START_AFTER_MS = 50;

/** Runs `assay stdio` until the client has closed its side. Resolves with the exit code. */
export async function serveStdio(options: StdioOptions, early?: EarlyStart): Promise<number> {
  // Sends all console output, including that of libraries, to stderr: stdout carries JSON-RPC only.
  globalThis.console = new Console(process.stderr, process.stderr);
  try {
    const ended = await serveProcess(options, early);
    if (ended.ok) return EXIT.done;
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
  const done = await runStdio(given, { input, output, early, stopping: stopping.signal }).finally(
    stopSurviving,
  );
  if (!done.ok) return done;
  input.destroy();
  // Output that the client does not read would keep the process alive.
  if (output.writableLength > 0) process.exit(EXIT.done);
  return ok(undefined);
}

/** The streams of one client. */
export interface StdioStreams extends Pick<StdioServerOptions, 'input' | 'output' | 'stopping'> {
  readonly early?: EarlyStart | undefined;
}

/** Like `assay stdio`, on any pair of streams, which stay open. */
export async function runStdio(
  given: StdioOptions,
  { early, ...streams }: StdioStreams,
): Promise<Result<undefined, Refusal>> {
  const options = { ...given, isQuiet: false, transport: 'pipe' } as const;
  const sole = new SoleClient();
  return withEnvironment(options, async (environment) => {
    const before = { early, sole };
    const opened = await (given.attach === true
      ? openAttached(environment, given, before)
      : openCatalog(environment, before));
    if (!opened.ok) return opened;
    const { catalog, relay, settings, start } = opened.value;
    const shown = await shownOf(given, opened.value);
    if (!shown.ok) return shown;
    const { view, read } = shown.value;
    // If all lists are cached, answer the client first; starting processes would delay it.
    const isKnown = catalog.servers.every(({ capabilities }) => capabilities !== undefined);
    const startAll = (): void => {
      start();
      read?.();
    };
    const starting = isKnown ? setTimeout(startAll, START_AFTER_MS) : undefined;
    if (starting === undefined) startAll();
    await runStdioServer({
      ...streams,
      relay,
      view,
      settings,
      limits: given.limits,
      log: environment.log,
      sole,
    });
    clearTimeout(starting);
    // Servers wait to learn about their client; one that sent nothing offers no capabilities.
    sole.introduce(undefined);
    return ok(undefined);
  });
}

interface ShownView {
  readonly view: View;
  /** Refreshes what may have changed since it was cached. */
  readonly read?: () => void;
}

/** The view for the client. Showing everything needs no store. */
async function shownOf(
  given: StdioOptions,
  { attached, catalog, relay, environment, settings }: OpenCatalog,
): Promise<Result<ShownView, Refusal>> {
  if (attached !== undefined) return ok({ view: attached });
  if (given.all === true) return ok({ view: catalog.all });
  const { toolsets, views } = openToolsets(environment, {
    ...{ catalog, relay, settings, isPersonal: false },
    // If clients of the home are told apart by tokens, this one must not change what they see either.
    equipsAlone: !isOpenWith(settings, environment.configEnvironment),
  });
  if (given.search === true) return ok({ view: views.search });
  const read = (): void => void toolsets.ready();
  if (given.toolset === undefined) {
    if (!toolsets.isRecalled) read();
    return ok({ view: views.current, read });
  }
  const ready = await toolsets.ready();
  const view = views.of(given.toolset);
  if (ready.ok && view !== undefined) return ok({ view });
  return err(ready.ok ? toolsets.unknown(given.toolset) : ready.error);
}
