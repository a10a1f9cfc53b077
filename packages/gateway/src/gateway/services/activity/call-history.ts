import type { Call } from '../../../api/call.ts';
import { ChainCheck, type ChainReport } from '../../../core/activity/call-chain.ts';
import { readCallEntry } from '../../../core/activity/call-entry.ts';
import { formatBatchLine, formatCallLine } from '../../../core/activity/call-export.ts';
import { formatPolicyReason } from '../../../core/policy/reason-text.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { CallQuery, CallStore, ListedCall } from '../../ports/call-log.ts';

type Reader = Pick<CallStore, 'calls'>;

export interface RecentCalls {
  readonly calls: readonly Call[];
  /** Id of the last one, if there are more. */
  readonly next: number | undefined;
}

/** A page of calls, newest first. */
export async function listRecentCalls(
  store: Reader,
  query: Omit<CallQuery, 'after'>,
): Promise<Result<RecentCalls, Refusal>> {
  const found = await store.calls({ ...query, limit: query.limit + 1 });
  if (!found.ok) return found;
  const calls = found.value.calls.slice(0, query.limit);
  const hasMore = found.value.calls.length > query.limit;
  return ok({ calls: calls.map(toCall), next: hasMore ? calls.at(-1)?.id : undefined });
}

/** CALL_UNKNOWN if no call has this id, or it was removed. */
export async function findCall(store: Reader, id: number): Promise<Result<Call, Refusal>> {
  const found = await store.calls({ id, limit: 1 });
  if (!found.ok) return found;
  const [call] = found.value.calls;
  return call === undefined ? err({ code: 'CALL_UNKNOWN', id }) : ok(toCall(call));
}

const PAGE = 500;

/** All calls that match the query, oldest first, as JSON lines. Pages are read on demand. */
export async function* streamCalls(
  store: CallStore,
  query: Omit<CallQuery, 'before' | 'after' | 'limit'>,
): AsyncGenerator<Result<string, Refusal>> {
  if (Object.values(query).every((value) => value === undefined)) {
    yield* streamBatches(store);
    return;
  }
  let after = 0;
  for (;;) {
    const found = await store.calls({ ...query, after, limit: PAGE });
    if (!found.ok) {
      yield found;
      return;
    }
    const { calls } = found.value;
    if (calls.length > 0) yield ok(calls.map(formatCallLine).join(''));
    if (calls.length < PAGE) return;
    after = calls.at(-1)?.id ?? after;
  }
}

/** Each batch as a line of its own, followed by its calls. */
async function* streamBatches(store: CallStore): AsyncGenerator<Result<string, Refusal>> {
  let after = { lastBatch: 0, lastId: 0 };
  for (;;) {
    const found = await store.callBatches(after);
    if (!found.ok) {
      yield found;
      return;
    }
    const { batches, calls } = found.value;
    const last = batches.at(-1);
    if (last === undefined) return;
    const lines = batches.map((batch) => {
      const own = calls.filter(({ id }) => id >= batch.first && id < batch.first + batch.count);
      return formatBatchLine(batch) + own.map(formatCallLine).join('');
    });
    yield ok(lines.join(''));
    after = { lastBatch: last.id, lastId: last.first + last.count - 1 };
  }
}

/** Checks all chains. */
export async function verifyCalls(
  store: Pick<CallStore, 'callBatches'>,
): Promise<Result<ChainReport, Refusal>> {
  const check = new ChainCheck();
  for (;;) {
    const found = await store.callBatches(check.position);
    if (!found.ok) return found;
    check.add(found.value);
    if (found.value.batches.length === 0) return ok(check.report);
  }
}

function toCall(stored: ListedCall): Call {
  const { id, batch, context } = stored;
  const entry = readCallEntry(stored, context?.text ?? '');
  if (entry === undefined) return { id, kind: 'unreadable', batch };
  if (entry.kind === 'dropped') return { id, ...entry, batch };
  const { decision, ...call } = entry;
  if (decision === undefined) return { id, ...call, batch };
  const reasons = decision.reasons.map((reason) => ({
    ...reason,
    text: formatPolicyReason(reason).join(' '),
  }));
  return { id, ...call, decision: { ...decision, reasons }, batch };
}
