import { expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import {
  hasTool,
  type Toolset,
  type ToolsetTool,
  addToolNotes,
  removeToolsetTool,
  addToolsetTools,
} from '../../../src/core/toolset.ts';
import { formatMembers, toWholeServer } from '../../../src/core/whole-server.ts';
import { Listing, type Entry } from '../../../src/gateway/catalog/listing.ts';
import { resolveToolRef } from '../../../src/gateway/services/toolsets/holding.ts';
import { listNewReviews, addAccepted } from '../../../src/gateway/services/toolsets/review.ts';
import { select, type SelectOptions } from '../../../src/gateway/services/toolsets/selection.ts';
import { getEntryName, ToolIndex } from '../../../src/gateway/services/toolsets/tool-index.ts';
import { listUnserved } from '../../../src/gateway/services/toolsets/unserved.ts';
import { definition, listed, tool } from '../listed-server.ts';

const git = listed('git');
const other = listed('git.hub');

function entry(name: string, server = git): Entry {
  return { key: `${server.spec.name}_${name}`, name, server, definition: definition('tools', tool(name)) };
}

function options(...entries: readonly Entry[]): SelectOptions {
  const index = new ToolIndex(new Listing({ kind: 'tools', entries }));
  return { index, servers: [git, other], showsChanged: false };
}

function toolset(...tools: readonly ToolsetTool[]): Toolset {
  return { name: 'dev', tools, toolNotes: [], createdMs: 0, changedMs: 0 };
}

function names(of: Toolset, among: SelectOptions): readonly string[] {
  return select(of, among).entries.map(getEntryName);
}

const LISTED = [entry('log'), entry('push'), entry('hub.log'), entry('log', other)];
const WHOLE = toolset(toWholeServer('git', ['log', 'push', 'hub.log']));

it('a whole server includes all of its tools, and none of a server whose name starts with its name', () => {
  expect(names(WHOLE, options(...LISTED))).toEqual(['git.log', 'git.push', 'git.hub.log']);
  expect(resolveToolRef({ namespacedName: 'git.*' }, options(...LISTED))).toEqual(ok(toWholeServer('git')));
  expect(resolveToolRef({ namespacedName: 'gti.*' }, options(...LISTED))).toMatchObject({
    error: { code: 'SERVER_UNKNOWN', name: 'gti', known: ['git', 'git.hub'] },
  });
});

it('a tool added later is shown as new until it is accepted', () => {
  const later = options(...LISTED, entry('reset'), entry('rebase'));
  expect(names(WHOLE, later)).toContain('git.reset');
  expect(listNewReviews(WHOLE, later).map((one) => one.namespacedName)).toEqual(['git.reset', 'git.rebase']);
  const { fresh } = select(WHOLE, later);
  const accepted = addAccepted(WHOLE, fresh.slice(0, 1));
  expect(listNewReviews(accepted, later).map((one) => one.namespacedName)).toEqual(['git.rebase']);
  expect(listNewReviews(addAccepted(accepted, fresh), later)).toEqual([]);
  // Nothing is new before the server has listed anything.
  expect(listNewReviews(toolset(toWholeServer('git')), later)).toEqual([]);
});

it('a removed tool is omitted, and comes back when added again', () => {
  const removed = removeToolsetTool(WHOLE, 'git.push');
  if (!removed.ok) throw new Error(removed.error.code);
  expect(names(removed.value, options(...LISTED))).toEqual(['git.log', 'git.hub.log']);
  expect([hasTool(removed.value, 'git.push'), hasTool(removed.value, 'git.log')]).toEqual([false, true]);
  expect(removeToolsetTool(removed.value, 'git.push')).toMatchObject({
    error: { code: 'TOOL_NOT_IN_TOOLSET' },
  });
  expect(addToolsetTools(removed.value, [{ namespacedName: 'git.push' }])).toEqual(ok(WHOLE));
  expect(removeToolsetTool(removed.value, 'git.*')).toEqual(ok(toolset()));
  expect(formatMembers(removed.value.tools)).toBe('all tools of git except 1');
});

it('a tool that is also pinned is served only as pinned, and removing it excludes it from the server', () => {
  const held = { refId: 'r', digest: 'd', text: '{}' };
  const both = addToolsetTools(WHOLE, [{ namespacedName: 'git.push', held }]);
  if (!both.ok) throw new Error(both.error.code);
  expect(names(both.value, options(...LISTED))).toEqual(['git.log', 'git.hub.log']);
  expect(listUnserved(both.value, options(...LISTED))).toEqual([
    { tool: 'git.push', reason: 'definition_changed' },
  ]);
  const removed = removeToolsetTool(both.value, 'git.push');
  expect(removed).toEqual(
    ok(toolset({ ...toWholeServer('git', ['log', 'push', 'hub.log']), except: ['push'] })),
  );
});

it('a server that lists nothing is reported as a whole', () => {
  expect(listUnserved(WHOLE, options())).toEqual([{ tool: 'git.*', reason: 'server_starting' }]);
  expect(listUnserved(toolset(toWholeServer('gone')), options())).toEqual([
    { tool: 'gone.*', reason: 'server_unknown' },
  ]);
});

it('notes can be added to a tool that is included through its server', () => {
  const note = { name: 'a', note: 'A.', author: 'x', by: 'model', writtenMs: 0, isHeld: false } as const;
  const noted = addToolNotes(WHOLE, 'git.log', [note]);
  if (!noted.ok) throw new Error(noted.error.code);
  expect(select(noted.value.toolset, options(...LISTED)).entries[0]?.notes).toContain('A.');
});
