// The server and an official client run in this process, connected in memory. Only the threads are real.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { at, listAt, textAt, type Json, type JsonObject } from '../../../test/support/json.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { type Answer, call, index, type Peer, writeIn } from './hint-checks.ts';
import { lookUpSymbol } from '../src/symbols/look-up-symbol.ts';
import { connected } from './support/connected.ts';
import { memoryIndex } from './support/memory-index.ts';

const CART = `import { round } from './money.ts';

/**
 * A shopping cart.
 *
 * @see Order
 */
export class Cart {
  lines: number[] = [];

  /** Adds up its lines. */
  total(): number {
    return round(this.lines.reduce((sum, one) => sum + one, 0));
  }
}

export const MAX_LINES = 100;
`;

const FILES: Readonly<Record<string, string>> = {
  'src/cart.ts': CART,
  'src/money.ts': '// Rounds to cents.\nexport function round(value: number): number {\n  return value;\n}\n',
  'src/order.ts':
    "import { Cart, MAX_LINES } from './cart.ts';\n\nexport function checkout(cart: Cart): number {\n" +
    '  // total is checked\n  if (cart.lines.length > MAX_LINES) return 0;\n  const total = cart.total();\n' +
    '  return total;\n}\n',
  'src/report.py': 'class Report:\n    def total(self):\n        """Adds up."""\n        return 0\n',
  'test/cart.test.ts':
    "import { Cart } from '../src/cart.ts';\n\nfunction round() {}\nit('adds up', () => new Cart().total());\n",
  'vendor/money.ts': 'export function round(value: number): number {\n  return -value;\n}\n',
  'README.md': 'Call total() or round(1).\n',
};

let peer: Peer;
beforeAll(async () => {
  peer = await connected();
});

async function indexed(project: string, files = FILES): Promise<string> {
  const repo = tempDir();
  for (const [path, text] of Object.entries(files)) writeIn(repo, path, text);
  await index(peer, { repo, project });
  return repo;
}

function find(project_id: string, symbol: string, more: JsonObject = {}): Promise<Answer> {
  return call(peer, 'find_symbol', { symbol, project_id, ...more });
}

/** `path:start-end kind parent.symbol` of each definition. */
function definitions({ structured }: Answer): readonly string[] {
  return listAt(structured, 'definitions').map((one) => {
    const parent = at(one, 'parent') === null ? '' : `${textAt(one, 'parent')}.`;
    const lines = `${String(at(one, 'start_line'))}-${String(at(one, 'end_line'))}`;
    return `${textAt(one, 'file_path')}:${lines} ${textAt(one, 'kind')} ${parent}${textAt(one, 'symbol')}`;
  });
}

/** `path:lines` of each file. */
function uses({ structured }: Answer, member: 'uses' | 'tests'): readonly string[] {
  return listAt(structured, member).map((one) => {
    const lines = listAt(one, 'lines').map((line) => String(at(line, 'line')));
    return `${textAt(one, 'file_path')}:${lines.join(',')}`;
  });
}

describe('one repository', () => {
  let repo: string;
  beforeAll(async () => {
    repo = await indexed('shop');
  });

  it('a method of a class that is one chunk is found with its own lines, doc comment, uses and tests', async () => {
    const answer = await find('shop', 'Cart.total');
    expect(answer.structured).toEqual({
      symbol: 'total',
      definitions: [
        {
          ...{ file_path: 'src/cart.ts', start_line: 11, end_line: 14 },
          ...{ kind: 'method', symbol: 'total', parent: 'Cart', doc: 'Adds up its lines.' },
          code: CART.split('\n').slice(11, 14).join('\n'),
          code_start_line: 12,
        },
      ],
      uses: [
        {
          ...{ file_path: 'src/order.ts', count: 1 },
          lines: [{ line: 6, text: 'const total = cart.total();', within: 'checkout' }],
        },
      ],
      tests: [
        {
          ...{ file_path: 'test/cart.test.ts', count: 1 },
          lines: [{ line: 4, text: "it('adds up', () => new Cart().total());" }],
        },
      ],
      ...{ definition_count: 1, use_count: 1, use_file_count: 1, test_use_count: 1, test_file_count: 1 },
      ...{ is_complete: true, truncated: false, missing: null },
      notes: [
        'Other symbols with this name; the listed uses may refer to any of them: Report.total (src/report.py).',
      ],
      ...{ project_id: 'shop', database_name: 'shop/index.db', latency_ms: expect.any(Number) as number },
    });
    expect(answer.text).toBe(
      [
        'Cart.total in project shop: 1 definition, 1 use in 1 file, 1 use in 1 test file.',
        'Other symbols with this name; the listed uses may refer to any of them: Report.total (src/report.py).',
        'src/cart.ts:11-14 method Cart.total',
        '  Adds up its lines.',
        '12\t  total(): number {',
        '13\t    return round(this.lines.reduce((sum, one) => sum + one, 0));',
        '14\t  }',
        'Uses (found by the name as a whole word, not resolved):',
        'src/order.ts (1)',
        '6\tconst total = cart.total();  [in checkout]',
        'Tests:',
        'test/cart.test.ts (1)',
        "4\tit('adds up', () => new Cart().total());",
      ].join('\n'),
    );
  });

  it('definitions in tests and in copies of other projects come last', async () => {
    const answer = await find('shop', 'round');
    expect(definitions(answer)).toEqual([
      'src/money.ts:1-4 function round',
      'vendor/money.ts:1-3 function round',
      'test/cart.test.ts:3-3 function round',
    ]);
    expect(uses(answer, 'uses')).toEqual(['src/cart.ts:1,13']);
    expect(uses(answer, 'tests')).toEqual([]);
    expect(definitions(await find('shop', 'vendor/money.round'))).toEqual([
      'vendor/money.ts:1-3 function round',
    ]);
    expect(definitions(await find('shop', 'round', { directory: 'test' }))).toEqual([
      'test/cart.test.ts:3-3 function round',
    ]);
    expect(definitions(await find('shop', 'round', { directory: join(repo, 'src') }))).toEqual([
      'src/money.ts:1-4 function round',
    ]);
  });

  it('a constant on one line and a class are found', async () => {
    expect(definitions(await find('shop', 'MAX_LINES'))).toEqual(['src/cart.ts:17-17 constant MAX_LINES']);
    const answer = await find('shop', 'class Cart');
    expect(definitions(answer)).toEqual(['src/cart.ts:3-15 class Cart']);
    expect(answer.text).toContain('  A shopping cart.\n8\texport class Cart {');
  });

  it('a docstring is the doc comment, and the code begins below it', async () => {
    const { text } = await find('shop', 'Report.total');
    expect(text).toContain('method Report.total\n  def total(self)\n  Adds up.\n4\t        return 0\n');
  });

  it('a name in another place, or spelled otherwise, is found with a note', async () => {
    expect((await find('shop', 'Basket.checkout')).text).toContain(
      'No checkout in Basket; showing other definitions named checkout.\nsrc/order.ts:3-8 function checkout',
    );
    expect((await find('shop', 'max-lines')).text).toContain(
      'No symbol is spelled max-lines. Similar name: MAX_LINES (src/cart.ts).',
    );
  });

  it('an unknown name gives similar ones, and one that is only used its uses', async () => {
    const unknown = await find('shop', 'chekout');
    expect(unknown.structured).toMatchObject({
      ...{ definitions: [], definition_count: 0, use_count: 0 },
      missing: {
        code: 'TERMS_UNKNOWN',
        message: 'The index has no symbol chekout.',
        similar: [{ symbol: 'checkout', file_path: 'src/order.ts', start_line: 3 }],
      },
    });
    expect(unknown.text).toContain('Similar: checkout (src/order.ts:3).');
    const external = await find('shop', 'reduce');
    expect(external.structured).toMatchObject({ missing: { code: 'NOT_DEFINED' }, use_count: 1 });
    expect(uses(external, 'uses')).toEqual(['src/cart.ts:13']);
  });

  it('arguments that are not one name are refused', async () => {
    for (const symbol of ['two words', '+', ' '])
      expect((await find('shop', symbol)).text).toMatch(/^VALIDATION_ERROR \(symbol\): /);
    expect((await find('shop', 'x'.repeat(401))).text).toMatch(/^VALIDATION_ERROR \(symbol\): /);
    expect((await find('shop', 'x', { limit: 51 })).text).toMatch(/^VALIDATION_ERROR \(limit\): /);
  });
});

it('in a changed file a definition has its lines of now, and what is gone is said to be', async () => {
  const repo = await indexed('changing');
  writeIn(repo, 'src/cart.ts', `// One.\n// Two.\n\n${CART}`);
  const changed = await find('changing', 'Cart.total');
  expect(listAt(changed.structured, 'definitions')).toMatchObject([
    { state: 'stale', start_line: 14, end_line: 17, code_start_line: 15 },
  ]);
  expect(changed.text).toContain('src/cart.ts:14-17 method Cart.total  [changed since it was indexed]');
  rmSync(join(repo, 'src/cart.ts'));
  rmSync(join(repo, 'src/order.ts'));
  const gone = await find('changing', 'Cart.total');
  expect(gone.text).toContain('src/cart.ts:3-16 member Cart.total  [no longer there]');
  expect(gone.text).toContain('src/order.ts (1)  [no longer there]');
});

it('what the index has no chunk for is found by parsing: deep methods, names with signs, functions in functions', async () => {
  await indexed('deep', {
    'lib/a.rb':
      'module A\n  module B\n    class C\n      def valid?\n        check!\n      end\n\n      def check!; end\n    end\n' +
      '  end\nend\n',
    'b.py': 'def outer():\n    x = 1\n\n    def inner_step():\n        return x\n\n    return inner_step()\n',
    'doc.md': 'inner_step = 1\n',
  });
  expect(definitions(await find('deep', 'valid?'))).toEqual(['lib/a.rb:4-6 method A.B.C.valid?']);
  const check = await find('deep', 'C#check!');
  expect(definitions(check)).toEqual(['lib/a.rb:8-8 method A.B.C.check!']);
  expect(uses(check, 'uses')).toEqual(['lib/a.rb:5']);
  const inner = await find('deep', 'inner_step');
  expect(definitions(inner)).toEqual(['b.py:4-4 function outer.inner_step']);
  expect(uses(inner, 'uses')).toEqual(['b.py:7']);
});

it('of a name that is everywhere, a limited part is read, and the answer says so', async () => {
  const database = await memoryIndex({ 'a.toml': 'total = 1\n', 'b.toml': 'other = 1\n' });
  // 2,999 copies of the chunk of the first file, then one in the second file, written by SQL to save time.
  database.exec(`
    CREATE TEMP TABLE copies AS WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
      SELECT 10 + n AS id, iif(n < 3000, 1, 2) AS file_id, n AS ordinal FROM numbers;
    INSERT INTO chunks SELECT copies.id, copies.file_id, 'copy', copies.ordinal, kind, symbol, parent, signature,
      start_line, end_line, content_hash, content FROM copies JOIN chunks ON chunks.id = 1;
    INSERT INTO chunk_terms (rowid, body) SELECT id, 'total' FROM copies;`);
  const symbol = { name: 'total', qualifiers: [], kindWord: undefined };
  const found = lookUpSymbol(database, { symbol, limit: 10 });
  expect([found.areUsesComplete, found.useFileCount]).toEqual([false, 1]);
  database.close();
});

it('with several repositories each place names its own', async () => {
  await indexed('two');
  const other = tempDir();
  writeIn(other, 'lib.ts', 'export function round(): void {}\n');
  await index(peer, { repo: other, project: 'two' });
  const { structured, text } = await find('two', 'round');
  const [first] = listAt(structured, 'definitions');
  expect(textAt(first, 'repository')).not.toBe('');
  const named = listAt(structured, 'definitions').map((one) => at(one, 'repository'));
  expect(new Set(named).size).toBe(2);
  expect(text).toContain(`${textAt(first, 'repository')}: ${textAt(first, 'file_path')}:`);
});

it('an answer stays small however much there is, grows with the limit, and says what is left out', async () => {
  const files: Record<string, string> = { 'core.ts': longFunction('spread') };
  for (let file = 0; file < 60; file += 1) {
    const line = `  spread(${'argument, '.repeat(12)}${file});\n`;
    files[`src/a-rather-long-directory-name/user${file}.ts`] =
      `export function user${file}(): void {\n${line.repeat(5)}}\n`;
    files[`test/user${file}.test.ts`] = `it('spreads', () => {\n${line.repeat(5)}});\n`;
  }
  await indexed('large', files);
  const answer = await find('large', 'spread');
  expect(sizes(answer)).toEqual({ isTextSmall: true, isStructuredSmall: true });
  expect(answer.structured).toMatchObject({
    ...{ truncated: true, is_complete: true, definition_count: 1 },
    ...{ use_count: 300, use_file_count: 60, test_use_count: 300, test_file_count: 60 },
  });
  expect(answer.text).toMatch(/\nand \d+ more files\nTests:\n/);
  expect(listAt(answer.structured, 'tests').length).toBeGreaterThan(1);
  const more = await find('large', 'spread', { limit: 50 });
  expect(listAt(more.structured, 'uses').length).toBeGreaterThan(
    2 * listAt(answer.structured, 'uses').length,
  );
});

function longFunction(name: string): string {
  return `/** ${'Word. '.repeat(200)} */\nexport function ${name}(): void {\n${'  step();\n'.repeat(500)}}\n`;
}

function sizes({ text, structured }: Answer): Json {
  return {
    isTextSmall: Buffer.byteLength(text) <= 3_000,
    isStructuredSmall: Buffer.byteLength(JSON.stringify(structured)) <= 6_000,
  };
}
