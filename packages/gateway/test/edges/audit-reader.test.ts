import { expect, it } from 'vitest';
import { AuditReader } from '../../src/edges/rest/audit-reader.ts';
import type { AuditEntry } from '../../src/gateway/ports/records.ts';
import { endLater } from '../../../../test/support/endings.ts';
import { tempDir } from '../../../../test/support/paths.ts';
import { saveRecords, toolChange, tryStore, valueOf } from '../../../../test/support/store-values.ts';

const READERS = 200;
const idsOf = (events: readonly AuditEntry[] | undefined): readonly number[] | undefined =>
  events?.map(({ id }) => id);

it('200 readers at the same event cost one read of the store, and miss nothing', async () => {
  const store = valueOf(await tryStore({ home: tempDir(), databaseUrl: undefined }));
  endLater(() => store.close());
  let written = 0;
  const write = async (): Promise<void> => {
    written += 1;
    const target = { kind: 'tool', id: `t${written}`, name: 'tool' } as const;
    const event = { atMs: written, subject: 'somebody', action: 'tool.update', target };
    valueOf(await saveRecords(store, [toolChange(`t${written}`, 1, { event })]));
  };
  let reads = 0;
  let isBroken = false;
  const reader = new AuditReader({
    auditEvents: (query) => {
      reads += 1;
      return isBroken
        ? Promise.resolve({ ok: false, error: { code: 'STORE_UNAVAILABLE', reason: 'broken' } })
        : store.auditEvents(query);
    },
  });
  store.onChange((parts) => (parts.includes('audit') ? reader.invalidate() : undefined));
  const all = (id: number): Promise<readonly (readonly number[] | undefined)[]> =>
    Promise.all(Array.from({ length: READERS }, async () => idsOf(await reader.after(id))));
  const eachGets = (ids: readonly number[]): unknown => Array(READERS).fill(ids);

  for (let count = 0; count < 25; count += 1) await write();
  const first = Array.from({ length: 20 }, (_, at) => at + 1);
  expect(await all(0)).toEqual(eachGets(first));
  expect(await all(20)).toEqual(eachGets([21, 22, 23, 24, 25]));
  expect(await all(25)).toEqual(eachGets([]));
  expect(reads).toBe(2);
  // A reader in the middle of the last batch needs no read, one before it does.
  expect(await all(22)).toEqual(eachGets([23, 24, 25]));
  expect(reads).toBe(2);
  expect(idsOf(await reader.after(4))).toEqual(first.map((id) => id + 4));
  expect(reads).toBe(3);
  // An event that is written during a read is not missed.
  const during = all(25);
  await write();
  await during;
  expect(await all(25)).toEqual(eachGets([26]));
  isBroken = true;
  await write();
  expect(await reader.after(26)).toBeUndefined();
  isBroken = false;
  expect(idsOf(await reader.after(26))).toEqual([27]);
});
