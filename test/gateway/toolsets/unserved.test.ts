import { expect, it } from 'vitest';
import { servingOf } from '../../../src/gateway/hints/tool-view.ts';
import { Listing, type Entry } from '../../../src/gateway/listing.ts';
import { reviewsOf } from '../../../src/gateway/toolsets/review.ts';
import { ToolIndex } from '../../../src/gateway/toolsets/tool-index.ts';
import { unservedReason } from '../../../src/gateway/toolsets/unserved.ts';
import type { Toolset } from '../../../src/core/toolset.ts';
import { definition, listed, tool } from '../listed-server.ts';

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
const disabled = entry('off', { said: { isDisabled: true, members: [] } });
const listing = new Listing({ kind: 'tools', entries: [served, broken], disabled: [disabled] });
const index = new ToolIndex(listing);

it('a tool of a toolset that is not served has one reason of several', () => {
  const reasons = ['s.good', 's.broken', 's.off', 's.gone', 'other.x'].map((name) =>
    unservedReason(name, { index, servers: [server] }),
  );
  expect(reasons).toEqual([undefined, 'withheld', 'disabled', 'server_down', 'server_unknown']);
});

it('a withheld or disabled tool does not look alive, and says why', () => {
  expect([served, disabled].map(servingOf)).toEqual([{ state: 'enabled' }, { state: 'disabled' }]);
  expect(servingOf(broken)).toEqual({
    state: 'withheld',
    withheld: { eras: ['legacy', 'modern'], reason: 'inputSchema is absent' },
  });
});

it('a review calls a disabled tool disabled', () => {
  const held = { refId: 's:0', digest: '0', text: '{}', atMs: 0 };
  const tools = ['s.off', 's.gone'].map((namespacedName) => ({ namespacedName, held }));
  const toolset: Pick<Toolset, 'tools'> = { tools };
  expect(reviewsOf(toolset, index).map(({ state }) => state)).toEqual(['disabled', 'absent']);
});
