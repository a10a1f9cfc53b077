import { describe, expect, it } from 'vitest';
import { err, ok } from '@assay-mcp/kit/result';
import { STOPS } from '../../src/core/record.ts';
import type { Stop } from '../../src/core/stops.ts';
import type { RecordsChange } from '../../src/gateway/catalog/record-edit.ts';
import { memoryCache, MemoryRecords, replicaOf } from '../../../../test/support/memory-records.ts';
import { auditEvent, toolChange, toolRecord } from '../../../../test/support/store-values.ts';

const UNAVAILABLE = { code: 'STORE_UNAVAILABLE', reason: 'the test says so' };

function opened(cache = memoryCache()) {
  const store = new MemoryRecords();
  const records = replicaOf(store, cache);
  const changes: RecordsChange[] = [];
  records.onChange((change) => changes.push(change));
  return { store, records, changes, titleOf: (id: string) => records.get('tool', id)?.title };
}

const tool = (id: string, title: string | undefined) => toolChange(id, title).record;

describe('the replica of records', () => {
  it('contains a change once it is committed, without another read, and announces it once', async () => {
    const { store, records, changes, titleOf } = opened();
    expect(
      await records.change(() => ok({ value: 'done', changes: [tool('a', 'x')], audit: [auditEvent('a')] })),
    ).toEqual({ ok: true, value: 'done' });
    expect([titleOf('a'), store.reads, store.audit]).toEqual(['x', 1, [auditEvent('a')]]);
    store.announce();
    await records.readAgain();
    expect(changes.map((one) => [one.records.map(({ id }) => id), one.isFirst])).toEqual([
      [[], true],
      [['a'], false],
    ]);
  });

  it('retries an edit on the current records after a write conflict', async () => {
    const { store, records, titleOf } = opened();
    store.keep(tool('a', '1'));
    let others = 3;
    store.before = () => {
      if (others-- > 0) store.keep(tool('a', `${String(store.commits)}${others}`));
    };
    const seen: unknown[] = [];
    await records.change(() => {
      seen.push(titleOf('a'));
      return ok({ value: 0, changes: [tool('a', 'mine')] });
    });
    expect([seen, titleOf('a'), store.commits]).toEqual([['1', '02', '01', '00'], 'mine', 1]);
  });

  it('retries an edit if a record it depends on changed meanwhile', async () => {
    const { store, records, titleOf } = opened();
    store.keep(tool('a', '1'));
    await records.ready();
    const seen: unknown[] = [];
    await records.change(async () => {
      seen.push(titleOf('a'));
      if (seen.length === 1) {
        store.keep(tool('a', '2'));
        await records.readAgain();
      }
      return ok({ value: 0, changes: [tool('b', 'x')], expected: [{ kind: 'tool', id: 'a' }] });
    });
    expect([seen, store.commits]).toEqual([['1', '2'], 1]);
  });

  it('refuses an edit, or finds it without effect, based only on what the store contains now', async () => {
    const { store, records, titleOf } = opened();
    await records.ready();
    const refusal = { code: 'TOOL_UNKNOWN', name: 'a' } as const;
    const change = () =>
      records.change(() =>
        titleOf('a') === undefined ? err(refusal) : ok({ value: titleOf('a'), changes: [] }),
      );
    expect(await change()).toEqual({ ok: false, error: refusal });
    store.keep(tool('a', 'x'));
    expect(await change()).toEqual({ ok: true, value: 'x' });
    store.keep(tool('a', 'y'));
    const expected = [{ kind: 'tool', id: 'a' }] as const;
    expect(await records.change(() => ok({ value: titleOf('a'), changes: [], expected }))).toEqual({
      ok: true,
      value: 'y',
    });
    expect(store.commits).toBe(0);
  });

  it('contains what it committed if the store cannot be read afterwards, and continues from there', async () => {
    const { store, records, changes, titleOf } = opened();
    await records.ready();
    store.before = () => {
      store.keep(tool('theirs', 'x'));
      store.mayRead = () => false;
    };
    expect((await records.change(() => ok({ value: 0, changes: [tool('a', 'x')] }))).ok).toBe(true);
    expect([titleOf('a'), titleOf('theirs')]).toEqual(['x', undefined]);
    store.before = () => undefined;
    expect((await records.change(() => ok({ value: 0, changes: [tool('a', 'y')] }))).ok).toBe(true);
    expect(titleOf('a')).toBe('y');
    store.mayRead = () => true;
    await records.readAgain();
    expect(titleOf('theirs')).toBe('x');
    expect(changes.flatMap((one) => one.records.map(({ id }) => id))).toEqual(['a', 'a', 'theirs']);
  });

  it('applies a revocation in memory while it cannot be stored', async () => {
    const { store, records, changes } = opened();
    const trusted = { server: 's', identity: 'one', trust: true };
    store.keep({ kind: 'trust', id: 's', body: trusted });
    const record = { kind: 'trust', id: 's', body: { ...trusted, trust: false } } as const;
    const distrust = () =>
      records.change(() =>
        ok({ value: 0, changes: [record], lowers: { record, kind: 'gateway', name: 's' } as const }),
      );
    store.mayCommit = () => false;
    expect(await distrust()).toMatchObject({
      error: { code: 'REVOCATION_UNSAVED', kind: 'gateway', name: 's' },
    });
    expect([records.trust('s')?.trust, records.get('trust', 's')?.trust]).toEqual([false, true]);
    expect(changes.at(-1)).toEqual({ records: [record], isFirst: false });
    expect(await records.change(() => ok({ value: 0, changes: [tool('a', 'x')] }))).toEqual({
      ok: false,
      error: UNAVAILABLE,
    });
    store.mayCommit = () => true;
    expect(await distrust()).toEqual({ ok: true, value: 0 });
    store.keep({ kind: 'trust', id: 's', body: trusted });
    await records.readAgain();
    expect(records.trust('s')?.trust).toBe(true);
  });

  it('keeps a stop that could not be stored until this process stores it, whatever others store', async () => {
    const { store, records } = opened();
    const stopOf = (server: string): Stop => ({ target: { kind: 'server', server }, by: 'ada', atMs: 0 });
    const stop = (stops: readonly Stop[]) => {
      const record = { ...STOPS, body: { stops } } as const;
      return records.change(() =>
        ok({ value: 0, changes: [record], lowers: { record, kind: 'stop', name: 'mine' } as const }),
      );
    };
    store.mayCommit = () => false;
    expect(await stop([stopOf('mine')])).toMatchObject({
      error: { code: 'REVOCATION_UNSAVED', kind: 'stop' },
    });
    store.keep({ ...STOPS, body: { stops: [stopOf('theirs')] } });
    await records.readAgain();
    expect(records.stops()).toEqual([stopOf('theirs'), stopOf('mine')]);
    store.mayCommit = () => true;
    expect((await stop([stopOf('theirs')])).ok).toBe(true);
    expect(records.stops()).toEqual([stopOf('theirs')]);
  });

  it('keeps the last readable version of a record that a newer Assay changed, and does not overwrite it', async () => {
    const { store, records, titleOf } = opened();
    store.keep(tool('a', 'old'));
    store.keep(tool('b', 'x'));
    await records.ready();
    store.unreadable = [{ kind: 'tool', id: 'a', revision: 3, reason: 'it has version 2' }];
    await records.readAgain();
    expect([titleOf('a'), titleOf('b')]).toEqual(['old', 'x']);
    const refused = { code: 'RECORD_UNREADABLE', kind: 'tool', id: 'a', reason: 'it has version 2' };
    expect(await records.change(() => ok({ value: 0, changes: [tool('a', 'mine')] }))).toEqual({
      ok: false,
      error: refused,
    });
    expect((await records.change(() => ok({ value: 0, changes: [tool('b', 'y')] }))).ok).toBe(true);
    store.unreadable = [];
    store.keep(tool('c', 'z'));
    store.keep(tool('a', 'new'));
    await records.readAgain();
    expect(titleOf('a')).toBe('new');
    expect((await records.change(() => ok({ value: 0, changes: [tool('a', 'mine')] }))).ok).toBe(true);
  });

  it('keeps the cached version of a record that cannot be read at the start', async () => {
    const { store, records, titleOf } = opened(memoryCache([tool('a', 'old'), tool('gone', 'x')]));
    store.unreadable = [{ kind: 'tool', id: 'a', revision: 3, reason: 'its column body_json is not JSON' }];
    await records.ready();
    expect([records.isKnown, titleOf('a'), titleOf('gone')]).toEqual([true, 'old', undefined]);
    store.unreadable = [];
    store.keep(tool('a', 'new'));
    await records.readAgain();
    expect(titleOf('a')).toBe('new');
  });

  it('serves cached records until the store has been read, and then announces the differences', async () => {
    const recalled = memoryCache([tool('gone', 'x'), tool('kept', 'old')]);
    const { store, records, changes, titleOf } = opened(recalled);
    store.keep(tool('kept', 'new'));
    expect([records.isKnown, records.isRecalled, titleOf('gone'), titleOf('kept')]).toEqual([
      false,
      true,
      'x',
      'old',
    ]);
    await records.ready();
    expect([records.isKnown, titleOf('gone'), titleOf('kept')]).toEqual([true, undefined, 'new']);
    expect(changes).toEqual([
      {
        isFirst: false,
        records: [
          { kind: 'tool', id: 'kept', body: toolRecord('kept', 'new'), revision: 1 },
          { kind: 'tool', id: 'gone', body: undefined, revision: 0 },
        ],
      },
    ]);
    expect(recalled.remembered().map(({ id }) => id)).toEqual(['kept']);
  });

  it('reads a new store for background work only when that may start, and for a change at once', async () => {
    const first = Promise.withResolvers<undefined>();
    const { store, records } = opened(memoryCache([]));
    records.deferUntil(first.promise);
    const later = records.readyLater();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(store.reads).toBe(0);
    await records.change(() => ok({ value: 0, changes: [tool('a', 'x')] }));
    expect([store.reads, store.commits]).toEqual([1, 1]);
    first.resolve(undefined);
    expect(await later).toEqual({ ok: true, value: undefined });
  });

  it('reads a new store for background work when the process ends before the moment', async () => {
    const { store, records } = opened(memoryCache([]));
    records.deferUntil(Promise.withResolvers<undefined>().promise);
    const later = records.readyLater();
    expect(records.endDeferral()).toBe(true);
    expect(await later).toEqual({ ok: true, value: undefined });
    expect(store.reads).toBe(1);
  });

  it('opens no store after it was closed', async () => {
    const { store, records } = opened();
    await records.close();
    expect(await records.readyLater()).toEqual({ ok: false, error: { code: 'SHUTTING_DOWN' } });
    expect(store.reads).toBe(0);
  });

  it('is not ready while the store cannot be read, and retries', async () => {
    const { store, records } = opened();
    store.mayRead = () => false;
    expect(await records.ready()).toEqual({ ok: false, error: UNAVAILABLE });
    expect(await records.change(() => ok({ value: 0, changes: [] }))).toEqual({
      ok: false,
      error: UNAVAILABLE,
    });
    store.mayRead = () => true;
    expect(await records.ready()).toEqual({ ok: true, value: undefined });
  });
});
