import { describe, expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import { findMemoryChanges } from '../src/experiment/memory-changes.ts';
import type { FoundValue } from '../src/arguments/knowledge.ts';
import type { CallableTool } from '../src/experiment/views.ts';
import type { CalledServer } from '../src/experiment/run-tool.ts';

const ARGS = [{ args: {}, origin: 'generated', shape: '{}' }] as const;
const TOOLS: readonly CallableTool[] = ['list_notes', 'check_notes'].map((name) => ({
  name,
  isReadOnly: true,
  isIdempotent: false,
  isAdditive: false,
  sets: ARGS,
  variants: [],
  setup: [],
}));
const IDEMPOTENT = {
  ...{ name: 'water_plant', isReadOnly: false, isIdempotent: true, isAdditive: false },
  ...{ sets: ARGS, variants: [], setup: [] },
};

type Notes = (calls: readonly string[]) => string;

/** The tools after whose calls `list_notes` shows other data. `notes`: what it shows, given the calls so far. */
async function contradicted(notes: Notes, tools = TOOLS): Promise<readonly string[]> {
  return [...(await findChanges(notes, tools)).keys()];
}

async function argumentsThatChange(notes: Notes, tools = TOOLS): Promise<readonly unknown[]> {
  return [...(await findChanges(notes, tools)).values()]
    .flat()
    .flatMap(({ evidence }) => evidence.map(({ args }) => args));
}

function findChanges(notes: Notes, tools: readonly CallableTool[]): ReturnType<typeof findMemoryChanges> {
  const openServer = (): CalledServer => {
    const calls: string[] = [];
    return {
      hasEnded: false,
      openMs: 0,
      call: (name, args) => {
        calls.push([name, ...Object.values(args)].join(' '));
        const result = { content: [{ type: 'text', text: notes(calls) }] };
        return Promise.resolve({ answer: { kind: 'result', isError: false, digest: '', text: '' }, result });
      },
      observe: () => Promise.reject(new Error('not observed')),
      finish: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
  };
  return findMemoryChanges(tools, {
    pace: { controlMs: 0, startMs: 0, settleMs: 0, lateMs: 0, roundMs: 0, callLimitMs: 1_000, repeats: 2 },
    ...{ seed: '', startTargets: new Set(), openServer: () => Promise.resolve(ok(openServer())) },
    ...{ creatingCalls: [], signal: new AbortController().signal },
  });
}

describe('a tool that says that it only reads', () => {
  it('is contradicted if what another tool shows differs after it was called, also only the first time', async () => {
    expect(
      await contradicted((calls) => `note ${calls.includes('check_notes') ? 'checked' : 'new'}`),
    ).toEqual(['check_notes']);
    expect(await contradicted(() => 'note new')).toEqual([]);
  });

  it('is contradicted with the one variant of its arguments after which another tool shows something else', async () => {
    const variants = ['all', 'new', 'old'].map((which) => ({
      ...({ args: { which }, origin: 'example', shape: '{}' } as const),
    }));
    const tools = TOOLS.map((tool) => (tool.name === 'check_notes' ? { ...tool, variants } : tool));
    const notes = (calls: readonly string[]): string =>
      `note${calls.includes('check_notes new') ? ' read' : ''}`;
    expect(await contradicted(notes, tools)).toEqual(['check_notes']);
    expect(await argumentsThatChange(notes, tools)).toEqual([{ which: 'new' }]);
    expect(await contradicted(() => 'note', tools)).toEqual([]);
  });

  it('is called after the calls that it needs, with the values of that server', async () => {
    const id = (value: string): FoundValue => ({ noun: 'note', member: 'id', value });
    const setup = [{ tool: 'add_note', args: {}, values: [id('n-1')] }];
    const sets = [{ args: { id: 'n-1' }, origin: 'chained', shape: '{}' }] as const;
    const tools = TOOLS.map((tool) => (tool.name === 'check_notes' ? { ...tool, sets, setup } : tool));
    // Each server has an id of its own.
    const notes: Notes = (calls) =>
      calls.at(-1) === 'add_note'
        ? JSON.stringify({ id: 'n-2' })
        : `note${calls.includes('check_notes n-2') ? ' checked' : ''}`;
    expect(await contradicted(notes, tools)).toEqual(['check_notes']);
  });

  it('is contradicted by an amount, and not by a number of requests, which may be listed too', async () => {
    const checked = (calls: readonly string[]): number =>
      calls.filter((name) => name === 'check_notes').length;
    const shown = (member: string): Promise<readonly string[]> =>
      contradicted(
        (calls) => JSON.stringify({ name: 'note', [member]: checked(calls) }),
        [{ ...TOOLS[0], name: 'list_pull_requests' } as CallableTool, ...TOOLS.slice(1)],
      );
    expect(await shown('litres')).toEqual(['check_notes']);
    expect(await shown('requests')).toEqual([]);
  });

  // Readings pass as time does. New servers repeat what happens some time after their start.
  it.each([2, 3, 4, 5, 6, 7, 8, 9])(
    'is not contradicted by what changes by itself after every %i readings',
    async (every) => {
      for (let offset = 0; offset < every; offset += 1)
        expect(
          await contradicted(
            (calls) => `alert ${'abcdefghijklmnopqrstuvwxyz'.charAt((calls.length + offset) / every)}`,
          ),
        ).toEqual([]);
    },
  );

  it('is not contradicted by what changes once by itself', async () => {
    for (let after = 0; after < 24; after += 1)
      expect(await contradicted((calls) => (calls.length > after ? 'ready' : 'loading'))).toEqual([]);
  });
});

describe('a tool that says that it only adds', () => {
  const additive = { ...IDEMPOTENT, name: 'plant_rose', isIdempotent: false, isAdditive: true };
  const broken = (notes: Notes): Promise<readonly string[]> => contradicted(notes, [...TOOLS, additive]);
  const planted = (calls: readonly string[]): number => calls.filter((name) => name === 'plant_rose').length;
  const asJson = (...beds: readonly string[]): string =>
    JSON.stringify({ beds: beds.map((name) => ({ name })) });

  it('is contradicted by data that are gone or replaced afterwards', async () => {
    const lists = [asJson, (...beds: readonly string[]): string => beds.join('\n')];
    for (const list of lists) {
      expect(await broken((calls) => (planted(calls) > 0 ? list('north') : list('north', 'south')))).toEqual([
        'plant_rose',
      ]);
      for (const [old, now] of [
        ['south', 'rose'],
        ['bed of G-1', 'bed of G-2'],
      ] as const)
        expect(await broken((calls) => list('north', planted(calls) > 0 ? now : old))).toEqual([
          'plant_rose',
        ]);
    }
  });

  it.each<[string, (roses: number) => string]>([
    ['one more entry', (roses) => asJson('north', ...Array.from({ length: roses }, () => 'rose'))],
    ['a first entry', (roses) => (roses === 0 ? 'No beds yet.' : 'rose')],
    [
      'the newest entries only',
      (roses) =>
        [
          ...Array.from({ length: roses }, (_, at) => `rose ${'abcdefgh'.charAt(at)}`).reverse(),
          'north',
          'south',
        ]
          .slice(0, 2)
          .join('\n'),
    ],
    ['another number', (roses) => `${roses + 3} beds\nnorth`],
    ['another state', (roses) => JSON.stringify({ bed: 'north', status: roses > 0 ? 'planted' : 'empty' })],
    ['another time', (roses) => JSON.stringify({ bed: 'north', note: `2026-01-15 10:00:0${roses}` })],
  ])('is not contradicted by %s', async (_, show) => {
    expect(await broken((calls) => show(planted(calls)))).toEqual([]);
  });
});

describe('a tool that says that it is idempotent', () => {
  const watered = (calls: readonly string[]): number => calls.filter((name) => name === 'water_plant').length;

  it('is contradicted if another tool shows one more thing after each call', async () => {
    const tools = [...TOOLS, IDEMPOTENT];
    expect(await contradicted((calls) => `plant${' wet'.repeat(watered(calls))}`, tools)).toEqual([
      'water_plant',
    ]);
  });

  it.each<[string, (times: number) => object, readonly string[]]>([
    ['an amount', (times) => ({ litres: 5 * times }), ['water_plant']],
    ['a revision', (times) => ({ revision: times }), []],
    ['the time of the last change', (times) => ({ updatedAt: 1_700_000_000 + times }), []],
    ['how often it was looked at', (times) => ({ views: times }), []],
  ])('and after each call %s grows', async (_, show, found) => {
    const notes: Notes = (calls) => JSON.stringify({ name: 'rose', ...show(watered(calls)) });
    expect(await contradicted(notes, [...TOOLS, IDEMPOTENT])).toEqual(found);
  });

  it('is not contradicted by a number that grows anyway', async () => {
    const notes: Notes = (calls) => JSON.stringify({ name: 'rose', days: calls.length });
    expect(await contradicted(notes, [...TOOLS, IDEMPOTENT])).toEqual([]);
  });

  it('is not contradicted by what only its first call changes', async () => {
    const tools = [...TOOLS, IDEMPOTENT];
    expect(await contradicted((calls) => `plant${watered(calls) > 0 ? ' wet' : ''}`, tools)).toEqual([]);
  });
});
