import { homedir } from 'node:os';
import { join } from 'node:path';
import { attachedView, followServe, planOfServe } from './attach.ts';
import { loadConfig, type ConfigSurroundings } from './adapters/config/load-config.ts';
import { locateConfig, locateHome } from './adapters/config/locate-config.ts';
import type { Watching } from './adapters/config/watch-file.ts';
import { downstream } from './adapters/downstream/connect.ts';
import { openCatalogFile } from './adapters/store/catalog-file.ts';
import { LOG_LEVELS, openLog } from './adapters/telemetry/log.ts';
import { maskedConnect } from './adapters/telemetry/masked-connect.ts';
import { secretsOfEnvironment, secretsOfServer } from './adapters/telemetry/secret-values.ts';
import { Secrets } from './adapters/telemetry/secrets.ts';
import { openTracer, type TracerOptions } from './adapters/telemetry/tracer.ts';
import type { Refusal } from './core/errors.ts';
import { OWN_INFO, VERSION } from './core/identity.ts';
import { err, ok, type Result } from './core/result.ts';
import type { ServerSpec } from './core/server-spec.ts';
import type { CommonOptions, OpenCatalog, StdioOptions } from './edges/cli/runtime.ts';
import { followConfig, report } from './follow-config.ts';
import { Catalog, type Plan } from './gateway/catalog.ts';
import type { Log, Meter, Telemetry } from './gateway/ports.ts';
import type { View } from './gateway/view.ts';
import type { Era } from './protocol/eras.ts';

export interface Opened extends OpenCatalog {
  readonly log: Log;
  /** The folder of what Assay keeps. */
  readonly home: string;
  /** What the clients of the process see. */
  readonly view: View;
  /** Starts the servers, and lets them follow the config where the command lasts. */
  readonly start: () => void;
}

export interface OpeningOptions extends CommonOptions {
  /** A command that ends by itself: only what went wrong is logged, and a config without servers is refused. */
  readonly isQuiet: boolean;
  /** How clients come in. */
  readonly transport: TracerOptions['transport'];
  readonly meter?: Meter;
}

/** Where Assay runs, its log, and what watches. */
export interface Ground {
  readonly around: ConfigSurroundings;
  /** The folder of what it keeps. */
  readonly home: string;
  readonly log: Log;
  /** What is never told, as it becomes known. */
  readonly secrets: Secrets;
  readonly telemetry: Telemetry;
}

/** Where in its home a running `serve` leaves word. */
export const SERVE_FILE = 'serve.json';

/** Reads the config and what is remembered of its servers. Nothing is started yet. */
export async function openCatalog(options: OpeningOptions): Promise<Result<Opened, Refusal>> {
  const ground = await openGround(options);
  return ground.ok ? openConfigured(options, ground.value) : ground;
}

/** The servers of a running `serve` through it; where none runs, those of the config. */
export async function openAttached(options: StdioOptions): Promise<Result<Opened, Refusal>> {
  const opening = { ...options, isQuiet: false, transport: 'pipe' } as const;
  const ground = await openGround(opening);
  if (!ground.ok) return ground;
  const { home, log } = ground.value;
  const path = join(home, SERVE_FILE);
  const plan = await planOfServe(path);
  if (plan === undefined) {
    log.warn('no `assay serve` of this home is running, so the servers are started here', { home });
    return openConfigured(opening, ground.value);
  }
  const opened = await openPlan(plan, {
    ground: ground.value,
    follow: (catalog) => followServe(path, catalog),
  });
  return ok({ ...opened, view: attachedView(opened.catalog), configPath: path });
}

async function openGround(options: OpeningOptions): Promise<Result<Ground, Refusal>> {
  const around = surroundings(options);
  const level = setting('ASSAY_LOG_LEVEL') ?? (options.isQuiet ? 'error' : 'info');
  if (!LOG_LEVELS.includes(level))
    return err({
      code: 'SETTING_INVALID',
      name: 'ASSAY_LOG_LEVEL',
      reason: `it must be one of ${LOG_LEVELS.join(', ')}`,
    });
  const secrets = new Secrets();
  secrets.add(secretsOfEnvironment(around.env));
  const mask = (text: string): string => secrets.mask(text);
  const log = await openLog({ level, isPretty: process.stderr.isTTY, mask });
  const { transport, meter } = options;
  const telemetry = { meter, tracer: await openTracer({ version: VERSION, transport }), mask };
  return ok({ around, home: locateHome(around), log, secrets, telemetry });
}

async function openConfigured(options: OpeningOptions, ground: Ground): Promise<Result<Opened, Refusal>> {
  const { around, log, secrets } = ground;
  const { path } = locateConfig({ flag: options.config, ...around });
  const config = await loadConfig(path, around);
  if (!config.ok) return config;
  const learn = ({ servers }: Plan): void => secrets.add(servers.flatMap(secretsOfServer));
  learn(config.value);
  report(config.value, log);
  const configPath = config.value.path;
  if (options.isQuiet && config.value.servers.length === 0)
    return err({ code: 'SERVERS_ABSENT', path: configPath });
  const follow = options.isQuiet
    ? undefined
    : (catalog: Catalog) => followConfig(configPath, { around, catalog, log, learn });
  const opened = await openPlan(config.value, { ground, follow });
  return ok({ ...opened, view: opened.catalog.all, configPath });
}

/** The watching of files begins so many ms after the start, which others need more. */
const FOLLOW_AFTER_MS = 500;

interface Planning {
  readonly ground: Ground;
  readonly follow: ((catalog: Catalog) => Promise<Watching>) | undefined;
}

async function openPlan(
  plan: Plan,
  { ground: { home, log, telemetry }, follow }: Planning,
): Promise<Omit<Opened, 'view' | 'configPath'>> {
  const memory = await openCatalogFile({ path: join(home, 'catalog.json'), log, onNews: () => undefined });
  const recallEra = (spec: ServerSpec): Era | undefined => memory.recall(spec)?.era;
  const connect = downstream({ log, recallEra, ownInfo: JSON.stringify(OWN_INFO) });
  const catalog = new Catalog(plan, {
    connect: maskedConnect(connect, telemetry),
    memory,
    log,
    chance: Math.random,
    telemetry,
  });
  let watching: Promise<Watching> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    catalog.start();
    if (follow !== undefined)
      timer = setTimeout(() => {
        watching = follow(catalog);
      }, FOLLOW_AFTER_MS).unref();
  };
  const close = async (): Promise<void> => {
    clearTimeout(timer);
    await (await watching)?.close();
    await catalog.stop();
    await memory.flush();
  };
  return { catalog, log, home, start, close };
}

/** `--home` stands before the variable wherever that is asked for. */
export function surroundings({ home }: CommonOptions): ConfigSurroundings {
  const env = home === undefined ? process.env : { ...process.env, ASSAY_HOME: home };
  return { env, cwd: process.cwd(), home: homedir() };
}

/** A variable of the environment; an empty one counts as unset. */
export function setting(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}
