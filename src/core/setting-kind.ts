import type { LintLevel } from './hints/lint.ts';

/** What a setting takes, and what it is without anybody's word. */
export type SettingKind =
  | { readonly type: 'whole'; readonly least: number; readonly most: number; readonly otherwise: number }
  | { readonly type: 'choice'; readonly of: readonly string[]; readonly otherwise: string }
  | { readonly type: 'flag'; readonly otherwise: boolean }
  | {
      readonly type: 'text';
      /** What it may be, in few words. */
      readonly range: string;
      /** Why a text cannot be it, as the end of a sentence. */
      readonly fault: (text: string) => string | undefined;
      /** '': none. */
      readonly otherwise: string;
    };

export interface SettingFacts {
  /** The variable that sets it before all else. */
  readonly env: string;
  /** One that counts where that is not set, for those who come from elsewhere. */
  readonly otherEnv?: string;
  /**
   * Who may change it. `startup`: whoever starts Assay, by environment or config file; what is stored never counts.
   * `admin`: also whoever has the scope `admin`. Everything that decides who comes in, or where Assay may reach, is
   * `startup`: otherwise `admin` makes itself a token with `execute`, or a way into the network of the machine.
   */
  readonly changedBy: 'startup' | 'admin';
  readonly kind: SettingKind;
  /** One sentence for people; the unit is in it. */
  readonly about: string;
}

export function whole(otherwise: number, least: number, most: number): SettingKind {
  return { type: 'whole', least, most, otherwise };
}

export function text(range: string, fault: (text: string) => string | undefined): SettingKind {
  return { type: 'text', range, fault, otherwise: '' };
}

export function level(otherwise: LintLevel): SettingKind {
  return { type: 'choice', of: ['error', 'warning', 'off'], otherwise };
}
