import type { LintLevel } from './hints/lint.ts';

/** The valid values and the default of a setting. */
export type SettingKind =
  | { readonly type: 'whole'; readonly min: number; readonly max: number; readonly defaultValue: number }
  | { readonly type: 'choice'; readonly of: readonly string[]; readonly defaultValue: string }
  | { readonly type: 'flag'; readonly defaultValue: boolean }
  | {
      readonly type: 'text';
      /** Short description of valid values. */
      readonly range: string;
      /** Why a text is invalid, as the end of a sentence. */
      readonly fault: (text: string) => string | undefined;
      /** Empty: not set. */
      readonly defaultValue: string;
    };

export interface SettingFacts {
  /** Environment variable with the highest precedence. */
  readonly env: string;
  /** Fallback variable, for users who migrate from another program. */
  readonly otherEnv?: string;
  /**
   * Who may change it. `startup`: whoever starts Assay, by environment or config file; stored values are ignored.
   * `admin`: also anyone with the scope `admin`. Every setting that controls access to Assay, or the addresses it may
   * reach, is `startup`: otherwise `admin` could create a token with `execute`, or reach the machine's network.
   */
  readonly changedBy: 'startup' | 'admin';
  readonly kind: SettingKind;
  /** Whether its value may contain a secret, so that nobody is shown it. */
  readonly isSecret?: true;
  /** Whether a change in the store takes effect at once. Otherwise at the next start. */
  readonly isLive?: true;
  /** One sentence for people, including the unit. */
  readonly about: string;
}

export function createWholeKind(defaultValue: number, min: number, max: number): SettingKind {
  return { type: 'whole', min, max, defaultValue };
}

export function createTextKind(range: string, fault: (text: string) => string | undefined): SettingKind {
  return { type: 'text', range, fault, defaultValue: '' };
}

export function createLevelKind(defaultValue: LintLevel): SettingKind {
  return { type: 'choice', of: ['error', 'warning', 'off'], defaultValue };
}
