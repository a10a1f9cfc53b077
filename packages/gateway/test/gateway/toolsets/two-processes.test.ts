import { describe, expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import { Toolsets } from '../../../src/gateway/services/toolsets/toolsets.ts';
import type { RecordReplica } from '../../../src/gateway/catalog/record-replica.ts';
import { endLater } from '../../../../../test/support/endings.ts';
import { replicaOf } from '../../../../../test/support/memory-records.ts';
import { DATABASES, openAt } from '../../../../../test/support/stores.ts';
import type { StorePlace } from '../../../../../test/support/store-values.ts';

const ROUNDS = 15;
const CHANGED = { code: 'PRECONDITION_FAILED', etag: '"changed"' } as const;

/** The state of one process: its connection to the store, and its view of the toolsets. */
async function openProcess(place: StorePlace): Promise<{ toolsets: Toolsets; records: RecordReplica }> {
  const records = replicaOf(await openAt(place));
  endLater(() => records.close());
  return { records, toolsets: new Toolsets({ records, nowMs: () => 7 }) };
}

describe.each(DATABASES)('two processes on one store in %s', (_, newPlace) => {
  it('never both change a toolset and delete the version before the change', async () => {
    const place = await newPlace();
    const [{ toolsets: one, records }, { toolsets: two }] = [
      await openProcess(place),
      await openProcess(place),
    ];
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `set-${round}`;
      await one.create({ name, tools: [], toolNotes: [] }, { by: 'a' });
      const [removed, changed] = await Promise.all([
        one.remove(name, 'a', {
          objection: ({ description }) => (description === undefined ? undefined : CHANGED),
        }),
        two.change(
          name,
          (toolset) => ok({ toolset: { ...toolset, description: 'new' }, value: undefined }),
          'b',
        ),
      ]);
      await records.readAgain();
      const isThere = one.find(name) !== undefined;
      expect([removed.ok, changed.ok, isThere]).toEqual(
        removed.ok ? [true, false, false] : [false, true, true],
      );
      if (!removed.ok) expect(removed.error).toEqual(CHANGED);
    }
  });
});
