import type { AuditEvent } from '../../core/audit-event.ts';
import type { ApprovalRequest, ApprovalScope } from '../../core/approval.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

/** What an approval is for. It does not apply to a call that differs in any of these. */
export interface ApprovalBinding {
  /** The caller. */
  readonly subject: string;
  /** The caller's session, or `computeSessionlessId` (gateway/catalog/approvals.ts). */
  readonly session: string;
  /** Hash of the server's identity and the tool's name. */
  readonly toolKey: string;
  readonly digest: string;
  /** Hash of the server, its identity and the definitions of all of its tools. Empty for Assay's own tools. */
  readonly serverKey: string;
  /** Hash of the arguments, and of why the call needs approval. */
  readonly argumentsHash: string;
}

/** `used`: an approval for one call, which was then sent. */
export type StoredApprovalState = 'pending' | 'approved' | 'denied' | 'used' | 'revoked';

/** `unreadable`: another program changed it; it has what can still be read, and permits nothing. */
export interface StoredApproval {
  /** Random. */
  readonly id: string;
  readonly binding: ApprovalBinding;
  readonly request: ApprovalRequest;
  readonly state: StoredApprovalState | 'unreadable';
  readonly createdMs: number;
  /** After this, a pending approval cannot be answered, and an approved one is not valid. Undefined: never. */
  readonly expiresMs: number | undefined;
  readonly answer: ApprovalAnswer | undefined;
}

export interface ApprovalAnswer {
  /** Undefined if it was denied. */
  readonly scope: ApprovalScope | undefined;
  /** The author of the answer: the name of a token, `local`, or the calling client itself. */
  readonly by: string;
  readonly atMs: number;
  /** For the model. */
  readonly reason?: string | undefined;
}

/** An approval to store. */
export type NewApproval = StoredApproval & { readonly state: StoredApprovalState };

/** A decision of an operator about one approval. */
export interface ApprovalChange {
  readonly id: string;
  /** The change is made only if the approval is in one of these states and has not expired. */
  readonly from: readonly StoredApprovalState[];
  readonly to: StoredApprovalState;
  /** Undefined: unchanged. */
  readonly answer?: ApprovalAnswer | undefined;
  /** `expiresMs: undefined`: never expires. Absent: unchanged. */
  readonly expiry?: { readonly expiresMs: number | undefined } | undefined;
  readonly nowMs: number;
}

export interface ApprovalQuery {
  readonly ids?: readonly string[] | undefined;
  readonly state?: StoredApprovalState | undefined;
  /** Only those made before this one, newest first. */
  readonly before?: { readonly createdMs: number; readonly id: string } | undefined;
  readonly limit: number;
}

/** The part of a store that keeps approvals. Each method is one transaction. */
export interface ApprovalStore {
  /**
   * Returns the open approval for the same call (pending, denied, or approved for one call), else adds this one.
   * APPROVALS_FULL if the subject has too many pending ones, or the store too many in all. Removes approvals that ended
   * long ago.
   */
  requestApproval(wanted: NewApproval, limits: ApprovalLimits): Promise<Result<StoredApproval, Refusal>>;
  /** Adds an approval that is already answered. False if the id is taken. APPROVALS_FULL. */
  addApproval(
    answered: NewApproval,
    limits: ApprovalLimits,
    event?: AuditEvent,
  ): Promise<Result<boolean, Refusal>>;
  /** Undefined if there is no such approval, or it may not be changed (`from`). */
  changeApproval(
    change: ApprovalChange,
    event?: Omit<AuditEvent, 'target'>,
  ): Promise<Result<StoredApproval | undefined, Refusal>>;
  /** The approval of the tool's calls for the session or for good. Undefined if there is none. */
  findGrant(binding: ApprovalBinding, nowMs: number): Promise<Result<StoredApproval | undefined, Refusal>>;
  /** The approval of all calls to the server in the session that could carry data out. Undefined if there is none. */
  findServerGrant(
    binding: ApprovalBinding,
    nowMs: number,
  ): Promise<Result<StoredApproval | undefined, Refusal>>;
  /** How many approvals are pending, and when the oldest of them was requested. */
  pendingApprovals(nowMs: number): Promise<Result<PendingCount, Refusal>>;
  /** Newest first. */
  approvals(query: ApprovalQuery): Promise<Result<readonly StoredApproval[], Refusal>>;
}

export interface PendingCount {
  readonly count: number;
  /** Undefined if there is none. */
  readonly sinceMs: number | undefined;
}

export interface ApprovalLimits {
  readonly nowMs: number;
  /** Maximum number of pending approvals of one subject. */
  readonly pendingPerSubject: number;
  /** Maximum number of approvals of one subject that have not expired, so that it cannot use up `total`. */
  readonly perSubject: number;
  /** Maximum number of approvals of all kinds; beyond it, the oldest expired ones are removed. */
  readonly total: number;
  /** How long in ms a closed approval is kept. */
  readonly keepMs: number;
}
