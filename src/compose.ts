import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { announceServe, withdrawServe } from './adapters/store/running-serve.ts';
import { neighbourPorts } from './compose-neighbours.ts';
import { EXIT, type Refusal } from './core/errors.ts';
import { VERSION } from './core/identity.ts';
import type { Diagnosis } from './core/finding.ts';
import { err, ok, type Result } from './core/result.ts';
import { runCommandLine } from './edges/cli/program.ts';
import type {
  CommonOptions,
  ExamineOptions,
  OpenCatalog,
  OpenServe,
  Runtime,
  ServeOptions,
  StdioOptions,
} from './edges/cli/runtime.ts';
import { openAttached, openCatalog, SERVE_FILE, setting } from './opening.ts';

/** Largest message in bytes that a client may send, where the environment says nothing else. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

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
  openServe,
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

async function openServe(options: ServeOptions): Promise<Result<OpenServe, Refusal>> {
  const limit = maxBodyBytes();
  if (!limit.ok) return limit;
  const { openMeter } = await import('./adapters/telemetry/metrics.ts');
  const meter = openMeter(VERSION);
  const opened = await openCatalog({ ...options, isQuiet: false, transport: 'tcp', meter });
  if (!opened.ok) return opened;
  const { catalog, log, home, configPath } = opened.value;
  const { host, port } = options;
  const token = setting('ASSAY_TOKEN');
  const { openHttpDoor } = await import('./edges/mcp/http-door.ts');
  const door = await openHttpDoor({ host, port, token, maxBodyBytes: limit.value, catalog, log, meter });
  if (!door.ok) return door;
  opened.value.start();
  const { url } = door.value;
  const word = join(home, SERVE_FILE);
  const unsaid = await announceServe(word, { url, pid: process.pid, token: randomUUID() });
  if (unsaid !== undefined)
    log.warn('`assay stdio --attach` will not find this', { path: word, cause: unsaid });
  const close = async (): Promise<void> => {
    await withdrawServe(word, process.pid);
    await Promise.all([door.value.close(), opened.value.close()]);
  };
  return ok({ catalog, configPath, url, close });
}

async function runStdio(options: StdioOptions): Promise<Result<undefined, Refusal>> {
  const limit = maxBodyBytes();
  if (!limit.ok) return limit;
  const opened = await (options.attach === true
    ? openAttached(options)
    : openCatalog({ ...options, isQuiet: false, transport: 'pipe' }));
  if (!opened.ok) return opened;
  const { view, log, start, close } = opened.value;
  const { runStdioDoor } = await import('./edges/mcp/stdio-door.ts');
  start();
  const door = runStdioDoor({
    input: process.stdin,
    output: process.stdout,
    view,
    maxBodyBytes: limit.value,
    log,
  });
  await Promise.race([door, untilStopped()]);
  await close();
  process.stdin.destroy();
  // What a client does not read would keep the process alive for ever.
  if (process.stdout.writableLength > 0) process.exit(EXIT.done);
  return ok(undefined);
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

function maxBodyBytes(): Result<number, Refusal> {
  const given = setting('ASSAY_MAX_BODY_BYTES');
  if (given === undefined) return ok(MAX_BODY_BYTES);
  if (/^[1-9]\d{0,9}$/.test(given)) return ok(Number(given));
  return err({
    code: 'SETTING_INVALID',
    name: 'ASSAY_MAX_BODY_BYTES',
    reason: 'it must be a whole number of bytes',
  });
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
