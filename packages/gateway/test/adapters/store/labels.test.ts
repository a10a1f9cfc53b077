import { describe, expect, it } from 'vitest';
import { MAX_LABELS, type SeenCalls, type StoredLabel } from '../../../src/gateway/ports/labels.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { DATABASES, openAt } from '../../../../../test/support/stores.ts';
import { auditEvent, valueOf } from '../../../../../test/support/store-values.ts';

endAfterEach();

const NO_CALLS: ReadonlyMap<string, SeenCalls> = new Map();

function label(subject: string, more: Partial<StoredLabel> = {}): StoredLabel {
  return { subject, label: 'saw-untrusted', source: 'web.fetch', sinceMs: 1_000, seenMs: 1_000, ...more };
}

describe.each(DATABASES)('session labels in %s', (_database, newPlace) => {
  it('are kept after closing the store, each with the source that set it first', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const [odd, ci] = [label('odd \u0000\ud800'), label('ci', { sinceMs: 2_000, seenMs: 2_000 })];
    const later = {
      ...ci,
      label: 'saw-private',
      sinceMs: 3_000,
      source: 'files.read',
      seenMs: 5_000,
    } as const;
    valueOf(await store.saveLabels({ added: [odd, ci], seen: NO_CALLS, expiredMs: 0 }));
    valueOf(
      await store.saveLabels({
        added: [later, { ...ci, source: 'later', sinceMs: 9_000 }],
        seen: new Map([
          ['ci', { lastMs: 5_000, aliveMs: 0 }],
          ['none', { lastMs: 5_000, aliveMs: 0 }],
        ]),
        expiredMs: 0,
      }),
    );
    await store.close();
    const again = await openAt(place);
    expect(valueOf(await again.labels())).toEqual({
      labels: [odd, { ...ci, seenMs: 5_000 }, later],
      isFull: false,
    });
    expect(valueOf(await again.labels('ci')).labels.map((one) => one.label)).toEqual([
      'saw-untrusted',
      'saw-private',
    ]);
    expect(valueOf(await again.labels('none'))).toEqual({ labels: [], isFull: false });
  });

  it('end with the next write after they expire, which a call recorded late does not bring forward', async () => {
    const store = await openAt(await newPlace());
    valueOf(await store.saveLabels({ added: [label('a'), label('b')], seen: NO_CALLS, expiredMs: 0 }));
    const seen = (subject: string, lastMs: number, aliveMs: number): ReadonlyMap<string, SeenCalls> =>
      new Map([[subject, { lastMs, aliveMs }]]);
    valueOf(await store.saveLabels({ added: [], seen: seen('b', 3_000, 1_000), expiredMs: 0 }));
    valueOf(await store.saveLabels({ added: [], seen: seen('a', 3_000, 1_001), expiredMs: 0 }));
    valueOf(await store.saveLabels({ added: [], seen: seen('b', 2_000, 0), expiredMs: 2_500 }));
    expect(valueOf(await store.labels()).labels).toEqual([label('b', { seenMs: 3_000 })]);
  });

  it('are cleared with an audit event, or without one if there were none', async () => {
    const store = await openAt(await newPlace());
    valueOf(await store.saveLabels({ added: [label('a'), label('b')], seen: NO_CALLS, expiredMs: 0 }));
    expect(valueOf(await store.clearLabels('a', auditEvent('one')))).toBe(true);
    expect(valueOf(await store.clearLabels('a', auditEvent('two')))).toBe(false);
    expect(valueOf(await store.labels()).labels).toEqual([label('b')]);
    const events = valueOf(await store.auditEvents({ limit: 9 }));
    expect(events).toHaveLength(1);
  });

  it('are limited in number, and a subject beyond the limit is not treated as unlabeled', async () => {
    const store = await openAt(await newPlace());
    const many = Array.from({ length: MAX_LABELS }, (_, no) => label(`s${no}`));
    valueOf(await store.saveLabels({ added: [...many, label('late')], seen: NO_CALLS, expiredMs: 0 }));
    expect(valueOf(await store.labels('late'))).toEqual({ labels: [], isFull: true });
    expect(valueOf(await store.labels()).labels).toHaveLength(MAX_LABELS);
  });
});
