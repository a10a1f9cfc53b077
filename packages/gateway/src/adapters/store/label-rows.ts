import { ok, type Result } from '@assay-mcp/kit/result';
import { SESSION_LABELS } from '../../core/policy/policy.ts';
import {
  type LabelChanges,
  MAX_LABELS,
  type StoredLabel,
  type StoredLabels,
} from '../../gateway/ports/labels.ts';
import { splitIntoBatches, type Trx } from './dialect.ts';
import { MAX_TIME_MS, RowCells } from './row-cells.ts';
import type { LabelRow } from './tables.ts';

/** Oldest first. */
export async function readLabels(trx: Trx, subject: string | undefined): Promise<StoredLabels> {
  let rows = trx.selectFrom('assay_labels').selectAll();
  if (subject !== undefined) rows = rows.where('subject_json', '=', JSON.stringify(subject));
  const found = await rows.orderBy('since_ms').orderBy('subject_json').orderBy('label').execute();
  const count = subject === undefined ? found.length : await countLabels(trx);
  return { labels: found.flatMap(labelOf), isFull: count >= MAX_LABELS };
}

export async function writeLabels(
  trx: Trx,
  { added, seen, expiredMs }: LabelChanges,
): Promise<Result<undefined, never>> {
  for (const [subject, { lastMs, aliveMs }] of seen)
    await trx
      .updateTable('assay_labels')
      .set({ seen_ms: lastMs })
      .where('subject_json', '=', JSON.stringify(subject))
      .where('seen_ms', '<', lastMs)
      .where('seen_ms', '>=', aliveMs)
      .execute();
  await trx.deleteFrom('assay_labels').where('seen_ms', '<', expiredMs).execute();
  const room = MAX_LABELS - (added.length === 0 ? 0 : await countLabels(trx));
  for (const some of splitIntoBatches(added.slice(0, Math.max(room, 0))))
    await trx
      .insertInto('assay_labels')
      .values(some.map(rowOf))
      .onConflict((conflict) => conflict.columns(['subject_json', 'label']).doNothing())
      .execute();
  return ok(undefined);
}

/** Returns whether the subject had labels. */
export async function deleteLabels(trx: Trx, subject: string): Promise<boolean> {
  const done = await trx
    .deleteFrom('assay_labels')
    .where('subject_json', '=', JSON.stringify(subject))
    .executeTakeFirst();
  return done.numDeletedRows > 0n;
}

async function countLabels(trx: Trx): Promise<number> {
  const row = await trx
    .selectFrom('assay_labels')
    .select((build) => build.fn.countAll().as('count'))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

function rowOf({ subject, label, source, sinceMs, seenMs }: StoredLabel): LabelRow {
  return {
    subject_json: JSON.stringify(subject),
    label,
    source_json: JSON.stringify(source),
    since_ms: sinceMs,
    seen_ms: seenMs,
  };
}

/**
 * Ignores labels written by a newer Assay, and those of a subject that cannot be read. One whose times cannot be read
 * counts until it is cleared.
 */
function labelOf(row: LabelRow): readonly StoredLabel[] {
  const label = SESSION_LABELS.find((known) => known === row.label);
  if (label === undefined) return [];
  const cells = new RowCells(row);
  const subject = cells.jsonText('subject_json');
  if (cells.fault !== undefined) return [];
  const others = new RowCells(row);
  const read = {
    ...{ subject, label, source: others.jsonText('source_json') },
    sinceMs: others.time('since_ms'),
    seenMs: others.time('seen_ms'),
  };
  return [others.fault === undefined ? read : { ...read, seenMs: MAX_TIME_MS }];
}
