import { mintToken } from './adapters/auth/mint-token.ts';
import { neighbourPorts } from './compose-neighbours.ts';
import { VERSION } from './core/identity.ts';
import type { EarlyStart } from './early-start.ts';
import { runCommandLine } from './edges/cli/program.ts';
import type { Runtime } from './edges/cli/runtime.ts';
import { hasBrowser } from './platform/browser.ts';
import { untilStopped } from './stopping.ts';

/** Runs the program with the implementations of all ports; resolves with the exit code. */
export async function runProgram(argv: readonly string[], early?: EarlyStart): Promise<number> {
  try {
    return await runCommandLine(argv, runtime(early));
  } finally {
    await early?.end();
  }
}

const OWN_COMMAND: readonly string[] = [process.execPath, process.argv[1] ?? ''];

/** What a command needs is loaded when it is run: a client waits for `assay stdio` to start. */
const runtime = (early: EarlyStart | undefined): Runtime => ({
  ...neighbourPorts(OWN_COMMAND),
  version: VERSION,
  ownCommand: OWN_COMMAND,
  openCatalog: async (options) => (await import('./for-commands.ts')).openForCommand(options),
  openServe: async (options) => (await import('./serving.ts')).openServe(options),
  openStore: async (options) => (await import('./for-commands.ts')).openStoreForCommand(options),
  openToolsets: async (options) => (await import('./for-commands.ts')).openToolsetsForCommand(options),
  openDesks: async (options) => (await import('./open-desks.ts')).openDesksForCommand(options),
  readFile: async (path) => (await import('./for-commands.ts')).readFileForCommand(path),
  writeFile: async (path, text) => (await import('./for-commands.ts')).writeFileForCommand(path, text),
  mintToken,
  readSettings: async (options) => (await import('./for-commands.ts')).readSettings(options),
  runStdio: async (options) => (await import('./stdio.ts')).runStdio(options, early),
  examine: async (options) => (await import('./for-commands.ts')).examineForCommand(options),
  signIn: async (request, options) => (await import('./signing-in.ts')).signInAt(request, options),
  signIns: async (options) => (await import('./signing-in.ts')).listSignIns(options),
  signOut: async (who, options) => (await import('./signing-in.ts')).signOutAt(who, options),
  hasBrowser,
  untilStopped,
});
