import { expect, it } from 'vitest';
import { getServingState } from '../../../src/gateway/services/tools/tool-view.ts';
import { Listing, type Entry } from '../../../src/gateway/catalog/listing.ts';
import { listReviews } from '../../../src/gateway/services/toolsets/review.ts';
import { getRefId, ToolIndex } from '../../../src/gateway/services/toolsets/tool-index.ts';
import { listUnserved } from '../../../src/gateway/services/toolsets/unserved.ts';
import { err } from '@assay-mcp/kit/result';
import type { Toolset } from '../../../src/core/toolset.ts';
import type { Connect } from '../../../src/gateway/ports/link.ts';
import type { Server } from '../../../src/gateway/catalog/server.ts';
import { definition, listed, standing, tool } from '../listed-server.ts';

const server = listed('s');
const entry = (name: string, more: Partial<Entry> = {}): Entry => ({
  key: `s_${name}`,
  name,
  server,
  definition: definition('tools', tool(name)),
  ...more,
});
const served = entry('good');
const broken = entry('broken', { definition: definition('tools', { name: 'broken' }) });
const disabled = entry('off', { settings: { isDisabled: true, members: [] } });
const listing = new Listing({ kind: 'tools', entries: [served, broken], disabled: [disabled] });
const index = new ToolIndex(listing);

const held = { refId: 's:0', digest: '0', text: '{}', atMs: 0 };
const toolset = (names: readonly string[]): Toolset => ({
  name: 'dev',
  tools: [...names.map((namespacedName) => ({ namespacedName })), { namespacedName: 's.good', held }],
  toolNotes: [],
  createdMs: 0,
  changedMs: 0,
});

it('an unavailable tool of a toolset is reported with its reason', async () => {
  const up = await started('up', standing({}));
  const down = await started('down', () => Promise.resolve(err({ code: 'STDOUT_CLOSED' })));
  const colliding = [
    entry('c', { server: listed('a.b'), key: 'a_b_c' }),
    entry('b.c', { server: listed('a'), key: 'a_b_c_2' }),
  ];
  const all = new ToolIndex(
    new Listing({ kind: 'tools', entries: [served, broken, ...colliding], disabled: [disabled] }),
  );
  const filtered = listed('f', {}, { toolFilter: { deny: ['den*'] } });
  const names = ['s.broken', 's.off', 's.late', 'up.gone', 'f.denied', 'down.gone', 'other.x', 'a.b.c'];
  const selecting = { index: all, servers: [server, up, down, filtered] };
  const expected = [
    { tool: 's.broken', reason: 'withheld' },
    { tool: 's.off', reason: 'disabled' },
    { tool: 's.late', reason: 'server_starting' },
    { tool: 'up.gone', reason: 'tool_gone' },
    { tool: 'f.denied', reason: 'tool_filtered' },
    { tool: 'down.gone', reason: 'server_down' },
    { tool: 'other.x', reason: 'server_unknown' },
    { tool: 'a.b.c', reason: 'name_collision' },
  ];
  expect(listUnserved(toolset(names), { ...selecting, showsChanged: false })).toEqual([
    ...expected,
    { tool: 's.good', reason: 'definition_changed' },
  ]);
  expect(listUnserved(toolset(names), { ...selecting, showsChanged: true })).toEqual(expected);
  await Promise.all([up.stop(), down.stop()]);
});

async function started(name: string, connect: Connect): Promise<Server> {
  const one = listed(name, {}, { connect });
  one.start();
  await one.settled();
  return one;
}

it('a withheld or disabled tool is not shown as enabled, and a withheld one has its reason', () => {
  expect([served, disabled].map(getServingState)).toEqual([{ state: 'enabled' }, { state: 'disabled' }]);
  expect(getServingState(broken)).toEqual({
    state: 'withheld',
    withheld: { eras: ['legacy', 'modern'], reason: 'inputSchema is absent' },
  });
});

it('a ref to a disabled tool is reported as disabled, not as unknown', () => {
  const refId = getRefId(disabled);
  const refusal = { code: 'TOOL_DISABLED', tool: 's.off' };
  for (const ref of [{ namespacedName: 's.off' }, { refId }, { namespacedName: 's.off', refId }])
    expect([ref, index.resolve(ref)]).toEqual([ref, err(refusal)]);
  expect(index.resolve({ namespacedName: 's.of' })).toMatchObject({ error: { code: 'REF_UNKNOWN' } });
  expect(index.resolve({ namespacedName: 's.good' })).toEqual({ ok: true, value: served });
});

it('a review says why a tool is unavailable, with the same reasons', () => {
  const tools = ['s.off', 's.late', 'other.x', 's.good'].map((namespacedName) => ({ namespacedName, held }));
  const reviews = listReviews({ tools }, { index, servers: [server] });
  expect(reviews.map((one) => [one.state, 'reason' in one ? one.reason : undefined])).toEqual([
    ['disabled', 'disabled'],
    ['absent', 'server_starting'],
    ['absent', 'server_unknown'],
    ['changed', 'definition_changed'],
  ]);
});
