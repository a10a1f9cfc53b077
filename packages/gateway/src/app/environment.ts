import { basename, join, resolve } from 'node:path';
import { EncryptionKeys } from '../adapters/auth/encryption-keys.ts';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import { toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { expandHome, locateHome } from '@assay-mcp/kit/platform/locate-home';
import { isStoreThere } from '../adapters/store/is-store-there.ts';
import type * as OpenStore from '../adapters/store/open-store.ts';
import { openRecordsFile } from '../adapters/store/records-file.ts';
import type { LogFileOptions } from '../adapters/telemetry/log-file.ts';
import { logPeerFaults } from '../adapters/telemetry/peer-fault-log.ts';
import { LOG_LEVELS, openLog, openStderr } from '../adapters/telemetry/log.ts';
import { withRecentLines } from '../adapters/telemetry/recent-lines.ts';
import { createTraceStarter } from '../adapters/telemetry/new-trace.ts';
import { listEnvironmentSecrets } from '../core/secrets/secret-values.ts';
import { Secrets } from '../core/secrets/secrets.ts';
import { openTracer, type TracerOptions } from '../adapters/telemetry/tracer.ts';
import { RecentTraffic } from '../adapters/telemetry/traffic-log.ts';
import { VERSION } from '@assay-mcp/kit/version';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isPublicUrl } from '../core/auth-settings.ts';
import type { Settings } from '../core/settings.ts';
import { RecordReplica } from '../gateway/catalog/record-replica.ts';
import type { Log } from '../gateway/ports/log.ts';
import type { RecentLines } from '../gateway/ports/recent-lines.ts';
import type { Store } from '../gateway/ports/store.ts';
import type { Meter, Telemetry, TrafficLog } from '../gateway/ports/telemetry.ts';
import { Cleanup } from '@assay-mcp/kit/platform/cleanup';
import {
  type ExposedFile,
  findExposedFiles,
  makePrivate,
  findUnsafePath,
} from '@assay-mcp/kit/platform/path-safety';
import type { AppOptions } from '../core/command-options.ts';
import { type Exports, openExports } from './open-exports.ts';

export interface EnvironmentOptions extends AppOptions {
  /** For a command that exits by itself: only errors are logged. */
  readonly isQuiet: boolean;
  /** How clients connect. */
  readonly transport: TracerOptions['transport'];
  /** Write the log to its file only. */
  readonly hidesLog?: boolean;
  readonly meter?: Meter;
}

/** What every command needs. Closing it closes everything opened in it, in reverse order. */
export interface Environment {
  readonly options: EnvironmentOptions;
  readonly configEnvironment: ConfigEnvironment;
  /** The data folder. */
  readonly home: string;
  readonly log: Log;
  readonly recentLines: RecentLines;
  /** Known secrets, masked in all output. */
  readonly secrets: Secrets;
  readonly telemetry: Telemetry;
  /** Writes a line where the log goes. */
  readonly writeLine: (line: string) => void;
  /** Undefined if nothing is exported by OTLP. */
  readonly otlp: Exports | undefined;
  readonly keys: EncryptionKeys;
  readonly store: HomeStore;
  /** One replica of the operators' records for the process, read from a file until the store is needed. */
  readonly records: () => RecordReplica;
  readonly cleanup: Cleanup;
}

/** The store of the home; one per process. */
export interface HomeStore {
  /** Whether it is already open. */
  readonly isOpen: boolean;
  /** Begins to open it. Resolves as soon as its thread is starting, so that work on this one does not delay that. */
  start(): Promise<void>;
  /** Opens it on first use. A failed attempt is retried on the next call. */
  open(): Promise<Result<Store, Refusal>>;
}

/** Opens an environment, and closes it unless the work succeeds. */
export async function openInEnvironment<T>(
  options: EnvironmentOptions,
  work: (environment: Environment) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  const environment = await openEnvironment(options);
  if (!environment.ok) return environment;
  let done: Result<T, Refusal> | undefined;
  try {
    done = await work(environment.value);
    return done;
  } finally {
    if (done?.ok !== true) await environment.value.cleanup.close();
  }
}

/** Like `openInEnvironment`, but always closes the environment when the work is done. */
export async function withEnvironment<T>(
  options: EnvironmentOptions,
  work: (environment: Environment) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  const environment = await openEnvironment(options);
  if (!environment.ok) return environment;
  try {
    return await work(environment.value);
  } finally {
    await environment.value.cleanup.close();
  }
}

async function openEnvironment(options: EnvironmentOptions): Promise<Result<Environment, Refusal>> {
  const configEnvironment = toConfigEnvironment(options);
  const home = locateHome(configEnvironment);
  const unsafe = findUnsafePath(home, configEnvironment);
  if (unsafe !== undefined) return err(unsafe);
  const exposed = findExposedFiles(listSecretFiles(home), configEnvironment);
  for (const file of exposed) if (file.unsafe !== undefined) return err(file.unsafe);
  const read = readLogLevel(configEnvironment, options);
  if (!read.ok) return read;
  const level = read.value;
  const secrets = new Secrets();
  secrets.add(listEnvironmentSecrets(configEnvironment.env));
  const mask = (text: string): string => secrets.mask(text);
  const { writeLog } = options;
  const isTerminal = writeLog === undefined && process.stderr.isTTY;
  const terminal = isTerminal ? { hasColours: process.stderr.hasColors() } : undefined;
  const writeLine = writeLog ?? openStderr(terminal);
  const { transport, meter } = options;
  const cleanup = new Cleanup();
  const shownLevel = options.hidesLog === true ? 'silent' : level;
  const shown = openLog({ level: shownLevel, terminal, mask, write: writeLine });
  // Only `serve` keeps its log, for `assay logs`; whoever embeds it takes the lines.
  const isKept = transport === 'tcp' && writeLog === undefined;
  const written = isKept ? await keepLog(shown, { home, mask, cleanup }) : shown;
  const otlp = await openExports(options, { env: configEnvironment.env, log: written, secrets, cleanup });
  const exported = otlp === undefined ? written : otlp.exportLines(written, level);
  // Only `serve` has pages that show them.
  const { log, recent: recentLines } =
    transport === 'tcp'
      ? withRecentLines(exported, { mask, nowMs: () => Date.now() })
      : withoutLines(exported);
  cleanup.defer(logPeerFaults(log));
  await hide(exposed, log);
  const tracer = (await openTracer({ version: VERSION, transport })) ?? otlp?.tracer;
  const telemetry = { meter, tracer, traffic: trafficLog(log, level), newTrace: createTraceStarter(), mask };
  const keys = createEncryptionKeys({ home, configEnvironment, log });
  const readable = keys.file === undefined ? ok(undefined) : await keys.read();
  if (!readable.ok) {
    await cleanup.close();
    return readable;
  }
  const store = createHomeStore({ home, configEnvironment, log, cleanup, meter });
  const records = recordsOf({ home, configEnvironment, log, store, cleanup });
  return ok({
    options,
    configEnvironment,
    home,
    log,
    recentLines,
    secrets,
    telemetry,
    otlp,
    writeLine,
    keys,
    store,
    records,
    cleanup,
  });
}

function readLogLevel(
  { env }: ConfigEnvironment,
  { isQuiet }: Pick<EnvironmentOptions, 'isQuiet'>,
): Result<string, Refusal> {
  const level = getVariable(env, 'ASSAY_LOG_LEVEL') ?? (isQuiet ? 'error' : 'info');
  if (LOG_LEVELS.includes(level)) return ok(level);
  const reason = `it must be one of ${LOG_LEVELS.join(', ')}`;
  return err({ code: 'SETTING_INVALID', name: 'ASSAY_LOG_LEVEL', reason });
}

/** The encryption keys of a home. */
export function createEncryptionKeys({
  home,
  configEnvironment,
  log,
}: Pick<Environment, 'home' | 'configEnvironment' | 'log'>): EncryptionKeys {
  const { env } = configEnvironment;
  return new EncryptionKeys({
    home,
    file: locateKeyFile(configEnvironment),
    given: getVariable(env, 'ASSAY_ENCRYPTION_KEY'),
    checks: configEnvironment,
    log,
  });
}

/** The absolute path of ASSAY_KEY_FILE. */
export function locateKeyFile({ env, cwd, home }: ConfigEnvironment): string | undefined {
  const file = getVariable(env, 'ASSAY_KEY_FILE');
  return file === undefined ? undefined : resolve(cwd, expandHome(file, home));
}

function withoutLines(log: Log): ReturnType<typeof withRecentLines> {
  return { log, recent: { of: () => [] } };
}

/** The log of `serve`, in its home folder. */
export const LOG_FILE = 'serve.log';

async function keepLog(
  log: Log,
  { home, mask, cleanup }: Pick<Environment, 'home' | 'cleanup'> & Pick<LogFileOptions, 'mask'>,
): Promise<Log> {
  const { withLogFile } = await import('../adapters/telemetry/log-file.ts');
  const kept = withLogFile(log, { path: join(home, LOG_FILE), mask });
  cleanup.defer(kept.close);
  return kept.log;
}

/** Undefined if the level hides its lines: then calls are not even counted for it. */
function trafficLog(log: Log, level: string): TrafficLog | undefined {
  if (LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf('info')) return undefined;
  const later = (work: () => void, afterMs: number): void => void setTimeout(work, afterMs).unref();
  return new RecentTraffic({ log, nowMs: () => performance.now(), later });
}

/** Files of a home that must be private; the store holds hashes and operators' records. */
export function listSecretFiles(home: string): readonly string[] {
  return ['encryption.key', 'admin-token', 'assay.db', 'assay.db-wal', 'assay.db-shm'].map((name) =>
    join(home, name),
  );
}

async function hide(exposed: readonly ExposedFile[], log: Log): Promise<void> {
  if (exposed.length === 0) return;
  const hidden = await Promise.all(exposed.map(({ path }) => makePrivate(path)));
  const listed = exposed.map(({ path, mode }) => `${basename(path)} (mode ${mode.toString(8)})`);
  log.warn(
    hidden.every(Boolean)
      ? 'other users could read files with secrets in the home folder; this is fixed now. Replace the secrets they may have read'
      : 'others can read files with secrets in the home, and the permissions cannot be changed',
    { files: listed },
  );
}

type StoreModule = typeof OpenStore;
type StoreNeeds = Pick<Environment, 'home' | 'log' | 'cleanup'> & {
  readonly meter?: Meter | undefined;
  readonly configEnvironment: Pick<ConfigEnvironment, 'env'>;
};

/** Loads the store's dependencies only when it is opened. */
export function createHomeStore({ home, configEnvironment, log, cleanup, meter }: StoreNeeds): HomeStore {
  let opening: Promise<Result<Store, Refusal>> | undefined;
  let isOpen = false;
  const load = (): Promise<StoreModule> => import('../adapters/store/open-store.ts');
  const open = async ({ openStore, meterStore }: StoreModule): Promise<Result<Store, Refusal>> => {
    const opened = await openStore({
      home,
      databaseUrl: getVariable(configEnvironment.env, 'ASSAY_DATABASE_URL'),
      log,
    });
    isOpen = opened.ok;
    if (!opened.ok) opening = undefined;
    return opened.ok && meter !== undefined ? ok(meterStore(opened.value, meter)) : opened;
  };
  cleanup.defer(async () => {
    const opened = await opening;
    if (opened?.ok === true) await opened.value.close();
  });
  return {
    get isOpen() {
      return isOpen;
    },
    start: async () => {
      const module = await load();
      opening ??= open(module);
    },
    open: () => (opening ??= load().then(open)),
  };
}

function recordsOf({
  home,
  configEnvironment,
  log,
  store,
  cleanup,
}: Pick<Environment, 'home' | 'configEnvironment' | 'log' | 'store' | 'cleanup'>): Environment['records'] {
  let opened: RecordReplica | undefined;
  const open = (): RecordReplica => {
    const cache = openRecordsFile(home, getVariable(configEnvironment.env, 'ASSAY_DATABASE_URL'));
    return new RecordReplica({ open: () => store.open(), cache, log });
  };
  cleanup.defer(async () => opened?.close());
  return () => (opened ??= open());
}

/** Whether a store already exists. */
export function hasHomeStore({
  home,
  configEnvironment,
}: Pick<Environment, 'home' | 'configEnvironment'>): boolean {
  return isStoreThere(home, getVariable(configEnvironment.env, 'ASSAY_DATABASE_URL'));
}

/** An environment variable; empty counts as unset. */
export function getVariable(env: ConfigEnvironment['env'], name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/**
 * Whether clients on this machine need no token. ASSAY_TOKEN or an issuer makes one required, and so does a public URL:
 * a proxy on this machine then passes on the requests of others, with any Host that they choose.
 */
export function isOpenWith(
  settings: Pick<Settings, 'mcp.access' | 'auth.issuer' | 'auth.publicUrl'>,
  { env }: Pick<ConfigEnvironment, 'env'>,
): boolean {
  const hasToken = getVariable(env, 'ASSAY_TOKEN') !== undefined;
  const isPublic = isPublicUrl(settings['auth.publicUrl']);
  return settings['mcp.access'] === 'open' && !hasToken && !isPublic && settings['auth.issuer'] === '';
}
