import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { SCOPES } from '../../core/subject.ts';
import type { StoredToken } from '../../gateway/ports/store.ts';
import type { Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import { deleteResultsOfToken } from './stored-result-rows.ts';
import type { TokenRow } from './tables.ts';

export async function writeToken(trx: Trx, token: StoredToken): Promise<Result<undefined, Refusal>> {
  const done = await trx
    .insertInto('assay_tokens')
    .values(rowOf(token))
    .onConflict((conflict) => conflict.column('name').where('revoked_ms', 'is', null).doNothing())
    .executeTakeFirst();
  return done.numInsertedOrUpdatedRows === 1n
    ? ok(undefined)
    : err({ code: 'TOKEN_EXISTS', name: token.name });
}

/** Oldest first. */
export async function readTokens(trx: Trx): Promise<readonly StoredToken[]> {
  const rows = await trx.selectFrom('assay_tokens').selectAll().orderBy('created_ms').orderBy('id').execute();
  return rows.map(tokenOf);
}

/** An id wins over a name, so that a token's name cannot shield another token from revocation. */
export async function markRevoked(
  trx: Trx,
  idOrName: string,
  revokedMs: number,
): Promise<Result<StoredToken, Refusal>> {
  const rows = await trx
    .selectFrom('assay_tokens')
    .selectAll()
    .where('revoked_ms', 'is', null)
    .where((build) => build.or([build('id', '=', idOrName), build('name', '=', idOrName)]))
    .execute();
  const row = rows.find(({ id }) => id === idOrName) ?? rows[0];
  if (row === undefined) return err({ code: 'TOKEN_UNKNOWN', name: idOrName });
  await trx.updateTable('assay_tokens').set({ revoked_ms: revokedMs }).where('id', '=', row.id).execute();
  await deleteResultsOfToken(trx, row.id);
  return ok(tokenOf({ ...row, revoked_ms: revokedMs }));
}

function rowOf(token: StoredToken): TokenRow {
  return {
    id: token.id,
    name: token.name,
    scopes_json: JSON.stringify(token.scopes),
    hash: token.hash,
    created_ms: token.createdMs,
    expires_ms: token.expiresMs ?? null,
    revoked_ms: token.revokedMs ?? null,
  };
}

/** A token that cannot be read is listed, so that it can be revoked, but never valid. */
function tokenOf(row: TokenRow): StoredToken {
  const cells = new RowCells(row);
  const token: StoredToken = {
    id: cells.text('id'),
    name: cells.text('name'),
    scopes: cells.jsonWords('scopes_json', SCOPES),
    hash: cells.text('hash'),
    createdMs: cells.time('created_ms'),
    expiresMs: cells.optional('expires_ms', (column) => cells.time(column)),
    revokedMs: cells.optional('revoked_ms', (column) => cells.time(column)),
  };
  return cells.fault === undefined ? token : { ...token, scopes: [], isUnreadable: true };
}
