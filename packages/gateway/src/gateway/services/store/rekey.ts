import type { AuditEvent } from '../../../core/audit-event.ts';
import { CLIENT_VALUE_LIFETIME_MS } from '../../../core/client-values.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { KeyInfo, Resealing } from '../../ports/resealing.ts';
import type { Store } from '../../ports/store.ts';
import {
  listSealedRows,
  type ResealedRow,
  resealRow,
  SEALED_KINDS,
  type SealedKind,
  type SealedRow,
} from './sealed-rows.ts';

export interface RekeyCount {
  readonly kind: SealedKind;
  /** Rows that had the newest key already. */
  readonly current: number;
  /** Rows that were re-encrypted. */
  readonly changed: number;
  /** Rows that no key decrypts. */
  readonly unreadable: number;
  /** Rows that other processes kept writing with another key. */
  readonly remaining: number;
}

/** A row that is still encrypted with another key. */
export type UnfinishedRow = Pick<SealedRow, 'kind' | 'id' | 'keyId'>;

export interface RekeyReport {
  readonly key: KeyInfo;
  readonly counts: readonly RekeyCount[];
  readonly unreadable: readonly UnfinishedRow[];
  readonly remaining: readonly UnfinishedRow[];
  /** Older keys with which nothing in the store is encrypted. */
  readonly unusedKeys: readonly KeyInfo[];
  /** Older keys with which something is. */
  readonly usedKeys: readonly KeyInfo[];
  /** When the last value that a client may hold has expired, if all processes use the newest key now. */
  readonly clientValuesExpireMs: number;
}

export interface RekeyOptions {
  readonly store: Store;
  readonly resealing: Resealing;
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
  /** Called after each transaction. */
  readonly onProgress: (done: number, total: number) => void;
}

/** Records in one transaction. */
const BATCH = 20;
/** Time in ms for which rows are tried again that others write or have leased: longer than a lease. */
const RETRY_MS = 45_000;
const RETRY_INTERVAL_MS = 250;
const MAX_PASSES = 500;

/**
 * Encrypts every row of the store with the newest key, while other processes use the store. Each transaction replaces
 * only rows that nobody changed meanwhile; whatever ends it, running it again continues. KEY_UNUSABLE
 */
export async function rekeyStore(options: RekeyOptions): Promise<Result<RekeyReport, Refusal>> {
  const { store, resealing, nowMs } = options;
  const keys = await resealing.keys();
  if (!keys.ok) return keys;
  const [newest, ...older] = keys.value;
  const run: Run = { ...options, newest, changed: new Map() };
  let rows = await readRows(run);
  const total = rows.ok ? rows.value.pending.length : 0;
  const endMs = nowMs() + RETRY_MS;
  for (let pass = 0; rows.ok && rows.value.pending.length > 0 && pass < MAX_PASSES; pass += 1) {
    const before = sum(run.changed);
    const failed = await resealAll(run, rows.value.pending, total);
    if (failed !== undefined) return err(failed);
    const isStuck = sum(run.changed) === before;
    if (isStuck && nowMs() >= endMs) break;
    if (isStuck) await options.pause(RETRY_INTERVAL_MS);
    rows = await readRows(run);
  }
  if (!rows.ok) return rows;
  const { unreadable, pending, current } = rows.value;
  if (unreadable.length + pending.length === 0) {
    const adopted = await resealing.adopt(store);
    if (!adopted.ok) return adopted;
  }
  const used = new Set([...unreadable, ...pending].map(({ keyId }) => keyId));
  return ok({
    key: newest,
    counts: SEALED_KINDS.map((kind) => {
      const changed = run.changed.get(kind) ?? 0;
      const count = (all: readonly { readonly kind: SealedKind }[]): number =>
        all.filter((one) => one.kind === kind).length;
      return {
        kind,
        current: Math.max(0, count(current) - changed),
        changed,
        unreadable: count(unreadable),
        remaining: count(pending),
      };
    }),
    unreadable: unreadable.map(toLeft),
    remaining: pending.map(toLeft),
    unusedKeys: older.filter(({ id }) => !used.has(id)),
    usedKeys: older.filter(({ id }) => used.has(id)),
    clientValuesExpireMs: nowMs() + CLIENT_VALUE_LIFETIME_MS,
  });
}

interface Run extends RekeyOptions {
  readonly newest: KeyInfo;
  /** Number of rows that were re-encrypted. */
  readonly changed: Map<SealedKind, number>;
}

interface Rows {
  readonly current: readonly UnfinishedRow[];
  readonly pending: readonly ResealedRow[];
  readonly unreadable: readonly UnfinishedRow[];
}

async function readRows({ store, resealing, newest }: Run): Promise<Result<Rows, Refusal>> {
  const rows = await listSealedRows(store, resealing);
  if (!rows.ok) return rows;
  const current: UnfinishedRow[] = [];
  const pending: ResealedRow[] = [];
  const unreadable: UnfinishedRow[] = [];
  for (const row of rows.value) {
    const resealed = row.keyId === newest.id ? undefined : resealRow(row, resealing);
    if (resealed !== undefined) pending.push(resealed);
    else (row.keyId === newest.id ? current : unreadable).push(row);
  }
  return ok({ current, pending, unreadable });
}

/** A row that somebody changed meanwhile is left for the next pass. */
async function resealAll(
  run: Run,
  pending: readonly ResealedRow[],
  total: number,
): Promise<Refusal | undefined> {
  const { store, onProgress, changed } = run;
  const count = ({ kind }: ResealedRow): void => void changed.set(kind, (changed.get(kind) ?? 0) + 1);
  const records = pending.flatMap((one) => ('record' in one ? [one] : []));
  for (let at = 0; at < records.length; at += BATCH) {
    const refused = await commitRecords(run, records.slice(at, at + BATCH), count);
    if (refused !== undefined) return refused;
    onProgress(sum(changed), total);
  }
  for (const one of pending) {
    if (!('stored' in one)) continue;
    const { server, identity, issuer, subject, revision } = one.stored;
    const resealed = { server, identity, issuer, subject, revision, ...one.sealed };
    const done = await store.resealCredential(resealed);
    if (!done.ok) return done.error;
    if (done.value) count(one);
    onProgress(sum(changed), total);
  }
  return undefined;
}

type PendingRecord = Extract<ResealedRow, { readonly record: unknown }>;

/** After a write conflict each record is tried alone. */
async function commitRecords(
  run: Run,
  batch: readonly PendingRecord[],
  count: (one: ResealedRow) => void,
): Promise<Refusal | undefined> {
  const committed = await run.store.commit({
    changes: batch.map(({ change }) => change),
    expectedRevisions: batch.map(({ record: { kind, id, revision } }) => ({ kind, id, revision })),
    audit: [toEvent(run, batch)],
  });
  if (!committed.ok) return committed.error;
  if (committed.value !== undefined) batch.forEach(count);
  else if (batch.length > 1)
    for (const one of batch) {
      const refused = await commitRecords(run, [one], count);
      if (refused !== undefined) return refused;
    }
  return undefined;
}

function toEvent({ newest, nowMs }: Run, batch: readonly PendingRecord[]): AuditEvent {
  const target = { kind: 'store', id: newest.id, name: 'encryption key' } as const;
  const rows = batch.map(({ kind, id }) => ({ kind, id }));
  return { atMs: nowMs(), subject: 'local', action: 'store.rekey', target, after: { rows } };
}

function toLeft({ kind, id, keyId }: UnfinishedRow): UnfinishedRow {
  return { kind, id, keyId };
}

function sum(counts: ReadonlyMap<SealedKind, number>): number {
  return [...counts.values()].reduce((total, one) => total + one, 0);
}
