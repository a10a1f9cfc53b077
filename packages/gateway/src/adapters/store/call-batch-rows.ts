import { CompiledQuery, sql } from 'kysely';
import {
  type BatchEntry,
  type BatchPage,
  type CallBatch,
  computeTimes,
  hashBatch,
  listEntries,
  MAX_BATCH,
  type StoredBatch,
  type StoredCall,
  toMinute,
} from '../../core/activity/call-chain.ts';
import { type CallContext, createContext } from '../../core/activity/call-context.ts';
import { addContextToDetails, OTHER_CONTEXT } from '../../core/activity/call-entry.ts';
import type { Retention } from '../../gateway/ports/call-log.ts';
import { asText, readFacts, readRows, toFactsRow, toStoredCall } from './call-rows.ts';
import { splitIntoBatches, type Trx } from './dialect.ts';
import type { CallMinuteRow, CallRow, CallStateRow, CallUseRow } from './tables.ts';

/** Maximum number of entries that one write removes; at least as many as a batch has, or a batch could stay forever. */
const MAX_PRUNED = 2 * MAX_BATCH;
/** Clients choose their names, so contexts are bounded; the details of further calls contain their own. */
export interface ContextBounds {
  readonly perSubject: number;
  readonly all: number;
}

export const CONTEXT_BOUNDS: ContextBounds = { perSubject: 2_000, all: 50_000 };

/** Appends a batch and removes old ones. Returns its hash. A batch that an earlier try appended is not repeated. */
export async function writeCalls(
  trx: Trx,
  batch: CallBatch,
  retention: Retention,
  bounds: ContextBounds = CONTEXT_BOUNDS,
): Promise<string> {
  const stored = await trx
    .selectFrom('assay_call_batches')
    .select('hash')
    .where('chain', '=', batch.chain)
    .where('number', '=', batch.number)
    .executeTakeFirst();
  if (stored !== undefined) return stored.hash;
  const entries = listEntries(batch);
  const state = await takeIds(trx, entries.length);
  const hash = entries.length === 0 ? batch.previous : await append(trx, { batch, entries, state, bounds });
  await prune(trx, state, retention);
  return hash;
}

interface Appending {
  readonly batch: CallBatch;
  readonly entries: readonly BatchEntry[];
  readonly state: CallStateRow;
  readonly bounds: ContextBounds;
}

async function append(trx: Trx, { batch, entries, state, bounds }: Appending): Promise<string> {
  const { chain, number, previous } = batch;
  const count = entries.length;
  const first = state.last_call - count + 1;
  const ids = await saveContexts(trx, batch.contexts, state, bounds);
  const kept = entries.map((entry): BatchEntry => (ids.has(entry.context.hash) ? entry : toOther(entry)));
  if (kept.some(({ context }) => context === OTHER))
    for (const [hash, id] of await saveContexts(trx, [OTHER], state)) ids.set(hash, id);
  const values: unknown[] = [];
  for (const [at, { context, atMs, tenths, session, details }] of kept.entries())
    values.push(first + at, ids.get(context.hash), atMs, tenths, session ?? null, details ?? null);
  await insert(trx, 'assay_calls', values);
  const others = kept.flatMap(({ context, atMs }, at) => {
    const entry = entries[at];
    if (context !== OTHER || entry === undefined) return [];
    return [{ id: first + at, at_ms: atMs, ...toFactsRow(entry.context.facts) }];
  });
  if (others.length > 0) await trx.insertInto('assay_other_calls').values(others).execute();
  const used = [...new Set(kept.map(({ context }) => context))];
  const uses = used.flatMap(({ hash }) => [ids.get(hash), state.last_batch]);
  await insert(trx, 'assay_call_uses', uses);
  await addCounts(trx, entries);
  const hash = hashBatch({ chain, number, previous, first, count }, kept);
  const { minMs, maxMs } = computeTimes(kept);
  await trx
    .insertInto('assay_call_batches')
    .values({
      ...{ id: state.last_batch, chain, number, first_call: first, count },
      ...{ min_ms: minMs, max_ms: maxMs, previous, hash },
    })
    .execute();
  return hash;
}

const OTHER: CallContext = createContext(OTHER_CONTEXT, {});

function toOther(entry: BatchEntry): BatchEntry {
  return { ...entry, context: OTHER, details: addContextToDetails(entry.details, entry.context.text) };
}

/** Ids of contexts that were found, while no batch was removed. */
interface KnownIds {
  readonly prunedCall: number;
  readonly ids: Map<string, number>;
}

const KNOWN_IDS = new WeakMap<object, KnownIds>();
const MAX_KNOWN_IDS = 10_000;

/** Whoever removes contexts changes `pruned_call`, whose row is locked now. */
function getKnownIds(trx: Trx, { pruned_call: prunedCall }: CallStateRow): Map<string, number> {
  const { adapter } = trx.getExecutor();
  const known = KNOWN_IDS.get(adapter);
  if (known?.prunedCall === prunedCall && known.ids.size < MAX_KNOWN_IDS) return known.ids;
  const ids = new Map<string, number>();
  KNOWN_IDS.set(adapter, { prunedCall, ids });
  return ids;
}

/** Ids by the contexts' hashes. Without `bounds`, all are saved; otherwise those beyond are absent. */
async function saveContexts(
  trx: Trx,
  contexts: readonly CallContext[],
  state: CallStateRow,
  bounds?: ContextBounds,
): Promise<Map<string, number>> {
  const known = getKnownIds(trx, state);
  const asked = contexts.map(({ hash }) => hash).filter((hash) => !known.has(hash));
  for (const hashes of splitIntoBatches(asked)) {
    const query = trx.selectFrom('assay_call_contexts').select(['id', 'hash']).where('hash', 'in', hashes);
    for (const { id, hash } of await query.execute()) known.set(hash, id);
  }
  const ids = new Map<string, number>();
  for (const { hash } of contexts) {
    const id = known.get(hash);
    if (id !== undefined) ids.set(hash, id);
  }
  const fresh = contexts.filter(({ hash }) => !ids.has(hash));
  if (fresh.length === 0) return ids;
  const added = bounds === undefined ? fresh : await selectWithin(trx, fresh, bounds);
  const { last } = await trx
    .selectFrom('assay_call_contexts')
    .select((build) => build.fn.max<number | null>('id').as('last'))
    .executeTakeFirstOrThrow();
  const rows = added.map(({ hash, text, facts }, at) => ({
    id: (last ?? 0) + 1 + at,
    hash,
    ...toFactsRow(facts),
    context_json: text,
  }));
  if (rows.length > 0) await trx.insertInto('assay_call_contexts').values(rows).execute();
  for (const { id, hash } of rows) ids.set(hash, id);
  return ids;
}

async function selectWithin(
  trx: Trx,
  fresh: readonly CallContext[],
  { perSubject, all }: ContextBounds,
): Promise<readonly CallContext[]> {
  const subjects = [...new Set(fresh.map(({ facts }) => toFactsRow(facts).subject_json))];
  const counted = await trx
    .selectFrom('assay_call_contexts')
    .select(['subject_json', (build) => build.fn.countAll<number | string>().as('count')])
    .where('subject_json', 'in', subjects)
    .groupBy('subject_json')
    .execute();
  const counts = new Map(counted.map(({ subject_json, count }) => [subject_json, Number(count)]));
  const { count } = await trx
    .selectFrom('assay_call_contexts')
    .select((build) => build.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  let left = all - Number(count);
  return fresh.filter(({ facts }) => {
    // The one context without a subject is that of gaps.
    if (facts.subject === undefined) return true;
    const { subject_json: subject } = toFactsRow(facts);
    const known = counts.get(subject) ?? 0;
    if (known >= perSubject || left <= 0) return false;
    counts.set(subject, known + 1);
    left -= 1;
    return true;
  });
}

async function addCounts(trx: Trx, entries: readonly BatchEntry[]): Promise<void> {
  const perContext = new Map<CallContext, Map<number, number>>();
  for (const { atMs, context } of entries) {
    const minutes = perContext.get(context) ?? new Map<number, number>();
    const minute = toMinute(atMs);
    if (minutes.size === 0) perContext.set(context, minutes);
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
  }
  const counts = new Map<string, CallMinuteRow>();
  for (const [{ facts }, minutes] of perContext)
    for (const [minute, count] of minutes) {
      const { decision = '', outcome } = facts;
      if (outcome === undefined) continue;
      const key = `${minute} ${decision} ${outcome}`;
      counts.set(key, { minute, decision, outcome, count: count + (counts.get(key)?.count ?? 0) });
    }
  if (counts.size === 0) return;
  await trx
    .insertInto('assay_call_minutes')
    .values([...counts.values()])
    .onConflict((conflict) =>
      conflict.columns(['minute', 'decision', 'outcome']).doUpdateSet((build) => ({
        count: build('assay_call_minutes.count', '+', build.ref('excluded.count')),
      })),
    )
    .execute();
}

/** Numbers of rows per statement: few, since compiling a statement takes longer than running it. */
const PORTIONS: readonly number[] = [512, 64, 8, 1];

/** Any row of the tables that get many at once, for the order of their columns. */
const ROWS: { readonly assay_calls: CallRow; readonly assay_call_uses: CallUseRow } = {
  assay_calls: { id: 0, context: 0, at_ms: 0, tenths: 0, session: '', details_json: '' },
  assay_call_uses: { context: 0, batch: 0 },
};

/** Statements by table and number of rows. */
const INSERTS = new WeakMap<object, Map<string, string>>();

/** Inserts rows whose values are in the order of `ROWS`. */
async function insert(trx: Trx, table: keyof typeof ROWS, values: readonly unknown[]): Promise<void> {
  const { adapter } = trx.getExecutor();
  const known = INSERTS.get(adapter) ?? new Map<string, string>();
  INSERTS.set(adapter, known);
  const width = Object.keys(ROWS[table]).length;
  let from = 0;
  for (const size of PORTIONS)
    for (; from + size * width <= values.length; from += size * width) {
      const key = `${table} ${size}`;
      const statement = known.get(key) ?? compileInsert(trx, table, size);
      known.set(key, statement);
      await trx.executeQuery(CompiledQuery.raw(statement, values.slice(from, from + size * width)));
    }
}

function compileInsert(trx: Trx, table: keyof typeof ROWS, size: number): string {
  return trx.insertInto(table).values(Array<(typeof ROWS)[typeof table]>(size).fill(ROWS[table])).compile()
    .sql;
}

/** The state row stays locked until the transaction ends, so ids are in the order of writes and have no gaps. */
function takeIds(trx: Trx, count: number): Promise<CallStateRow> {
  return trx
    .updateTable('assay_call_state')
    .set((build) => ({
      last_call: build('last_call', '+', count),
      last_batch: build('last_batch', '+', count === 0 ? 0 : 1),
    }))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Removes whole batches. */
async function prune(trx: Trx, state: CallStateRow, { maxCalls, sinceMs }: Retention): Promise<void> {
  const { last_call: last, pruned_call: pruned } = state;
  const oldest = await trx
    .selectFrom('assay_calls')
    .select('id')
    .where('id', '>', pruned)
    .where('id', '<=', pruned + MAX_PRUNED)
    .where('at_ms', '<', sinceMs)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const wanted = Math.min(Math.max(oldest?.id ?? 0, last - maxCalls), pruned + MAX_PRUNED);
  if (wanted <= pruned) return;
  const next = await trx
    .selectFrom('assay_call_batches')
    .select(['id', 'first_call', 'count'])
    .where('first_call', '<=', wanted)
    .orderBy('first_call', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (next === undefined) return;
  const isWhole = next.first_call + next.count - 1 <= wanted;
  const upTo = isWhole ? wanted : next.first_call - 1;
  if (upTo <= pruned) return;
  await subtractCounts(trx, upTo);
  await trx.deleteFrom('assay_calls').where('id', '<=', upTo).execute();
  await trx.deleteFrom('assay_other_calls').where('id', '<=', upTo).execute();
  await trx.deleteFrom('assay_call_batches').where('first_call', '<=', upTo).execute();
  await removeUses(trx, isWhole ? next.id + 1 : next.id);
  KNOWN_IDS.delete(trx.getExecutor().adapter);
  await trx.updateTable('assay_call_state').set({ pruned_call: upTo }).execute();
}

/** Removes the uses by batches before this one, and contexts without any. */
async function removeUses(trx: Trx, batch: number): Promise<void> {
  const removed = await trx
    .deleteFrom('assay_call_uses')
    .where('batch', '<', batch)
    .returning('context')
    .execute();
  const contexts = [...new Set(removed.map(({ context }) => context))];
  for (const some of splitIntoBatches(contexts))
    await trx
      .deleteFrom('assay_call_contexts')
      .where('id', 'in', some)
      .where('id', 'not in', (build) =>
        build.selectFrom('assay_call_uses').select('context').where('context', 'in', some),
      )
      .execute();
}

async function subtractCounts(trx: Trx, upTo: number): Promise<void> {
  const removed = await trx
    .selectFrom('assay_calls')
    .innerJoin('assay_call_contexts', 'assay_call_contexts.id', 'assay_calls.context')
    .leftJoin('assay_other_calls', 'assay_other_calls.id', 'assay_calls.id')
    .select([
      sql<number>`assay_calls.at_ms / 60000`.as('minute'),
      sql<string>`coalesce(assay_other_calls.decision, assay_call_contexts.decision, '')`.as('decision'),
      sql<string | null>`coalesce(assay_other_calls.outcome, assay_call_contexts.outcome)`.as('outcome'),
      (build) => build.fn.countAll<number | string>().as('count'),
    ])
    .where('assay_calls.id', '<=', upTo)
    .groupBy(sql`1, 2, 3`)
    .execute();
  for (const { minute, decision, outcome, count } of removed)
    if (outcome !== null)
      await trx
        .updateTable('assay_call_minutes')
        .set((build) => ({ count: build('count', '-', Number(count)) }))
        .where('minute', '=', minute)
        .where('decision', '=', decision)
        .where('outcome', '=', outcome)
        .execute();
  await trx.deleteFrom('assay_call_minutes').where('count', '<=', 0).execute();
}

/** Batches of a page that verifies or exports the record. */
const BATCHES = 64;

/** Whole batches after these ids, oldest first, with their entries; and entries between them that belong to none. */
export async function readBatches(
  trx: Trx,
  after: { readonly lastBatch: number; readonly lastId: number },
): Promise<BatchPage> {
  const state = await trx.selectFrom('assay_call_state').selectAll().executeTakeFirstOrThrow();
  const bounds = { prunedId: state.pruned_call, lastId: state.last_call, lastBatch: state.last_batch };
  const next = await trx
    .selectFrom('assay_call_batches')
    .selectAll()
    .where('id', '>', after.lastBatch)
    .orderBy('id')
    .limit(BATCHES)
    .execute();
  const batches: StoredBatch[] = [];
  let count = 0;
  for (const { first_call: first, min_ms: minMs, max_ms: maxMs, ...batch } of next) {
    if (batches.length > 0 && count + batch.count > MAX_BATCH) break;
    count += batch.count;
    batches.push({ ...batch, chain: asText(batch.chain), hash: asText(batch.hash), first, minMs, maxMs });
  }
  const last = batches.at(-1);
  const end = last === undefined ? undefined : last.first + last.count - 1;
  const from = sql`assay_calls.id > ${Math.max(after.lastId, bounds.prunedId)}`;
  const condition = end === undefined ? from : sql`${from} and assay_calls.id <= ${end}`;
  const calls = (await readRows(trx, { condition, limit: 2 * MAX_BATCH })).map(toStoredCall);
  const otherFacts = await readOtherFacts(trx, calls);
  const page = { ...bounds, batches, calls, otherFacts, uses: await readUses(trx, batches) };
  if (last !== undefined) return page;
  const minutes = await trx.selectFrom('assay_call_minutes').selectAll().execute();
  return {
    ...page,
    minutes: minutes.map(({ decision, ...row }) => ({
      ...row,
      decision: decision === '' ? undefined : decision,
    })),
  };
}

async function readUses(trx: Trx, batches: readonly StoredBatch[]): Promise<BatchPage['uses']> {
  const [first, last] = [batches.at(0)?.id, batches.at(-1)?.id];
  if (first === undefined || last === undefined) return new Map();
  const query = trx.selectFrom('assay_call_uses').selectAll();
  const rows = await query.where('batch', '>=', first).where('batch', '<=', last).execute();
  const uses = Map.groupBy(rows, ({ batch }) => batch);
  return new Map([...uses].map(([batch, some]) => [batch, some.map(({ context }) => context)]));
}

async function readOtherFacts(trx: Trx, calls: readonly StoredCall[]): Promise<BatchPage['otherFacts']> {
  const [first, last] = [calls.at(0)?.id, calls.at(-1)?.id];
  if (first === undefined || last === undefined) return new Map();
  const rows = await trx
    .selectFrom('assay_other_calls')
    .selectAll()
    .where('id', '>=', first)
    .where('id', '<=', last)
    .execute();
  return new Map(rows.map((row) => [row.id, { facts: readFacts(row), atMs: row.at_ms }]));
}
