import { describe, expect, it } from 'vitest';
import { readBundle } from '../../../src/core/bundle/read-bundle.ts';
import type { Note } from '../../../src/core/notes.ts';
import type { Toolset } from '../../../src/core/toolset.ts';

const NOW_MS = 1_790_000_000_000;

const OWN = {
  name: 'dev',
  version: '1.0.0',
  createdAt: '2026-01-02T03:04:05.006Z',
  tools: [{ namespacedName: 'git.status', refId: 'ab'.repeat(32) }, { refId: 'cd'.repeat(32) }],
};
const CREATED_MS = Date.parse(OWN.createdAt);
const READ: Toolset = {
  name: 'dev',
  createdMs: CREATED_MS,
  changedMs: CREATED_MS,
  tools: [{ namespacedName: 'git.status' }],
  toolNotes: [],
};
const ALONE = 'it has only a refId, and refIds of other programs are not valid here';
const LEFT_OUT = `The tool with the refId "${'cd'.repeat(32)}" is left out: ${ALONE}.`;

function readConfig(toolsets: unknown, more: object = {}) {
  const done = readBundle({ toolsets, mcpConfigPath: '/x/mcp.json', version: '1.0.0', ...more }, NOW_MS);
  if (!done.ok) throw new Error(JSON.stringify(done.error));
  return { records: done.value.records, warnings: [...done.value.warnings.values()].flat() };
}

describe("HyperTool's config.json", () => {
  it('is read with the toolset equipped last, also without notes, as older versions wrote it', () => {
    const equipped = { kind: 'equipped', body: { toolset: 'dev' } };
    expect(readConfig({ dev: OWN }, { lastEquippedToolset: 'dev' })).toEqual({
      records: [{ kind: 'toolset', body: READ }, equipped],
      warnings: [LEFT_OUT],
    });
  });

  it('has notes that become the operator’s, without those that cannot be kept', () => {
    const toolRef = { namespacedName: 'git.status', refId: 'ab'.repeat(32) };
    const notes = [
      { name: 'a', note: 'First.' },
      { name: 'BAD NAME!', note: 'x' },
      { name: 'long', note: 'x'.repeat(2_001) },
      { name: 'a', note: 'Second.' },
    ];
    const alone = { toolRef: { refId: 'cd'.repeat(32) }, notes: [{ name: 'b', note: 'x' }] };
    const lastModified = '2026-02-03T00:00:00.000Z';
    const changedMs = Date.parse(lastModified);
    const first: Note = {
      ...{ name: 'a', note: 'First.', author: 'local', by: 'operator', writtenMs: changedMs, isHeld: false },
    };
    const toolNotes = [{ namespacedName: 'git.status', notes: [first] }];
    const left = (note: string, reason: string, on = 'git.status'): string =>
      `The note "${note}" on "${on}" is left out: ${reason}.`;
    expect(readConfig({ dev: { ...OWN, lastModified, toolNotes: [{ toolRef, notes }, alone] } })).toEqual({
      records: [{ kind: 'toolset', body: { ...READ, changedMs, toolNotes } }],
      warnings: [
        LEFT_OUT,
        left('BAD NAME!', 'as the name of a note it may contain only lowercase letters, digits and hyphens'),
        left('long', 'it may have at most 2000 characters; this has 2001'),
        left('a', 'its tool already has a note with this name'),
        left('b', ALONE, ''),
      ],
    });
  });

  it('keeps the first 50 notes of a tool', () => {
    const notes = Array.from({ length: 52 }, (_, index) => ({ name: `n${index}`, note: 'x' }));
    const toolNotes = [{ toolRef: { namespacedName: 'git.status' }, notes }];
    const { records, warnings } = readConfig({ dev: { ...OWN, toolNotes } });
    const [one] = records;
    expect(one?.kind === 'toolset' && one.body.toolNotes[0]?.notes.length).toBe(50);
    expect(warnings.slice(1).map((text) => text.slice(0, 14))).toEqual(['The note "n50"', 'The note "n51"']);
  });

  it('equips nothing if HyperTool had none equipped, or one that no longer exists', () => {
    for (const lastEquippedToolset of [null, 'gone'])
      expect(readConfig({}, { lastEquippedToolset })).toEqual({ records: [], warnings: [] });
  });

  const dev = (more: object): object => ({ dev: { tools: [], ...more } });
  it.each<[string, object, string, string]>([
    ['a toolset that is not an object', { dev: 1 }, '/toolsets/dev', 'it must be an object'],
    ['a toolset without tools', { dev: {} }, '/toolsets/dev/tools', 'it is missing'],
    [
      'an invalid name',
      { Dev: { tools: [] } },
      '/toolsets/Dev/name',
      'it takes 2 to 50 lowercase letters, digits and hyphens',
    ],
    [
      'an unsupported version',
      dev({ version: '2.0.0' }),
      '/toolsets/dev/version',
      'this Assay reads only 1.0.0',
    ],
    [
      'an invalid time',
      dev({ createdAt: 'May 5' }),
      '/toolsets/dev/createdAt',
      'it must be a time in ISO 8601',
    ],
    [
      'a long description',
      dev({ description: 'x'.repeat(201) }),
      '/toolsets/dev/description',
      'it may have at most 200 characters',
    ],
    [
      'a tool without a name or refId',
      dev({ tools: [{}] }),
      '/toolsets/dev/tools',
      'each must have namespacedName or refId',
    ],
    [
      'a name that is not a string',
      dev({ tools: [{ namespacedName: 1 }] }),
      '/toolsets/dev/tools/0/namespacedName',
      'it must be a string',
    ],
    [
      'too many tools',
      dev({ tools: Array.from({ length: 1_001 }, (_, index) => ({ namespacedName: `a.${index}` })) }),
      '/toolsets/dev/tools',
      'it may have at most 1000 tools',
    ],
  ])('is refused with the position: %s', (_what, toolsets, at, reason) => {
    const done = readBundle({ toolsets }, NOW_MS);
    expect(done.ok ? done.value : done.error).toContainEqual({ at, kind: 'invalid', reason });
  });
});

it.each([[{ toolsets: [{ name: 'dev', tools: [] }], equipped: 'dev' }], [{ name: 'dev', tools: [] }]])(
  'a document of toolsets from an earlier build is refused, with what to do: %j',
  (value) => {
    const reason =
      'this is a document of toolsets as earlier builds wrote it, which is not read. Export the toolsets again, with `assay export --toolset NAME`';
    expect(readBundle(value, NOW_MS)).toEqual({ ok: false, error: [{ at: '', kind: 'invalid', reason }] });
  },
);
