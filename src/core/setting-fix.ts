import type { SettingSources } from './resolve-settings.ts';
import { SETTINGS, type SettingKey } from './settings.ts';

/** Whose word on a setting goes before what is stored, and where it stands. */
export interface SettingFix {
  readonly origin: 'environment' | 'config file';
  /** The variable, or the member of the file. */
  readonly by: string;
}

/** Undefined: what is stored counts. */
export function fixOf(
  key: SettingKey,
  { env, file }: Pick<SettingSources, 'env' | 'file'>,
): SettingFix | undefined {
  const { env: variable, otherEnv } = SETTINGS[key];
  const by = [variable, otherEnv].find(
    (name) => name !== undefined && env[name] !== undefined && env[name] !== '',
  );
  if (by !== undefined) return { origin: 'environment', by };
  return file.has(key) ? { origin: 'config file', by: `settings["${key}"]` } : undefined;
}
