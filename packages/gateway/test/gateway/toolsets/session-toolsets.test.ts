import { describe, expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import { SessionEquipping } from '../../../src/gateway/services/toolsets/equipping.ts';
import { SessionToolsets } from '../../../src/gateway/services/toolsets/session-toolsets.ts';
import { Toolsets } from '../../../src/gateway/services/toolsets/toolsets.ts';
import { endLater } from '../../../../../test/support/endings.ts';
import { replicaOf } from '../../../../../test/support/memory-records.ts';
import { SILENT } from '../listed-server.ts';
import { DATABASES, openAt } from '../../../../../test/support/stores.ts';
import { valueOf, type StorePlace } from '../../../../../test/support/store-values.ts';

/** A process that the store tells of no change: it knows what it has read. */
async function openDeaf(place: StorePlace): Promise<{ toolsets: Toolsets; equipping: SessionEquipping }> {
  const store = await openAt(place);
  const records = replicaOf({
    records: (since) => store.records(since),
    commit: (commit) => store.commit(commit),
    fittingDrift: (drift) => store.fittingDrift(drift),
    acceptFirst: (...definitions) => store.acceptFirst(...definitions),
    accepted: (id) => store.accepted(id),
    auditEvents: (query) => store.auditEvents(query),
    onChange: () => () => undefined,
  });
  const toolsets = new Toolsets({ records, nowMs: () => 7 });
  const sessions = new SessionToolsets({
    open: () => Promise.resolve(ok(store)),
    toolsets,
    idleMs: 60_000,
    nowMs: () => 7,
    log: SILENT,
  });
  endLater(async () => {
    await sessions.close();
    await records.close();
  });
  const id = sessions.follow('ada', { isListening: () => false, changed: () => undefined });
  return { toolsets, equipping: new SessionEquipping(toolsets, sessions, id) };
}

describe.each(DATABASES)('what a session has equipped, in %s', (_, newPlace) => {
  it('is known to a process that has not heard of the new toolset', async () => {
    const place = await newPlace();
    const [one, other] = [await openDeaf(place), await openDeaf(place)];
    valueOf(await other.toolsets.ready());
    valueOf(
      await one.equipping.create({ name: 'dev', tools: [], toolNotes: [] }, { by: 'ada', equip: true }),
    );
    valueOf(await other.equipping.ready());
    expect(other.equipping.current?.name).toBe('dev');
  });
});
