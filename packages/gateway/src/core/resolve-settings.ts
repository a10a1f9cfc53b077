import { findFormerVariable } from './fixed-limits.ts';
import type { Refusal } from './refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { SettingFacts, SettingKind } from './setting-kind.ts';
import { isSettingKey, type SettingKey, SETTINGS, type Settings } from './settings.ts';

/** Where a setting's value comes from, in order of precedence. */
export type SettingOrigin = 'environment' | 'config_file' | 'store' | 'default';

export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `settings` of the config file. */
  readonly file: ReadonlyMap<string, unknown>;
  readonly stored: ReadonlyMap<string, unknown>;
}

export interface Resolved {
  readonly settings: Settings;
  readonly origins: Readonly<Record<SettingKey, SettingOrigin>>;
}

/** All settings at their defaults. */
export function getDefaultSettings(): Settings {
  const entries = Object.entries<SettingFacts>(SETTINGS).map(([key, { kind }]) => [key, kind.defaultValue]);
  return Object.fromEntries(entries) as Settings; // every row was visited
}

/** Resolves every setting and its origin. SETTING_INVALID names the first invalid one. */
export function resolveSettings(sources: SettingSources): Result<Resolved, Refusal> {
  const former = findFormerVariable(sources.env);
  if (former !== undefined)
    return err({
      code: 'SETTING_INVALID',
      name: former,
      reason: 'it is no longer a setting but a fixed limit (`assay docs limits`). Unset the variable',
    });
  const settings: Record<string, unknown> = {};
  const origins: Record<string, SettingOrigin> = {};
  for (const [key, facts] of Object.entries<SettingFacts>(SETTINGS)) {
    const input = inputOf(key, facts, sources);
    const reason = input === undefined ? undefined : findSettingFault(facts, input.value);
    if (input !== undefined && reason !== undefined)
      return err({ code: 'SETTING_INVALID', name: input.name, reason });
    settings[key] = input?.value ?? facts.kind.defaultValue;
    origins[key] = input?.origin ?? 'default';
  }
  return ok({ settings: settings as unknown as Settings, origins: origins as Resolved['origins'] }); // every row was visited
}

/** Why a value is invalid for a setting, as the end of a sentence. */
export function findSettingFault({ kind }: SettingFacts, value: unknown): string | undefined {
  if (kind.type === 'flag') return typeof value === 'boolean' ? undefined : 'it must be true or false';
  if (kind.type === 'choice')
    return kind.of.includes(String(value)) ? undefined : `it must be one of ${kind.of.join(', ')}`;
  if (kind.type === 'text') return typeof value === 'string' ? kind.fault(value) : 'it must be a text';
  const isFit =
    typeof value === 'number' && Number.isInteger(value) && value >= kind.min && value <= kind.max;
  return isFit ? undefined : `it must be a whole number from ${kind.min} to ${kind.max}`;
}

/** Whether the setting exists, may be stored, and accepts the value. */
export function isStorable(key: string, value: unknown): boolean {
  if (!isSettingKey(key) || SETTINGS[key].changedBy === 'startup') return false;
  return findSettingFault(SETTINGS[key], value) === undefined;
}

/** Settings that an earlier version stored but that can no longer be stored; in the order of the table. */
export function listIgnoredSettings(stored: ReadonlyMap<string, unknown>): readonly SettingKey[] {
  const keys = Object.keys(SETTINGS) as SettingKey[]; // the keys of the table itself
  return keys.filter((key) => SETTINGS[key].changedBy === 'startup' && stored.has(key));
}

/** Why a stored setting has no effect, and the remedy. */
export function describeIgnoredSetting(key: SettingKey): {
  readonly message: string;
  readonly remedy: string;
} {
  return {
    message: `The stored value of ${key} is ignored: this setting is read from the environment and the config file only.`,
    remedy: `Set ${formatStartupPlaces(key)} if you want it, and delete the stored value with \`assay settings unset ${key}\`.`,
  };
}

export function formatIgnoredSetting(key: SettingKey): string {
  const { message, remedy } = describeIgnoredSetting(key);
  return `${message} ${remedy}`;
}

/** Where a `startup` setting can be set. */
export function formatStartupPlaces(key: SettingKey): string {
  return `${SETTINGS[key].env}, or settings["${key}"] in the config file`;
}

interface SettingInput {
  readonly value: unknown;
  readonly name: string;
  readonly origin: SettingOrigin;
}

function inputOf(key: string, facts: SettingFacts, sources: SettingSources): SettingInput | undefined {
  for (const name of [facts.env, facts.otherEnv]) {
    const given = name === undefined ? undefined : sources.env[name];
    if (name !== undefined && given !== undefined && given !== '')
      return { value: parseSettingValue(given, facts.kind), name, origin: 'environment' };
  }
  if (sources.file.has(key))
    return { value: sources.file.get(key), name: `settings["${key}"]`, origin: 'config_file' };
  return facts.changedBy === 'admin' && sources.stored.has(key)
    ? { value: sources.stored.get(key), name: key, origin: 'store' }
    : undefined;
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Converts a text, such as an environment variable, to the setting's type. A value that does not fit is returned as text. */
export function parseSettingValue(given: string, kind: SettingKind): string | number | boolean {
  if (kind.type === 'flag') return FLAGS.get(given.toLowerCase()) ?? given;
  return kind.type === 'whole' && /^\d{1,15}$/.test(given) ? Number(given) : given;
}

/** A source that takes precedence over the stored value of a setting. */
export interface SettingFix {
  readonly origin: 'environment' | 'config_file';
  /** The environment variable or config file member. */
  readonly by: string;
}

/** Undefined if the stored value applies. */
export function findSettingFix(
  key: SettingKey,
  { env, file }: Pick<SettingSources, 'env' | 'file'>,
): SettingFix | undefined {
  const { env: variable, otherEnv } = SETTINGS[key];
  const by = [variable, otherEnv].find(
    (name) => name !== undefined && env[name] !== undefined && env[name] !== '',
  );
  if (by !== undefined) return { origin: 'environment', by };
  return file.has(key) ? { origin: 'config_file', by: `settings["${key}"]` } : undefined;
}
