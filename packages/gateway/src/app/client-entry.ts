import { tmpdir } from 'node:os';
import type { ConnectEnvironment } from '../adapters/config/client-configs/connect-client.ts';
import { locateConfig, toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import type { AppOptions, ViewOptions } from '../core/command-options.ts';

/** Everything that Assay's entry in a client's config file depends on. */
export function connectEnvironment(options: AppOptions, ownCommand: readonly string[]): ConnectEnvironment {
  const configEnvironment = toConfigEnvironment(options);
  const assayHome = locateHome(configEnvironment);
  const { path, origin } = locateAppConfig(options);
  // Clients start the entry without this shell's variables, so their values are written into it.
  const isConfigNamed = origin === '--config' || origin === 'ASSAY_CONFIG';
  const isHomeNamed = (configEnvironment.env['ASSAY_HOME'] ?? '') !== '';
  return {
    ...configEnvironment,
    platform: process.platform,
    ownCommand,
    assayHome,
    options: [...(isHomeNamed ? ['--home', assayHome] : []), ...(isConfigNamed ? ['--config', path] : [])],
    tempFolder: tmpdir(),
    nowMs: Date.now(),
  };
}

export function locateAppConfig(options: AppOptions): ReturnType<typeof locateConfig> {
  return locateConfig({ flag: options.config, ...toConfigEnvironment(options) });
}

/** The options with which `assay stdio` exposes these tools. */
export function formatViewOptions({ all, toolset, search }: ViewOptions): readonly string[] {
  if (search === true) return ['--search'];
  return all === true ? ['--all'] : toolset === undefined ? [] : ['--toolset', toolset];
}
