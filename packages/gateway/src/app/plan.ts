import {
  type Config,
  type ConfigEnvironment,
  createEmptyConfig,
  loadConfig,
} from '../adapters/config/load-config.ts';
import { locateConfig } from '@assay-mcp/kit/platform/locate-config';
import { watchFile, type FileWatcher } from '@assay-mcp/kit/platform/watch-file';
import { listServerSecrets } from '../core/secrets/secret-values.ts';
import type { Refusal } from '../core/refusal.ts';
import {
  formatIgnoredSetting,
  listIgnoredSettings,
  isStorable,
  type Resolved,
  resolveSettings,
} from '../core/resolve-settings.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../core/sentences.ts';
import type { CallPolicy } from '../gateway/catalog/call-policy.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import type { Plan } from '../gateway/catalog/server-plan.ts';
import type { SettingKey } from '../core/settings.ts';
import type { Log } from '../gateway/ports/log.ts';
import { isThere } from '@assay-mcp/kit/platform/files';
import type { EarlyStart } from './early-start.ts';
import type { Environment } from './environment.ts';

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
  // A command shows what is wrong with an entry where it shows its server.
  report(options.isQuiet ? withoutEntryProblems(config.value) : config.value, log);
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

function withoutEntryProblems(config: Config): Config {
  const isOfEntry = ({ key }: Config['problems'][number]): boolean => /^(?:mcpServers|servers)\b/.test(key);
  return { ...config, problems: config.problems.filter((problem) => !isOfEntry(problem)) };
}

/** Logs the problems of a config. */
export function report({ problems, warnings }: Config, log: Log): void {
  for (const { file, line, column, key, reason, remedy } of problems)
    log.error(`config: ${key}: ${reason}. ${remedy}`, { file, line, column });
  for (const { file, line, key, reason, remedy } of warnings)
    log.info(`config: ${key}: ${reason}. ${remedy}`, { file, line });
}
