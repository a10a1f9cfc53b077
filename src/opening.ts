import { homedir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type Config, type ConfigSurroundings } from './adapters/config/load-config.ts';
import { locateConfig, locateHome } from './adapters/config/locate-config.ts';
import { watchFile, type Watching } from './adapters/config/watch-file.ts';
import { downstream } from './adapters/downstream/connect.ts';
import { openCatalogFile } from './adapters/store/catalog-file.ts';
import { LOG_LEVELS, openLog } from './adapters/telemetry/log.ts';
import { sentenceOf, type Refusal } from './core/errors.ts';
import { OWN_INFO } from './core/identity.ts';
import { err, ok, type Result } from './core/result.ts';
import type { CommonOptions, OpenCatalog } from './edges/cli/runtime.ts';
import { Catalog } from './gateway/catalog.ts';
import type { Log } from './gateway/ports.ts';

export interface Opened extends OpenCatalog {
  readonly log: Log;
  /** Starts the servers, and lets them follow the config file where the command lasts. */
  readonly start: () => void;
}

export interface OpeningOptions extends CommonOptions {
  /** A command that ends by itself: only what went wrong is logged, and a config without servers is refused. */
  readonly isQuiet: boolean;
}

/** Reads the config and what is remembered of its servers. Nothing is started yet. */
export async function openCatalog(options: OpeningOptions): Promise<Result<Opened, Refusal>> {
  const { isQuiet } = options;
  const around = surroundings(options);
  const level = setting('ASSAY_LOG_LEVEL') ?? (isQuiet ? 'error' : 'info');
  if (!LOG_LEVELS.includes(level))
    return err({
      code: 'SETTING_INVALID',
      name: 'ASSAY_LOG_LEVEL',
      reason: `it must be one of ${LOG_LEVELS.join(', ')}`,
    });
  const log = await openLog({ level, isPretty: process.stderr.isTTY });
  const { path } = locateConfig({ flag: options.config, ...around });
  const config = await loadConfig(path, around);
  if (!config.ok) return config;
  report(config.value, log);
  if (isQuiet && config.value.servers.length === 0)
    return err({ code: 'SERVERS_ABSENT', path: config.value.path });
  const memory = await openCatalogFile({
    path: join(locateHome(around), 'catalog.json'),
    log,
    onNews: () => undefined,
  });
  const connect = downstream({
    log,
    recallEra: (spec) => memory.recall(spec)?.era,
    ownInfo: JSON.stringify(OWN_INFO),
  });
  const catalog = new Catalog(config.value, { connect, memory, log, chance: Math.random });
  let watching: Promise<Watching> | undefined;
  const start = (): void => {
    catalog.start();
    if (!isQuiet) watching = followFile(config.value.path, { around, catalog, log });
  };
  const close = async (): Promise<void> => {
    await (await watching)?.close();
    await catalog.stop();
    await memory.flush();
  };
  return ok({ catalog, configPath: config.value.path, log, start, close });
}

/** `--home` stands before the variable wherever that is asked for. */
function surroundings({ home }: CommonOptions): ConfigSurroundings {
  const env = home === undefined ? process.env : { ...process.env, ASSAY_HOME: home };
  return { env, cwd: process.cwd(), home: homedir() };
}

/** A variable of the environment; an empty one counts as unset. */
export function setting(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}

function report({ problems, warnings }: Config, log: Log): void {
  for (const { file, line, column, key, reason, remedy } of problems)
    log.error(`config: ${key}: ${reason}. ${remedy}`, { file, line, column });
  for (const { file, line, key, reason } of warnings) log.info(`config: ${key}: ${reason}`, { file, line });
}

interface Following {
  readonly around: ConfigSurroundings;
  readonly catalog: Catalog;
  readonly log: Log;
}

/** Lets the catalog follow the config file as it is edited. A file that cannot be used leaves all as it was. */
function followFile(path: string, { around, catalog, log }: Following): Promise<Watching> {
  let reading: Promise<void> = Promise.resolve();
  const read = async (): Promise<void> => {
    const config = await loadConfig(path, around);
    const fault = config.ok ? undefined : sentenceOf(config.error);
    if (fault !== undefined && fault !== catalog.configFault)
      log.error(`config: ${fault} What it said before stays in force.`);
    catalog.configFault = fault;
    if (!config.ok) return;
    const before = JSON.stringify(catalog.rejected);
    const { added, changed, removed } = catalog.follow(config.value);
    const isNews = added.length + changed.length + removed.length > 0;
    if (isNews || JSON.stringify(catalog.rejected) !== before) {
      report(config.value, log);
      log.info('config: the file has changed', { added, changed, removed });
    }
  };
  return watchFile(path, () => {
    reading = reading.then(read);
  });
}
