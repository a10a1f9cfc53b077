import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashDefinition } from '../../src/core/digest.ts';
import { findNoteFault, type Note } from '../../src/core/notes.ts';
import { readToolsetJson, type ReadToolsets } from '../../src/core/read-toolset-json.ts';
import { err, ok } from '../../src/core/result.ts';
import { computeRefId } from '../../src/core/record-ids.ts';
import { toToolsetsJson } from '../../src/core/toolset-json.ts';
import { findToolsetNameFault, type Toolset, type ToolsetTool } from '../../src/core/toolset.ts';
import { jsonText } from '../support/json-texts.ts';

const NOW_MS = 1_790_000_000_000;

const timeMs = fc.integer({ min: -62_198_755_200_000, max: 8_640_000_000_000_000 });
const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const toolName = fc.tuple(fc.constantFrom('git', 'a.b', 'x_y'), anyText);
const tool: fc.Arbitrary<ToolsetTool> = fc
  .tuple(toolName, fc.option(jsonText, { nil: undefined }))
  .map(([[server, name], text]) => {
    const namespacedName = `${server}.${name}`;
    if (text === undefined) return { namespacedName };
    const digest = hashDefinition(text);
    return { namespacedName, held: { refId: computeRefId(server, digest), digest, text } };
  });
const note: fc.Arbitrary<Note> = fc.record({
  name: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
  note: fc
    .string({ unit: 'binary', minLength: 1, maxLength: 300 })
    .filter((text) => findNoteFault(text) === undefined),
  author: anyText,
  by: fc.constantFrom('model', 'operator'),
  writtenMs: timeMs,
  isHeld: fc.boolean(),
});
const toolNotes = fc.record({
  namespacedName: fc.oneof(
    toolName.map(([server, name]) => `${server}.${name}`),
    anyText,
  ),
  notes: fc.uniqueArray(note, { selector: ({ name }) => name, minLength: 1, maxLength: 5 }),
});
const toolset: fc.Arbitrary<Toolset> = fc.record(
  {
    name: fc.stringMatching(/^[a-z0-9-]{2,50}$/).filter((name) => findToolsetNameFault(name) === undefined),
    description: anyText,
    createdMs: timeMs,
    changedMs: timeMs,
    tools: fc.uniqueArray(tool, { selector: ({ namespacedName }) => namespacedName, maxLength: 5 }),
    toolNotes: fc.uniqueArray(toolNotes, { selector: ({ namespacedName }) => namespacedName, maxLength: 4 }),
  },
  { requiredKeys: ['name', 'createdMs', 'changedMs', 'tools', 'toolNotes'] },
);

describe('toolsets as JSON', () => {
  it('survive writing and reading', () => {
    const several = fc.uniqueArray(toolset, { selector: ({ name }) => name, maxLength: 3 });
    fc.assert(
      fc.property(several, fc.nat({ max: 3 }), (toolsets, place) => {
        const equipped = toolsets[place]?.name;
        const text = JSON.stringify(toToolsetsJson(toolsets, equipped));
        expect(readToolsetJson(text, NOW_MS)).toEqual(ok({ toolsets, equipped, leftOut: [] }));
      }),
    );
  });

  it('are written in this form', () => {
    const definition = '{"name":"b", "n":1.0}';
    const digest = hashDefinition(definition);
    const refId = computeRefId('a', digest);
    const writer: Omit<Note, 'name' | 'by' | 'isHeld'> = { note: 'N.', author: 'ci', writtenMs: 2_000 };
    const dev: Toolset = {
      name: 'dev',
      description: 'For work',
      createdMs: 0,
      changedMs: 1_000,
      tools: [
        { namespacedName: 'a.b', held: { refId, digest, text: definition } },
        { namespacedName: 'a.c' },
      ],
      toolNotes: [
        {
          namespacedName: 'a.b',
          notes: [
            { ...writer, name: 'held', by: 'model', isHeld: true },
            { ...writer, name: 'read', by: 'operator', isHeld: false },
          ],
        },
      ],
    };
    const written = { note: 'N.', author: 'ci', writtenAt: '1970-01-01T00:00:02.000Z' };
    expect(toToolsetsJson([dev], 'dev')).toEqual({
      toolsets: [
        {
          name: 'dev',
          description: 'For work',
          version: '1.0.0',
          createdAt: '1970-01-01T00:00:00.000Z',
          lastModified: '1970-01-01T00:00:01.000Z',
          tools: [{ namespacedName: 'a.b', refId, definition }, { namespacedName: 'a.c' }],
          toolNotes: [
            {
              toolRef: { namespacedName: 'a.b' },
              notes: [
                { ...written, name: 'held', by: 'model', isHeld: true },
                { ...written, name: 'read', by: 'operator' },
              ],
            },
          ],
        },
      ],
      equipped: 'dev',
    });
  });
});

describe('a HyperTool toolset', () => {
  const own = {
    name: 'dev',
    version: '1.0.0',
    createdAt: '2026-01-02T03:04:05.006Z',
    tools: [{ namespacedName: 'git.status', refId: 'ab'.repeat(32) }, { refId: 'cd'.repeat(32) }],
  };
  const createdMs = Date.parse(own.createdAt);
  const read: Toolset = {
    name: 'dev',
    createdMs,
    changedMs: createdMs,
    tools: [{ namespacedName: 'git.status' }],
    toolNotes: [],
  };
  const alone = 'it has only a refId, and refIds of other programs are not valid here';
  const leftOut = [{ toolset: 'dev', tool: `refId ${'cd'.repeat(32)}`, reason: alone }];

  it('can be read bare, without notes as older ones are, and the error names a tool without a name', () => {
    expect(readToolsetJson(JSON.stringify(own), NOW_MS)).toEqual(
      ok({ toolsets: [read], equipped: undefined, leftOut }),
    );
  });

  it('is read from config.json, with the toolset equipped last and its notes as the operator’s', () => {
    const toolRef = { namespacedName: 'git.status', refId: 'ab'.repeat(32) };
    const notes = [
      { name: 'a', note: 'First.' },
      { name: 'BAD NAME!', note: 'x' },
      { name: 'long', note: 'x'.repeat(2_001) },
      { name: 'a', note: 'Second.' },
    ];
    const config = {
      toolsets: {
        dev: { ...own, lastModified: '2026-02-03T00:00:00.000Z', toolNotes: [{ toolRef, notes }] },
      },
      mcpConfigPath: '/x/mcp.json',
      lastEquippedToolset: 'dev',
      serverSettings: { maxConcurrentConnections: 20 },
      version: '1.0.0',
      lastUpdated: '2026-02-03T00:00:00.000Z',
    };
    const changedMs = Date.parse('2026-02-03T00:00:00.000Z');
    const first: Note = {
      ...{ name: 'a', note: 'First.', author: 'local', by: 'operator', writtenMs: changedMs, isHeld: false },
    };
    const left = (note: string, reason: string) => ({ toolset: 'dev', tool: 'git.status', note, reason });
    const expected: ReadToolsets = {
      toolsets: [{ ...read, changedMs, toolNotes: [{ namespacedName: 'git.status', notes: [first] }] }],
      equipped: 'dev',
      leftOut: [
        ...leftOut,
        left('BAD NAME!', 'as the name of a note it may contain only lowercase letters, digits and hyphens'),
        left('long', 'it may have at most 2000 characters; this has 2001'),
        left('a', 'its tool already has a note with this name'),
      ],
    };
    expect(readToolsetJson(JSON.stringify(config), NOW_MS)).toEqual(ok(expected));
  });

  it('keeps the first 50 notes of a tool', () => {
    const notes = Array.from({ length: 52 }, (_, index) => ({ name: `n${index}`, note: 'x' }));
    const text = JSON.stringify({
      ...own,
      toolNotes: [{ toolRef: { namespacedName: 'git.status' }, notes }],
    });
    const given = readToolsetJson(text, NOW_MS);
    expect(given.ok && given.value.toolsets[0]?.toolNotes[0]?.notes.length).toBe(50);
    expect(given.ok && given.value.leftOut.slice(1).map((one) => one.note)).toEqual(['n50', 'n51']);
  });

  it('is not equipped if HyperTool had none equipped, or one that no longer exists', () => {
    for (const lastEquippedToolset of [null, 'gone'])
      expect(readToolsetJson(JSON.stringify({ toolsets: {}, lastEquippedToolset }), NOW_MS)).toEqual(
        ok({ toolsets: [], equipped: undefined, leftOut: [] }),
      );
  });
});

describe('a file without valid toolsets', () => {
  const one = (more: object): string => JSON.stringify({ toolsets: [{ name: 'dev', tools: [], ...more }] });
  const notes = (note: object): string =>
    one({ toolNotes: [{ toolRef: { namespacedName: 'a.b' }, notes: [{ name: 'n', note: 'x', ...note }] }] });
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['not JSON', '{"a"', 'the document', 'it is not JSON'],
    ['a number', '1', 'the document', 'it must be an object with "toolsets" or "tools"'],
    ['an empty object', '{}', 'the document', 'it must be an object with "toolsets" or "tools"'],
    [
      'a config file of servers',
      '{"mcpServers":{}}',
      'the document',
      'it must be an object with "toolsets" or "tools"',
    ],
    ['a string as toolsets', '{"toolsets":"x"}', 'toolsets', 'it must be an object'],
    ['a toolset that is not an object', '{"toolsets":[1]}', 'toolsets.0.name', 'it is missing'],
    ['a toolset without a name', '{"tools":[]}', 'name', 'it is missing'],
    ['a toolset without tools', '{"toolsets":{"dev":{}}}', 'toolsets.dev.tools', 'it is missing'],
    [
      'an invalid name',
      '{"toolsets":{"Dev":{"tools":[]}}}',
      'toolsets.Dev',
      'it takes 2 to 50 lowercase letters, digits and hyphens',
    ],
    [
      'a reserved name',
      one({ name: 'all' }),
      'toolsets.0.name',
      '"all" means all tools and cannot name a toolset',
    ],
    [
      'a duplicate name',
      '{"toolsets":[{"name":"dev","tools":[]},{"name":"dev","tools":[]}]}',
      'toolsets',
      'two are called "dev"',
    ],
    [
      'an unsupported version',
      one({ version: '2.0.0' }),
      'toolsets.0.version',
      'this Assay reads only 1.0.0',
    ],
    ['an invalid time', one({ createdAt: 'May 5' }), 'toolsets.0.createdAt', 'it must be a time in ISO 8601'],
    [
      'a long description',
      one({ description: 'x'.repeat(201) }),
      'toolsets.0.description',
      'it may have at most 200 characters',
    ],
    [
      'a tool without a name or refId',
      one({ tools: [{}] }),
      'toolsets.0.tools.0',
      'it must have namespacedName or refId',
    ],
    [
      'a name that is not a string',
      one({ tools: [{ namespacedName: 1 }] }),
      'toolsets.0.tools.0.namespacedName',
      'it must be a string',
    ],
    [
      'a definition without its refId',
      one({ tools: [{ namespacedName: 'a.b', definition: '{}' }] }),
      'toolsets.0.tools.0.refId',
      'it is missing',
    ],
    [
      'a definition with the refId of another one',
      one({ tools: [{ namespacedName: 'a.b', refId: 'ab'.repeat(16), definition: '{}' }] }),
      'toolsets.0.tools.0.refId',
      'it is not that of the definition beside it',
    ],
    [
      'too many tools',
      one({ tools: Array.from({ length: 1_001 }, (_, index) => ({ namespacedName: `a.${index}` })) }),
      'toolsets.0.tools',
      'it may have at most 1000 tools',
    ],
    ['notes that are not a list', one({ toolNotes: {} }), 'toolsets.0.toolNotes', 'it must be a list'],
    [
      'an unknown kind of author',
      notes({ by: 'god' }),
      'toolsets.0.toolNotes.0.notes.0.by',
      'it must be one of model, operator',
    ],
    [
      'a flag that is not a boolean',
      notes({ isHeld: 1 }),
      'toolsets.0.toolNotes.0.notes.0.isHeld',
      'it must be true or false',
    ],
  ];
  it.each(cases)('is refused with its field: %s', (_what, text, field, reason) => {
    expect(readToolsetJson(text, NOW_MS)).toEqual(err({ code: 'PARAMS_INVALID', field, reason }));
  });
});
