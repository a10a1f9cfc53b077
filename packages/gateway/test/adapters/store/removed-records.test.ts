import { describe, expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import type { RecordChange } from '../../../src/gateway/ports/records.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import type { RecordsChange } from '../../../src/gateway/catalog/record-edit.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { endLater } from '../../../../../test/support/endings.ts';
import { replicaOf } from '../../../../../test/support/memory-records.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';
import { toolset, valueOf } from '../../../../../test/support/store-values.ts';

endAfterEach();

function made(name: string): RecordChange {
  return { kind: 'toolset', id: name, body: toolset(name) };
}

function removed(name: string): RecordChange {
  return { kind: 'toolset', id: name, body: undefined };
}

async function write(store: Store, ...changes: readonly RecordChange[]): Promise<void> {
  valueOf(await store.commit({ changes, expectedRevisions: [], audit: [] }));
}

/** Makes and removes this many toolsets. */
async function flood(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const names = Array.from({ length: 100 }, (_, at) => `flood-${from + at}`);
    await write(store, ...names.map(made));
    await write(store, ...names.map(removed));
  }
}

describe.each(DATABASES)('removed records in %s', (_database, newPlace) => {
  it('are kept in a bounded number, and who missed a removal gets all records', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    await write(store, made('kept'), made('gone'));
    const { revision } = valueOf(await store.records(0));
    await write(store, removed('gone'));
    await flood(store, 1_500);
    const rows = await rawRows(place, 'select * from assay_records');
    expect(rows.length).toBeLessThan(1_200);
    const news = valueOf(await store.records(revision));
    const existing = news.records.filter(({ body }) => body !== undefined).map(({ id }) => id);
    expect([news.isWhole, existing]).toEqual([true, ['kept']]);
    const latest = valueOf(await store.records(news.revision - 10));
    expect([latest.isWhole, latest.records.length]).toEqual([false, 10]);
  });

  it('disappear from a replica that was not told in time, and their names can be used again', async () => {
    const place = await newPlace();
    const [store, other] = [await openAt(place), await openAt(place)];
    await write(other, made('kept'), made('gone'), made('again'));
    // A process that was suspended hears nothing.
    const records = replicaOf(
      Object.assign(Object.create(store) as Store, { onChange: () => () => undefined }),
    );
    endLater(() => records.close());
    valueOf(await records.ready());
    valueOf(await records.change(() => ok({ value: 0, changes: [removed('again')] })));
    await write(other, removed('gone'));
    await flood(other, 1_500);
    const changes: RecordsChange[] = [];
    records.onChange((change) => changes.push(change));
    valueOf(await records.readAgain());
    expect(records.all('toolset').map(({ name }) => name)).toEqual(['kept']);
    expect(changes.flatMap((one) => one.records.map(({ id }) => id))).toContain('gone');
    for (const name of ['again', 'gone'])
      valueOf(await records.change(() => ok({ value: 0, changes: [made(name)] })));
    expect(valueOf(await other.records(0)).records.filter(({ body }) => body !== undefined)).toHaveLength(3);
  });

  it('may be written again by a replica that does not know yet that they are forgotten', async () => {
    const place = await newPlace();
    const [store, other] = [await openAt(place), await openAt(place)];
    await write(other, made('again'));
    const records = replicaOf(
      Object.assign(Object.create(store) as Store, { onChange: () => () => undefined }),
    );
    endLater(() => records.close());
    valueOf(await records.change(() => ok({ value: 0, changes: [removed('again')] })));
    await flood(other, 1_500);
    let tries = 0;
    valueOf(
      await records.change(() => {
        tries += 1;
        return ok({ value: 0, changes: [made('again')] });
      }),
    );
    expect(tries).toBe(2);
    expect(records.all('toolset').map(({ name }) => name)).toEqual(['again']);
  });
});
