import type { HintName } from './tools.ts';

/** A rule as in the config file. */
export interface PolicyRuleView {
  readonly effect: 'allow' | 'ask' | 'refuse';
  readonly name?: string;
  readonly because?: string;
  readonly server?: readonly string[];
  readonly tool?: readonly string[];
  readonly tag?: readonly string[];
  readonly toolset?: readonly string[];
  readonly token?: readonly string[];
  readonly hints?: Readonly<Partial<Record<HintName, boolean>>>;
}

export interface PolicyRuleList {
  /** Stored; PUT replaces them. */
  readonly rules: readonly PolicyRuleView[];
  /** Changed in the config file only. */
  readonly configFileRules: readonly PolicyRuleView[];
}
