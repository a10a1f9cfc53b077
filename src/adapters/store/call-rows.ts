import { CompiledQuery, sql } from 'kysely';
import {
  chainEntries,
  type EntryBatch,
  type NewEntry,
  type StoredEntry,
} from '../../core/activity/call-chain.ts';
import type { CallFacts } from '../../core/activity/call-entry.ts';
import type { CallCount, CallPage, CallQuery, CallSpan, Retention } from '../../gateway/ports/call-log.ts';
import type { Trx } from './dialect.ts';
import type { CallRow, CallStateRow } from './tables.ts';

/** Maximum number of entries that one write removes. */
const MAX_PRUNED = 2_000;

/** Appends entries and removes old ones. Returns the hash of the last one. */
export async function writeCalls(trx: Trx, batch: EntryBatch, retention: Retention): Promise<string> {
  const entries = chainEntries(batch);
  const fresh = await withoutStored(trx, entries);
  const state = await takeIds(trx, fresh.length);
  const first = state.last_call - fresh.length + 1;
  const rows = fresh.map((entry, at) => rowOf(entry, first + at));
  for (const [from, to] of portionsOf(rows.length)) await insert(trx, rows.slice(from, to));
  await prune(trx, state, retention);
  return entries.at(-1)?.hash ?? batch.previous;
}

/** Numbers of rows per statement: few, since compiling a statement takes longer than running it. */
const PORTIONS: readonly number[] = [512, 64, 8, 1];

function* portionsOf(count: number): Generator<readonly [from: number, to: number]> {
  let from = 0;
  for (const size of PORTIONS) for (; from + size <= count; from += size) yield [from, from + size];
}

/** Statements by their number of rows. */
const INSERTS = new WeakMap<object, Map<number, string>>();

async function insert(trx: Trx, rows: readonly CallRow[]): Promise<void> {
  const { adapter } = trx.getExecutor();
  const known = INSERTS.get(adapter) ?? new Map<number, string>();
  INSERTS.set(adapter, known);
  const statement = known.get(rows.length);
  if (statement !== undefined) {
    await trx.executeQuery(CompiledQuery.raw(statement, rows.flatMap(valuesOf)));
    return;
  }
  const query = trx.insertInto('assay_calls').values(rows).compile();
  known.set(rows.length, query.sql);
  await trx.executeQuery(query);
}

/** In the order of the statement's columns, which is that of `rowOf`. */
function valuesOf(row: CallRow): readonly unknown[] {
  return Object.values(row);
}

/** Newest first, or oldest first if `after` is given. */
export async function readCalls(trx: Trx, query: CallQuery): Promise<CallPage> {
  const { before, after, limit, subject, server, tool, decision, outcome, sinceMs, untilMs } = query;
  let rows = trx
    .selectFrom('assay_calls')
    .selectAll()
    .orderBy('id', after === undefined ? 'desc' : 'asc')
    .limit(limit);
  if (before !== undefined) rows = rows.where('id', '<', before);
  if (after !== undefined) rows = rows.where('id', '>', after);
  if (subject !== undefined) rows = rows.where('subject_json', '=', JSON.stringify(subject));
  if (server !== undefined) rows = rows.where('server_json', '=', JSON.stringify(server));
  if (tool !== undefined) rows = rows.where('tool_json', '=', JSON.stringify(tool));
  if (decision !== undefined) rows = rows.where('decision', '=', decision);
  if (outcome !== undefined) rows = rows.where('outcome', '=', outcome);
  if (sinceMs !== undefined) rows = rows.where('at_ms', '>=', sinceMs);
  if (untilMs !== undefined) rows = rows.where('at_ms', '<', untilMs);
  const found = await rows.execute();
  const state = await trx.selectFrom('assay_call_state').selectAll().executeTakeFirstOrThrow();
  return { entries: found.map(entryOf), prunedId: state.pruned_call, lastId: state.last_call };
}

export async function countCalls(trx: Trx, span: CallSpan): Promise<readonly CallCount[]> {
  const { sinceMs, slotMs, slotCount } = span;
  const slot = sql<number>`cast((at_ms - ${sinceMs}) / ${slotMs} as integer)`;
  const rows = await trx
    .selectFrom('assay_calls')
    .select([
      'decision',
      'outcome',
      slot.as('slot'),
      (build) => build.fn.countAll<number | string>().as('count'),
    ])
    .where('at_ms', '>=', sinceMs)
    .where('at_ms', '<', sinceMs + slotMs * slotCount)
    .groupBy(['slot', 'decision', 'outcome'])
    .execute();
  return rows.map(({ decision, outcome, ...row }) => ({
    slot: row.slot,
    decision: decision ?? undefined,
    outcome: outcome ?? undefined,
    count: Number(row.count),
  }));
}

/** A write whose response was lost is retried, but may have succeeded. Entries of a chain are written in order. */
async function withoutStored(trx: Trx, entries: readonly NewEntry[]): Promise<readonly NewEntry[]> {
  const [first] = entries;
  if (first === undefined) return entries;
  const { last } = await trx
    .selectFrom('assay_calls')
    .select((build) => build.fn.max<number | null>('seq').as('last'))
    .where('chain', '=', first.chain)
    .executeTakeFirstOrThrow();
  return last === null ? entries : entries.filter(({ seq }) => seq > last);
}

/** The state row stays locked until the transaction ends, so ids are in the order of writes and have no gaps. */
function takeIds(trx: Trx, count: number): Promise<CallStateRow> {
  return trx
    .updateTable('assay_call_state')
    .set((build) => ({ last_call: build('last_call', '+', count) }))
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function prune(trx: Trx, state: CallStateRow, { maxCalls, sinceMs }: Retention): Promise<void> {
  const { last_call: last, pruned_call: pruned } = state;
  const oldest = await trx
    .selectFrom('assay_calls')
    .select(['id', 'at_ms'])
    .where('id', '>', pruned)
    .where('id', '<=', pruned + MAX_PRUNED)
    .where('at_ms', '<', sinceMs)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const upTo = Math.min(Math.max(oldest?.id ?? 0, last - maxCalls), pruned + MAX_PRUNED);
  if (upTo <= pruned) return;
  await trx.deleteFrom('assay_calls').where('id', '<=', upTo).execute();
  await trx.updateTable('assay_call_state').set({ pruned_call: upTo }).execute();
}

function rowOf(entry: NewEntry, id: number): CallRow {
  const { chain, seq, previous, hash, text, atMs, facts } = entry;
  return {
    id,
    chain,
    seq,
    previous,
    hash,
    at_ms: atMs,
    subject_json: jsonOf(facts.subject),
    server_json: jsonOf(facts.server),
    tool_json: jsonOf(facts.tool),
    decision: facts.decision ?? null,
    outcome: facts.outcome ?? null,
    entry_json: text,
  };
}

function jsonOf(text: string | undefined): string | null {
  return text === undefined ? null : JSON.stringify(text);
}

/** Reads what `rowOf` wrote, even if someone has tampered with it. */
function entryOf(row: CallRow): StoredEntry {
  return {
    id: row.id,
    chain: asText(row.chain),
    seq: row.seq,
    previous: asText(row.previous),
    hash: asText(row.hash),
    text: asText(row.entry_json),
    atMs: row.at_ms,
    facts: factsIn(row),
  };
}

function factsIn(row: CallRow): CallFacts | undefined {
  try {
    return {
      subject: textOf(row.subject_json),
      server: textOf(row.server_json),
      tool: textOf(row.tool_json),
      decision: row.decision ?? undefined,
      outcome: row.outcome ?? undefined,
    };
  } catch {
    return undefined;
  }
}

/** Throws if the column does not hold JSON. */
function textOf(json: string | null): string | undefined {
  return json === null ? undefined : (JSON.parse(asText(json)) as string);
}

/** SQLite lets a column hold a value of another type. */
function asText(value: unknown): string {
  return String(value);
}
