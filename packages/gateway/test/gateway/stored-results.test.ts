import { expect, it } from 'vitest';
import { findStoredResultId, StoredResults } from '../../src/gateway/catalog/stored-results.ts';
import { endAfterEach } from '../../../../test/support/end-after-each.ts';
import { endLater, until } from '../../../../test/support/endings.ts';
import { openAt, rawRows } from '../../../../test/support/stores.ts';
import { valueOf } from '../../../../test/support/store-values.ts';
import { tempDir } from '../../../../test/support/paths.ts';

endAfterEach();

const RESULT = {
  ...{ subject: 'ada', tokenId: '', endpoint: 'all', server: 's', tool: 't', publicName: 's_t' },
  ...{ isApproved: false, bytes: Buffer.from('{"content":[]}') },
};

it('a whole result is found by its id, of which the store has only the hash, until its time is over', async () => {
  const place = { home: tempDir(), databaseUrl: undefined };
  const store = await openAt(place);
  let nowMs = 0;
  const results = new StoredResults({
    open: () => Promise.resolve({ ok: true, value: store }),
    createId: () => 'A'.repeat(22),
    nowMs: () => nowMs,
    ttlMs: 20,
    bounds: { bytesPerSubject: RESULT.bytes.length, totalBytes: 100 },
  });
  endLater(() => {
    results.close();
    return Promise.resolve();
  });
  const uri = valueOf(await results.keep(RESULT)) ?? '';
  const id = findStoredResultId(uri) ?? '';
  expect([uri, id]).toEqual([`assay://results/${'A'.repeat(22)}`, 'A'.repeat(22)]);
  expect(valueOf(await results.find(id, RESULT))).toMatchObject({ ...RESULT, expiresMs: 20 });
  expect(JSON.stringify(await rawRows(place, 'select hash from assay_stored_results'))).not.toContain(id);
  expect(valueOf(await results.keep({ ...RESULT, bytes: Buffer.alloc(15) }))).toBeUndefined();
  nowMs = 20;
  expect(valueOf(await results.find(id, RESULT))).toBeUndefined();
  await until('it is removed although no other is stored', async () => {
    const rows = await rawRows(place, 'select hash from assay_stored_results');
    return JSON.stringify(rows) === '[]' || undefined;
  });
});

it.each([
  'assay://results/',
  `assay://results/${'A'.repeat(23)}`,
  `assay://results/${'A'.repeat(21)}/`,
  'x:y',
])('the URI %s is none of a stored result', (uri) => {
  expect(findStoredResultId(uri)).toBeUndefined();
});
