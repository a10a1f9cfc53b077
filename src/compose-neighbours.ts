import { tmpdir } from 'node:os';
import { locateConfig, locateHome } from './adapters/config/locate-config.ts';
import { CLIENTS } from './adapters/config/neighbours/clients.ts';
import type { ConnectSurroundings } from './adapters/config/neighbours/connect-client.ts';
import type { CommonOptions, NeighbourPorts } from './edges/cli/runtime.ts';
import { surroundings } from './surroundings.ts';

/** What the commands around other clients need: `import` and `connect`. */
export function neighbourPorts(ownCommand: readonly string[]): NeighbourPorts {
  return {
    clientIds: CLIENTS.map(({ id }) => id),
    importServers: async (request, options) => {
      const { importServers } = await import('./adapters/config/neighbours/import-servers.ts');
      const configPath = located(options).path;
      return importServers(request, { ...neighbourhood(options, ownCommand), configPath });
    },
    connectClient: async (request, options) => {
      const { connectClient } = await import('./adapters/config/neighbours/connect-client.ts');
      return connectClient(request, neighbourhood(options, ownCommand));
    },
    undoConnect: async (request, options) => {
      const { undoConnect } = await import('./adapters/config/neighbours/undo-connect.ts');
      return undoConnect(request, neighbourhood(options, ownCommand));
    },
  };
}

function neighbourhood(options: CommonOptions, ownCommand: readonly string[]): ConnectSurroundings {
  const around = surroundings(options);
  const assayHome = locateHome(around);
  const { path, origin } = located(options);
  // A client starts the entry without the variables of this shell, so what they say is written down.
  const isConfigNamed = origin === '--config' || origin === 'ASSAY_CONFIG';
  const isHomeNamed = (around.env['ASSAY_HOME'] ?? '') !== '';
  return {
    ...around,
    platform: process.platform,
    ownCommand,
    assayHome,
    options: [...(isHomeNamed ? ['--home', assayHome] : []), ...(isConfigNamed ? ['--config', path] : [])],
    tempFolder: tmpdir(),
    nowMs: Date.now(),
  };
}

function located(options: CommonOptions): ReturnType<typeof locateConfig> {
  return locateConfig({ flag: options.config, ...surroundings(options) });
}
