import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadConfig } from './adapters/config/load-config.ts';
import { locateConfig } from './adapters/config/locate-config.ts';
import { downstream } from './adapters/downstream/connect.ts';
import { openEraFile } from './adapters/store/era-file.ts';
import { LOG_LEVELS, openLog } from './adapters/telemetry/log.ts';
import type { Refusal } from './core/errors.ts';
import { OWN_INFO, VERSION } from './core/identity.ts';
import { err, ok, type Result } from './core/result.ts';
import { runCommandLine } from './edges/cli/program.ts';
import type { CommonOptions, OpenCatalog, OpenServe, Runtime, ServeOptions } from './edges/cli/runtime.ts';
import { openHttpDoor } from './edges/mcp/http-door.ts';
import { runStdioDoor } from './edges/mcp/stdio-door.ts';
import { Catalog } from './gateway/catalog.ts';
import type { Log } from './gateway/ports.ts';

/** Largest message in bytes that a client may send, where the environment says nothing else. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Runs the program with the implementations of all ports; resolves with the exit code. */
export function runProgram(argv: readonly string[]): Promise<number> {
  return runCommandLine(argv, RUNTIME);
}

const RUNTIME: Runtime = { version: VERSION, openCatalog, openServe, runStdio, untilStopped };

interface Opened extends OpenCatalog {
  readonly log: Log;
}

async function openCatalog(options: CommonOptions, isQuiet: boolean): Promise<Result<Opened, Refusal>> {
  const { env } = process;
  const around = { env, cwd: process.cwd(), home: homedir() };
  const level = env['ASSAY_LOG_LEVEL'] ?? (isQuiet ? 'error' : 'info');
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
  if (isQuiet && config.value.servers.length === 0)
    return err({ code: 'SERVERS_ABSENT', path: config.value.path });
  const home = resolve(options.home ?? env['ASSAY_HOME'] ?? join(homedir(), '.assay'));
  const eras = await openEraFile(join(home, 'eras.json'), log);
  const connect = downstream({ log, eras, ownInfo: JSON.stringify(OWN_INFO) });
  const catalog = new Catalog(config.value.servers, { connect, log, chance: Math.random });
  catalog.start();
  return ok({ catalog, configPath: config.value.path, log, close: () => catalog.stop() });
}

async function openServe(options: ServeOptions): Promise<Result<OpenServe, Refusal>> {
  const limit = maxBodyBytes();
  if (!limit.ok) return limit;
  const opened = await openCatalog(options, false);
  if (!opened.ok) return opened;
  const { catalog, log, configPath } = opened.value;
  const { host, port } = options;
  const token = process.env['ASSAY_TOKEN'] === '' ? undefined : process.env['ASSAY_TOKEN'];
  const door = await openHttpDoor({ host, port, token, maxBodyBytes: limit.value, catalog, log });
  if (!door.ok) {
    await catalog.stop();
    return door;
  }
  const close = async (): Promise<void> => {
    await Promise.all([door.value.close(), catalog.stop()]);
  };
  return ok({ catalog, configPath, url: door.value.url, close });
}

async function runStdio(options: CommonOptions): Promise<Result<undefined, Refusal>> {
  const limit = maxBodyBytes();
  if (!limit.ok) return limit;
  const opened = await openCatalog(options, false);
  if (!opened.ok) return opened;
  const { catalog, log } = opened.value;
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
  return ok(undefined);
}

function maxBodyBytes(): Result<number, Refusal> {
  const given = process.env['ASSAY_MAX_BODY_BYTES'];
  if (given === undefined || given === '') return ok(MAX_BODY_BYTES);
  if (/^[1-9]\d{0,9}$/.test(given)) return ok(Number(given));
  return err({
    code: 'SETTING_INVALID',
    name: 'ASSAY_MAX_BODY_BYTES',
    reason: 'it must be a whole number of bytes',
  });
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The first signal asks for an orderly end, a second one does not wait for it. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let isAsked = false;
    for (const signal of SIGNALS)
      process.on(signal, () => {
        if (isAsked) process.exit(130);
        isAsked = true;
        resolve();
      });
  });
}
