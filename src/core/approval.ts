import type { Hint } from './hints/hint.ts';
import type { ReasonCode } from './hints/reason.ts';
import type { HintWarning, PolicyReason } from './policy/policy.ts';

/** `session`: until the session of the client ends. `always`: until the definition of the tool changes. */
export type ApprovalScope = 'once' | 'session' | 'always';

export const APPROVAL_SCOPES: readonly ApprovalScope[] = ['once', 'session', 'always'];

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'used' | 'revoked' | 'expired';

/** What a person needs to know to decide on a call. Text from servers and clients is unescaped. */
export interface ApprovalRequest {
  /** The public name. */
  readonly tool: string;
  /** The name on its server, with the server: `linear.create_issue`. */
  readonly namespacedName: string;
  readonly title?: string | undefined;
  /** Empty for Assay's own tools. */
  readonly server: string;
  /** JSON text of the name and version of the client. */
  readonly client?: string | undefined;
  /** JSON text, with secrets masked; shortened if `isShortened`. */
  readonly arguments: string;
  readonly isShortened: boolean;
  readonly reasons: readonly PolicyReason[];
  readonly warnings: readonly HintWarning[];
  /** `reason` may name operators, so only operators may see it. */
  readonly hints: readonly {
    readonly hint: Hint;
    readonly value: boolean;
    readonly origin: ReasonCode;
    readonly reason: string;
  }[];
  /** The scopes to choose from; only `once` if every call must be confirmed. */
  readonly scopes: readonly ApprovalScope[];
}

/** Why a call was not sent, or an approval not changed. */
export type ApprovalRefusal =
  | { readonly code: 'CALL_REFUSED'; readonly tool: string; readonly reasons: readonly PolicyReason[] }
  | {
      readonly code: 'APPROVAL_REQUIRED';
      readonly tool: string;
      readonly reasons: readonly PolicyReason[];
      /** Empty if operators do not want them shown. */
      readonly warnings: readonly HintWarning[];
      /** Id of the approval that an operator can give. Undefined if the call does not wait for one. */
      readonly approval?: string | undefined;
    }
  | {
      readonly code: 'APPROVAL_DENIED';
      readonly tool: string;
      /** As written by the person who denied it. */
      readonly reason?: string | undefined;
    }
  | { readonly code: 'APPROVALS_FULL'; readonly limit: number }
  | { readonly code: 'APPROVAL_UNKNOWN'; readonly id: string }
  | { readonly code: 'APPROVAL_CLOSED'; readonly id: string; readonly state: ApprovalState }
  /** The caller tried to approve its own call. */
  | { readonly code: 'APPROVAL_OWN'; readonly id: string; readonly subject: string }
  | { readonly code: 'APPROVAL_ONCE_ONLY'; readonly id: string; readonly tool: string };
