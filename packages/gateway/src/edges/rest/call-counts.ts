import * as z from 'zod';
import { ok } from '@assay-mcp/kit/result';
import type { CallCount, CallCountStore, CallSpan } from '../../gateway/ports/call-log.ts';
import { CALL_COUNTS, type CallCounts } from '../../api/call.ts';
import { route, type Route } from './route.ts';

/** Slots are as many as this, or fewer. */
const MAX_SLOTS = 48;
const MINUTE_MS = 60_000;

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

const REFUSED: ReadonlySet<string> = new Set([
  'CALL_REFUSED',
  'CALL_STOPPED',
  'APPROVAL_DENIED',
  'APPROVAL_REQUIRED',
]);
const GOOD: ReadonlySet<string> = new Set(['ok', 'input_required']);

export function countsRoute(store: CallCountStore, nowMs: () => number): Route {
  return route(
    {
      method: 'get',
      path: '/activity/calls/counts',
      id: 'countCalls',
      summary: 'Count calls, errors and refusals over the last hours',
      about: `Up to ${MAX_SLOTS} slots of equal length, in whole minutes, oldest first; the last one ends with this minute.`,
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
      const minutes = hours * 60;
      const slotMinutes = toSlotMinutes(minutes);
      const sinceMinute = Math.floor(nowMs() / MINUTE_MS) + 1 - minutes;
      const span = { sinceMinute, slotMinutes, slotCount: minutes / slotMinutes };
      const counted = await store.callCounts(span);
      return counted.ok ? ok({ kind: 'one', body: toCallCounts(counted.value, span) }) : counted;
    },
  );
}

/** The shortest length of a slot that divides the period into equal ones. */
function toSlotMinutes(minutes: number): number {
  let length = Math.ceil(minutes / MAX_SLOTS);
  while (minutes % length !== 0) length += 1;
  return length;
}

function toCallCounts(
  counts: readonly CallCount[],
  { sinceMinute, slotMinutes, slotCount }: CallSpan,
): CallCounts {
  const slots = Array.from({ length: slotCount }, () => ({ calls: 0, errors: 0, refused: 0 }));
  for (const { slot, outcome, count } of counts) {
    const found = slots[slot];
    if (found === undefined) continue;
    found.calls += count;
    if (REFUSED.has(outcome)) found.refused += count;
    else if (!GOOD.has(outcome)) found.errors += count;
  }
  return { since: new Date(sinceMinute * MINUTE_MS).toISOString(), slotMs: slotMinutes * MINUTE_MS, slots };
}
