import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { EarlyStart } from './early-start.ts';
import { isOpenWith, withEnvironment } from './environment.ts';
import { openCatalog, type OpenCatalog } from './open-catalog.ts';
import { openToolsets } from './records.ts';
import { SoleClient } from '../gateway/catalog/client-session.ts';
import type { View } from '../gateway/catalog/view.ts';
import type { StdioOptions } from '../core/command-options.ts';
import { runStdioServer, type StdioServerOptions } from '../edges/mcp/stdio-server.ts';

/** Delay in ms before servers start, so that the client is answered first. */
const START_AFTER_MS = 50;

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
    const opened = await openCatalog(environment, { early, sole });
    if (!opened.ok) return opened;
    const { catalog, relay, settings, start } = opened.value;
    const shown = await shownOf(given, opened.value);
    if (!shown.ok) return shown;
    const { view, read } = shown.value;
    // If all lists are cached, answer the client first; starting processes would delay it.
    const only = given.toolset === undefined ? undefined : view;
    const isKnown = (only ?? catalog).servers.every(({ capabilities }) => capabilities !== undefined);
    const startAll = (): void => {
      start(only);
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
  { catalog, relay, environment, settings }: OpenCatalog,
): Promise<Result<ShownView, Refusal>> {
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
