import * as z from 'zod';
import { ok } from '../../core/result.ts';
import type { CallCount, CallCountStore, CallSpan } from '../../gateway/ports/call-log.ts';
import { CALL_COUNTS, type CallCounts } from '../../api/call.ts';
import { route, type Route } from './route.ts';

const SLOT_COUNT = 48;
const HOUR_MS = 3_600_000;

const QUERY = z.object({
  hours: z
    .string()
    .regex(/^\d{1,3}$/)
    .transform(Number)
    .pipe(z.number().min(1).max(168))
    .default(12)
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: 168,
      description: 'Length of the period in hours. Default: 12.',
    }),
});

const REFUSED: ReadonlySet<string> = new Set(['CALL_REFUSED', 'APPROVAL_DENIED', 'APPROVAL_REQUIRED']);
const GOOD: ReadonlySet<string> = new Set(['ok', 'input_required']);

export function countsRoute(store: CallCountStore, nowMs: () => number): Route {
  return route(
    {
      method: 'get',
      path: '/activity/calls/counts',
      id: 'countCalls',
      summary: 'Count calls, errors and refusals over the last hours',
      about: `${SLOT_COUNT} slots of equal length, oldest first; the last one ends now.`,
      query: QUERY,
      answer: {
        about: 'The counts.',
        schema: CALL_COUNTS,
        example: {
          since: '2026-11-23T08:00:00.000Z',
          slotMs: 900_000,
          slots: [{ calls: 12, errors: 1, refused: 0 }],
        },
      },
    },
    async ({ query: { hours } }) => {
      const slotMs = (hours * HOUR_MS) / SLOT_COUNT;
      // The last slot includes calls recorded in this millisecond.
      const sinceMs = nowMs() + 1 - hours * HOUR_MS;
      const span = { sinceMs, slotMs, slotCount: SLOT_COUNT };
      const counted = await store.callCounts(span);
      return counted.ok ? ok({ kind: 'one', body: countsOf(counted.value, span) }) : counted;
    },
  );
}

function countsOf(counts: readonly CallCount[], { sinceMs, slotMs, slotCount }: CallSpan): CallCounts {
  const slots = Array.from({ length: slotCount }, () => ({ calls: 0, errors: 0, refused: 0 }));
  for (const { slot, outcome, count } of counts) {
    const found = slots[slot];
    // A gap in the record has no outcome.
    if (found === undefined || outcome === undefined) continue;
    found.calls += count;
    if (REFUSED.has(outcome)) found.refused += count;
    else if (!GOOD.has(outcome)) found.errors += count;
  }
  return { since: new Date(sinceMs).toISOString(), slotMs, slots };
}
