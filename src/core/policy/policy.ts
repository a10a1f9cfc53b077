import type { Confirm } from '../confirm.ts';
import type { Hint } from '../hints/hint.ts';
import type { ReasonCode } from '../hints/reason.ts';
import type { ResolvedHints } from '../hints/resolve.ts';
import type { Identity } from '../subject.ts';

/** What a caller's session has read. Both together are needed to carry private data out on a stranger's behalf. */
export type SessionLabel = 'saw-untrusted' | 'saw-private';

export const SESSION_LABELS: readonly SessionLabel[] = ['saw-untrusted', 'saw-private'];

export const NO_LABELS: ReadonlySet<SessionLabel> = new Set();

/** A call to decide on. Values are computed on access. */
export interface PolicyInput extends PolicyCaller {
  /** Undefined if the request does not call a tool. The same object for as long as nothing about the tool changes. */
  readonly tool: PolicyTool | undefined;
}

/** Who calls, and how. */
export interface PolicyCaller {
  readonly identity: Identity;
  /** The toolset that the call goes through. */
  readonly toolset: string | undefined;
  readonly labels: ReadonlySet<SessionLabel>;
}

export interface PolicyTool {
  /** Undefined for Assay's configuration tools. */
  readonly server: string | undefined;
  /** Its name on its server. */
  readonly name: string;
  /** Digest of its definition. */
  readonly digest: string;
  readonly hints: ResolvedHints;
  /** What an operator set for it. Suspended: for another definition. Undefined: by preference. */
  readonly confirm?: Confirm | 'suspended' | undefined;
  /** The operators' tags: its own and those of its server. */
  readonly tags?: readonly string[] | undefined;
  /** Those that a rule that allows may rely on: not those set for another definition. */
  readonly allowingTags?: readonly string[] | undefined;
  /** What a caller has seen after a result of it. Absent: nothing. */
  readonly labels?: ReadonlySet<SessionLabel> | undefined;
  /** How long in ms an operator lets its results be used again. Suspended: as `confirm`. Undefined: by the settings. */
  readonly cacheMs?: number | 'suspended' | undefined;
}

export type Effect = 'allow' | 'ask' | 'refuse';

export type Decision =
  | { readonly kind: 'allow'; readonly reasons: readonly PolicyReason[] }
  /** `per`: whether each call is asked for, or only the first one of a session. */
  | { readonly kind: 'ask'; readonly per: 'call' | 'session'; readonly reasons: readonly PolicyReason[] }
  | { readonly kind: 'refuse'; readonly reasons: readonly PolicyReason[] };

/** Why, as codes and data. The first one decides; others lead to the same decision. Sentences: reason-text.ts. */
export type PolicyReason =
  | {
      readonly code: 'rule';
      readonly effect: Effect;
      /** Its name or, if it has none, its number. */
      readonly rule: string;
      /** The operator's words. */
      readonly because?: string | undefined;
    }
  | { readonly code: 'destructive'; readonly origin: ReasonCode }
  | { readonly code: 'read_only'; readonly origin: ReasonCode }
  | { readonly code: 'unannotated' }
  | { readonly code: 'session_labels' }
  | { readonly code: 'tool_confirm'; readonly confirm: Confirm }
  | { readonly code: 'confirm_suspended' }
  | { readonly code: 'default_confirm'; readonly confirm: Confirm }
  | { readonly code: 'own_tool' }
  | { readonly code: 'preferences_unknown' };

/** A hint that a person should know before they confirm, as decided, and what it is based on. */
export interface HintWarning {
  readonly hint: Hint;
  readonly value: boolean;
  readonly origin: ReasonCode;
  /** When an observation was made that contradicts what the tool says. */
  readonly contradictedMs?: number | undefined;
}

export interface PolicyPreferences {
  /** Who confirms: the client, which has its own questions, or Assay. */
  readonly approvals: 'client' | 'gateway';
  /** Who answers where Assay confirms. `by_transport`: the client over stdio, the inbox over HTTP. */
  readonly approver: 'by_transport' | 'client' | 'inbox';
  readonly autoApproveReadOnly: boolean;
  readonly alwaysConfirmDestructive: boolean;
  readonly showWarnings: boolean;
  /** For tools of which no trusted source states a hint. */
  readonly unannotated: 'worst_case' | 'ask' | 'refuse';
  /** For tools that have no `confirm` of their own. */
  readonly confirm: Confirm;
  /** For calls that could carry data out of a session that has both labels. */
  readonly outbound: Effect;
}

export interface Policy extends Pick<
  PolicyPreferences,
  'approvals' | 'approver' | 'showWarnings' | 'outbound'
> {
  /** Whether a decision about the tool depends on what the caller has seen. */
  dependsOnLabels(tool: PolicyTool): boolean;
  /**
   * Decides whether a call may proceed. Pure and synchronous; what depends on the tool alone is decided once per tool.
   * Undefined if there is nothing to decide.
   */
  decide(input: PolicyInput): Decision | undefined;
}

/** Decides nothing: for a process whose calls another one decides on. */
export const NO_POLICY: Policy = {
  approvals: 'client',
  approver: 'inbox',
  showWarnings: false,
  outbound: 'allow',
  dependsOnLabels: () => false,
  decide: () => undefined,
};
