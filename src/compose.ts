import { homedir } from 'node:os';
import { join } from 'node:path';
import { mintToken } from './adapters/auth/mint-token.ts';
import type { TokenGate } from './adapters/auth/token-gate.ts';
import { loadConfig } from './adapters/config/load-config.ts';
import { locateConfig, locateHome } from './adapters/config/locate-config.ts';
import { downstream } from './adapters/downstream/connect.ts';
import { openEraFile } from './adapters/store/era-file.ts';
import { LOG_LEVELS, openLog } from './adapters/telemetry/log.ts';
import { EXIT, type Refusal } from './core/errors.ts';
import { OWN_INFO, VERSION } from './core/identity.ts';
import { err, ok, type Result } from './core/result.ts';
import { resolveSettings } from './core/settings.ts';
import { runCommandLine } from './edges/cli/program.ts';
import type { CommonOptions, OpenCatalog, OpenServe, Runtime, ServeOptions } from './edges/cli/runtime.ts';
import { isLoopback } from './edges/mcp/guard.ts';
import { openHttpDoor } from './edges/mcp/http-door.ts';
import { runStdioDoor } from './edges/mcp/stdio-door.ts';
import { Catalog } from './gateway/catalog.ts';
import type { Log, Store } from './gateway/ports.ts';

/** Largest message in bytes that a client may send, where the environment says nothing else. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Runs the program with the implementations of all ports; resolves with the exit code. */
export function runProgram(argv: readonly string[]): Promise<number> {
  return runCommandLine(argv, RUNTIME);
}

const RUNTIME: Runtime = {
  version: VERSION,
  ownCommand: [process.execPath, process.argv[1] ?? ''],
  openCatalog: openForCommand,
  openServe,
  openStore: openStoreForCommand,
  mintToken,
  runStdio,
  untilStopped,
};

interface Opened extends OpenCatalog {
  readonly log: Log;
}

async function openCatalog(options: CommonOptions, isQuiet: boolean): Promise<Result<Opened, Refusal>> {
  const around = aroundOf(options);
  const opened = await openOwnLog(isQuiet);
  if (!opened.ok) return opened;
  const log = opened.value;
  const location = locateConfig({ flag: options.config, ...around });
  const config = await loadConfig(location.path, around);
  if (!config.ok) return config;
  for (const { file, line, column, key, reason, remedy } of config.value.problems)
    log.error(`config: ${key}: ${reason}. ${remedy}`, { file, line, column });
  for (const { file, line, key, reason } of config.value.warnings)
    log.info(`config: ${key}: ${reason}`, { file, line });
  if (isQuiet && config.value.servers.length === 0)
    return err({ code: 'SERVERS_ABSENT', path: config.value.path });
  const eras = await openEraFile(join(locateHome(around), 'eras.json'), log);
  const connect = downstream({ log, eras, ownInfo: JSON.stringify(OWN_INFO) });
  const catalog = new Catalog(config.value.servers, { connect, log, chance: Math.random });
  return ok({ catalog, configPath: config.value.path, log, close: () => catalog.stop() });
}

function aroundOf({ home }: CommonOptions): {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly home: string;
} {
  // `--home` stands before the variable wherever that is asked for.
  const env = home === undefined ? process.env : { ...process.env, ASSAY_HOME: home };
  return { env, cwd: process.cwd(), home: homedir() };
}

async function openOwnLog(isQuiet: boolean): Promise<Result<Log, Refusal>> {
  const level = setting('ASSAY_LOG_LEVEL') ?? (isQuiet ? 'error' : 'info');
  if (LOG_LEVELS.includes(level)) return ok(await openLog({ level, isPretty: process.stderr.isTTY }));
  return err({
    code: 'SETTING_INVALID',
    name: 'ASSAY_LOG_LEVEL',
    reason: `it must be one of ${LOG_LEVELS.join(', ')}`,
  });
}

/** The store of the home. Whoever opens it closes it. What it needs is loaded only where it is opened. */
async function openHomeStore(options: CommonOptions, log: Log): Promise<Result<Store, Refusal>> {
  const { openStore } = await import('./adapters/store/open-store.ts');
  const home = locateHome(aroundOf(options));
  return openStore({ home, databaseUrl: setting('ASSAY_DATABASE_URL'), log });
}

async function openStoreForCommand(options: CommonOptions): Promise<Result<Store, Refusal>> {
  const log = await openOwnLog(true);
  return log.ok ? openHomeStore(options, log.value) : log;
}

/** A catalog that starts at once, for commands that use it and end. */
async function openForCommand(options: CommonOptions): Promise<Result<OpenCatalog, Refusal>> {
  const opened = await openCatalog(options, true);
  if (!opened.ok) return opened;
  const { catalog } = opened.value;
  catalog.start();
  void untilStopped().then(async () => {
    await catalog.stop();
    process.exit(INTERRUPTED);
  });
  return opened;
}

async function openServe(options: ServeOptions): Promise<Result<OpenServe, Refusal>> {
  const limit = maxBodyBytes();
  if (!limit.ok) return limit;
  const opened = await openCatalog(options, false);
  if (!opened.ok) return opened;
  const { catalog, log, configPath } = opened.value;
  const store = await openHomeStore(options, log);
  if (!store.ok) return store;
  const access = await openAccess(store.value, log);
  if (!access.ok) {
    await store.value.close();
    return access;
  }
  const { gate, isOpen } = access.value;
  const { host, port } = options;
  const door = await openHttpDoor({ host, port, gate, isOpen, maxBodyBytes: limit.value, catalog, log });
  if (door.ok) catalog.start();
  const close = async (): Promise<void> => {
    await Promise.all([door.ok ? door.value.close() : undefined, catalog.stop()]);
    gate.close();
    await store.value.close();
  };
  const needsToken = !isOpen || !isLoopback(host);
  if (door.ok) return ok({ catalog, configPath, url: door.value.url, needsToken, close });
  await close();
  return door;
}

interface Access {
  readonly gate: TokenGate;
  readonly isOpen: boolean;
}

/** Who may come in over HTTP. Whoever sets ASSAY_TOKEN wants it to be asked for, also on loopback. */
async function openAccess(store: Store, log: Log): Promise<Result<Access, Refusal>> {
  const stored = await store.settings();
  if (!stored.ok) return stored;
  const resolved = resolveSettings({ env: process.env, file: new Map(), stored: stored.value });
  if (!resolved.ok) return resolved;
  const { 'mcp.access': access, 'limits.tokenFailures': mostFailures } = resolved.value.settings;
  const operatorToken = setting('ASSAY_TOKEN');
  // Loaded here alone: it takes longer to load than `assay stdio`, which has no gate, should wait.
  const { TokenGate } = await import('./adapters/auth/token-gate.ts');
  const gate = await TokenGate.open({ store, operatorToken, mostFailures, log });
  return ok({ gate, isOpen: access === 'open' && operatorToken === undefined });
}

async function runStdio(options: CommonOptions): Promise<Result<undefined, Refusal>> {
  const limit = maxBodyBytes();
  if (!limit.ok) return limit;
  const opened = await openCatalog(options, false);
  if (!opened.ok) return opened;
  const { catalog, log } = opened.value;
  catalog.start();
  const door = runStdioDoor({
    input: process.stdin,
    output: process.stdout,
    view: catalog.all,
    maxBodyBytes: limit.value,
    log,
  });
  await Promise.race([door, untilStopped()]);
  await catalog.stop();
  process.stdin.destroy();
  // What a client does not read would keep the process alive for ever.
  if (process.stdout.writableLength > 0) process.exit(EXIT.done);
  return ok(undefined);
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

/** A variable of the environment; an empty one counts as unset. */
function setting(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
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
