import { sql } from 'kysely';
import {
  APPROVAL_SCOPES,
  type ApprovalRequest,
  closeRequest,
  isApprovalRequest,
} from '../../core/approval.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type {
  ApprovalBinding,
  ApprovalChange,
  ApprovalLimits,
  ApprovalQuery,
  NewApproval,
  PendingCount,
  StoredApproval,
  StoredApprovalState,
} from '../../gateway/ports/approvals.ts';
import type { Trx } from './dialect.ts';
import { MAX_TIME_MS, RowCells } from './row-cells.ts';
import type { ApprovalRow } from './tables.ts';

/** Maximum number of closed approvals removed at once. */
const MAX_REMOVED = 500;
/** Maximum number of characters that the open requests of a subject take up. */
const MAX_OPEN_LENGTH = 8 * 1024 * 1024;
/** The same for all subjects together. */
const MAX_TOTAL_OPEN_LENGTH = 64 * 1024 * 1024;

export async function requestApproval(
  trx: Trx,
  wanted: NewApproval,
  limits: ApprovalLimits,
): Promise<Result<StoredApproval, Refusal>> {
  const { nowMs } = limits;
  const open = await ofTool(trx, wanted.binding)
    .where('arguments_hash', '=', wanted.binding.argumentsHash)
    .where('expires_ms', '>', nowMs)
    .where((build) =>
      build.or([
        build('state', 'in', ['pending', 'denied']),
        build.and([build('state', '=', 'approved'), build('scope', '=', 'once')]),
      ]),
    )
    // Approved ones come first, then denied ones, then pending ones.
    .orderBy('state')
    .execute();
  const known = firstReadable(open);
  if (known !== undefined) return ok(known);
  const own = await readOpen(trx, nowMs, wanted.binding.subject);
  if (own.pending >= limits.pendingPerSubject || own.length >= MAX_OPEN_LENGTH)
    return err({ code: 'APPROVALS_FULL', limit: own.pending });
  const all = await readOpen(trx, nowMs);
  if (all.length >= MAX_TOTAL_OPEN_LENGTH) return err({ code: 'APPROVALS_FULL', limit: all.pending });
  const full = await reachedLimit(trx, wanted.binding, limits);
  if (full !== undefined) return err({ code: 'APPROVALS_FULL', limit: full });
  await trx.insertInto('assay_approvals').values(rowOf(wanted)).execute();
  return ok(wanted);
}

/** The requests of a subject, or of all, that can be approved or were denied. */
async function readOpen(
  trx: Trx,
  nowMs: number,
  subject?: string,
): Promise<{ readonly pending: number; readonly length: number }> {
  let rows = trx
    .selectFrom('assay_approvals')
    .select([
      sql<number | string | null>`sum(case when state = 'pending' then 1 else 0 end)`.as('pending'),
      sql<number | string | null>`sum(length(request_json))`.as('length'),
    ])
    .where('state', 'in', ['pending', 'denied'])
    .where('expires_ms', '>', nowMs);
  if (subject !== undefined) rows = rows.where('subject_json', '=', JSON.stringify(subject));
  const { pending, length } = await rows.executeTakeFirstOrThrow();
  // Both databases may return sums as text.
  return { pending: Number(pending), length: Number(length) };
}

/** False if the id is taken. */
export async function insertApproval(
  trx: Trx,
  approval: NewApproval,
  limits: ApprovalLimits,
): Promise<Result<boolean, Refusal>> {
  const full = await reachedLimit(trx, approval.binding, limits);
  if (full !== undefined) return err({ code: 'APPROVALS_FULL', limit: full });
  const done = await trx
    .insertInto('assay_approvals')
    .values(rowOf(approval))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return ok(done.numInsertedOrUpdatedRows === 1n);
}

export async function changeApproval(
  trx: Trx,
  { id, from, to, answer, expiry, nowMs }: ApprovalChange,
): Promise<StoredApproval | undefined> {
  const row = await trx
    .updateTable('assay_approvals')
    .set({
      state: to,
      ...(answer && answerColumns(answer)),
      ...(expiry && { expires_ms: expiry.expiresMs ?? null }),
    })
    .where('id', '=', id)
    .where('state', 'in', from)
    .where((build) => build.or([build('expires_ms', 'is', null), build('expires_ms', '>', nowMs)]))
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const changed = approvalOf(row);
  if (to !== 'pending' && to !== 'denied') await keepClosed(trx, changed);
  return changed;
}

/** Secrets may be in arguments, and they may be long, so all of them are kept only while a call can be approved. */
async function keepClosed(trx: Trx, { id, request }: StoredApproval): Promise<void> {
  if (request.complete === undefined) return;
  const request_json = JSON.stringify(closeRequest(request));
  await trx.updateTable('assay_approvals').set({ request_json }).where('id', '=', id).execute();
}

/** The same for calls that were not approved in time. */
async function keepExpired(trx: Trx, nowMs: number): Promise<void> {
  const rows = await trx
    .selectFrom('assay_approvals')
    .selectAll()
    .where('state', 'in', ['pending', 'denied'])
    .where('expires_ms', '<=', nowMs)
    .where('request_json', 'like', '{%"complete":%')
    .limit(MAX_REMOVED)
    .execute();
  for (const row of rows) await keepClosed(trx, approvalOf(row));
}

export async function findGrant(
  trx: Trx,
  binding: ApprovalBinding,
  nowMs: number,
): Promise<StoredApproval | undefined> {
  const rows = await ofTool(trx, binding)
    .where('state', '=', 'approved')
    .where((build) =>
      build.or([
        build('scope', '=', 'always'),
        build.and([build('scope', '=', 'session'), build('session', '=', binding.session)]),
        build.and([
          ...[build('scope', '=', 'server'), build('session', '=', binding.session)],
          build('server_key', '=', binding.serverKey),
        ]),
      ]),
    )
    .where((build) => build.or([build('expires_ms', 'is', null), build('expires_ms', '>', nowMs)]))
    .execute();
  return firstReadable(rows);
}

/** Another session, or a server that has changed, has no part in it. */
export async function findServerGrant(
  trx: Trx,
  { subject, session, serverKey }: ApprovalBinding,
  nowMs: number,
): Promise<StoredApproval | undefined> {
  if (serverKey === '') return undefined;
  const rows = await trx
    .selectFrom('assay_approvals')
    .selectAll()
    .where('subject_json', '=', JSON.stringify(subject))
    .where('session', '=', session)
    .where('server_key', '=', serverKey)
    .where('state', '=', 'approved')
    .where('scope', '=', 'server')
    .where('expires_ms', '>', nowMs)
    .execute();
  return firstReadable(rows);
}

function firstReadable(rows: readonly ApprovalRow[]): StoredApproval | undefined {
  return rows.map(approvalOf).find(({ state }) => state !== 'unreadable');
}

export async function countPending(trx: Trx, nowMs: number): Promise<PendingCount> {
  const { count, since } = await trx
    .selectFrom('assay_approvals')
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      sql<number | string | null>`min(created_ms)`.as('since'),
    ])
    .where('state', '=', 'pending')
    .where('expires_ms', '>', nowMs)
    .executeTakeFirstOrThrow();
  return { count: Number(count), sinceMs: since === null ? undefined : Number(since) };
}

/** Newest first. */
export async function readApprovals(
  trx: Trx,
  { ids, state, before, limit }: ApprovalQuery,
): Promise<readonly StoredApproval[]> {
  let rows = trx
    .selectFrom('assay_approvals')
    .selectAll()
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (ids !== undefined) rows = rows.where('id', 'in', ids);
  if (state !== undefined) rows = rows.where('state', '=', state);
  if (before !== undefined) {
    const { createdMs, id } = before;
    rows = rows.where((build) =>
      build.or([
        build('created_ms', '<', createdMs),
        build.and([build('created_ms', '=', createdMs), build('id', '<', id)]),
      ]),
    );
  }
  return (await rows.execute()).map(approvalOf);
}

function ofTool(trx: Trx, { subject, toolKey, digest }: ApprovalBinding) {
  return trx
    .selectFrom('assay_approvals')
    .selectAll()
    .where('tool_key', '=', toolKey)
    .where('digest', '=', digest)
    .where('subject_json', '=', JSON.stringify(subject));
}

/**
 * Removes approvals that ended long ago and, if there are too many, the oldest revoked or expired ones. Used and denied
 * ones are kept until they expire, so that a replay is detected. False if there is still no room.
 */
async function makeRoom(trx: Trx, { nowMs, keepMs, total }: ApprovalLimits): Promise<boolean> {
  await trx
    .deleteFrom('assay_approvals')
    .where('expires_ms', '<', nowMs - keepMs)
    .execute();
  await keepExpired(trx, nowMs);
  const count = await countAll(trx);
  if (count < total) return true;
  const oldest = trx
    .selectFrom('assay_approvals')
    .select('id')
    .where((build) => build.or([build('state', '=', 'revoked'), build('expires_ms', '<=', nowMs)]))
    .orderBy('created_ms')
    .limit(MAX_REMOVED);
  await trx.deleteFrom('assay_approvals').where('id', 'in', oldest).execute();
  return (await countAll(trx)) < total;
}

/** The limit that leaves no room for another approval of the subject. Undefined if there is room. */
async function reachedLimit(
  trx: Trx,
  { subject }: ApprovalBinding,
  limits: ApprovalLimits,
): Promise<number | undefined> {
  if (!(await makeRoom(trx, limits))) return limits.total;
  const { count } = await trx
    .selectFrom('assay_approvals')
    .select((build) => build.fn.countAll<number>().as('count'))
    .where('subject_json', '=', JSON.stringify(subject))
    .where('state', '!=', 'revoked')
    .where((build) => build.or([build('expires_ms', 'is', null), build('expires_ms', '>', limits.nowMs)]))
    .executeTakeFirstOrThrow();
  return count >= limits.perSubject ? limits.perSubject : undefined;
}

async function countAll(trx: Trx): Promise<number> {
  const { count } = await trx
    .selectFrom('assay_approvals')
    .select((build) => build.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

function rowOf({ binding, answer, ...approval }: NewApproval): ApprovalRow {
  return {
    id: approval.id,
    subject_json: JSON.stringify(binding.subject),
    session: binding.session,
    tool_key: binding.toolKey,
    digest: binding.digest,
    server_key: binding.serverKey,
    arguments_hash: binding.argumentsHash,
    state: approval.state,
    created_ms: approval.createdMs,
    expires_ms: approval.expiresMs ?? null,
    ...answerColumns(answer),
    request_json: JSON.stringify(approval.request),
  };
}

function answerColumns(
  answer: StoredApproval['answer'],
): Pick<ApprovalRow, 'scope' | 'answered_ms' | 'answered_by_json' | 'reason_json'> {
  return {
    scope: answer?.scope ?? null,
    answered_ms: answer?.atMs ?? null,
    answered_by_json: answer === undefined ? null : JSON.stringify(answer.by),
    reason_json: answer?.reason === undefined ? null : JSON.stringify(answer.reason),
  };
}

function approvalOf(row: ApprovalRow): StoredApproval {
  const cells = new RowCells(row);
  const request = cells.json('request_json');
  const approval = {
    id: cells.text('id'),
    binding: {
      subject: cells.jsonText('subject_json'),
      session: cells.text('session'),
      toolKey: cells.text('tool_key'),
      digest: cells.text('digest'),
      serverKey: cells.text('server_key'),
      argumentsHash: cells.text('arguments_hash'),
    },
    request: isApprovalRequest(request)
      ? request
      : cells.fail('request_json', 'is not a request', NO_REQUEST),
    state: cells.oneOf('state', STATES, 'revoked'),
    createdMs: cells.time('created_ms'),
    expiresMs: cells.optional('expires_ms', (column) => cells.time(column)),
    answer: readAnswer(row, cells),
  };
  if (cells.fault === undefined) return approval;
  // Such rows are the first in the order of `readApprovals`.
  const createdMs =
    typeof row.created_ms === 'number' && row.created_ms <= MAX_TIME_MS ? approval.createdMs : MAX_TIME_MS;
  return { ...approval, createdMs, state: 'unreadable' };
}

function readAnswer(row: ApprovalRow, cells: RowCells<ApprovalRow>): StoredApproval['answer'] {
  if (row.answered_ms === null || row.answered_by_json === null) return undefined;
  const reason = cells.optional('reason_json', (column) => cells.jsonText(column));
  return {
    scope: cells.optional('scope', (column) => cells.oneOf(column, APPROVAL_SCOPES, 'once')),
    by: cells.jsonText('answered_by_json'),
    atMs: cells.time('answered_ms'),
    ...(reason !== undefined && { reason }),
  };
}

const STATES: readonly StoredApprovalState[] = ['pending', 'approved', 'denied', 'used', 'revoked'];

const NO_REQUEST: ApprovalRequest = {
  ...{ tool: '', namespacedName: '', server: '', arguments: '', isShortened: true },
  ...{ reasons: [], warnings: [], hints: [], scopes: [] },
};
