import { resolve } from 'node:path';
import { toConfigEnvironment, locateConfig } from '../adapters/config/locate-config.ts';
import { locateHome } from '../adapters/config/locate-home.ts';
import { CLIENTS } from '../adapters/config/client-configs/clients.ts';
import { isShortLived } from '../adapters/config/client-configs/own-entry.ts';
import type * as Codebase from '../codebase/program.ts';
import { VERSION } from '../core/version.ts';
import { runCommandLine } from '../edges/cli/program.ts';
import type { ClientConfigPorts, Runtime } from '../edges/cli/runtime.ts';
import { hasBrowser } from '../platform/browser.ts';
import { surviveStrayFaults } from '../platform/guarded.ts';
import { waitForStop } from '../platform/stop-signals.ts';
import { locateAppConfig, connectEnvironment, OWN_COMMAND, formatViewOptions } from './client-entry.ts';
import type { StdioStreams } from './stdio.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Result } from '../core/result.ts';
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
  return (await import('./stdio.ts')).runStdio(options, streams);
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
  openLog: async (options) => (await import('./open-log.ts')).openHomeLog(options),
  openApi: async (...given) => (await import('./api.ts')).openApi(...given),
  openServices: async (options) => (await import('./services.ts')).openLocalServices(options),
  readFile: async (path) => (await import('./commands.ts')).readTextFile(path),
  readLines: async (path, take) => (await import('./commands.ts')).readLines(path, take),
  writeFile: async (path, text) => (await import('./commands.ts')).writePrivateFile(path, text),
  readSettings: async (options) => (await import('./commands.ts')).readSettings(options),
  runStdio: async (options) => (await import('./stdio.ts')).serveStdio(options),
  examine: async (options) => (await import('./commands.ts')).runDiagnosis(options),
  signIn: async (request, options) => (await import('./auth-commands.ts')).signInAt(request, options),
  signIns: async (options) => (await import('./auth-commands.ts')).listSignIns(options),
  signOut: async (who, options) => (await import('./auth-commands.ts')).signOutAt(who, options),
  hasBrowser,
  untilStopped: waitForStop,
  openCodebase: async (options) => {
    const { openCodebase } = await loadCodebase();
    const configEnvironment = toConfigEnvironment(options);
    const { config: flag, roots, confined } = options;
    return openCodebase({
      confined,
      home: locateHome(configEnvironment),
      env: configEnvironment.env,
      cwd: configEnvironment.cwd,
      userHome: configEnvironment.home,
      configPath: locateConfig({ flag, ...configEnvironment }).path,
      roots: roots?.map((root) => resolve(configEnvironment.cwd, root)),
    });
  },
  sandboxSupport: async () => (await import('./confine.ts')).probeSandboxSupport(),
  openVerifier: async () => (await import('./verifier.ts')).openVerifier(),
};

/** A separate program, which the build places next to this one, so that its imports are loaded only when it runs. */
function loadCodebase(): Promise<typeof Codebase> {
  const url = new URL('./codebase-program.js', import.meta.url);
  return import(url.href) as Promise<typeof Codebase>;
}

/** Ports for the commands that deal with other clients: `import` and `connect`. */
function clientConfigPorts(ownCommand: readonly string[]): ClientConfigPorts {
  return {
    programName: isShortLived(ownCommand) ? 'npx assay-mcp' : 'assay',
    clients: CLIENTS,
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
    undoConnect: async (request, options) => {
      const { undoConnect } = await import('../adapters/config/client-configs/undo-connect.ts');
      return undoConnect(request, connectEnvironment(options, ownCommand));
    },
    hasConfig: async (options) =>
      (await import('../platform/files.ts')).isThere(locateAppConfig(options).path),
    findClients: async (options) => {
      const { findClients } = await import('../adapters/config/client-configs/find-clients.ts');
      return findClients(connectEnvironment(options, ownCommand));
    },
    openOnboarding: async (options) => (await import('./onboarding.ts')).openOnboarding(options),
  };
}
