import { loadTokenCounter } from '../adapters/telemetry/token-counter.ts';
import { toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import type { AppOptions } from '../core/command-options.ts';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { OpenOnboarding } from '../edges/cli/runtime.ts';
import { startServers } from '../gateway/services/start-servers.ts';
import { exitOnStop } from '@assay-mcp/kit/platform/stop-signals';
import { hasHomeStore, openInEnvironment, getVariable } from './environment.ts';
import { openCatalog } from './open-catalog.ts';
import { openToolsets } from './records.ts';

/** Opens the catalog and the toolsets of the home. Starts nothing and never creates a store. */
export function openOnboarding(options: AppOptions): Promise<Result<OpenOnboarding, Refusal>> {
  const given = { ...quiet(options), isQuiet: true, transport: 'pipe' } as const;
  return openInEnvironment(given, async (environment) => {
    const opened = await openCatalog(environment, { mayBeEmpty: true });
    if (!opened.ok) return opened;
    const { catalog, relay, settings, close } = opened.value;
    const { toolsets, toolsetService, views } = openToolsets(environment, {
      catalog,
      relay,
      settings,
      isPersonal: false,
    });
    const ready = hasHomeStore(environment) ? await toolsets.ready() : ok(undefined);
    if (!ready.ok) return ready;
    return ok({
      catalog,
      toolsets,
      toolsetService,
      views,
      countTokens: await loadTokenCounter(),
      hasModes: settings.enableConfigToolsMenu,
      startServers: (names, onSettled) => {
        exitOnStop(close);
        return startServers(catalog, names, onSettled);
      },
      close,
    });
  });
}

/** Faults of an entry are shown with its server; the log would only repeat them. */
function quiet(options: AppOptions): AppOptions {
  const isWanted = getVariable(toConfigEnvironment(options).env, 'ASSAY_LOG_LEVEL') !== undefined;
  return isWanted || options.writeLog !== undefined ? options : { ...options, writeLog: () => undefined };
}
