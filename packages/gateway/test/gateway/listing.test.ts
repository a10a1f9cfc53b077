import { describe, expect, it } from 'vitest';
import { buildListing, PAGE_SIZE, type Listing } from '../../src/gateway/catalog/listing.ts';
import type { ListKind } from '../../src/gateway/ports/link.ts';
import type { Server } from '../../src/gateway/catalog/server.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import { listAt, parseJson, type Json } from '../../../../test/support/json.ts';
import { definition, listed, resource, tool } from './listed-server.ts';

function listing(servers: readonly Server[], kind: ListKind = 'tools', isAggregated = true): Listing {
  return buildListing({ kind, servers, isAggregated });
}

function page(list: Listing, era: Era = 'legacy', cursor?: string): Json | string {
  const made = list.page(era, { cursor });
  return made.ok ? parseJson(made.value.toString()) : made.error.code;
}

const BAD_HINT = tool('bad', { annotations: { title: 'B', readOnlyHint: 'yes' } });
const NO_SCHEMA = { name: 'broken' };

describe('a list', () => {
  it('joins the lists of its servers in order, under public names', () => {
    const list = listing([
      listed('a', { tools: [tool('x'), tool('y')] }),
      listed('b', { tools: [tool('x')] }),
    ]);
    expect(page(list)).toEqual({ tools: [tool('a_x'), tool('a_y'), tool('b_x')] });
    expect([list.find('b_x')?.name, list.find('b_x')?.server.spec.name]).toEqual(['x', 'b']);
    expect([list.find('x'), list.reports]).toEqual([undefined, []]);
  });

  it("of one server keeps that server's names", () => {
    const list = listing([listed('a', { tools: [tool('git.push'), tool('x'.repeat(99))] })], 'tools', false);
    expect(page(list)).toEqual({ tools: [tool('git.push'), tool('x'.repeat(99))] });
  });

  it('says in the modern era how long it may be cached', () => {
    const list = listing([listed('a')]);
    expect(page(list)).toEqual({ tools: [] });
    expect(page(list, 'modern')).toEqual({
      tools: [],
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
  });

  it('keeps every byte of an entry except its name', () => {
    const text = '{ "name" : "x" , "inputSchema":{"type":"object"},"n":1.0,"unknown":[ ] }';
    const entry = { ...definition('tools', tool('x')), bytes: Buffer.from(text) };
    const made = listing([listed('a', { tools: [entry] })]).page('legacy', undefined);
    expect(made.ok && made.value.toString()).toBe(`{"tools":[${text.replace('"x"', '"a_x"')}]}`);
  });

  it('keeps URIs unchanged; the first server that lists one owns it, and duplicates are reported', () => {
    const servers = [
      listed('a', { resources: [resource('f:x')] }),
      listed('b', { resources: [resource('f:x')] }),
    ];
    const list = listing(servers, 'resources');
    expect(page(list)).toEqual({ resources: [resource('f:x')] });
    expect(list.find('f:x')?.server.spec.name).toBe('a');
    expect(list.reports.map(({ text }) => text)).toEqual(['b: f:x is hidden, a has it already']);
  });

  it('reports two servers with many common URIs in one sentence', () => {
    const resources = ['1', '2', '3', '4'].map((at) => resource(`f:${at}`));
    const list = listing([listed('a', { resources }), listed('b', { resources })], 'resources');
    expect(list.reports.map(({ text }) => text)).toEqual([
      'b: 4 resources are hidden, a has them already: f:1 and 3 more',
    ]);
  });

  it('gives a contested name to neither tool, and returns the candidates', () => {
    const list = listing([listed('a', { tools: [tool('b_c')] }), listed('a_b', { tools: [tool('c')] })]);
    expect(list.find('a_b_c')).toBeUndefined();
    expect(list.candidates('a_b_c')).toEqual(list.entries.map(({ key }) => key));
    expect(list.candidates('a_b')).toBeUndefined();
  });

  it('never changes: the same page has the same bytes', () => {
    const list = listing([listed('a', { tools: [tool('x'), BAD_HINT] })]);
    const first = list.page('modern', undefined);
    for (let time = 0; time < 100; time += 1) expect(list.page('modern', undefined)).toEqual(first);
  });
});

describe('one invalid entry does not affect the others:', () => {
  it('a member that clients would refuse is omitted, and reported', () => {
    const list = listing([listed('a', { tools: [tool('x'), BAD_HINT] })]);
    expect(page(list)).toEqual({ tools: [tool('a_x'), tool('a_bad', { annotations: { title: 'B' } })] });
    expect(list.reports.map(({ text }) => text)).toEqual([
      'a: bad is listed without annotations.readOnlyHint: annotations.readOnlyHint is not a boolean',
    ]);
  });

  it('an entry that cannot be repaired is withheld, and reported', () => {
    const list = listing([listed('a', { tools: [NO_SCHEMA, tool('x')] })]);
    expect(page(list)).toEqual({ tools: [tool('a_x')] });
    expect(list.find('a_broken')?.name).toBe('broken');
    expect(list.reports.map(({ text }) => text)).toEqual(['a: broken is withheld: inputSchema is absent']);
  });

  it('entries without a name are withheld and counted', () => {
    const list = listing([listed('a', { tools: [{}, { name: 1 }, tool('x')] })]);
    expect(page(list)).toEqual({ tools: [tool('a_x')] });
    expect(list.reports.map(({ text }) => text)).toEqual(['a: 2 of its tools have no name and are withheld']);
  });

  it('an entry that clients of one era refuse is complete in the other, and is reported', () => {
    const without = { kind: 'without', paths: [['title']], reasons: ['title is strange'] } as const;
    const x = definition('tools', tool('x', { title: 'X' }));
    const legacy = { ...x, fitness: { legacy: without, modern: { kind: 'whole' } } } as const;
    const withheld = { kind: 'withheld', reason: 'it is strange' } as const;
    const y = definition('tools', tool('y', { title: 'Y' }));
    const modern = { ...y, fitness: { legacy: { kind: 'whole' }, modern: withheld } } as const;
    const list = listing([listed('a', { tools: [legacy, modern] })], 'tools', false);
    expect(page(list)).toEqual({ tools: [tool('x'), tool('y', { title: 'Y' })] });
    expect(page(list, 'modern')).toMatchObject({ tools: [tool('x', { title: 'X' })] });
    expect(list.reports.map(({ text }) => text)).toEqual([
      'a: x is listed without title from legacy clients: title is strange',
      'a: y is withheld from modern clients: it is strange',
    ]);
  });
});

describe('pages', () => {
  it('end at 4 MiB, since each is built at once, and no entry is lost', () => {
    const large = Array.from({ length: 10 }, (_, n) => tool(`t${n}`, { x: 'x'.repeat(1024 * 1024) }));
    const list = listing([listed('a', { tools: large })], 'tools', false);
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const made = list.page('legacy', { cursor });
      if (!made.ok) throw new Error(made.error.code);
      expect(made.value.length).toBeLessThan(5.1 * 1024 * 1024);
      const answer = parseJson(made.value.toString()) as Readonly<Record<string, Json>>;
      names.push(...listAt(answer, 'tools').map((one) => String((one as { readonly name: Json }).name)));
      cursor = answer['nextCursor'] as string | undefined;
    } while (cursor !== undefined);
    expect(names).toEqual(Array.from({ length: 10 }, (_, n) => `t${n}`));
  });

  const names = (from: number, to: number): readonly string[] =>
    Array.from({ length: to - from }, (_, index) => `t${from + index}`);
  const listOf = (count: number): Listing =>
    listing([listed('a', { tools: names(0, count).map((name) => tool(name)) })], 'tools', false);

  /** The names on each page, for a client that follows the cursors. */
  const pages = (list: Listing, era: Era = 'legacy'): readonly (readonly string[])[] => {
    const all: string[][] = [];
    let cursor: string | undefined;
    do {
      const one = page(list, era, cursor) as { nextCursor?: string };
      all.push(listAt(one as Json, 'tools').map((entry) => (entry as { name: string }).name));
      cursor = one.nextCursor;
    } while (cursor !== undefined);
    return all;
  };

  it('hold a thousand entries each, and no entry is lost or repeated', () => {
    expect(PAGE_SIZE).toBe(1_000);
    expect(pages(listOf(0))).toEqual([[]]);
    expect(pages(listOf(1_000))).toEqual([names(0, 1_000)]);
    expect(pages(listOf(2_500))).toEqual([names(0, 1_000), names(1_000, 2_000), names(2_000, 2_500)]);
  });

  it('count visible entries only', () => {
    const entries = [
      ...names(0, 999).map((name) => tool(name)),
      ...Array(50).fill({ name: 'x' }),
      tool('last'),
    ];
    const list = listing([listed('a', { tools: entries })], 'tools', false);
    expect(pages(list)).toEqual([[...names(0, 999), 'last']]);
  });

  it('are found by an older cursor in a rebuilt list, as after a restart', () => {
    const { nextCursor = '' } = page(listOf(1_500)) as { nextCursor?: string };
    const rest = { tools: names(1_000, 1_500).map((name) => tool(name)) };
    expect(page(listOf(1_500), 'legacy', nextCursor)).toEqual(rest);
    expect(page(listOf(1_500), 'modern', nextCursor)).toMatchObject(rest);
    expect(page(listOf(900), 'legacy', nextCursor)).toBe('CURSOR_INVALID');
  });

  it('are refused for an unknown cursor', () => {
    for (const cursor of ['', 'x', '1000', '%', Buffer.from('t9999').toString('base64url')])
      expect([cursor, page(listOf(3), 'legacy', cursor)]).toEqual([cursor, 'CURSOR_INVALID']);
  });
});

describe('two lists', () => {
  const x = definition('tools', tool('x'));
  const server = listed('a', { tools: [x] });
  const isSame = (other: Server, kind: ListKind = 'tools'): boolean =>
    listing([server]).isSame(listing([other], kind));

  it('are equal if every entry is the same object', () => {
    expect(isSame(server)).toBe(true);
    expect(listing([]).isSame(listing([], 'prompts'))).toBe(true);
  });

  it('differ if entries or their number change, but not if only the owner does', () => {
    const before = listing([server]);
    const after = (tools: readonly (typeof x)[]): Listing => {
      server.lists.inventory = { ...server.inventory, tools };
      return listing([server]);
    };
    expect(before.isSame(after([definition('tools', tool('x'))]))).toBe(false);
    expect(before.isSame(after([x, definition('tools', tool('y'))]))).toBe(false);
    expect(before.isSame(after([]))).toBe(false);
    expect(before.isSame(after([x]))).toBe(true);
    expect(isSame(listed('a', { tools: [x] }))).toBe(true);
  });
});
