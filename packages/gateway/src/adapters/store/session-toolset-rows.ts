import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  SESSION_TOOLSET_LIMITS,
  type SessionToolset,
  type SessionToolsetChange,
  type SessionToolsetUse,
} from '../../gateway/ports/session-toolsets.ts';
import { splitIntoBatches, type Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import type { SessionToolsetRow } from './tables.ts';

export async function readSessionToolsets(
  trx: Trx,
  clients: readonly string[],
  nowMs: number,
): Promise<readonly SessionToolset[]> {
  const found: SessionToolset[] = [];
  for (const portion of splitIntoBatches(clients)) {
    const rows = await trx
      .selectFrom('assay_session_toolsets')
      .selectAll()
      .where('client', 'in', portion)
      .where('expires_ms', '>', nowMs)
      .execute();
    found.push(...rows.map(sessionOf));
  }
  return found;
}

/** Returns the number of sessions that had equipped a removed toolset, apart from the one that removes it. */
export async function changeSessionToolsets(
  trx: Trx,
  change: SessionToolsetChange,
): Promise<Result<number, Refusal>> {
  switch (change.kind) {
    case 'equip':
      await writeSession(trx, change.session, change.nowMs);
      return ok(0);
    case 'rename':
      await trx
        .updateTable('assay_session_toolsets')
        .set({ toolset: change.to })
        .where('toolset', '=', change.from)
        .execute();
      return ok(0);
    case 'remove': {
      const { toolset, by, nowMs } = change;
      const sessions = await countOthers(trx, { toolset, by, nowMs });
      if (by !== undefined && sessions > 0) return err({ code: 'TOOLSET_EQUIPPED', toolset, sessions });
      await trx
        .updateTable('assay_session_toolsets')
        .set((build) => ({ toolset: null, equippings: build('equippings', '+', 1) }))
        .where('toolset', '=', toolset)
        .execute();
      return ok(sessions);
    }
  }
}

export async function useSessionToolsets(
  trx: Trx,
  { used, ended, nowMs }: SessionToolsetUse,
): Promise<Result<undefined, never>> {
  for (const [client, expiresMs] of used)
    await trx
      .updateTable('assay_session_toolsets')
      .set({ expires_ms: expiresMs })
      .where('client', '=', client)
      .where('expires_ms', '<', expiresMs)
      .execute();
  for (const portion of splitIntoBatches(ended))
    await trx.deleteFrom('assay_session_toolsets').where('client', 'in', portion).execute();
  await removeExpired(trx, nowMs);
  return ok(undefined);
}

async function writeSession(trx: Trx, session: SessionToolset, nowMs: number): Promise<void> {
  await removeExpired(trx, nowMs);
  await trx
    .insertInto('assay_session_toolsets')
    .values(rowOf(session))
    .onConflict((conflict) =>
      conflict.column('client').doUpdateSet((build) => ({
        toolset: build.ref('excluded.toolset'),
        equippings: build('assay_session_toolsets.equippings', '+', 1),
        expires_ms: build.ref('excluded.expires_ms'),
      })),
    )
    .execute();
  const { total, perSubject } = SESSION_TOOLSET_LIMITS;
  await removeBeyond(trx, perSubject, session);
  await removeBeyond(trx, total, { client: session.client });
}

async function removeExpired(trx: Trx, nowMs: number): Promise<void> {
  await trx.deleteFrom('assay_session_toolsets').where('expires_ms', '<=', nowMs).execute();
}

/** Removes all rows but `keep`, of one subject or of all; those unused for longest first, and never that of `client`. */
async function removeBeyond(
  trx: Trx,
  keep: number,
  { client, subject }: Partial<SessionToolset>,
): Promise<void> {
  let rows = trx.selectFrom('assay_session_toolsets').select('client');
  if (subject !== undefined) rows = rows.where('subject_json', '=', JSON.stringify(subject));
  const excess = await rows
    .where('client', '!=', client ?? '')
    .orderBy('expires_ms', 'desc')
    .orderBy('client')
    // SQLite has no OFFSET without LIMIT.
    .limit(SESSION_TOOLSET_LIMITS.total + 1)
    .offset(keep - 1)
    .execute();
  for (const portion of splitIntoBatches(excess.map((row) => row.client)))
    await trx.deleteFrom('assay_session_toolsets').where('client', 'in', portion).execute();
}

interface Others {
  readonly toolset: string;
  readonly by: string | undefined;
  readonly nowMs: number;
}

async function countOthers(trx: Trx, { toolset, by, nowMs }: Others): Promise<number> {
  const row = await trx
    .selectFrom('assay_session_toolsets')
    .select((build) => build.fn.countAll().as('count'))
    .where('toolset', '=', toolset)
    .where('client', '!=', by ?? '')
    .where('expires_ms', '>', nowMs)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

function rowOf({ client, subject, toolset, equippings, expiresMs }: SessionToolset): SessionToolsetRow {
  return {
    client,
    subject_json: JSON.stringify(subject),
    toolset: toolset ?? null,
    equippings,
    expires_ms: expiresMs,
  };
}

/** If the name of the toolset cannot be read, the session sees none. */
function sessionOf(row: SessionToolsetRow): SessionToolset {
  const cells = new RowCells(row);
  const toolset = cells.optional('toolset', (column) => cells.text(column));
  return {
    client: row.client,
    toolset: cells.fault === undefined ? toolset : undefined,
    subject: cells.jsonText('subject_json'),
    equippings: cells.count('equippings'),
    expiresMs: cells.time('expires_ms'),
  };
}
