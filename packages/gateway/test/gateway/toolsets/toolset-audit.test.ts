import { expect, it } from 'vitest';
import type { Toolset } from '../../../src/core/toolset.ts';
import { toRemovalEvent, toSaveEvent } from '../../../src/gateway/services/toolsets/toolset-audit.ts';

const AUTHOR = { by: 'anna', atMs: 1 };
const TOOLS = Array.from({ length: 1_000 }, (_, at) => ({ namespacedName: `s.${'n'.repeat(100)}${at}` }));
const PLAIN: Toolset = { name: 't', createdMs: 1, changedMs: 1, tools: TOOLS, toolNotes: [] };

it('audit events of a toolset made by a model keep its digest, those of an operator its tools', () => {
  const made: Toolset = { ...PLAIN, maker: { by: 'model', subject: 'anna' } };
  const created = toSaveEvent(AUTHOR, undefined, made);
  const removed = toRemovalEvent(AUTHOR, 't', made);
  const { after } = created;
  const { before } = removed;
  expect(after).toEqual(before);
  expect(after).toMatchObject({
    name: 't',
    toolCount: 1_000,
    digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  for (const event of [created, removed]) expect(JSON.stringify(event).length).toBeLessThan(1_000);
  const other = toRemovalEvent(AUTHOR, 't', { ...made, tools: TOOLS.slice(1) });
  expect(other.before).not.toEqual(before);
  expect(toSaveEvent(AUTHOR, undefined, PLAIN).after).toMatchObject({ tools: TOOLS });
});
