import { expect, it } from 'vitest';
import { computeToolId } from '../../src/core/record-ids.ts';
import type { ToolRecord } from '../../src/core/hints/tool-record.ts';
import { readBundleState } from '../../src/gateway/services/bundles/bundle-state.ts';
import type { EntrySeal } from '../../src/gateway/ports/config-entries.ts';
import { MemoryRecords, replicaOf } from '../../../../test/support/memory-records.ts';

const seal: EntrySeal = {
  seal: () => Promise.reject(new Error('nothing is sealed here')),
  open: () => Promise.reject(new Error('nothing is opened here')),
};

it('a tool with nothing stored except its volatility has no override in a bundle', async () => {
  const id = computeToolId('s', 'i', 'act');
  const volatility = { connects: 2, isAccepted: false };
  const body: ToolRecord = { id, server: 's', identity: 'i', name: 'act', overrides: {}, volatility };
  const titled: ToolRecord = { ...body, id: 'other', name: 'look', title: 'Looks' };
  const store = new MemoryRecords();
  for (const record of [body, titled]) store.keep({ kind: 'tool', id: record.id, body: record });
  const records = replicaOf(store);
  await records.ready();
  expect((await readBundleState(records, seal)).records).toEqual([
    { kind: 'tool', body: { server: 's', identity: 'i', name: 'look', overrides: {}, title: 'Looks' } },
  ]);
});
