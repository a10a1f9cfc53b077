import { toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { CLIENTS } from '../adapters/config/client-configs/clients.ts';
import { isShortLived } from '../adapters/config/client-configs/own-entry.ts';
import { VERSION } from '@assay-mcp/kit/version';
import { runCommandLine } from '../edges/cli/program.ts';
import type { ClientConfigPorts, Runtime } from '../edges/cli/runtime.ts';
import { hasBrowser, openBrowser } from '@assay-mcp/kit/platform/browser';
import { surviveStrayFaults } from '@assay-mcp/kit/platform/guarded';
import { waitForStop } from '@assay-mcp/kit/platform/stop-signals';
import { locateAppConfig, connectEnvironment, formatViewOptions } from './client-entry.ts';
import { OWN_COMMAND } from './serve-stdio.ts';
import type { StdioStreams } from './stdio.ts';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { StdioOptions } from '../core/command-options.ts';

/** Runs the program with the implementations of all ports. Resolves with the exit code. */
export function runProgram(argv: readonly string[]): Promise<number> {
  return runCommandLine(argv, RUNTIME);
}

/** Opens the gateway of `assay serve`, for embedding in another process. */
export const openServe: Runtime['openServe'] = async (options) =>
  (await import('./serve.ts')).openServe(options);

/** Runs the protocol of `assay stdio` on any pair of streams. */
export async function runStdio(
  options: StdioOptions,
  streams: StdioStreams,
): Promise<Result<undefined, Refusal>> {
  return (await import('./serve-stdio.ts')).runStdio(options, streams);
}

/** Modules are loaded per command, since clients wait for `assay stdio` to start. */
const RUNTIME: Runtime = {
  ...clientConfigPorts(OWN_COMMAND),
  version: VERSION,
  ownCommand: OWN_COMMAND,
  callTool: async (...given) => (await import('./call-tool.ts')).callTool(...given),
  openServe: async (options) => {
    const opened = await openServe(options);
    if (!opened.ok) return opened;
    const stop = surviveStrayFaults();
    const close = (): Promise<void> => opened.value.close().finally(stop);
    return { ok: true, value: { ...opened.value, close } };
  },
  stopGateway: async (options) => (await import('./gateway-lock.ts')).stopGateway(options),
  findService: async (options) => (await import('./service.ts')).findService(options),
  openLog: async (options) => (await import('./open-log.ts')).openHomeLog(options),
  openServices: async (options) => (await import('./services.ts')).openLocalServices(options),
  readFile: async (path) => (await import('./commands.ts')).readTextFile(path),
  readLines: async (path, take) => (await import('./commands.ts')).readLines(path, take),
  writeFile: async (path, text) => (await import('./commands.ts')).writePrivateFile(path, text),
  readSettings: async (options) => (await import('./commands.ts')).readSettings(options),
  runStdio: async (options) => (await import('./serve-stdio.ts')).serveStdio(options),
  examine: async (options) => (await import('./commands.ts')).runDiagnosis(options),
  signIn: async (request, options) => (await import('./auth-commands.ts')).signInAt(request, options),
  signIns: async (options) => (await import('./auth-commands.ts')).listSignIns(options),
  signOut: async (who, options) => (await import('./auth-commands.ts')).signOutAt(who, options),
  hasBrowser,
  openBrowser,
  untilStopped: waitForStop,
  backUpStore: async (...given) => (await import('./store-commands.ts')).backUpStore(...given),
  restoreStore: async (...given) => (await import('./store-commands.ts')).restoreStore(...given),
  checkStore: async (options) => (await import('./store-commands.ts')).checkStore(options),
  rekeyStore: async (...given) => (await import('./rekey.ts')).rekey(...given),
  readGuides: async () => (await import('./guides.ts')).readGuides(),
  openCodebase: async (options) =>
    (await import('./companion.ts')).openCodebase(toConfigEnvironment(options)),
  sandboxSupport: async () => (await import('./confine.ts')).probeSandboxSupport(),
  findFetch: async (name, options) =>
    (await import('./fetch-companion.ts')).findFetch(name, toConfigEnvironment(options)),
  openVerifier: async (options) =>
    (await import('./companion.ts')).openVerifier(toConfigEnvironment(options)),
};

/** Ports for the commands that deal with other clients: `import` and `connect`. */
function clientConfigPorts(ownCommand: readonly string[]): ClientConfigPorts {
  return {
    programName: isShortLived(ownCommand) ? 'npx assay-mcp' : 'assay',
    clients: CLIENTS,
    openApi: async (...given) => (await import('./api.ts')).openApi(...given),
    addServer: async (request, options) => {
      const { addServer } = await import('../adapters/config/client-configs/own-servers.ts');
      const configPath = locateAppConfig(options).path;
      return addServer(request, { ...connectEnvironment(options, ownCommand), configPath });
    },
    removeServer: async (name, options) => {
      const { removeServer } = await import('../adapters/config/client-configs/own-servers.ts');
      return removeServer(name, locateAppConfig(options).path);
    },
    importServers: async (request, options) => {
      const { importServers } = await import('../adapters/config/client-configs/import-servers.ts');
      const configPath = locateAppConfig(options).path;
      return importServers(request, { ...connectEnvironment(options, ownCommand), configPath });
    },
    moveServers: async (request, options) => {
      const { moveServers } = await import('../adapters/config/client-configs/move-servers.ts');
      const configPath = locateAppConfig(options).path;
      return moveServers(request, { ...connectEnvironment(options, ownCommand), configPath });
    },
    connectClient: async (request, options) => {
      const { connectClient } = await import('../adapters/config/client-configs/connect-client.ts');
      const configEnvironment = connectEnvironment(options, ownCommand);
      return connectClient(request, {
        ...configEnvironment,
        options: [...formatViewOptions(request.view), ...configEnvironment.options],
      });
    },
    listConnections: async (options) => {
      const { listConnections } = await import('../adapters/config/client-configs/undo-connect.ts');
      return listConnections(connectEnvironment(options, ownCommand));
    },
    undoConnect: async (request, options) => {
      const { undoConnect } = await import('../adapters/config/client-configs/undo-connect.ts');
      return undoConnect(request, connectEnvironment(options, ownCommand));
    },
    hasConfig: async (options) =>
      (await import('@assay-mcp/kit/platform/files')).isThere(locateAppConfig(options).path),
    readIdentities: async (options) => {
      const { loadConfig } = await import('../adapters/config/load-config.ts');
      const { computeOriginIdentity } = await import('../core/server-identity.ts');
      const config = loadConfig(locateAppConfig(options).path, toConfigEnvironment(options));
      if (!config.ok) return config;
      return ok(new Map(config.value.servers.map((spec) => [spec.name, computeOriginIdentity(spec)])));
    },
    findClients: async (options) => {
      const { findClients } = await import('../adapters/config/client-configs/find-clients.ts');
      return findClients(connectEnvironment(options, ownCommand));
    },
    openOnboarding: async (options) => (await import('./onboarding.ts')).openOnboarding(options),
  };
}
