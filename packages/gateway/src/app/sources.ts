import { join } from 'node:path';
import { watchFile } from '@assay-mcp/kit/platform/watch-file';
import { connectBuiltIn } from '../adapters/sources/connect-built-in.ts';
import type { FilterRunner } from '../adapters/sources/http/filter-processes.ts';
import type { HttpPort } from '../adapters/sources/http/open-http.ts';
import { listNamedUrls, formatReachRemedy, type ReachRules, createReachRules } from '../core/reach-rules.ts';
import { formatPathFault } from '../core/refusals/config-refusals.ts';
import type { Transport } from '../core/server-spec.ts';
import type { Settings } from '../core/settings.ts';
import type { EntryFault } from '@assay-mcp/kit/json-position';
import type { ReachFaults } from '../gateway/ports/config-entries.ts';
import type { Connect, Connectors } from '../gateway/ports/link.ts';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import { createCodebaseConnector } from './codebase-connector.ts';
import type { Log } from '../gateway/ports/log.ts';
import { resolveReaches } from '@assay-mcp/kit/platform/addresses';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { readProxyEnvironment } from '@assay-mcp/kit/platform/proxy-environment';
import { findUnsafePath } from '@assay-mcp/kit/platform/path-safety';

interface ConnectDeps {
  readonly upstream: Connectors<'stdio' | 'http'>;
  readonly log: Log;
  /** Masks the secrets in a text. */
  readonly mask: (text: string) => string;
  /** Absolute path of the folder with Assay's own secrets. */
  readonly home: string;
  /** Assay's config file. */
  readonly configPath: string;
  readonly configEnvironment: ConfigEnvironment;
  readonly rules: ReachRules;
}

interface Connected {
  readonly connect: Connect;
  readonly close: () => Promise<void>;
}

/** The build places it next to the program. */
const RUNNER = join(import.meta.dirname, 'function-runner.js');

/** Connects to sources of all kinds. */
export function connectAll({
  upstream,
  log,
  mask,
  home,
  configEnvironment,
  rules,
  ...deps
}: ConnectDeps): Connected {
  let opening: Promise<HttpPort> | undefined;
  const openHttp = (): Promise<HttpPort> => (opening ??= openHttpWithin(rules));
  let filtering: Promise<FilterRunner> | undefined;
  const openFilters = (): Promise<FilterRunner> => (filtering ??= newFilters());
  const builtIn = connectBuiltIn({
    ...{ log, mask, home, openHttp, openFilters, runner: RUNNER, watch: watchFile },
    launcher: PLAIN_LAUNCHER,
    fileFault: (path) => {
      const fault = findUnsafePath(path, configEnvironment);
      return fault && `could be changed by others: ${formatPathFault(fault)}`;
    },
  });
  const codebase = createCodebaseConnector(upstream, {
    ...{ configEnvironment, home, userHome: configEnvironment.home, configPath: deps.configPath },
  });
  return {
    connect: connectBy({ ...upstream, ...builtIn, codebase: codebase.connect }),
    close: async () => {
      codebase.close();
      await Promise.all([opening, filtering].map(async (opened) => (await opened)?.close()));
    },
  };
}

function connectBy(connectors: Connectors<Transport['kind']>): Connect {
  return (spec, opening) => {
    const { transport } = spec;
    // TypeScript cannot tell that the connector matches the transport kind.
    return connectors[transport.kind](spec, transport as never, opening);
  };
}

async function newFilters(): Promise<FilterRunner> {
  const { FilterProcesses } = await import('../adapters/sources/http/filter-processes.ts');
  return new FilterProcesses(PLAIN_LAUNCHER);
}

async function openHttpWithin(rules: ReachRules): Promise<HttpPort> {
  const { openHttp } = await import('../adapters/sources/http/open-http.ts');
  return openHttp({ rules });
}

/** The addresses that this process may connect to, and the proxies of its environment. `isOnNetwork`: other machines can reach it. */
export function toReachRules(
  settings: Pick<Settings, 'http.allowLoopback' | 'http.allowPrivate'>,
  { env }: Pick<ConfigEnvironment, 'env'>,
  isOnNetwork = false,
): ReachRules {
  return createReachRules({
    findProxy: readProxyEnvironment(env),
    isOnNetwork,
    allowLoopback: settings['http.allowLoopback'],
    allowPrivate: settings['http.allowPrivate'],
  });
}

/** Names that do not resolve pass: they may resolve later and are checked again on each connection. */
export function createReachCheck(rules: ReachRules): ReachFaults {
  return async (spec, entry, former = {}) => {
    const faults: EntryFault[] = [];
    for (const { field, url } of listNamedUrls(spec)) {
      if (entry[field] === undefined || entry[field] === former[field]) continue;
      const reaches = await resolveReaches(url.hostname);
      if (reaches.length === 0 || reaches.some((reach) => rules.operator.has(reach))) continue;
      const reason = `It leads to a ${reaches.join(' and ')} address: ${formatReachRemedy(reaches, 'operator')}.`;
      faults.push({ field, reason });
    }
    return faults;
  };
}
