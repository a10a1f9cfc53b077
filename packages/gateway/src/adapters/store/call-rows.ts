import { sql, type RawBuilder } from 'kysely';
import type { StoredCall } from '../../core/activity/call-chain.ts';
import type { CallFacts } from '../../core/activity/call-entry.ts';
import type { CallCount, CallPage, CallQuery, CallSpan, ListedCall } from '../../gateway/ports/call-log.ts';
import type { Trx } from './dialect.ts';
import type { CallBatchRow, CallContextRow, CallRow, OtherCallRow } from './tables.ts';

type FactsRow = Pick<OtherCallRow, 'subject_json' | 'server_json' | 'tool_json' | 'decision' | 'outcome'>;

/** Newest first, or oldest first if `after` is given. */
export async function readCalls(trx: Trx, query: CallQuery): Promise<CallPage> {
  const state = await trx.selectFrom('assay_call_state').selectAll().executeTakeFirstOrThrow();
  const ids = query.id === undefined ? await findIds(trx, query) : [query.id];
  const bounds = { prunedId: state.pruned_call, lastId: state.last_call };
  if (ids.length === 0) return { calls: [], ...bounds };
  const rows = await readRows(trx, {
    condition: sql`assay_calls.id in (${sql.join(ids)})`,
    limit: ids.length,
  });
  const calls = new Map(rows.map((row) => [row.id, toListedCall(row)]));
  return { calls: ids.flatMap((id) => calls.get(id) ?? []), ...bounds };
}

/** Calls of more contexts than these are searched in all batches. */
const MAX_CONTEXTS = 1_000;
/** Batches that are searched before others are selected by their contexts. */
const NEXT_BATCHES = 4;
/** SQLite allows 500 parts of a statement. */
const PARTS_AT_A_TIME = 100;

/**
 * Ids in the order of the page. A filter selects contexts; calls of few contexts are searched only in the batches that
 * have any, so that a filter which matches few of many calls is as quick as one that matches all.
 */
async function findIds(trx: Trx, query: CallQuery): Promise<readonly number[]> {
  const page = await readPage(trx, query);
  const conditions = Object.entries(toFactsRow(query)).flatMap(([column, value]) =>
    value === null ? [] : [sql`${sql.ref(column)} = ${value}`],
  );
  if (conditions.length === 0) return readIds(trx, page, sql`1 = 1`);
  const matching = sql.join(conditions, sql` and `);
  const { rows } = await sql<{ readonly id: number }>`
    select id from assay_call_contexts where ${matching} limit ${MAX_CONTEXTS + 1}`.execute(trx);
  // Undefined: so many contexts that any batch may have calls with them.
  const contexts = rows.length > MAX_CONTEXTS ? undefined : rows.map(({ id }) => id);
  const ids = await readMatchingIds(trx, page, { matching, contexts });
  const others = await readIds(trx, { ...page, table: 'assay_other_calls' }, matching);
  const all = [...ids, ...others].sort((one, other) => (page.isDescending ? other - one : one - other));
  return all.slice(0, query.limit);
}

interface Page {
  readonly table: 'assay_calls' | 'assay_other_calls';
  readonly isDescending: boolean;
  readonly limit: number;
  /** Conditions on the calls. */
  readonly within: RawBuilder<unknown>;
  /** Range of batches that may have such calls, inclusive. */
  readonly batches: readonly [first: number, last: number];
}

async function readIds(
  trx: Trx,
  { table, within, isDescending, limit }: Page,
  condition: RawBuilder<unknown>,
): Promise<readonly number[]> {
  const { rows } = await sql<{ readonly id: number }>`
    select id from ${sql.table(table)} where ${condition} and ${within}
    order by id ${isDescending ? sql`desc` : sql`asc`} limit ${limit}`.execute(trx);
  return rows.map(({ id }) => id);
}

async function readMatchingIds(
  trx: Trx,
  page: Page,
  { matching, contexts }: { matching: RawBuilder<unknown>; contexts: readonly number[] | undefined },
): Promise<readonly number[]> {
  const { isDescending, limit } = page;
  let [first, last] = page.batches;
  const condition =
    contexts === undefined
      ? sql`exists (select 1 from assay_call_contexts as own where own.id = context and ${matching})`
      : sql`context in (select id from assay_call_contexts where ${matching})`;
  if (contexts?.length === 0) return [];
  const ids: number[] = [];
  // Most filters find a page of calls in the next few batches.
  let batches = await readBatchIds(trx, { ...page, limit: NEXT_BATCHES });
  while (ids.length < limit) {
    const end = batches.at(-1);
    if (end === undefined) break;
    for (let [from, size] = [0, 2]; from < batches.length && ids.length < limit;) {
      const some = batches.slice(from, from + size);
      ids.push(...(await readIdsIn(trx, { ...page, limit: limit - ids.length }, some, condition)));
      [from, size] = [from + size, Math.min(4 * size, PARTS_AT_A_TIME)];
    }
    if (isDescending) last = end - 1;
    else first = end + 1;
    const rest = { ...page, batches: [first, last] } as const;
    if (ids.length < limit)
      batches = await (contexts === undefined
        ? readBatchIds(trx, rest)
        : readUsingBatches(trx, rest, contexts));
  }
  return ids;
}

/** Batch by batch, so that no database reads more calls than those. */
async function readIdsIn(
  trx: Trx,
  { isDescending, within, limit }: Page,
  batches: readonly number[],
  condition: RawBuilder<unknown>,
): Promise<readonly number[]> {
  const order = isDescending ? sql`order by id desc` : sql`order by id`;
  const ranges = await trx
    .selectFrom('assay_call_batches')
    .select(['first_call', 'count'])
    .where('id', 'in', batches)
    .execute();
  if (ranges.length === 0) return [];
  const parts = ranges.map(
    ({ first_call: first, count }) => sql`select id from (
      select id from assay_calls where id >= ${first} and id < ${first + count}
      and ${condition} and ${within} ${order} limit ${limit}) as part`,
  );
  const { rows } = await sql<{ readonly id: number }>`
    ${sql.join(parts, sql` union all `)} ${order} limit ${limit}`.execute(trx);
  return rows.map(({ id }) => id);
}

/** The first batches of the page. */
async function readBatchIds(
  trx: Trx,
  { batches: [first, last], isDescending, limit }: Page,
): Promise<readonly number[]> {
  const rows = await trx
    .selectFrom('assay_call_batches')
    .select('id')
    .where('id', '>=', first)
    .where('id', '<=', last)
    .orderBy('id', isDescending ? 'desc' : 'asc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** The first batches of the page that have calls with one of these contexts. Each has one at least. */
async function readUsingBatches(
  trx: Trx,
  { batches: [first, last], isDescending, limit }: Page,
  contexts: readonly number[],
): Promise<readonly number[]> {
  const order = isDescending ? sql`order by batch desc` : sql`order by batch`;
  const found = new Set<number>();
  for (let from = 0; from < contexts.length; from += PARTS_AT_A_TIME) {
    const parts = contexts.slice(from, from + PARTS_AT_A_TIME).map(
      (context) => sql`select batch from (
        select batch from assay_call_uses
        where context = ${context} and batch >= ${first} and batch <= ${last} ${order} limit ${limit}) as part`,
    );
    const { rows } = await sql<{ readonly batch: number }>`
      ${sql.join(parts, sql` union `)} ${order} limit ${limit}`.execute(trx);
    for (const { batch } of rows) found.add(batch);
  }
  const sorted = [...found].sort((one, other) => (isDescending ? other - one : one - other));
  return sorted.slice(0, limit);
}

async function readPage(trx: Trx, query: CallQuery): Promise<Page> {
  const { before, after, limit, sinceMs, untilMs } = query;
  const within = [sql`1 = 1`];
  let [first, last] = [0, Number.MAX_SAFE_INTEGER];
  if (before !== undefined) {
    within.push(sql`id < ${before}`);
    last = (await findBatch(trx, before - 1)) ?? 0;
  }
  if (after !== undefined) {
    within.push(sql`id > ${after}`);
    first = (await findBatch(trx, after + 1)) ?? 0;
  }
  if (sinceMs !== undefined || untilMs !== undefined) {
    const [since, until] = [sinceMs ?? 0, untilMs ?? Number.MAX_SAFE_INTEGER];
    // Ids are in the order of writes, so a span of time is a range of batches, and some calls beside it.
    const range = await trx
      .selectFrom('assay_call_batches')
      .select(({ fn }) => [
        fn.min<number | null>('id').as('first'),
        fn.max<number | null>('id').as('last'),
        fn.min<number | null>('first_call').as('firstCall'),
        sql<number | null>`max(first_call + count)`.as('endCall'),
      ])
      .where('max_ms', '>=', since)
      .where('min_ms', '<', until)
      .executeTakeFirstOrThrow();
    first = Math.max(first, range.first ?? 0);
    last = Math.min(last, range.last ?? 0);
    within.push(sql`id >= ${range.firstCall ?? 0}`, sql`id < ${range.endCall ?? 0}`);
    within.push(sql`at_ms >= ${since}`, sql`at_ms < ${until}`);
  }
  return {
    table: 'assay_calls',
    isDescending: after === undefined,
    limit,
    within: sql.join(within, sql` and `),
    batches: [first, last],
  };
}

/** The batch that has this call, or the last one before it. */
async function findBatch(trx: Trx, call: number): Promise<number | undefined> {
  const query = trx.selectFrom('assay_call_batches').select('id').where('first_call', '<=', call);
  return (await query.orderBy('first_call', 'desc').limit(1).executeTakeFirst())?.id;
}

/** Calls with their contexts and batches, oldest first. */
export async function readRows(
  trx: Trx,
  { condition, limit }: { readonly condition: RawBuilder<unknown>; readonly limit: number },
): Promise<readonly JoinedRow[]> {
  const { rows } = await sql<JoinedRow>`
    select assay_calls.id, at_ms, tenths, session, details_json,
      own.id as context_id, own.hash as context_hash, context_json,
      subject_json, server_json, tool_json, decision, outcome,
      chain, number, assay_call_batches.hash as batch_hash
    from assay_calls
    left join assay_call_contexts as own on own.id = assay_calls.context
    left join assay_call_batches
      on first_call = (select max(first_call) from assay_call_batches where first_call <= assay_calls.id)
    where ${condition} order by assay_calls.id limit ${limit}`.execute(trx);
  return rows;
}

interface JoinedRow
  extends
    Omit<CallRow, 'context'>,
    FactsRow,
    Nullable<Pick<CallContextRow, 'context_json'>>,
    Nullable<Pick<CallBatchRow, 'chain' | 'number'>> {
  readonly context_id: number | null;
  readonly context_hash: string | null;
  readonly batch_hash: string | null;
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

function toListedCall(row: JoinedRow): ListedCall {
  const { chain, number, batch_hash: hash } = row;
  return {
    ...toStoredCall(row),
    batch: { chain: asText(chain ?? ''), number: number ?? 0, hash: asText(hash ?? '') },
  };
}

/** SQLite lets a column hold a value of another type. */
export function asText(value: unknown): string {
  return String(value);
}

/** Also of a row that somebody has tampered with. */
export function toStoredCall(row: JoinedRow): StoredCall {
  const { context_id: context, context_json: text, context_hash: hash } = row;
  return {
    id: row.id,
    atMs: row.at_ms,
    tenths: row.tenths,
    session: row.session === null ? undefined : asText(row.session),
    details: row.details_json === null ? undefined : asText(row.details_json),
    context:
      context === null
        ? undefined
        : {
            id: context,
            hash: asText(hash),
            text: asText(text),
            facts: readFacts(row),
          },
  };
}

export function toFactsRow({ subject, server, tool, decision, outcome }: CallFacts): FactsRow {
  return {
    subject_json: toJson(subject),
    server_json: toJson(server),
    tool_json: toJson(tool),
    decision: decision ?? null,
    outcome: outcome ?? null,
  };
}

function toJson(text: string | undefined): string | null {
  return text === undefined ? null : JSON.stringify(text);
}

/** Undefined if a column cannot be read. */
export function readFacts(row: FactsRow): CallFacts | undefined {
  try {
    return {
      subject: readText(row.subject_json),
      server: readText(row.server_json),
      tool: readText(row.tool_json),
      decision: (row.decision ?? undefined) as CallFacts['decision'],
      outcome: row.outcome ?? undefined,
    };
  } catch {
    return undefined;
  }
}

/** Throws if the column does not hold JSON. */
function readText(json: string | null): string | undefined {
  return json === null ? undefined : (JSON.parse(asText(json)) as string);
}

/** The span's slots are whole minutes. */
export async function countCalls(trx: Trx, span: CallSpan): Promise<readonly CallCount[]> {
  const { sinceMinute, slotMinutes, slotCount } = span;
  // SQLite takes bound numbers for reals, whose quotient has a fraction.
  const slot = sql<number>`cast((minute - ${sinceMinute}) / ${slotMinutes} as integer)`;
  const rows = await trx
    .selectFrom('assay_call_minutes')
    .select([
      'decision',
      'outcome',
      slot.as('slot'),
      (build) => build.fn.sum<number | string>('count').as('count'),
    ])
    .where('minute', '>=', sinceMinute)
    .where('minute', '<', sinceMinute + slotMinutes * slotCount)
    .groupBy(sql`1, 2, 3`)
    .execute();
  return rows.map(({ decision, outcome, ...row }) => ({
    slot: row.slot,
    decision: decision === '' ? undefined : decision,
    outcome,
    count: Number(row.count),
  }));
}
