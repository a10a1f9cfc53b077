import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import {
  ANSWER_LIMITS,
  type ChangedSession,
  LEGACY_SESSION_LIMITS,
  type LegacySessionNews,
  type SessionChange,
  type SessionState,
  type StoredAnswer,
  type StoredLegacySession,
} from '../../gateway/ports/legacy-sessions.ts';
import { splitIntoBatches, type Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import type { LegacySessionRow } from './tables.ts';

/** Maximum number of changed rows that are read at once. */
const MAX_NEWS = 1_000;

export async function readLegacySession(
  trx: Trx,
  id: string,
  nowMs: number,
): Promise<StoredLegacySession | undefined> {
  const row = await trx
    .selectFrom('assay_legacy_sessions')
    .selectAll()
    .where('id', '=', id)
    .where('expires_ms', '>', nowMs)
    .executeTakeFirst();
  return row && sessionOf(row);
}

export async function readLegacySessionsSince(
  trx: Trx,
  since: number | undefined,
): Promise<LegacySessionNews> {
  const state = await trx.selectFrom('assay_legacy_session_state').selectAll().executeTakeFirst();
  const newest = state?.last_revision ?? 0;
  if (since === undefined || since >= newest) return { rows: [], revision: newest, isWhole: true };
  const rows = await trx
    .selectFrom('assay_legacy_sessions')
    .selectAll()
    .where('revision', '>', since)
    .orderBy('revision')
    .limit(MAX_NEWS)
    .execute();
  const isWhole = rows.length < MAX_NEWS;
  const revision = isWhole ? newest : (rows.at(-1)?.revision ?? newest);
  return { rows: rows.map(sessionOf), revision, isWhole };
}

export async function changeLegacySession(
  trx: Trx,
  session: ChangedSession,
  change: SessionChange,
): Promise<Result<StoredLegacySession, Refusal>> {
  const { id, subject, nowMs, expiresMs } = session;
  const before = await readLegacySession(trx, id, nowMs);
  if (before?.isEnded === true && change.kind !== 'end') return err({ code: 'SESSION_UNKNOWN' });
  const isEnded = change.kind === 'end';
  const state = isEnded ? {} : applyChange(before?.state ?? {}, change);
  const text = JSON.stringify(state);
  if (change.kind === 'subscribe' && !(await hasRoomFor(trx, session, text)))
    return err({ code: 'SESSION_STATE_LIMIT', limitBytes: LEGACY_SESSION_LIMITS.stateBytes });
  const revision = await countRevision(trx);
  const row: LegacySessionRow = {
    ...{ id, revision, subject_json: JSON.stringify(subject), is_ended: isEnded ? 1 : 0 },
    ...{ used_ms: nowMs, expires_ms: expiresMs, state_json: text, size_bytes: Buffer.byteLength(text) },
  };
  await writeRow(trx, row);
  await removeRows(trx, [session]);
  return ok({ id, subject, revision, isEnded, usedMs: nowMs, state });
}

export async function useLegacySessions(
  trx: Trx,
  used: readonly ChangedSession[],
): Promise<Result<undefined, never>> {
  for (const { id, subject, nowMs, expiresMs } of used) {
    // It changes nothing that other replicas follow, so it is no new revision.
    const row = { id, subject_json: JSON.stringify(subject), used_ms: nowMs, expires_ms: expiresMs };
    await trx
      .insertInto('assay_legacy_sessions')
      .values({ ...row, revision: 0, is_ended: 0, state_json: '{}', size_bytes: 2 })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet({ used_ms: nowMs, expires_ms: expiresMs })
          .where('assay_legacy_sessions.used_ms', '<', nowMs)
          .where('assay_legacy_sessions.is_ended', '=', 0),
      )
      .execute();
  }
  if (used.length > 0) await removeRows(trx, used);
  return ok(undefined);
}

/** Returns whether there was room. `nowMs`: by the clock of the store. */
export async function writeSessionAnswer(
  trx: Trx,
  { id, replica, subject, sealed }: StoredAnswer,
  nowMs: number,
): Promise<boolean> {
  await trx.deleteFrom('assay_session_answers').where('expires_ms', '<=', nowMs).execute();
  const subject_json = JSON.stringify(subject);
  const rows = await trx.selectFrom('assay_session_answers').select('subject_json').execute();
  const own = rows.filter((row) => row.subject_json === subject_json).length;
  if (rows.length >= ANSWER_LIMITS.total || own >= ANSWER_LIMITS.perSubject) return false;
  // Bytes from another thread arrive as a Uint8Array, which SQLite does not accept.
  const expires_ms = nowMs + ANSWER_LIMITS.keptMs;
  const row = { id, replica, subject_json, sealed: Buffer.from(sealed), expires_ms };
  await trx
    .insertInto('assay_session_answers')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return true;
}

export async function takeSessionAnswers(
  trx: Trx,
  replica: string,
  nowMs: number,
): Promise<readonly StoredAnswer[]> {
  const rows = await trx
    .deleteFrom('assay_session_answers')
    // Those that a replica has not read in time are removed by any other.
    .where((build) => build.or([build('replica', '=', replica), build('expires_ms', '<=', nowMs)]))
    .returningAll()
    .execute();
  return rows.flatMap((row) => {
    const cells = new RowCells(row);
    const answer = {
      ...{ id: cells.text('id'), replica, subject: cells.jsonText('subject_json') },
      sealed: cells.bytes('sealed'),
    };
    const isOurs = row.replica === replica && cells.time('expires_ms') > nowMs;
    return cells.fault === undefined && isOurs ? [answer] : [];
  });
}

function applyChange(
  state: SessionState,
  change: Exclude<SessionChange, { readonly kind: 'end' }>,
): SessionState {
  switch (change.kind) {
    case 'log_level':
      return { ...state, logLevel: change.level };
    case 'mode': {
      const { mode: _, ...rest } = state;
      return change.mode === undefined ? rest : { ...rest, mode: change.mode };
    }
    case 'subscribe':
      return { ...state, subscriptions: [...new Set([...(state.subscriptions ?? []), change.uri])] };
    case 'unsubscribe':
      return {
        ...state,
        subscriptions: (state.subscriptions ?? []).filter((uri) => uri !== change.uri),
      };
    case 'start_process': {
      const { server, replica } = change;
      const processes = state.processes ?? {};
      const owner = Object.hasOwn(processes, server) ? processes[server] : undefined;
      const isFree = owner === undefined || owner === '' || owner === replica;
      return { ...state, processes: { ...processes, [server]: isFree ? replica : '' } };
    }
  }
}

async function hasRoomFor(trx: Trx, { id, subject }: ChangedSession, text: string): Promise<boolean> {
  const { stateBytes, bytesPerSubject } = LEGACY_SESSION_LIMITS;
  const bytes = Buffer.byteLength(text);
  if (bytes > stateBytes) return false;
  const row = await trx
    .selectFrom('assay_legacy_sessions')
    .select((build) => build.fn.sum('size_bytes').as('bytes'))
    .where('subject_json', '=', JSON.stringify(subject))
    .where('id', '!=', id)
    .executeTakeFirst();
  return Number(row?.bytes ?? 0) + bytes <= bytesPerSubject;
}

/** The revision of the next change. It does not depend on rows, which are removed. */
async function countRevision(trx: Trx): Promise<number> {
  const counted = await trx
    .updateTable('assay_legacy_session_state')
    .set((build) => ({ last_revision: build('last_revision', '+', 1) }))
    .returning('last_revision')
    .executeTakeFirst();
  return counted?.last_revision ?? 1;
}

async function writeRow(trx: Trx, row: LegacySessionRow): Promise<void> {
  const { id: _, subject_json: _subject, ...changed } = row;
  await trx
    .insertInto('assay_legacy_sessions')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(changed))
    .execute();
}

/** Removes expired rows, and those beyond the limits, but never those of the sessions. */
async function removeRows(trx: Trx, sessions: readonly ChangedSession[]): Promise<void> {
  const nowMs = Math.max(...sessions.map((session) => session.nowMs));
  const ids = sessions.map(({ id }) => id);
  await trx
    .deleteFrom('assay_legacy_sessions')
    .where('expires_ms', '<=', nowMs)
    .where('id', 'not in', ids)
    .execute();
  const { total, perSubject } = LEGACY_SESSION_LIMITS;
  for (const subject of new Set(sessions.map((session) => session.subject)))
    await removeBeyond(trx, perSubject, { ids, subject });
  await removeBeyond(trx, total, { ids, subject: undefined });
}

/** Counting and ordering read an index only. */
async function removeBeyond(
  trx: Trx,
  keep: number,
  { ids, subject }: { readonly ids: readonly string[]; readonly subject: string | undefined },
): Promise<void> {
  let rows = trx.selectFrom('assay_legacy_sessions');
  if (subject !== undefined) rows = rows.where('subject_json', '=', JSON.stringify(subject));
  const counted = await rows.select((build) => build.fn.countAll().as('count')).executeTakeFirst();
  const excess = Number(counted?.count ?? 0) - keep;
  if (excess <= 0) return;
  const oldest = await rows
    .select('id')
    .where('id', 'not in', ids)
    .orderBy('expires_ms')
    .limit(excess)
    .execute();
  for (const portion of splitIntoBatches(oldest.map((row) => row.id)))
    await trx.deleteFrom('assay_legacy_sessions').where('id', 'in', portion).execute();
}

/** A row that cannot be read is that of a session that has ended. */
function sessionOf(row: LegacySessionRow): StoredLegacySession {
  const cells = new RowCells(row);
  const read = {
    ...{ subject: cells.jsonText('subject_json'), revision: cells.count('revision') },
    ...{ usedMs: cells.time('used_ms'), isEnded: cells.count('is_ended') !== 0 },
  };
  const state = toState(parseJson(row.state_json));
  if (cells.fault !== undefined || state === undefined)
    return { id: row.id, subject: '', revision: row.revision, isEnded: true, usedMs: 0, state: {} };
  return { id: row.id, ...read, state };
}

function toState(value: unknown): SessionState | undefined {
  if (!isJsonObject(value)) return undefined;
  const { logLevel, mode, subscriptions, processes } = value;
  const isText = (one: unknown): one is string => typeof one === 'string';
  return {
    ...(isText(logLevel) && { logLevel }),
    ...(isText(mode) && { mode }),
    ...(Array.isArray(subscriptions) && { subscriptions: subscriptions.filter(isText) }),
    ...(isJsonObject(processes) && {
      processes: Object.fromEntries(Object.entries(processes).filter(([, one]) => isText(one))) as Record<
        string,
        string
      >, // just checked
    }),
  };
}
