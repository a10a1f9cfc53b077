import type { Call } from '../../../api/call.ts';
import { ChainCheck, type ChainReport, type StoredEntry } from '../../../core/activity/call-chain.ts';
import { readCallEntry } from '../../../core/activity/call-entry.ts';
import { parseJson } from '../../../core/json-object.ts';
import { formatPolicyReason } from '../../../core/policy/reason-text.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { CallQuery, CallStore } from '../../ports/call-log.ts';

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
  const entries = found.value.entries.slice(0, query.limit);
  const hasMore = found.value.entries.length > query.limit;
  return ok({ calls: entries.map(toCall), next: hasMore ? entries.at(-1)?.id : undefined });
}

/** CALL_UNKNOWN if no call has this id, or it was removed. */
export async function findCall(store: Reader, id: number): Promise<Result<Call, Refusal>> {
  const found = await store.calls({ after: id - 1, limit: 1 });
  if (!found.ok) return found;
  const [entry] = found.value.entries;
  return entry?.id === id ? ok(toCall(entry)) : err({ code: 'CALL_UNKNOWN', id });
}

const PAGE = 500;

/** All entries that match the query, oldest first, as JSON lines. Pages are read on demand. */
export async function* streamCalls(
  store: Reader,
  query: Omit<CallQuery, 'before' | 'after' | 'limit'>,
): AsyncGenerator<Result<string, Refusal>> {
  let after = 0;
  for (;;) {
    const found = await store.calls({ ...query, after, limit: PAGE });
    if (!found.ok) {
      yield found;
      return;
    }
    const { entries } = found.value;
    if (entries.length > 0) yield ok(entries.map(lineOf).join(''));
    if (entries.length < PAGE) return;
    after = entries.at(-1)?.id ?? after;
  }
}

/** Checks all chains. */
export async function verifyCalls(store: Reader): Promise<Result<ChainReport, Refusal>> {
  const check = new ChainCheck();
  for (;;) {
    const found = await store.calls({ after: check.lastId, limit: PAGE });
    if (!found.ok) return found;
    check.add(found.value.entries, found.value);
    if (found.value.entries.length === 0) return ok(check.report);
  }
}

function toCall({ id, chain, seq, previous, hash, text }: StoredEntry): Call {
  const entry = readCallEntry(text);
  const position = { id: chain, seq, previous, hash };
  if (entry === undefined) return { id, kind: 'unreadable', chain: position };
  if (entry.kind === 'dropped') return { id, ...entry, chain: position };
  const { decision, ...call } = entry;
  if (decision === undefined) return { id, ...call, chain: position };
  const reasons = decision.reasons.map((reason) => ({ ...reason, text: formatPolicyReason(reason) }));
  return { id, ...call, decision: { ...decision, reasons }, chain: position };
}

/** Contains the entry exactly as it was hashed, or its text as `unreadable` if that is not JSON on one line. */
function lineOf({ id, chain, seq, previous, hash, text }: StoredEntry): string {
  const position = JSON.stringify({ id, chain, seq, previous, hash });
  const isReadable = parseJson(text) !== undefined && !text.includes('\n');
  const member = !isReadable ? `"unreadable":${JSON.stringify(text)}` : `"entry":${text}`;
  return `${position.slice(0, -1)},${member}}\n`;
}
