// Which parts of a large result stay.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildCutResult, createContentsBuilder, createResultCutter } from '../src/cut-result.ts';

function done<T>(step: () => T | undefined): T {
  for (;;) {
    const value = step();
    if (value !== undefined) return value;
  }
}

const NOTICE = { type: 'text', text: '…' };

function cut(text: string, maxBytes: number): unknown {
  const bytes = Buffer.from(text);
  const plan = done(createResultCutter(bytes, maxBytes));
  if (typeof plan === 'string') return plan;
  return JSON.parse(buildCutResult(bytes, plan, [JSON.stringify(NOTICE)]).toString()) as unknown;
}

const textItem = (text: string, more: object = {}): object => ({ type: 'text', text, ...more });
const contentOf = (...content: readonly object[]): string => JSON.stringify({ content });

describe('a result that is too large', () => {
  it('keeps 70 % of the limit from the beginning and 20 % from the end of its text', () => {
    const text = `${'a'.repeat(500)}${'b'.repeat(500)}`;
    const overhead = JSON.stringify(textItem('')).length - 2;
    expect(cut(contentOf(textItem(text)), 200)).toEqual({
      content: [textItem('a'.repeat(140 - overhead - 2)), NOTICE, textItem('b'.repeat(40 - overhead - 2))],
    });
  });

  it('keeps whole items and other members as they were written', () => {
    const result =
      '{"_meta":{"n":1.0},"content":[{"type":"text","text":"\\u0061","x":1.0},' +
      `{"type":"image","data":"${'A'.repeat(1_000)}","mimeType":"image/png"},{"type":"text","text":"end"}],"isError":true}`;
    const bytes = Buffer.from(result);
    const plan = done(createResultCutter(bytes, 500));
    if (typeof plan === 'string') throw new Error(plan);
    expect(buildCutResult(bytes, plan, ['{"type":"text","text":"…"}']).toString()).toBe(
      '{"_meta":{"n":1.0},"content":[{"type":"text","text":"\\u0061","x":1.0},{"type":"text","text":"…"},{"type":"text","text":"end"}],"isError":true}',
    );
  });

  it('is read in steps, also within one large item', () => {
    const item = textItem('a', { x: Array.from({ length: 1_000_000 }, () => 0) });
    const countSteps = (step: () => unknown): number => {
      let steps = 1;
      while (step() === undefined) steps += 1;
      return steps;
    };
    const bytes = Buffer.from(contentOf(item));
    const least = bytes.length / (256 * 1024);
    // The result, its list of items, and the item for its beginning and for its end.
    expect(countSteps(createResultCutter(bytes, 1_000))).toBeGreaterThan(3.5 * least);
    expect(countSteps(createContentsBuilder(bytes, 'assay://x'))).toBeGreaterThan(2.5 * least);
  });

  it.each<[what: string, text: string, why: string]>([
    ['has a structure', '{"content":[],"structuredContent":{}}', 'structured'],
    ['asks for input', '{"resultType":"input_required","content":[]}', 'input'],
    ['has no content', '{"x":1}', 'whole'],
    ['has two contents', '{"content":[],"content":[]}', 'whole'],
    ['has contents that readers may confuse', '{"content":[],"Content":[]}', 'whole'],
    ['has a content that is no list', '{"content":{}}', 'whole'],
    [
      'is large outside of its content',
      JSON.stringify({ content: [], _meta: { x: 'a'.repeat(300) } }),
      'whole',
    ],
  ])('is not cut if it %s', (_, text, why) => {
    expect(cut(text, 200)).toBe(why);
  });

  it('is never cut within a character, and never larger than the limit without its notice', () => {
    const pieces = fc.array(
      fc.constantFrom('a', 'é', '€', '😀', '\\u20ac', '\\ud83d\\ude00', '\\\\', '\\"', '\\n', '\\ud800'),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 4 }),
        fc.integer({ min: 200, max: 700 }),
        (texts, maxBytes) => {
          const items = texts.map((each) => `{"type":"text","text":"${each.join('')}"}`);
          const bytes = Buffer.from(`{"content":[${items.join(',')}]}`);
          fc.pre(bytes.length > maxBytes);
          const plan = done(createResultCutter(bytes, maxBytes));
          if (typeof plan === 'string') throw new Error(plan);
          const small = buildCutResult(bytes, plan, []);
          expect(small.length).toBeLessThanOrEqual(maxBytes);
          const joined = (list: readonly { readonly text: string }[]): string =>
            list.map(({ text }) => text).join('');
          const whole = texts.map((each) => each.map((one) => JSON.parse(`"${one}"`) as string));
          const { content } = JSON.parse(small.toString()) as { content: { text: string }[] };
          const head = content.slice(0, plan.head.length);
          const all = whole.flat();
          const starts = new Set(all.map((__, at) => all.slice(0, at).join('')).concat(all.join('')));
          const ends = new Set(all.map((__, at) => all.slice(at).join('')).concat(''));
          expect([starts.has(joined(head)), ends.has(joined(content.slice(head.length)))]).toEqual([
            true,
            true,
          ]);
        },
      ),
    );
  });
});

it('the whole has one content for each item, with the texts as written', () => {
  const result =
    '{"content":[{"type":"text","text":"\\u0061"},{"type":"audio","data":"AA==","mimeType":"audio/wav"},' +
    '{"type":"resource","resource":{"uri":"x:y","text":"z"}},{"type":"new","n":1.0},{"type":"text","text":7},7]}';
  expect(done(createContentsBuilder(Buffer.from(result), 'assay://results/x')).toString()).toBe(
    '{"contents":[{"uri":"assay://results/x","mimeType":"text/plain","text":"\\u0061"},' +
      '{"uri":"assay://results/x","mimeType":"audio/wav","blob":"AA=="},{"uri":"x:y","text":"z"},' +
      '{"uri":"assay://results/x","mimeType":"application/json","text":"{\\"type\\":\\"new\\",\\"n\\":1.0}"},' +
      '{"uri":"assay://results/x","mimeType":"application/json","text":"{\\"type\\":\\"text\\",\\"text\\":7}"},' +
      '{"uri":"assay://results/x","mimeType":"application/json","text":"7"}]}',
  );
});

it('many small items, and a text of backslashes, are cut in time', () => {
  const maxBytes = 200_000;
  const items = `{"content":[${Array.from({ length: 99_000 }, () => '{"type":"x"}').join(',')}]}`;
  const slashes = `{"content":[{"type":"text","text":"${'\\\\'.repeat(500_000)}"}]}`;
  for (const text of [items, slashes]) {
    const bytes = Buffer.from(text);
    const plan = done(createResultCutter(bytes, maxBytes));
    if (typeof plan === 'string') throw new Error(plan);
    const small = buildCutResult(bytes, plan, []);
    expect(small.length).toBeLessThanOrEqual(maxBytes);
    expect(small.length).toBeGreaterThan(0.85 * maxBytes);
    JSON.parse(small.toString());
  }
});
