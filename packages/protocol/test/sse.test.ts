import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_HEAD, EVENT_TAIL, EventTooLarge, KEEP_ALIVE, SseParser } from '../src/sse.ts';
import { anyPieces } from '../../../test/support/json-texts.ts';

type Event = readonly [event: string, data: string];

function parse(pieces: readonly Buffer[], limitBytes = 1_000): readonly Event[] {
  const events: Event[] = [];
  const parser = new SseParser(({ event, data }) => events.push([event, data.toString()]), limitBytes);
  for (const piece of pieces) parser.push(piece);
  return events;
}

/** Checks the events of a whole stream, fed at once and byte by byte. */
function check(stream: string, expected: readonly Event[]): void {
  const bytes = Buffer.from(stream);
  expect([stream, parse([bytes])]).toEqual([stream, expected]);
  expect([stream, parse(Array.from(bytes, (byte) => Buffer.of(byte)))]).toEqual([stream, expected]);
}

describe('an event stream', () => {
  it('yields an event at each blank line, and nothing unfinished', () => {
    check('data: a\n\ndata: b\n\n', [
      ['message', 'a'],
      ['message', 'b'],
    ]);
    check('data: a\n', []);
    check('data: a\n\ndata: b', [['message', 'a']]);
    check('\n\n', []);
  });

  it('joins the lines of an event’s data with line feeds', () => {
    check('data: {"a":\ndata: 1}\n\n', [['message', '{"a":\n1}']]);
    check('data\ndata\n\n', [['message', '\n']]);
    check('data:\n\n', [['message', '']]);
  });

  it('strips one space after the colon, and no more', () => {
    check('data:a\n\ndata:  b\n\ndata: :c\n\n', [
      ['message', 'a'],
      ['message', ' b'],
      ['message', ':c'],
    ]);
  });

  it('ends lines in LF or CRLF', () => {
    check('event: x\r\ndata: a\r\ndata: b\r\n\r\n', [['x', 'a\nb']]);
    check('data: a\r\n\ndata: b\n\r\n', [
      ['message', 'a'],
      ['message', 'b'],
    ]);
  });

  it('ignores comments, unknown fields and events without data', () => {
    check(`: hello\n${KEEP_ALIVE.toString()}retry: 10\nDATA: x\n data: y\ndata: a\n:\n\n`, [
      ['message', 'a'],
    ]);
    check('event: x\n\ndata: a\n\n', [['message', 'a']]);
  });

  it("reports an event's type for that event only, whatever its id", () => {
    check('event: x\nid: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n', [
      ['x', 'a'],
      ['message', 'b'],
      ['message', 'c'],
    ]);
  });

  it('reports the id of each event, and the last id of all complete ones, even without data', () => {
    const told = (stream: string): unknown => {
      const ids: (string | undefined)[] = [];
      const parser = new SseParser(({ id }) => ids.push(id), 1_000);
      for (const byte of Buffer.from(stream)) parser.push(Buffer.of(byte));
      return [ids, parser.lastId];
    };
    expect(told('id: 1\ndata: a\n\ndata: b\n\n')).toEqual([['1', undefined], '1']);
    expect(told('data: a\nid: 1\nid: 2\n\nid: 3\n')).toEqual([['2'], '2']);
    expect(told('id: 1\n\nid: 2\ndata: a\n')).toEqual([[], '1']);
    expect(told('id: 1\ndata: a\n\nid\ndata: b\n\n')).toEqual([['1', ''], '']);
    expect(told('id: 1\ndata: a\n\nid: x\u0000\ndata: b\n\n')).toEqual([['1', undefined], '1']);
    expect(told(': none\n\ndata: a\n\n')).toEqual([[undefined], undefined]);
  });

  it('reports the retry delay if it is an integer', () => {
    const told = (stream: string): unknown => {
      const parser = new SseParser(() => undefined, 1_000);
      parser.push(Buffer.from(stream));
      return parser.retryMs;
    };
    expect(told('retry: 250\n')).toBe(250);
    expect(told('retry: 1\nretry:0\n')).toBe(0);
    for (const none of [
      'retry\n',
      'retry: \n',
      'retry: 1.5\n',
      'retry: -1\n',
      'retry: 1e3\n',
      'retry: soon\n',
    ])
      expect(told(none)).toBeUndefined();
  });

  it('may begin with a byte order mark (event streams, section 9.2.5)', () => {
    check('\uFEFFdata: a\n\n', [['message', 'a']]);
    check('\uFEFF\ndata: a\n\n', [['message', 'a']]);
    check('data: \uFEFFa\n\n\uFEFFdata: b\n\n', [['message', '\uFEFFa']]);
  });

  it('is the same however it is chunked', () => {
    const line = fc.oneof(
      fc.constantFrom('', '', ': c', 'data', 'data:', 'id: 7', 'event: x', 'retry: 1'),
      fc.string({ unit: 'grapheme' }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
    );
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 20 })
      .map((lines) => Buffer.from(lines.flat().join('')));
    const cut = stream.chain((bytes) => fc.tuple(fc.constant(bytes), anyPieces(bytes)));
    fc.assert(
      fc.property(cut, ([bytes, pieces]) => {
        expect(parse(pieces)).toEqual(parse([bytes]));
      }),
      { numRuns: 1000 },
    );
  });

  it('written by Assay is read back as one message', () => {
    check(`${EVENT_HEAD.toString()}{"a":1}${EVENT_TAIL.toString()}`, [['message', '{"a":1}']]);
  });
});

describe('an event larger than the limit', () => {
  const isRefused = (stream: string, limitBytes: number, size: number): boolean => {
    const bytes = Buffer.from(stream);
    const count = Math.ceil(bytes.length / size);
    const pieces = Array.from({ length: count }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    try {
      parse(pieces, limitBytes);
      return false;
    } catch (error) {
      if (error instanceof EventTooLarge) return true;
      throw error;
    }
  };
  const data = 'x'.repeat(100);

  it('is refused, whether it arrives at once, in pieces, or in many lines', () => {
    for (const size of [1, 7, 1_000]) {
      expect(isRefused(`data: ${data}\n\n`, 99, size)).toBe(true);
      expect(isRefused(`data: ${data}`, 99, size)).toBe(true);
      expect(isRefused('data: x\n'.repeat(100), 99, size)).toBe(true);
    }
  });

  it('does not count earlier bytes', () => {
    for (const size of [1, 7, 1_000])
      expect(isRefused(`data: ${'x'.repeat(80)}\n\n`.repeat(50), 99, size)).toBe(false);
  });
});
