import type { EntryRecordKind } from '../../../core/record.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { RecordChange, StoredRecord } from '../../ports/records.ts';
import type { Resealing } from '../../ports/resealing.ts';
import type { Store, StoredCredential } from '../../ports/store.ts';

export const SEALED_KINDS = [
  'gateway',
  'rest_tool',
  'function_module',
  'secret',
  'sign_in',
  'challenge',
] as const;

export type SealedKind = (typeof SEALED_KINDS)[number];

interface RowKey {
  readonly kind: SealedKind;
  /** For people: the name, or the server with the subject. */
  readonly id: string;
  readonly keyId: string;
}

/** An encrypted row of the store. */
export type SealedRow = RowKey & ({ readonly record: StoredRecord } | { readonly stored: StoredCredential });

/** A row, and what replaces it. */
export type ResealedRow = RowKey &
  (
    | { readonly record: StoredRecord; readonly change: RecordChange }
    | { readonly stored: StoredCredential; readonly sealed: Pick<StoredCredential, 'keyId' | 'sealed'> }
  );

/** Every row of the store that is encrypted with an encryption key. Only reads. */
export async function listSealedRows(
  store: Pick<Store, 'records' | 'credentials'>,
  resealing: Pick<Resealing, 'kindOf'>,
): Promise<Result<readonly SealedRow[], Refusal>> {
  const records = await store.records(0);
  if (!records.ok) return records;
  const credentials = await store.credentials();
  if (!credentials.ok) return credentials;
  return ok([
    ...records.value.records.flatMap((record) => toSealedRow(record) ?? []),
    ...credentials.value.map((stored) => ({
      kind: resealing.kindOf(stored),
      id: `${stored.server} as ${stored.subject}`,
      keyId: stored.keyId,
      stored,
    })),
  ]);
}

function toSealedRow(record: StoredRecord): SealedRow | undefined {
  const { kind, id, body } = record;
  if (body === undefined) return undefined;
  switch (kind) {
    case 'secret':
      return { kind, id, keyId: body.keyId, record };
    case 'gateway':
    case 'rest_tool':
    case 'function_module':
      return { kind, id: body.name, keyId: body.keyId, record };
    default:
      return undefined;
  }
}

/** Encrypts a row with the newest key, without storing it. Undefined if no key decrypts it. */
export function resealRow(row: SealedRow, resealing: Resealing): ResealedRow | undefined {
  if ('record' in row) return resealRecord(row, row.record, resealing);
  const sealed = resealing.credential(row.stored);
  return sealed && { ...row, sealed };
}

function resealRecord(
  row: RowKey,
  record: StoredRecord,
  resealing: Pick<Resealing, 'secret' | 'entry'>,
): ResealedRow | undefined {
  const { kind, id } = record;
  if (kind === 'secret' && record.body !== undefined) {
    const sealed = resealing.secret(id, record.body);
    return sealed && { ...row, record, change: { kind, id, body: { ...record.body, ...sealed } } };
  }
  if (!isEntry(record) || record.body === undefined) return undefined;
  const sealed = resealing.entry(record.kind, record.body.name, record.body);
  const change = { kind: record.kind, id, body: { ...record.body, ...sealed } };
  return sealed && { ...row, record, change };
}

function isEntry(record: StoredRecord): record is StoredRecord<EntryRecordKind> {
  return record.kind === 'gateway' || record.kind === 'rest_tool' || record.kind === 'function_module';
}
