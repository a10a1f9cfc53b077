import type {
  CredentialKey,
  Leased,
  LeaseRequest,
  ResealedCredential,
  StoredCredential,
} from '../../gateway/ports/store.ts';
import type { Trx } from './dialect.ts';
import { RowCells } from './row-cells.ts';
import type { CredentialRow } from './tables.ts';

/** Most recently saved first. */
export async function readCredentials(trx: Trx): Promise<readonly StoredCredential[]> {
  const rows = await trx
    .selectFrom('assay_credentials')
    .selectAll()
    .orderBy('saved_ms', 'desc')
    .orderBy('server')
    .orderBy('issuer')
    .orderBy('subject')
    .execute();
  return rows.flatMap(credentialOf);
}

/** Returns whether it was written. With a revision, it replaces only that revision. */
export async function writeCredential(
  trx: Trx,
  credential: Omit<StoredCredential, 'revision'>,
  revision: number | undefined,
): Promise<boolean> {
  const found = await rowOf(trx, credential);
  if (revision !== undefined && found?.revision !== revision) return false;
  const { server, identity, issuer, subject, keyId, sealed, expiresMs, savedMs } = credential;
  const row: CredentialRow = {
    ...{ server, identity, issuer, subject },
    key_id: keyId,
    // Bytes from another thread arrive as a Uint8Array, which SQLite does not accept.
    sealed: Buffer.from(sealed),
    expires_ms: expiresMs ?? null,
    saved_ms: savedMs,
    // A credential that was removed and added again also gets a new revision.
    revision: (found?.revision ?? savedMs) + 1,
    lease_holder: null,
    lease_until_ms: null,
  };
  await deleteCredential(trx, credential);
  await trx.insertInto('assay_credentials').values(row).execute();
  return true;
}

/** Whether it was written. Whoever has a lease is about to write newer content, with the encryption that it knows. */
export async function resealCredential(
  trx: Trx,
  { keyId, sealed, revision, ...key }: ResealedCredential,
  nowMs: number,
): Promise<boolean> {
  const done = await trx
    .updateTable('assay_credentials')
    .set({ key_id: keyId, sealed: Buffer.from(sealed) })
    .where('server', '=', key.server)
    .where('identity', '=', key.identity)
    .where('issuer', '=', key.issuer)
    .where('subject', '=', key.subject)
    .where('revision', '=', revision)
    .where((or) => or.or([or('lease_until_ms', 'is', null), or('lease_until_ms', '<=', nowMs)]))
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

/** An expired lease goes to the next process that asks: its holder may have died. */
export async function takeLease(
  trx: Trx,
  {
    key,
    request,
    nowMs,
  }: { readonly key: CredentialKey; readonly request: LeaseRequest; readonly nowMs: number },
): Promise<Leased> {
  const found = await rowOf(trx, key);
  if (found?.revision !== request.revision) return { kind: 'changed' };
  const { lease_holder: holder, lease_until_ms: untilMs } = found;
  const isFree = holder === null || untilMs === null || untilMs <= nowMs || holder === request.holder;
  if (!isFree) return { kind: 'held' };
  const isGivenBack = request.forMs <= 0;
  await trx
    .updateTable('assay_credentials')
    .set({
      lease_holder: isGivenBack ? null : request.holder,
      lease_until_ms: isGivenBack ? null : nowMs + request.forMs,
    })
    .where('server', '=', key.server)
    .where('identity', '=', key.identity)
    .where('issuer', '=', key.issuer)
    .where('subject', '=', key.subject)
    .execute();
  return { kind: 'leased' };
}

/** Whether one was deleted. */
export async function deleteCredential(trx: Trx, key: CredentialKey): Promise<boolean> {
  const done = await trx
    .deleteFrom('assay_credentials')
    .where('server', '=', key.server)
    .where('identity', '=', key.identity)
    .where('issuer', '=', key.issuer)
    .where('subject', '=', key.subject)
    .executeTakeFirst();
  return done.numDeletedRows > 0n;
}

function rowOf(trx: Trx, key: CredentialKey): Promise<CredentialRow | undefined> {
  return trx
    .selectFrom('assay_credentials')
    .selectAll()
    .where('server', '=', key.server)
    .where('identity', '=', key.identity)
    .where('issuer', '=', key.issuer)
    .where('subject', '=', key.subject)
    .executeTakeFirst();
}

/** Credentials that cannot be read are ignored: the operator signs in again. */
function credentialOf(row: CredentialRow): readonly StoredCredential[] {
  const cells = new RowCells(row);
  const credential: StoredCredential = {
    server: cells.text('server'),
    identity: cells.text('identity'),
    issuer: cells.text('issuer'),
    subject: cells.text('subject'),
    keyId: cells.text('key_id'),
    sealed: cells.bytes('sealed'),
    expiresMs: cells.optional('expires_ms', (column) => cells.time(column)),
    savedMs: cells.time('saved_ms'),
    revision: cells.count('revision'),
  };
  return cells.fault === undefined ? [credential] : [];
}
