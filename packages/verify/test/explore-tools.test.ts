import { expect, it } from 'vitest';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { exploreTools, type Explored, type ExploreRun } from '../src/experiment/explore-tools.ts';
import { prepareServer } from '../src/experiment/prepare-server.ts';
import type { ListedTool } from '../src/experiment/sandboxed-server.ts';
import { isSuccess } from '../src/judge/trial.ts';
import { answer, observation } from './observations.ts';

type Body = (args: JsonObject) => string;

type Tools = Readonly<Record<string, { readonly needs?: JsonObject; readonly body: Body }>>;

const listed = (tools: Tools): readonly ListedTool[] =>
  Object.entries(tools).map(([name, { needs = {} }]) => ({
    ...{ name, description: '', annotations: {}, digest: 'd' },
    inputSchema: { type: 'object', properties: needs, required: Object.keys(needs) },
  }));

/** A server in this process. `calls`: the names of the tools that were called, in order. */
function serverOf(tools: Tools, calls: string[] = []) {
  return {
    hasEnded: false,
    call: (name: string, args: JsonObject) => {
      calls.push(name);
      try {
        const text = tools[name]?.body(args) ?? '';
        return Promise.resolve({
          answer: { ...answer(), text },
          result: { content: [{ type: 'text', text }] },
        });
      } catch (error) {
        const text = error instanceof Error ? error.message : '';
        return Promise.resolve({ answer: { ...answer(), isError: true, text } });
      }
    },
    observe: () => Promise.resolve(observation()),
    close: () => Promise.resolve(),
  };
}

function explore(tools: Tools, calls: string[] = [], part: Partial<ExploreRun> = {}): Promise<Explored> {
  const server = serverOf(tools, calls);
  return exploreTools(server, {
    tools: listed(tools),
    place: { folder: '/seed', files: ['/seed/notes.txt'], folders: [] },
    given: () => [],
    reopen: () => Promise.resolve(server),
    ...{ callMs: 1_000, timeMs: 10_000, settleMs: 0, signal: new AbortController().signal },
    ...part,
  });
}

const text = { type: 'string' };
const fail = (message: string): never => {
  throw new Error(message);
};

it('each tool is called once before any is called again, and what removes comes last', async () => {
  const calls: string[] = [];
  const refuses = (): string => fail('The value is invalid');
  const needs = { bed: { ...text, examples: ['north', 'south', 'west'] } };
  await explore(
    {
      remove_bed: { needs, body: refuses },
      water_bed: { needs, body: refuses },
      list_beds: { body: () => '[]' },
      create_bed: { needs, body: refuses },
    },
    calls,
  );
  expect(calls.slice(0, 4)).toEqual(['list_beds', 'create_bed', 'water_bed', 'remove_bed']);
  expect(calls.filter((name) => name === 'water_bed').length).toBeLessThanOrEqual(15);
});

it('a tool that takes the id of a created thing is called with it, also in another process', async () => {
  let next = 100;
  const beds = new Set<string>();
  const tools: Tools = {
    water_bed: {
      needs: { bed_id: text },
      body: ({ bed_id: id }) => (beds.has(String(id)) ? 'wet' : fail('No such bed')),
    },
    create_bed: {
      needs: { name: text },
      body: () => {
        const id = `bed-${(next += 1)}`;
        beds.add(id);
        return JSON.stringify({ id });
      },
    },
  };
  const { tools: explored } = await explore(tools);
  const { sets, setups } = explored.get('water_bed') ?? fail('not explored');
  expect(sets).toMatchObject([{ args: { bed_id: 'bed-101' }, origin: 'chained' }]);
  expect(setups[0]).toMatchObject([{ tool: 'create_bed' }]);
  beds.clear();
  const run = { signal: new AbortController().signal, pace: { callLimitMs: 1_000 } };
  const replace = await prepareServer(serverOf(tools), setups[0] ?? [], run);
  expect(sets.map(replace)).toMatchObject([{ args: { bed_id: 'bed-102' } }]);
});

it('a server that no longer answers is started again, and the tools after it are called', async () => {
  let starts = 0;
  const calls: string[] = [];
  const tools: Tools = { check_a: { body: () => 'hung' }, check_b: { body: () => 'done' } };
  const server = serverOf(tools, calls);
  const hangs = { kind: 'failed', reason: 'timeout', text: '' } as const;
  const broken = { ...server, call: () => Promise.resolve({ answer: hangs }) };
  const { tools: explored } = await exploreTools(broken, {
    tools: listed(tools),
    place: { folder: '/seed', files: [], folders: [] },
    given: () => [],
    reopen: () => {
      starts += 1;
      return Promise.resolve(server);
    },
    ...{ callMs: 1_000, timeMs: 10_000, settleMs: 0, signal: new AbortController().signal },
  });
  expect(starts).toBe(1);
  expect(explored.get('check_b')?.attempts.map(({ answer: { text: own } }) => own)).toEqual(['done']);
});

it('a call that took too long is made again with small numbers', async () => {
  const tools: Tools = { wait: { needs: { seconds: { type: 'number', default: 30 } }, body: () => 'done' } };
  const server = serverOf(tools);
  const hangs = { kind: 'failed', reason: 'timeout', text: '' } as const;
  const slow = {
    ...server,
    call: (name: string, args: JsonObject) =>
      Number(args['seconds']) > 5 ? Promise.resolve({ answer: hangs }) : server.call(name, args),
  };
  const { tools: explored } = await exploreTools(slow, {
    tools: listed(tools),
    place: { folder: '/seed', files: [], folders: [] },
    given: () => [],
    reopen: () => Promise.resolve(slow),
    ...{ callMs: 1_000, timeMs: 10_000, settleMs: 0, signal: new AbortController().signal },
  });
  expect(explored.get('wait')?.attempts.map(({ args }) => args)).toEqual([{ seconds: 30 }, { seconds: 1 }]);
});

it('nothing is called after the time limit', async () => {
  const calls: string[] = [];
  await explore({ list_beds: { body: () => '[]' } }, calls, { timeMs: -1 });
  expect(calls).toEqual([]);
});

it('a tool that an answer asks to call first is called, also before the calls in another process', async () => {
  let isOpen = false;
  const calls: string[] = [];
  const tools: Tools = {
    list_beds: { body: () => (isOpen ? '[]' : fail('Not ready. Call open_garden first.')) },
    open_garden: {
      body: () => {
        isOpen = true;
        return 'open';
      },
    },
  };
  const { tools: explored } = await explore(tools, calls);
  expect(calls.slice(0, 3)).toEqual(['list_beds', 'open_garden', 'list_beds']);
  expect(explored.get('list_beds')?.setups[0]).toMatchObject([{ tool: 'open_garden' }]);
});

it('what an answer asked for is called before other tools too, however many came between', async () => {
  let isOpen = false;
  const plants = Array.from(
    { length: 14 },
    (_, at) => [`add_plant_${at}`, { body: () => 'planted' }] as const,
  );
  const tools: Tools = {
    list_beds: { body: () => (isOpen ? '[]' : fail('Not ready. Call open_garden first.')) },
    ...Object.fromEntries(plants),
    open_garden: {
      body: () => {
        isOpen = true;
        return 'open';
      },
    },
    view_garden: { body: () => (isOpen ? 'green' : fail('Not ready')) },
  };
  const { tools: explored } = await explore(tools);
  const setups = explored.get('view_garden')?.setups ?? [];
  expect(setups.map((setup) => setup.map(({ tool }) => tool))).toMatchObject([
    [],
    ['open_garden'],
    expect.anything(),
  ]);
  expect(setups.at(-1)?.length).toBe(12);
});

it('a tool without parameters is called again after others have changed something', async () => {
  let beds = 0;
  const tools: Tools = {
    list_beds: { body: () => (beds > 0 ? 'north' : fail('Nothing here')) },
    create_bed: { needs: { name: text }, body: () => `bed ${(beds += 1)}` },
  };
  const { tools: explored } = await explore(tools);
  expect(explored.get('list_beds')?.attempts.map(({ answer: own }) => isSuccess(own))).toEqual([false, true]);
});

it('tools that ask for each other are not called without end', async () => {
  const calls: string[] = [];
  const needs = { name: text };
  await explore(
    {
      open_bed: { needs, body: () => fail('Call open_garden first') },
      open_garden: { needs, body: () => fail('Call open_bed first') },
    },
    calls,
  );
  expect(calls.length).toBeLessThanOrEqual(60);
});

it('a tool that fails in the same way with all arguments is called in a new process', async () => {
  let isUsed = false;
  const use = (): string => {
    if (isUsed) return fail('The settings conflict with those of the first call');
    isUsed = true;
    return 'done';
  };
  const needs = { name: text };
  const tools: Tools = { dig_bed: { needs, body: use }, rake_bed: { needs, body: use } };
  const server = serverOf(tools);
  const { tools: explored } = await explore(tools, [], {
    reopen: () => {
      isUsed = false;
      return Promise.resolve(server);
    },
  });
  const { attempts, setups } = explored.get('rake_bed') ?? fail('not explored');
  expect(attempts.at(-1)).toMatchObject({ answer: { text: 'done' } });
  expect(setups[0]).toEqual([]);
});

it('what a tool has removed is created again for those that failed without it', async () => {
  const beds = new Map<string, number>();
  let next = 0;
  const needs = { bed_id: text };
  const tools: Tools = {
    create_bed: {
      needs: { name: text },
      body: () => {
        beds.set(`bed-${(next += 1)}`, 0);
        return JSON.stringify({ id: `bed-${next}` });
      },
    },
    remove_bed: { needs, body: ({ bed_id: id }) => (beds.delete(String(id)) ? 'gone' : fail('No such bed')) },
    mulch: {
      needs: { ...needs, depth: text },
      body: ({ bed_id: id, depth }) => {
        if (!beds.has(String(id))) return fail(`Bed ${String(id)} not found`);
        return depth === '5' ? 'done' : fail('depth must be one of: 5');
      },
    },
  };
  const { tools: explored } = await explore(tools);
  expect(explored.get('mulch')?.sets).toMatchObject([{ args: { bed_id: 'bed-2', depth: '5' } }]);
  expect(explored.get('mulch')?.setups[0]?.at(-1)).toMatchObject({ tool: 'create_bed' });
});
