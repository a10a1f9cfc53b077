import { describe, expect, it } from 'vitest';
import { batchOf, recordedCall } from '../../../../../test/support/call-values.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';
import type { Retention } from '../../../src/gateway/ports/call-log.ts';

endAfterEach();
const SUBJECTS = 52;
const CALLS = 1_000;

describe.each(DATABASES)('the call record of a store in %s', (_database, newPlace) => {
  it('keeps 50,000 contexts of all subjects, and finds further calls by the same filters', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const keepAll: Retention = { maxCalls: 1_000_000, sinceMs: 0 };
    let previous: string | undefined;
    for (let nth = 0; nth < SUBJECTS; nth += 1) {
      const calls = Array.from({ length: CALLS }, (_, at) =>
        recordedCall(nth * CALLS + at, { subject: `s${nth}`, tool: { publicName: `t${at}` } }),
      );
      previous = valueOf(
        await store.addCalls(batchOf(calls, { number: nth + 1, ...(previous && { previous }) }), keepAll),
      );
    }
    const [row] = await rawRows(place, 'select count(*) as contexts from assay_call_contexts');
    // One more stands for all others.
    expect(Number((row as { readonly contexts: unknown }).contexts)).toBe(50_001);
    const last = valueOf(await store.calls({ subject: `s${SUBJECTS - 1}`, tool: 't7', limit: 2 }));
    expect(last.calls).toHaveLength(1);
  });
});
