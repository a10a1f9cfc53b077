import { homedir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type Config } from './adapters/config/load-config.ts';
import { locateConfig, locateHome } from './adapters/config/locate-config.ts';
import { downstream } from './adapters/downstream/connect.ts';
import { openEraFile } from './adapters/store/era-file.ts';
import { LOG_LEVELS, openLog } from './adapters/telemetry/log.ts';
import { EXIT, type Refusal } from './core/errors.ts';
import { OWN_INFO, VERSION } from './core/identity.ts';
import { err, ok, type Result } from './core/result.ts';
import { resolveSettings, type Resolved, type Settings } from './core/settings.ts';
import { runCommandLine } from './edges/cli/program.ts';
import type {
  CommonOptions,
  OpenCatalog,
  OpenServe,
  Runtime,
  ServeOptions,
  ShownSettings,
} from './edges/cli/runtime.ts';
import { openHttpDoor } from './edges/mcp/http-door.ts';
import { runStdioDoor } from './edges/mcp/stdio-door.ts';
import { Catalog } from './gateway/catalog.ts';
import type { Log } from './gateway/ports.ts';

/** Runs the program with the implementations of all ports; resolves with the exit code. */
export function runProgram(argv: readonly string[]): Promise<number> {
  return runCommandLine(argv, RUNTIME);
}

const RUNTIME: Runtime = {
  version: VERSION,
  ownCommand: [process.execPath, process.argv[1] ?? ''],
  openCatalog: openForCommand,
  openServe,
  readSettings,
  runStdio,
  untilStopped,
};

interface Prepared {
  readonly config: Config;
  readonly resolved: Resolved;
  readonly home: string;
  readonly log: Log;
}

/** What stands before all else: the log, the config file, and the settings, which hold from now on. */
async function prepare(options: CommonOptions, leastLevel: string): Promise<Result<Prepared, Refusal>> {
  // `--home` stands before the variable wherever that is asked for.
  const env = options.home === undefined ? process.env : { ...process.env, ASSAY_HOME: options.home };
  const around = { env, cwd: process.cwd(), home: homedir() };
  const level = setting('ASSAY_LOG_LEVEL') ?? leastLevel;
  if (!LOG_LEVELS.includes(level))
    return err({
      code: 'SETTING_INVALID',
      name: 'ASSAY_LOG_LEVEL',
      reason: `it must be one of ${LOG_LEVELS.join(', ')}`,
    });
  const log = await openLog({ level, isPretty: process.stderr.isTTY });
  const location = locateConfig({ flag: options.config, ...around });
  const config = await loadConfig(location.path, around);
  if (!config.ok) return config;
  for (const { file, line, column, key, reason, remedy } of config.value.problems)
    log.error(`config: ${key}: ${reason}. ${remedy}`, { file, line, column });
  for (const { file, line, key, reason } of config.value.warnings)
    log.info(`config: ${key}: ${reason}`, { file, line });
  const resolved = resolveSettings({ env, file: config.value.settings, stored: new Map() });
  if (!resolved.ok) return resolved;
  return ok({ config: config.value, resolved: resolved.value, home: locateHome(around), log });
}

async function readSettings(options: CommonOptions): Promise<Result<ShownSettings, Refusal>> {
  const prepared = await prepare(options, 'info');
  if (!prepared.ok) return prepared;
  const { config, resolved } = prepared.value;
  return ok({ ...resolved, configPath: config.path });
}

interface Opened extends OpenCatalog {
  readonly settings: Settings;
  readonly log: Log;
}

async function openCatalog(options: CommonOptions, isQuiet: boolean): Promise<Result<Opened, Refusal>> {
  const prepared = await prepare(options, isQuiet ? 'error' : 'info');
  if (!prepared.ok) return prepared;
  const { config, resolved, home, log } = prepared.value;
  const { settings } = resolved;
  if (isQuiet && config.servers.length === 0) return err({ code: 'SERVERS_ABSENT', path: config.path });
  const eras = await openEraFile(join(home, 'eras.json'), log);
  const ownInfo = JSON.stringify(OWN_INFO);
  const connect = downstream({ log, eras, ownInfo, backlogBytes: settings['limits.backlogBytes'] });
  const catalog = new Catalog(config.servers, { connect, log, limits: settings, chance: Math.random });
  return ok({ catalog, configPath: config.path, settings, log, close: () => catalog.stop() });
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
  const opened = await openCatalog(options, false);
  if (!opened.ok) return opened;
  const { catalog, settings, log, configPath } = opened.value;
  const { host, port } = options;
  const token = setting('ASSAY_TOKEN');
  const door = await openHttpDoor({ host, port, token, settings, catalog, log });
  if (!door.ok) return door;
  catalog.start();
  const close = async (): Promise<void> => {
    await Promise.all([door.value.close(), catalog.stop()]);
  };
  return ok({ catalog, configPath, url: door.value.url, close });
}

async function runStdio(options: CommonOptions): Promise<Result<undefined, Refusal>> {
  const opened = await openCatalog(options, false);
  if (!opened.ok) return opened;
  const { catalog, settings, log } = opened.value;
  catalog.start();
  const door = runStdioDoor({
    input: process.stdin,
    output: process.stdout,
    view: catalog.all,
    settings,
    log,
  });
  await Promise.race([door, untilStopped()]);
  await catalog.stop();
  process.stdin.destroy();
  // What a client does not read would keep the process alive for ever.
  if (process.stdout.writableLength > 0) process.exit(EXIT.done);
  return ok(undefined);
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
