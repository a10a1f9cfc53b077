export type PreferenceValue = string | number | boolean;

/** The valid values. */
export type PreferenceKind =
  | { readonly type: 'flag' }
  | { readonly type: 'choice'; readonly of: readonly string[] }
  | { readonly type: 'whole'; readonly min: number; readonly max: number }
  | { readonly type: 'text'; readonly range: string };

export interface Preference {
  readonly key: string;
  /** The value from the next start on, unless `takesEffect` is `now`. */
  readonly value: PreferenceValue;
  readonly running: PreferenceValue;
  readonly default: PreferenceValue;
  readonly origin: 'environment' | 'config_file' | 'store' | 'default';
  /** Whether the environment or the config file sets it. */
  readonly isFixed: boolean;
  /** The environment variable, or the member of the config file. */
  readonly fixedBy?: string;
  readonly takesEffect: 'now' | 'next start';
  readonly env: string;
  readonly changedBy: 'startup' | 'admin';
  readonly ignored?: unknown;
  readonly about: string;
  readonly kind: PreferenceKind;
}

export interface PreferenceList {
  readonly preferences: readonly Preference[];
}

/** A preference that a single token may override. */
export interface TokenPreference {
  readonly key: string;
  readonly value: PreferenceValue;
  readonly origin: 'environment' | 'config_file' | 'token' | 'store' | 'default';
}

export interface TokenPreferenceList {
  readonly preferences: readonly TokenPreference[];
}
