import type { Confirm } from '../confirm.ts';
import type { Hint } from '@assay-mcp/kit/hint';
import type { ReasonCode } from '../hints/reason.ts';
import type { ResolvedHints } from '../hints/resolve.ts';
import type { Stop } from '../stops.ts';
import type { Identity } from '../subject.ts';

/** What a caller's session has read. An attack that exfiltrates private data needs both. */
export type SessionLabel = 'saw-untrusted' | 'saw-private';

export const SESSION_LABELS: readonly SessionLabel[] = ['saw-untrusted', 'saw-private'];

export const NO_LABELS: ReadonlySet<SessionLabel> = new Set();

/** A call to decide on. Values are computed on access. */
export interface PolicyInput extends PolicyCaller {
  /** Undefined if the request does not call a tool. The same object as long as nothing about the tool changes. */
  readonly tool: PolicyTool | undefined;
}

/** The caller and the way it calls. */
export interface PolicyCaller {
  readonly identity: Identity;
  /** The toolset that the call goes through. */
  readonly toolset: string | undefined;
  readonly labels: ReadonlySet<SessionLabel>;
  /** Whether the call has arguments, which the caller chose. */
  readonly hasArguments: boolean;
}

export interface PolicyTool {
  /** Undefined for Assay's configuration tools. */
  readonly server: string | undefined;
  /** Its name on its server. */
  readonly name: string;
  /** Digest of its definition. */
  readonly digest: string;
  readonly hints: ResolvedHints;
  /** The operator's choice. `suspended`: it was made for another definition. Undefined: the preference applies. */
  readonly confirm?: Confirm | 'suspended' | undefined;
  /** The operators' tags: its own and those of its server. */
  readonly tags?: readonly string[] | undefined;
  /** The tags that a rule with the effect `allow` may rely on: not those set for another definition. */
  readonly allowingTags?: readonly string[] | undefined;
  /** Labels that its result adds to a session. Absent: none. */
  readonly labels?: ReadonlySet<SessionLabel> | undefined;
  /** The same for a result that only acknowledges the call (acknowledgement.ts). Absent: no different. */
  readonly acknowledgementLabels?: ReadonlySet<SessionLabel> | undefined;
  /** Whether its calls run in a sandbox without a network, or are refused. */
  readonly isConfined?: boolean | undefined;
  /** Its hints if its server's declarations could lower caution. Undefined if they can already. */
  readonly hintsIfTrusted?: (() => ResolvedHints) | undefined;
  /**
   * How long in ms its results are cached, as chosen by an operator. `suspended`: as for `confirm`. Undefined: as in
   * the settings.
   */
  readonly cacheMs?: number | 'suspended' | undefined;
}

export type Effect = 'allow' | 'ask' | 'refuse';

export const EFFECTS: readonly [Effect, ...Effect[]] = ['allow', 'ask', 'refuse'];

/**
 * Whether to ask for every call, only for the first call of the tool in a session, or only for the first call to its
 * server in a session.
 */
export type AskedPer = 'call' | 'session' | 'server';

export const ASKED_PER: readonly AskedPer[] = ['call', 'session', 'server'];

export type Decision =
  | { readonly kind: 'allow'; readonly reasons: readonly PolicyReason[] }
  | { readonly kind: 'ask'; readonly per: AskedPer; readonly reasons: readonly PolicyReason[] }
  | { readonly kind: 'refuse'; readonly reasons: readonly PolicyReason[] };

/** What a server declares about a tool, which counts for nothing because the operator does not trust its hints. */
export interface UntrustedClaim {
  readonly server: string;
  readonly hint: Hint;
  readonly value: boolean;
  /** Whether Assay would ask less, or not at all, if the operator trusted them. */
  readonly isDecisive: boolean;
}

/** Why, as codes and data. The first one decides; others lead to the same decision. Sentences: reason-text.ts. */
export type PolicyReason = PolicyReasonKind & { readonly untrusted?: UntrustedClaim | undefined };

type PolicyReasonKind =
  | {
      readonly code: 'rule';
      readonly effect: Effect;
      /** Its name or, if it has none, its number. */
      readonly rule: string;
      /** The operator's explanation. */
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
  /** The store holds rules or preferences that are damaged or of a newer version. */
  | { readonly code: 'preferences_unknown' }
  /** The rules and preferences cannot be read for now. */
  | { readonly code: 'store_away' }
  /** An operator has stopped the tool, its server or all calls. */
  | { readonly code: 'stopped'; readonly stop: Stop };

/** A hint that a person should know before confirming, with the value used for the decision and its origin. */
export interface HintWarning {
  readonly hint: Hint;
  readonly value: boolean;
  readonly origin: ReasonCode;
  /** Time of an observation that contradicts the tool's own claim. */
  readonly contradictedMs?: number | undefined;
  readonly untrusted?: UntrustedClaim | undefined;
}

export interface PolicyPreferences {
  /** Who asks for confirmation: the client with its own prompts, or Assay. */
  readonly approvals: 'client' | 'gateway';
  /** Who answers if Assay asks. `by_transport`: the client over stdio, the inbox over HTTP. */
  readonly approver: 'by_transport' | 'client' | 'inbox';
  readonly autoApproveReadOnly: boolean;
  readonly alwaysConfirmDestructive: boolean;
  readonly showWarnings: boolean;
  /** For tools without a hint from a trusted source. */
  readonly unannotated: 'worst_case' | 'ask' | 'refuse';
  /** For tools without their own `confirm`. */
  readonly confirm: Confirm;
  /** For calls that could carry data out of a session that has both labels. */
  readonly outbound: Effect;
  /** Whether an operator chose `outbound`. */
  readonly isOutboundChosen: boolean;
  /** Whether a tool that was observed to make no request counts as closed-world for such calls. */
  readonly trustObservations: boolean;
}

export interface Policy extends Pick<
  PolicyPreferences,
  'approvals' | 'approver' | 'showWarnings' | 'outbound'
> {
  /** Of which calls session labels decide whether they are sent. Of others, they only decide what the record says. */
  readonly enforcesLabels: 'all' | 'from_pages' | 'none';
  /** Whether decisions about the tool depend on session labels. */
  dependsOnLabels(tool: PolicyTool): boolean;
  /**
   * Decides whether a call may proceed. Pure and synchronous; anything that depends on the tool alone is decided once
   * per tool. Undefined if there is nothing to decide.
   */
  decide(input: PolicyInput): Decision | undefined;
}

/** Makes no decisions: for a process whose calls another process decides on. */
export const NO_POLICY: Policy = {
  approvals: 'client',
  approver: 'inbox',
  showWarnings: false,
  outbound: 'allow',
  enforcesLabels: 'none',
  dependsOnLabels: () => false,
  decide: () => undefined,
};
