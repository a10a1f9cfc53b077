import type { HintName } from './tool.ts';

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
  /** Can be changed only in the config file. */
  readonly configFileRules: readonly PolicyRuleView[];
}

/** How a call would be decided: the part that the pages use. */
export interface PolicyDecision {
  readonly tool: string;
  readonly namespacedName: string;
  readonly decision: 'allow' | 'ask' | 'refuse';
  /** For `ask`: whether every call needs approval, or only the first of the tool or to its server in a session. */
  readonly per?: 'call' | 'session' | 'server';
  /** Whether the call would be sent now. */
  readonly isCarriedOut: boolean;
  /** The first one decides. */
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
  readonly warnings: readonly string[];
  readonly hints: readonly {
    readonly hint: HintName;
    readonly value: boolean;
    /** Whether a trusted source or an operator states it. */
    readonly isKnown: boolean;
    readonly reason: string;
  }[];
  /** First those of the config file, then the stored ones. */
  readonly rules: readonly {
    readonly rule: string;
    readonly effect: 'allow' | 'ask' | 'refuse';
    readonly applies: boolean;
  }[];
  readonly labels: readonly string[];
  readonly tags: readonly string[];
  readonly confirm?: string;
}
