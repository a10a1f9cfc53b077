import type { Approval } from '../../api/approval.ts';
import { type ApprovalScope, getApproverArguments, truncateArguments } from '../../core/approval.ts';
import { formatPolicyReason, formatReasons, formatWarning } from '../../core/policy/reason-text.ts';
import { findDistrustedServer } from '../../core/policy/untrusted-claims.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { LOCAL_USER } from '../../core/subject.ts';
import { computeExpiry } from '../catalog/approvals.ts';
import type { ApprovalChange, ApprovalQuery, ApprovalStore, StoredApproval } from '../ports/approvals.ts';

/** The author and time of an answer. */
interface AnsweredBy {
  readonly store: ApprovalStore;
  readonly subject: string;
  /** The browser session of a person on the admin pages. */
  readonly sessionId?: string | undefined;
  readonly nowMs: number;
}

/** Newest first. */
export async function listApprovals(
  store: ApprovalStore,
  query: ApprovalQuery,
  nowMs: number,
): Promise<Result<readonly Approval[], Refusal>> {
  const found = await store.approvals(query);
  return found.ok ? ok(found.value.map((approval) => toApproval(approval, nowMs))) : found;
}

/** With all arguments. Error: APPROVAL_UNKNOWN. */
export async function getApproval(
  store: ApprovalStore,
  id: string,
  nowMs: number,
): Promise<Result<Approval, Refusal>> {
  const found = await find(store, id);
  return found.ok ? ok(toApproval(found.value, nowMs, 'full')) : found;
}

/**
 * Approves a call, even one that was denied, while the approval can still be used. Errors: APPROVAL_UNKNOWN,
 * APPROVAL_CLOSED, APPROVAL_OWN, APPROVAL_ONCE_ONLY, APPROVAL_SCOPE_INVALID.
 */
export async function approveCall(
  { id, scope }: { readonly id: string; readonly scope: ApprovalScope },
  by: AnsweredBy,
): Promise<Result<Approval, Refusal>> {
  const found = await answerable(id, by);
  if (!found.ok) return found;
  const { request, binding, createdMs, expiresMs = createdMs } = found.value;
  if (!request.scopes.includes(scope))
    return err(
      request.scopes.length === 1
        ? { code: 'APPROVAL_ONCE_ONLY', id, tool: request.namespacedName }
        : { code: 'APPROVAL_SCOPE_INVALID', id, scopes: request.scopes },
    );
  const { nowMs, subject } = by;
  return change(by, {
    ...{ id, from: ['pending', 'denied'], to: 'approved', nowMs },
    answer: { scope, by: subject, atMs: nowMs },
    expiry: { expiresMs: computeExpiry(scope, binding, { nowMs, approvalMs: expiresMs - createdMs }) },
  });
}

/** Denies a waiting call, and identical calls for as long as it could be approved. Errors: as for `approveCall`. */
export async function denyCall(
  { id, reason }: { readonly id: string; readonly reason?: string | undefined },
  by: AnsweredBy,
): Promise<Result<Approval, Refusal>> {
  const found = await answerable(id, by);
  if (!found.ok) return found;
  const { nowMs, subject } = by;
  return change(by, {
    ...{ id, from: ['pending'], to: 'denied', nowMs },
    answer: { scope: undefined, by: subject, atMs: nowMs, reason },
  });
}

/** Revokes an approval that was not used up. Errors: APPROVAL_UNKNOWN, APPROVAL_CLOSED. */
export async function revokeApproval(id: string, by: AnsweredBy): Promise<Result<Approval, Refusal>> {
  const found = await find(by.store, id);
  return found.ok ? change(by, { id, from: ['approved'], to: 'revoked', nowMs: by.nowMs }) : found;
}

async function find(store: ApprovalStore, id: string): Promise<Result<StoredApproval, Refusal>> {
  const found = await store.approvals({ ids: [id], limit: 1 });
  if (!found.ok) return found;
  const [approval] = found.value;
  return approval === undefined ? err({ code: 'APPROVAL_UNKNOWN', id }) : ok(approval);
}

/**
 * Refuses APPROVAL_OWN, since a client could otherwise answer its own question. The local user may both call and
 * answer: both need access to the machine. So may a person on the admin pages, for runs of the same browser session
 * (ADR 0067).
 */
async function answerable(
  id: string,
  { store, subject, sessionId }: AnsweredBy,
): Promise<Result<StoredApproval, Refusal>> {
  const found = await find(store, id);
  if (!found.ok) return found;
  const { binding, state } = found.value;
  if (state === 'unreadable') return err({ code: 'APPROVAL_CLOSED', id, state });
  const isRun = sessionId !== undefined && binding.session === sessionId;
  const isOwn = binding.subject === subject && subject !== LOCAL_USER.subject && !isRun;
  return isOwn ? err({ code: 'APPROVAL_OWN', id, subject }) : found;
}

const ACTIONS = {
  approved: 'approval.approve',
  denied: 'approval.deny',
  revoked: 'approval.revoke',
} as const;

async function change(
  { store, subject, nowMs }: AnsweredBy,
  wanted: ApprovalChange & { readonly to: keyof typeof ACTIONS },
): Promise<Result<Approval, Refusal>> {
  const { scope, reason } = wanted.answer ?? {};
  const after = { state: wanted.to, ...(scope && { scope }), ...(reason !== undefined && { reason }) };
  const changed = await store.changeApproval(wanted, {
    atMs: nowMs,
    subject,
    action: ACTIONS[wanted.to],
    after,
  });
  if (!changed.ok) return changed;
  if (changed.value !== undefined) return ok(toApproval(changed.value, nowMs));
  const current = await find(store, wanted.id);
  return current.ok
    ? err({ code: 'APPROVAL_CLOSED', id: wanted.id, state: stateOf(current.value, nowMs) })
    : current;
}

function stateOf(
  { state, expiresMs = Number.POSITIVE_INFINITY }: StoredApproval,
  nowMs: number,
): Approval['state'] {
  const isOver = expiresMs <= nowMs && (state === 'pending' || state === 'approved' || state === 'denied');
  return isOver ? 'expired' : state;
}

/** `extent`: whether long arguments are shown in full or only their start. */
export function toApproval(
  approval: StoredApproval,
  nowMs: number,
  extent: 'start' | 'full' = 'start',
): Approval {
  const { id, request, binding, createdMs, expiresMs, answer } = approval;
  const all = getApproverArguments(request);
  const shown = extent === 'full' ? all : truncateArguments(all);
  const distrusted = findDistrustedServer(request.reasons);
  return {
    id,
    state: stateOf(approval, nowMs),
    tool: request.tool,
    namespacedName: request.namespacedName,
    ...(request.title !== undefined && { title: request.title }),
    server: request.server,
    subject: binding.subject,
    ...(request.client !== undefined && { client: request.client }),
    arguments: shown.text,
    isShortened: shown.isShortened,
    isMasked: shown.isMasked,
    why: [...formatReasons(request)],
    reasons: request.reasons.map((reason) => ({ ...reason, text: formatPolicyReason(reason).join(' ') })),
    warnings: request.warnings.map((warning) => formatWarning(warning).join(' ')),
    ...(distrusted !== undefined && { distrusted }),
    hints: request.hints.map(({ hint, value, reason }) => ({ hint, value, reason })),
    scopes: request.scopes,
    createdAt: new Date(createdMs).toISOString(),
    ...(expiresMs !== undefined && { expiresAt: new Date(expiresMs).toISOString() }),
    ...(answer && {
      answeredAt: new Date(answer.atMs).toISOString(),
      answeredBy: answer.by,
      ...(answer.scope && { scope: answer.scope }),
      ...(answer.reason !== undefined && { reason: answer.reason }),
    }),
  };
}
