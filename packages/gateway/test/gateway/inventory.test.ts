import { describe, expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import { readList, type Reading } from '../../src/gateway/catalog/inventory.ts';
import { buildListing } from '../../src/gateway/catalog/listing.ts';
import type { ListLimits } from '../../src/gateway/catalog/list-budget.ts';
import type { Server } from '../../src/gateway/catalog/server.ts';
import { readServerMessage } from '@assay-mcp/protocol/message';
import { at, listAt, parseJson, textAt } from '../../../../test/support/json.ts';
import { longestTurn } from '../../../../test/support/turns.ts';
import { listAnswer, listLink, type Lister } from './list-link.ts';
import { listed } from './listed-server.ts';

function reading(limits: ListLimits = {}, before: Reading['before'] = []): Reading {
  return { timeoutMs: 1_000, before, limits };
}

function tools(count: number, pad = ''): string {
  const all = Array.from(
    { length: count },
    (_, n) => `{"name":"t${n}","inputSchema":{"type":"object"}${pad}}`,
  );
  return all.join(',');
}

async function standing(list: Lister, limits: ListLimits = {}): Promise<Server> {
  const server = listed('s', {}, { connect: () => Promise.resolve(ok(listLink(list))), limits });
  server.start();
  await server.settled();
  return server;
}

/** The tool names that clients see, and the reports for operators. */
function shown(server: Server): { readonly names: readonly string[]; readonly reports: readonly string[] } {
  const listing = buildListing({ kind: 'tools', servers: [server], isAggregated: false });
  const page = listing.page('legacy', undefined);
  if (!page.ok) throw new Error(page.error.code);
  const names = listAt(parseJson(page.value.toString()), 'tools').map((tool) => textAt(tool, 'name'));
  return { names, reports: listing.reports.map(({ text }) => text) };
}

describe('a list with duplicate members', () => {
  it('omits definitions that parsers may read differently, and reports why', async () => {
    const server = await standing(
      () =>
        '{"tools":[{"name":"good","inputSchema":{"type":"object"}},' +
        '{"name":"evil","description":"EVIL","description":"Echoes.","inputSchema":{"type":"object"}},' +
        '{"name":"schemas","inputSchema":{"type":"object"},"inputSchema":{"type":"object","properties":{}}},' +
        '{"name":"deep","inputSchema":{"type":"object","properties":{"a":{"type":"string","type":"number"}}}},' +
        '{"name":"cases","Description":"EVIL","description":"Echoes.","inputSchema":{"type":"object"}}]}',
    );
    expect(shown(server)).toEqual({
      names: ['good'],
      reports: [
        's: evil is withheld: the definition holds the key "description" twice',
        's: schemas is withheld: the definition holds the key "inputSchema" twice',
        's: deep is withheld: inputSchema.properties.a holds the key "type" twice',
        's: cases is withheld: the definition holds the keys "Description" and "description", which some readers take for one',
      ],
    });
  });

  it('is refused as a whole if its own keys are duplicated, as is a list without its array', async () => {
    for (const result of [
      '{"tools":[],"tools":[{"name":"t"}]}',
      '{"nextCursor":"a","tools":[],"nextCursor":"b"}',
    ])
      expect(readServerMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`))).toMatchObject({
        kind: 'none',
        fault: 'ambiguous',
      });
    const read = await readList(
      listLink(() => '{"tools":{}}'),
      'tools',
      reading(),
    );
    expect(read).toEqual({
      ok: false,
      error: { code: 'LIST_INVALID', method: 'tools/list', reason: 'it has no "tools" array' },
    });
  });
});

describe('a tool whose input schema refers to nothing', () => {
  it('is listed unchanged, and reported', async () => {
    const inputSchema = '{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}';
    const server = await standing(() => `{"tools":[{"name":"a","inputSchema":${inputSchema}},${tools(1)}]}`);
    expect(shown(server)).toEqual({
      names: ['a', 't0'],
      reports: [
        's: a is listed unchanged, although inputSchema.properties.a.$ref names nothing in this schema',
      ],
    });
    const [read] = server.inventory.tools;
    expect(at(parseJson(String(read?.bytes)), 'inputSchema')).toEqual(parseJson(inputSchema));
  });
});

describe('a list with an empty cursor', () => {
  const tool = (name: string): string => `{"name":"${name}","inputSchema":{"type":"object"}}`;
  const first = `{"tools":[${tool('a')},${tool('b')}],"nextCursor":""}`;
  const isFirst = (params: string): boolean => !params.includes('"cursor"');

  it('goes on with the page of that cursor', async () => {
    const server = await standing((_, params) => (isFirst(params) ? first : `{"tools":[${tool('c')}]}`));
    expect(shown(server)).toEqual({ names: ['a', 'b', 'c'], reports: [] });
  });

  it.each(['"jsonrpc":"2.0","id":1', '"id":2,"jsonrpc":"2.0"'])(
    'ends there if its server refuses the empty cursor (%s)',
    async (head) => {
      const refusal = readServerMessage(
        Buffer.from(`{${head},"error":{"code":-32602,"message":"Invalid cursor"}}`),
      );
      if (refusal.kind !== 'response') throw new Error('no response');
      const server = await standing((_, params) => (isFirst(params) ? first : refusal));
      expect(shown(server)).toEqual({ names: ['a', 'b'], reports: [] });
    },
  );

  it('ends there if its server answers with a page that it has sent, at the limit of entries too', async () => {
    let pages = 0;
    const server = await standing(
      () => {
        pages += 1;
        return first;
      },
      { listEntries: 2 },
    );
    expect([pages, shown(server)]).toEqual([2, { names: ['a', 'b'], reports: [] }]);
  });
});

describe('a list whose server ignores cursors', () => {
  it('ends with the first page that repeats another, whatever cursor comes with it', async () => {
    let pages = 0;
    const server = await standing(() => {
      pages += 1;
      return `{"tools":[${tools(3)}],"nextCursor":"${pages}"}`;
    });
    expect([pages, shown(server)]).toEqual([2, { names: ['t0', 't1', 't2'], reports: [] }]);
  });

  it('is read on while pages only begin like another', async () => {
    const tool = (name: string): string => `{"name":"${name}","inputSchema":{"type":"object"}}`;
    const pages = [['a', 'b'], ['a', 'c'], ['a'], ['d']];
    const server = await standing((_, params) => {
      const at = Number(/"cursor":"(\d)"/.exec(params)?.[1] ?? 0);
      const next = at + 1 < pages.length ? `,"nextCursor":"${at + 1}"` : '';
      return `{"tools":[${(pages[at] ?? []).map(tool).join(',')}]${next}}`;
    });
    expect(shown(server)).toEqual({
      names: ['a', 'b', 'c', 'd'],
      reports: ['s: a is hidden, s has it already', 's: a is hidden, s has it already'],
    });
  });
});

describe('an endless list', () => {
  it('is read up to the limit of entries, page by page', async () => {
    let pages = 0;
    const server = await standing(
      () => {
        const names = [0, 1, 2, 3].map((n) => `{"name":"t${pages * 4 + n}","inputSchema":{"type":"object"}}`);
        pages += 1;
        return `{"tools":[${names.join(',')}],"nextCursor":"${pages}"}`;
      },
      { listEntries: 10 },
    );
    const { names, reports } = shown(server);
    expect([names.length, pages]).toEqual([10, 3]);
    expect(reports).toEqual([
      's: only the first 10 of its tools are listed: Assay accepts at most 10 of them from one server',
    ]);
  });

  it('is read up to the limit of bytes', async () => {
    const server = await standing(() => `{"tools":[${tools(50, `,"x":"${'x'.repeat(100)}"`)}]}`, {
      listBytes: 1_600,
    });
    const { names, reports } = shown(server);
    expect(names).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9']);
    expect(reports).toEqual([
      's: only the first 10 of its tools are listed: Assay accepts at most 1600 bytes of them from one server',
    ]);
  });

  it('omits definitions that are too large to be checked', async () => {
    const many = Array.from({ length: 20_001 }, () => '0').join(',');
    const server = await standing(
      () =>
        `{"tools":[{"name":"text","x":"${'x'.repeat(1_048_576)}"},{"name":"values","x":[${many}]},${tools(1)}]}`,
    );
    expect(shown(server)).toEqual({
      names: ['t0'],
      reports: [
        's: 2 of its tools are left out: their definitions have more than 1048576 bytes or 20000 values',
      ],
    });
  });
});

describe('a large list', () => {
  const TINY = Array.from({ length: 300_000 }, (_, n) => `{"name":"${n}"}`).join(',');

  it('does not block the event loop, whether it is truncated or read completely', async () => {
    const answer = listAnswer(`{"_meta":{"x":[${TINY}]},"tools":[${TINY}]}`);
    const link = listLink(() => answer);
    expect((await longestTurn(() => readList(link, 'tools', reading()))).cpuMs).toBeLessThan(250);
    const whole = listAnswer(`{"tools":[${tools(100_000)}]}`);
    let count = 0;
    const { cpuMs } = await longestTurn(async () => {
      const read = await readList(
        listLink(() => whole),
        'tools',
        reading({ listEntries: 100_000 }),
      );
      if (read.ok) count = read.value.definitions.length;
    });
    expect(cpuMs).toBeLessThan(250);
    expect(count).toBe(100_000);
  });

  it('reuses the definitions that have not changed', async () => {
    const answer = listAnswer(`{"tools":[${tools(1_000)}]}`);
    const first = await readList(
      listLink(() => answer),
      'tools',
      reading(),
    );
    const before = first.ok ? first.value.definitions : [];
    const again = await readList(
      listLink(() => answer),
      'tools',
      reading({}, before),
    );
    expect(again.ok && again.value.definitions.every((one, at) => one === before[at])).toBe(true);
  });

  const LARGEST = 19_000;
  const members = (part: (n: number) => string): string =>
    Array.from({ length: LARGEST / 2 }, (_, n) => part(n)).join(',');

  it.each([
    ['keys', `{"name":"t","inputSchema":{"type":"object"},${members((n) => `"k${n}":0`)}}`],
    [
      'schemas',
      `{"name":"t","inputSchema":{"type":"object","properties":{${members((n) => `"k${n}":{}`)}}}}`,
    ],
    ['arrays', `{"name":"t","inputSchema":{"type":"object"},"x":[${members(() => '[]')}]}`],
    [
      'patterns',
      `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","patternProperties":{${members((n) => `"^(a+)+${n}$":{}`)}}}}`,
    ],
    ['escapes', `{"name":"t","inputSchema":{"type":"object"},"x":"${'\\"'.repeat(500_000)}"}`],
  ])('does not block the event loop with definitions of the maximum size and many %s', async (_, text) => {
    const answer = listAnswer(`{"tools":[${text},${text.replace('"t"', '"u"')}]}`);
    let names: readonly (string | undefined)[] = [];
    const { cpuMs } = await longestTurn(async () => {
      const read = await readList(
        listLink(() => answer),
        'tools',
        reading(),
      );
      if (read.ok) names = read.value.definitions.map(({ key }) => key);
    });
    expect(cpuMs).toBeLessThan(250);
    expect(names).toEqual(['t', 'u']);
  });
});
