import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { SCOPES } from '../../core/subject.ts';
import type { AddSession, SessionSelection, StoredSession } from '../../gateway/ports/store.ts';
import type { Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import type { SessionRow } from './tables.ts';

export async function readSessions(trx: Trx): Promise<readonly StoredSession[]> {
  const rows = await trx
    .selectFrom('assay_sessions')
    .selectAll()
    .orderBy('created_ms')
    .orderBy('id')
    .execute();
  return rows.flatMap(sessionOf);
}

/** False if the link is gone, used or expired. */
export async function writeSession(
  trx: Trx,
  { session, link, nowMs, idleSinceMs, keep }: AddSession,
): Promise<boolean> {
  if (link !== undefined && !(await useLink(trx, link, nowMs))) return false;
  await trx
    .deleteFrom('assay_sessions')
    .where((build) =>
      build.or([
        build('expires_ms', '<=', nowMs),
        build.and([build('kind', '=', 'session'), build('used_ms', '<=', idleSinceMs)]),
      ]),
    )
    .execute();
  await trx.insertInto('assay_sessions').values(rowOf(session)).execute();
  const others = await trx
    .selectFrom('assay_sessions')
    .select('id')
    .where('kind', '=', session.kind)
    .where('credential', '=', session.credential)
    .where('id', '!=', session.id)
    .orderBy('created_ms', 'desc')
    .orderBy('id')
    .execute();
  const excess = others.slice(keep - 1).map(({ id }) => id);
  if (excess.length > 0) await trx.deleteFrom('assay_sessions').where('id', 'in', excess).execute();
  return true;
}

async function useLink(trx: Trx, id: string, nowMs: number): Promise<boolean> {
  const done = await trx
    .deleteFrom('assay_sessions')
    .where('id', '=', id)
    .where('kind', '=', 'link')
    .where('expires_ms', '>', nowMs)
    .executeTakeFirst();
  return done.numDeletedRows === 1n;
}

export async function markUsed(trx: Trx, id: string, usedMs: number): Promise<Result<undefined, Refusal>> {
  await trx
    .updateTable('assay_sessions')
    .set({ used_ms: usedMs })
    .where('id', '=', id)
    .where('used_ms', '<', usedMs)
    .execute();
  return ok(undefined);
}

/** The sessions of a credential include its unused links. */
export async function deleteSessions(trx: Trx, which: SessionSelection): Promise<Result<undefined, Refusal>> {
  const rows = trx.deleteFrom('assay_sessions');
  const selected =
    'id' in which
      ? rows.where('kind', '=', 'session').where('id', '=', which.id)
      : rows.where('credential', '=', which.credential);
  await selected.execute();
  return ok(undefined);
}

function rowOf(session: StoredSession): SessionRow {
  return {
    id: session.id,
    kind: session.kind,
    hash: session.hash,
    subject_json: JSON.stringify(session.subject),
    scopes_json: JSON.stringify(session.scopes),
    credential: session.credential,
    created_ms: session.createdMs,
    used_ms: session.usedMs,
    expires_ms: session.expiresMs,
  };
}

/** A session that cannot be read is over: the browser signs in again. */
function sessionOf(row: SessionRow): readonly StoredSession[] {
  const cells = new RowCells(row);
  const session: StoredSession = {
    id: cells.text('id'),
    kind: cells.oneOf('kind', KINDS, 'link'),
    hash: cells.text('hash'),
    subject: cells.jsonText('subject_json'),
    scopes: cells.jsonWords('scopes_json', SCOPES),
    credential: cells.text('credential'),
    createdMs: cells.time('created_ms'),
    usedMs: cells.time('used_ms'),
    expiresMs: cells.time('expires_ms'),
  };
  return cells.fault === undefined ? [session] : [];
}

const KINDS: readonly StoredSession['kind'][] = ['link', 'session'];
