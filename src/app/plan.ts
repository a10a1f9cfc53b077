import {
  type Config,
  type ConfigEnvironment,
  createEmptyConfig,
  loadConfig,
} from '../adapters/config/load-config.ts';
import { locateConfig } from '../adapters/config/locate-config.ts';
import { watchFile, type FileWatcher } from '../platform/watch-file.ts';
import { findServe, isAnswering, type RunningServe } from '../adapters/store/running-serve.ts';
import { listServerSecrets } from '../core/secrets/secret-values.ts';
import type { Refusal } from '../core/refusal.ts';
import {
  formatIgnoredSetting,
  listIgnoredSettings,
  isStorable,
  type Resolved,
  resolveSettings,
} from '../core/resolve-settings.ts';
import { ok, type Result } from '../core/result.ts';
import { formatRefusal } from '../core/sentences.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import type { CallPolicy } from '../gateway/catalog/call-policy.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import type { Plan } from '../gateway/catalog/server-plan.ts';
import type { SettingKey } from '../core/settings.ts';
import type { Log } from '../gateway/ports/log.ts';
import { isThere } from '../platform/files.ts';
import type { EarlyStart } from './early-start.ts';
import type { Environment } from './environment.ts';
import type { ViewOptions } from '../core/command-options.ts';
import { MAX_TIMER_MS } from '../core/timer.ts';

export interface Configured extends Resolved {
  readonly config: Config;
  /** Why the config file is missing. An empty config is used instead, as sources may be registered. */
  readonly absence: Refusal | undefined;
  /** Stored settings without effect, because only environment and config file can set them. */
  readonly ignored: readonly SettingKey[];
  /** Called with each valid config before it is used, to mask its secrets. */
  readonly learn: (plan: Plan) => void;
}

/** Reads the config file and resolves the settings. Stored settings count only if the store is open. */
export async function readConfig(
  { options, configEnvironment, log, secrets, store }: Environment,
  early?: EarlyStart,
): Promise<Result<Configured, Refusal>> {
  const { path } = locateConfig({ flag: options.config, ...configEnvironment });
  const loaded = early?.config ?? loadConfig(path, configEnvironment);
  const absence = loaded.ok || isThere(path) ? undefined : absenceOf(loaded.error, path);
  const config = absence === undefined ? loaded : ok(createEmptyConfig(path));
  if (!config.ok) return config;
  const learn = ({ servers }: Plan): void => secrets.add(servers.flatMap(listServerSecrets));
  learn(config.value);
  report(config.value, log);
  const opened = store.isOpen ? await store.open() : undefined;
  if (opened?.ok === false) return opened;
  const stored = opened === undefined ? ok(new Map<string, unknown>()) : await opened.value.settings();
  if (!stored.ok) return stored;
  const ignored = listIgnoredSettings(stored.value);
  for (const key of ignored) log.warn(formatIgnoredSetting(key), { setting: key });
  const resolved = resolveSettings({
    env: configEnvironment.env,
    file: config.value.settings,
    // A setting stored by another version of Assay must not prevent the start.
    stored: new Map([...stored.value].filter(([key, value]) => isStorable(key, value))),
  });
  return resolved.ok ? ok({ ...resolved.value, config: config.value, absence, ignored, learn }) : resolved;
}

/** Reports a missing file as absent; other faults, such as unsafe folders, are kept. */
function absenceOf(error: Refusal, path: string): Refusal {
  return error.code === 'CONFIG_UNREADABLE' ? { code: 'CONFIG_ABSENT', path } : error;
}

interface FollowOptions {
  readonly configEnvironment: ConfigEnvironment;
  readonly catalog: Catalog;
  readonly policy: CallPolicy;
  readonly log: Log;
  /** Called with each valid config before it is used. */
  readonly learn: (config: Config) => void;
  /** Whether the file does not exist yet. */
  readonly isAbsent: boolean;
}

/** Updates the catalog whenever the config file changes. An unusable file changes nothing. */
export function followConfig(
  path: string,
  { configEnvironment, catalog, policy, log, learn, isAbsent }: FollowOptions,
): FileWatcher {
  let reading: Promise<void> = Promise.resolve();
  let isAwaited = isAbsent;
  const read = (): void => {
    const config = loadConfig(path, configEnvironment);
    if (isAwaited && !config.ok && config.error.code === 'CONFIG_UNREADABLE') return;
    isAwaited = false;
    const fault = config.ok ? undefined : formatRefusal(config.error);
    if (fault !== undefined && fault !== catalog.configFault)
      log.error(`config: ${fault} The previous configuration stays in effect.`);
    catalog.configFault = fault;
    if (!config.ok) return;
    learn(config.value);
    if (policy.followRules(config.value.rules))
      log.info('config: the rules have changed', { rules: config.value.rules.length });
    const before = JSON.stringify(catalog.rejected);
    const { added, changed, removed } = catalog.follow(config.value);
    const isNews = added.length + changed.length + removed.length > 0;
    if (!isNews && JSON.stringify(catalog.rejected) === before) return;
    report(config.value, log);
    log.info('config: the file has changed', { added, changed, removed });
  };
  const readSoon = (): void => {
    reading = reading.then(read).catch((error: unknown) => {
      log.error('the config could not be followed', {
        error: error instanceof Error ? error.stack : String(error),
      });
    });
  };
  const watching = watchFile(path, readSoon);
  // The file may have changed before it was watched.
  readSoon();
  return watching;
}

/** Logs the problems of a config. */
export function report({ problems, warnings }: Config, log: Log): void {
  for (const { file, line, column, key, reason, remedy } of problems)
    log.error(`config: ${key}: ${reason}. ${remedy}`, { file, line, column });
  for (const { file, line, key, reason, remedy } of warnings)
    log.info(`config: ${key}: ${reason}. ${remedy}`, { file, line });
}

/** The server name of a running `serve` that Assay is attached to. */
const NAME = 'serve';

/** A plan with the running `serve` as its only server. Undefined if none is running. */
export async function findServePlan(path: string, shown: ViewOptions): Promise<Plan | undefined> {
  const serve = await findServe(path);
  const isThere = serve !== undefined && (await isAnswering(serve));
  return isThere ? { servers: [specOf(serve, shown)], rejected: [] } : undefined;
}

/** Updates the catalog when `serve` restarts. While none is running, the last one is kept. */
export function followServe(path: string, catalog: Catalog, shown: ViewOptions): FileWatcher {
  const look = (): void => {
    void findServePlan(path, shown).then((plan) => plan && catalog.follow(plan));
  };
  const watching = watchFile(path, look);
  // It may have restarted before the file was watched.
  look();
  return watching;
}

/** The names already come from a gateway, so they stay unchanged. */
export function getAttachedView(catalog: Catalog): Catalog['all'] {
  return catalog.of(NAME) ?? catalog.all;
}

function specOf({ url, token }: RunningServe, { all, toolset, search }: ViewOptions): ServerSpec {
  const part =
    search === true
      ? '/search'
      : all === true
        ? '/all'
        : toolset === undefined
          ? ''
          : `/toolsets/${encodeURIComponent(toolset)}`;
  return {
    name: NAME,
    transport: {
      kind: 'http',
      flavour: 'streamable',
      url: new URL(`/mcp${part}`, url),
      headers: { authorization: `Bearer ${token}` },
    },
    // Each server behind it has its own time limit, which must expire first.
    timeoutMs: MAX_TIMER_MS,
    prefix: false,
    isolation: 'shared',
    isFromConfig: true,
  };
}
