// Documents are parsed within limits of time and memory, and never block the event loop for long.
import { describe, expect, it } from 'vitest';
import { createDocumentParser } from '../../../../src/adapters/sources/openapi/document-parser.ts';
import { PieceReader, splitDocument } from '../../../../src/adapters/sources/openapi/document-pieces.ts';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { documentOf } from '../../../../../../test/support/openapi-document.ts';
import { openSource, toolsOf } from '../../../../../../test/support/openapi-source.ts';
import { writeText } from '../../../../../../test/support/paths.ts';
import { longestTurn } from '../../../../../../test/support/turns.ts';

/** The maximum CPU time for which a document may block others. */
const BOUND_MS = 250;
const URL = 'file:///api.yaml';
const parse = createDocumentParser(PLAIN_LAUNCHER);
const never = (): AbortSignal => new AbortController().signal;

/** An OpenAPI document in YAML with so many operations, each of some 350 characters. */
function yamlOf(operations: number): string {
  const paths = Array.from(
    { length: operations },
    (_, at) => `  /p${at}:
    get:
      operationId: op${at}
      summary: Operation ${at}
      parameters:
        - name: a
          in: query
          schema:
            type: string
            description: The first of the parameters of this operation
      responses:
        "200":
          description: ok
`,
  );
  return `openapi: 3.1.0\ninfo: {title: x, version: "1"}\nservers: [{url: "http://127.0.0.1:9"}]\npaths:\n${paths.join('')}`;
}

/** Small, but its merge keys ask for 600,000 members. */
function mergesOf(): string {
  const members = Array.from({ length: 1_000 }, (_, at) => `k${at}: 1`);
  return `base: &b {${members.join(', ')}}\nlist:\n${'- <<: *b\n'.repeat(600)}`;
}

it('a document of 3.5 MB does not block the event loop, and all its operations become tools', async () => {
  let tools = 0;
  const { cpuMs } = await longestTurn(async () => {
    const source = openSource(writeText(yamlOf(9_900), 'api.yaml'), { timeoutMs: 100_000 });
    tools = (await toolsOf(source, 100_000)).tools.length;
  });
  expect([tools, cpuMs < BOUND_MS ? 'short' : cpuMs]).toEqual([9_900, 'short']);
});

it('a small document whose merge keys multiply its members does not block the event loop', async () => {
  const text = mergesOf();
  expect(text.length).toBeLessThan(32 * 1024);
  await parse('a: 1', URL, never()); // loads the parser
  const { cpuMs } = await longestTurn(async () => {
    await parse(text, URL, never());
  });
  expect(cpuMs < BOUND_MS ? 'short' : cpuMs).toBe('short');
});

describe('a document that exceeds a limit is refused with the limit and a remedy', () => {
  it('of time', async () => {
    const slow = createDocumentParser(PLAIN_LAUNCHER, { documentMs: 1 });
    expect(await slow(yamlOf(1_000), URL, never())).toEqual({
      ok: false,
      error: expect.stringMatching(/^takes longer than 0\.001 s to parse: use JSON/) as string,
    });
  });

  it('of memory', async () => {
    const narrow = createDocumentParser(PLAIN_LAUNCHER, { heapMiB: 32 });
    expect(await narrow(yamlOf(20_000), URL, never())).toEqual({
      ok: false,
      error: expect.stringMatching(/^takes more than 32 MiB of memory to parse: use JSON/) as string,
    });
  });

  it('of values, also by its merge keys', async () => {
    const text = mergesOf() + '- <<: *b\n'.repeat(4_500);
    expect(await parse(text, URL, never())).toEqual({
      ok: false,
      error: 'contains too many values, perhaps through its aliases',
    });
  });

  it('of text, by its aliases', async () => {
    const text = `a: &a "${'x'.repeat(100_000)}"\nlist: [${Array(1_000).fill('*a').join(', ')}]`;
    expect(await parse(text, URL, never())).toEqual({
      ok: false,
      error: 'contains too much text, perhaps through its aliases',
    });
  });
});

describe('a YAML text has one meaning, or is refused with the position and the reason', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

  it.each<[text: string, value: unknown]>([
    [
      'a: 1.0\nb: 2020-01-01\nc: yes\nd: 0o17\ne: ~\n200: x',
      { a: 1, b: '2020-01-01', c: 'yes', d: 15, e: null, 200: 'x' },
    ],
    ['__proto__: {x: 1}\nconstructor: y', JSON.parse('{"__proto__": {"x": 1}, "constructor": "y"}')],
    ['a: &a {k: 1, l: 2}\nb: {<<: *a, l: 3}', { a: { k: 1, l: 2 }, b: { k: 1, l: 3 } }],
    [nested(200), JSON.parse(nested(200))],
    ['{"a": 1, "a": 2}', { a: 2 }], // JSON: the last one counts
  ])('value %$', async (text, value) => {
    expect(await parse(text, URL, never())).toEqual({ ok: true, value: { value, others: [] } });
  });

  it.each<[text: string, reason: string]>([
    ['a: 1\nb: 2\na: 3', 'is neither JSON nor YAML: duplicated mapping key (3:1)'],
    [
      'a: !!js/function "function () {}"',
      'is neither JSON nor YAML: unknown scalar tag !<tag:yaml.org,2002:js/function> (1:4)',
    ],
    [
      'a: !!timestamp 2020-01-01',
      'is neither JSON nor YAML: unknown scalar tag !<tag:yaml.org,2002:timestamp> (1:4)',
    ],
    ['a: 1\n---\nb: 2', 'is neither JSON nor YAML: expected a single document in the stream, but found more'],
    ['# nothing', 'is neither JSON nor YAML: expected a document, but the input is empty'],
    [nested(201), 'is neither JSON nor YAML: nesting exceeded maxDepth (201) (1:201)'],
    [nested(15_000), 'is neither JSON nor YAML: nesting exceeded maxDepth (201) (1:201)'],
    ['- '.repeat(15_000), 'is neither JSON nor YAML: nesting exceeded maxDepth (201) (1:403)'],
    ['a: *b', 'is neither JSON nor YAML: unidentified alias "b" (1:5)'],
  ])('refusal %$', async (text, error) => {
    expect(await parse(text, URL, never())).toEqual({ ok: false, error });
  });
});

it('a reading that is given up ends the process, and the next document is parsed', async () => {
  const ending = new AbortController();
  const given = parse(yamlOf(3_000), URL, ending.signal);
  const next = parse(yamlOf(200), URL, never());
  ending.abort();
  expect(await given).toEqual({ ok: false, error: 'was not read to its end' });
  expect(await next).toMatchObject({ ok: true, value: { value: { openapi: '3.1.0' }, others: [] } });
});

it('a large document has the same value as from the parser itself', async () => {
  const document = documentOf(
    { '/a': { get: { description: 'é\u2028"\\'.repeat(40_000), responses: {} } } },
    { components: { schemas: { A: { $ref: 'other.json#/a' }, B: { type: ['string', 'null'] } } } },
  );
  const text = JSON.stringify(document).replace(
    '{',
    '{"__proto__":{"x":1},"empty":[{},[],"",null,false,-1.5e3],',
  );
  expect(await parse(text, URL, never())).toEqual({
    ok: true,
    value: { value: JSON.parse(text) as unknown, others: ['file:///other.json'] },
  });
});

it('pieces of a value give the value again, in the same order', () => {
  const long = 'x'.repeat(100_000);
  const value: unknown = JSON.parse(
    `{"b":[[${Array(50_000).fill('[1,{"a":null}]').join(',')}],"${long}","${long}",{"z":"${long}","__proto__":["${long}","${long}"],"a":{}}],"a":"${long}","10":1,"":[]}`,
  );
  for (const one of [value, null, 'x', [], {}, [[value]], long + long]) {
    const reader = new PieceReader();
    const pieces = [...splitDocument(one, 10_000_000)!].map((piece) => JSON.stringify(piece));
    for (const piece of pieces) reader.take(JSON.parse(piece) as Parameters<PieceReader['take']>[0]);
    expect(JSON.stringify(reader.value)).toBe(JSON.stringify(one));
    expect(pieces.filter((piece) => piece.length > 400_000)).toEqual([]);
  }
  expect(splitDocument([long], 50_000)).toBeUndefined();
});
