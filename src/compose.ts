import { mintToken } from './adapters/auth/mint-token.ts';
import { neighbourPorts } from './compose-neighbours.ts';
import { EXIT, type Refusal } from './core/errors.ts';
import { VERSION } from './core/identity.ts';
import type { Diagnosis } from './core/finding.ts';
import { ok, type Result } from './core/result.ts';
import { runCommandLine } from './edges/cli/program.ts';
import type {
  CommonOptions,
  ExamineOptions,
  OpenCatalog,
  Runtime,
  ShownSettings,
  StdioOptions,
} from './edges/cli/runtime.ts';
import type { Store } from './gateway/ports.ts';
import { openGround, openHomeStore } from './ground.ts';
import { openAttached, openCatalog, readConfig } from './opening.ts';

/** Runs the program with the implementations of all ports; resolves with the exit code. */
export function runProgram(argv: readonly string[]): Promise<number> {
  return runCommandLine(argv, RUNTIME);
}

const OWN_COMMAND: readonly string[] = [process.execPath, process.argv[1] ?? ''];

const RUNTIME: Runtime = {
  ...neighbourPorts(OWN_COMMAND),
  version: VERSION,
  ownCommand: OWN_COMMAND,
  openCatalog: openForCommand,
  openServe: async (options) => (await import('./serving.ts')).openServe(options),
  openStore: openStoreForCommand,
  mintToken,
  readSettings,
  runStdio,
  examine: examineForCommand,
  untilStopped,
};

/** A catalog that starts at once, for commands that use it and end. */
async function openForCommand(options: CommonOptions): Promise<Result<OpenCatalog, Refusal>> {
  const opened = await openCatalog({ ...options, isQuiet: true, transport: 'pipe' });
  if (!opened.ok) return opened;
  const { start, close } = opened.value;
  start();
  void untilStopped().then(async () => {
    await close();
    process.exit(INTERRUPTED);
  });
  return opened;
}

async function runStdio(options: StdioOptions): Promise<Result<undefined, Refusal>> {
  const stopped = untilStopped();
  const ground = { ...options, isQuiet: false, transport: 'pipe' } as const;
  const opened = await (options.attach === true ? openAttached(ground) : openCatalog(ground));
  if (!opened.ok) return opened;
  const { view, log, settings, start, close } = opened.value;
  const { runStdioDoor } = await import('./edges/mcp/stdio-door.ts');
  start();
  const door = runStdioDoor({
    input: process.stdin,
    output: process.stdout,
    view,
    settings,
    log,
  });
  await Promise.race([door, stopped]);
  await close();
  process.stdin.destroy();
  // What a client does not read would keep the process alive for ever.
  if (process.stdout.writableLength > 0) process.exit(EXIT.done);
  return ok(undefined);
}

async function readSettings(options: CommonOptions): Promise<Result<ShownSettings, Refusal>> {
  // What is wrong in the config belongs to the answer.
  const given = { ...options, isQuiet: false, transport: 'pipe' } as const;
  const ground = await openGround(given);
  if (!ground.ok) return ground;
  const store = await openHomeStore(ground.value);
  if (!store.ok) return store;
  const read = await readConfig(given, ground.value, store.value);
  await store.value.close();
  return read.ok ? ok({ ...read.value, configPath: read.value.config.path }) : read;
}

async function openStoreForCommand(options: CommonOptions): Promise<Result<Store, Refusal>> {
  const ground = await openGround({ ...options, isQuiet: true, transport: 'pipe' });
  return ground.ok ? openHomeStore(ground.value) : ground;
}

/** A signal ends the servers that were started, and then the program. */
async function examineForCommand(options: ExamineOptions): Promise<Diagnosis> {
  const interrupted = new AbortController();
  void untilStopped().then(() => interrupted.abort());
  const { examine } = await import('./examining.ts');
  const diagnosis = await examine(options, interrupted.signal);
  if (interrupted.signal.aborted) process.exit(INTERRUPTED);
  return diagnosis;
}

/** Exit code of a program that a signal ended, by the custom of shells. */
const INTERRUPTED = 130;
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The first signal asks for an orderly end, a second one does not wait for it. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let isAsked = false;
    for (const signal of SIGNALS)
      process.on(signal, () => {
        if (isAsked) process.exit(INTERRUPTED);
        isAsked = true;
        resolve();
      });
  });
}
