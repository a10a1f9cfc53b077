import { ArrayScan, ObjectScan, type Scan } from './scan.ts';
import { MAX_SERVER_DEPTH } from './scanner.ts';
import { buildPlan, findMember, type JsonObject, readJsonString, readRawValue, type Span } from './spans.ts';
import { splice } from './splice.ts';
import { BACKSLASH, QUOTE } from './tokens.ts';

/** What is left of a result that was too large. */
export interface ResultCut {
  /** The span of `content` in the result. */
  readonly content: Span;
  /** JSON texts of the content items from the beginning and from the end. */
  readonly head: readonly Buffer[];
  readonly tail: readonly Buffer[];
}

/** Why a result is not cut: it promises a structure, asks for input, or there is nothing that could be left out. */
export type NoCut = 'structured' | 'input' | 'whole';

/** Parts of the limit, so that a notice fits between them. */
const HEAD_PART = 0.7;
const TAIL_PART = 0.2;

const STEP_BYTES = 256 * 1024;
const MAX_ITEMS = 100_000;
const RESULT = {
  plan: buildPlan({ content: {}, structuredContent: {}, resultType: {} }),
  strict: false,
  refusesTwice: true,
  maxDepth: MAX_SERVER_DEPTH,
} as const;

/**
 * Plans which 70 % of the limit from the beginning of a result's content stay, and which 20 % from its end: items as
 * they are, and parts of the texts in which a border falls. Call it until it returns a value; it works in steps.
 */
export function createResultCutter(bytes: Buffer, maxBytes: number): () => ResultCut | NoCut | undefined {
  return toSteps(planCut(bytes, maxBytes));
}

/** Work that pauses after each step. */
type Steps<T> = Generator<undefined, T, undefined>;

/** A function that does one step, and returns the result after the last one. */
function toSteps<T>(steps: Steps<T>): () => T | undefined {
  return () => {
    const { done, value } = steps.next();
    return done === true ? value : undefined;
  };
}

function* runScan<T>(scan: { readonly step: (bytes: number) => T | undefined }): Steps<T> {
  for (;;) {
    const found = scan.step(STEP_BYTES);
    if (found !== undefined) return found;
    yield undefined;
  }
}

function* planCut(bytes: Buffer, maxBytes: number): Steps<ResultCut | NoCut> {
  const content = findContent(bytes, yield* runScan(new ObjectScan(bytes, RESULT, true)));
  if (typeof content === 'string') return content;
  const items = bytes.subarray(content.start, content.end);
  const spans = yield* runScan(new ArrayScan(items, MAX_ITEMS));
  const others = bytes.length - items.length;
  if (!Array.isArray(spans) || others > maxBytes * (1 - HEAD_PART - TAIL_PART)) return 'whole';
  return { content, ...(yield* cutItems(items, spans as readonly Span[], maxBytes)) };
}

/** The result with what was left out replaced by these items, as JSON texts. */
export function buildCutResult(
  bytes: Buffer,
  { content, head, tail }: ResultCut,
  notice: readonly string[],
): Buffer {
  const items = [
    ...head.map((item) => item.toString('utf8')),
    ...notice,
    ...tail.map((item) => item.toString('utf8')),
  ];
  return splice(bytes, [{ start: content.start, end: content.end, text: `[${items.join(',')}]` }]);
}

function findContent(bytes: Buffer, scan: Scan): Span | NoCut {
  if (!scan.ok) return 'whole';
  const { value } = scan;
  if (findMember(value, 'structuredContent') !== undefined) return 'structured';
  const type = findMember(value, 'resultType');
  if (type !== undefined && readJsonString(bytes, type) !== 'complete') return 'input';
  return findMember(value, 'content') ?? 'whole';
}

function* cutItems(
  bytes: Buffer,
  items: readonly Span[],
  maxBytes: number,
): Steps<Pick<ResultCut, 'head' | 'tail'>> {
  const head: Buffer[] = [];
  const tail: Buffer[] = [];
  let first = 0;
  let left = Math.floor(maxBytes * HEAD_PART);
  for (let item = items[first]; item !== undefined && size(item) < left; item = items[(first += 1)]) {
    head.push(bytes.subarray(item.start, item.end));
    left -= size(item) + 1;
  }
  const partial = yield* cutText(itemAt(bytes, items[first]), left, 'head');
  if (partial !== undefined) head.push(partial.item);
  let last = items.length - 1;
  left = Math.floor(maxBytes * TAIL_PART);
  for (
    let item = items[last];
    item !== undefined && last > first && size(item) < left;
    item = items[(last -= 1)]
  ) {
    tail.push(bytes.subarray(item.start, item.end));
    left -= size(item) + 1;
  }
  const from = last === first ? partial?.border : undefined;
  const end = last < first ? undefined : yield* cutText(itemAt(bytes, items[last]), left, 'tail', from);
  if (end !== undefined) tail.push(end.item);
  return { head, tail: tail.reverse() };
}

function itemAt(bytes: Buffer, span: Span | undefined): Buffer | undefined {
  return span && bytes.subarray(span.start, span.end);
}

function size({ start, end }: Span): number {
  return end - start;
}

const ITEM = { ...RESULT, plan: buildPlan({ type: {}, text: {} }) };

/** A text item with the beginning or the end of its text, in at most `maxBytes` bytes. `from`: what precedes is used. */
function* cutText(
  item: Buffer | undefined,
  maxBytes: number,
  part: 'head' | 'tail',
  from = 0,
): Steps<{ readonly item: Buffer; readonly border: number } | undefined> {
  if (item === undefined) return undefined;
  const text = yield* findText(item);
  if (text === undefined) return undefined;
  const room = maxBytes - (item.length - size(text) + QUOTES);
  if (room <= 0) return undefined;
  const [start, end] = [text.start + 1, text.end - 1];
  const border =
    part === 'head'
      ? findBorder(item, { start, end }, Math.min(start + room, end), 'backward')
      : findBorder(item, { start, end }, Math.max(end - room, start, from), 'forward');
  const edit = part === 'head' ? { start: border, end, text: '' } : { start, end: border, text: '' };
  const isEmpty = part === 'head' ? border === start : border === end;
  return isEmpty ? undefined : { item: splice(item, [edit]), border };
}

function* findText(item: Buffer): Steps<Span | undefined> {
  const scan = yield* runScan(new ObjectScan(item, ITEM, true));
  if (!scan.ok || readJsonString(item, findMember(scan.value, 'type')) !== 'text') return undefined;
  const text = findMember(scan.value, 'text');
  return text !== undefined && item[text.start] === QUOTE ? text : undefined;
}

const QUOTES = 2;

/** The nearest position between two characters of a JSON string's content, in this direction. */
function findBorder(
  bytes: Buffer,
  { start, end }: Span,
  at: number,
  direction: 'backward' | 'forward',
): number {
  let border = at;
  // In the middle of a character of several bytes.
  while (border > start && border < end && ((bytes[border] ?? 0) & 0xc0) === 0x80)
    border += direction === 'backward' ? -1 : 1;
  const escape = findEscape(bytes, start, border);
  if (escape !== undefined) border = direction === 'backward' ? escape.start : escape.end;
  // Between the two escapes of one character.
  if (isSurrogate(bytes, border - 6, 'd8') && isSurrogate(bytes, border, 'dc'))
    border += direction === 'backward' ? -6 : 6;
  return Math.min(Math.max(border, start), end);
}

/** The escape sequence in which a position is. */
function findEscape(bytes: Buffer, start: number, at: number): Span | undefined {
  for (let from = at - 1; from >= Math.max(start, at - 5); from -= 1) {
    if (bytes[from] !== BACKSLASH || !isEscapeStart(bytes, start, from)) continue;
    const end = from + (bytes[from + 1] === LETTER_U ? 6 : 2);
    if (end > at) return { start: from, end };
  }
  return undefined;
}

const LETTER_U = 0x75;

/** A backslash after an odd number of others is escaped itself. */
function isEscapeStart(bytes: Buffer, start: number, at: number): boolean {
  let before = at;
  while (before > start && bytes[before - 1] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
}

function isSurrogate(bytes: Buffer, at: number, kind: 'd8' | 'dc'): boolean {
  if (at < 0) return false;
  const escape = bytes.toString('latin1', at, at + 6);
  return (kind === 'd8' ? /^\\u[dD][89abAB][\da-fA-F]{2}$/ : /^\\u[dD][c-fC-F][\da-fA-F]{2}$/).test(escape);
}

/** The result of `resources/read` for a whole result: one content for each of its items, with their texts as written. */
export function createContentsBuilder(bytes: Buffer, uri: string): () => Buffer | undefined {
  return toSteps(buildContents(bytes, uri));
}

function* buildContents(bytes: Buffer, uri: string): Steps<Buffer> {
  const span = findContent(bytes, yield* runScan(new ObjectScan(bytes, RESULT, true)));
  const content = typeof span === 'string' ? Buffer.from('[]') : bytes.subarray(span.start, span.end);
  const found = yield* runScan(new ArrayScan(content, MAX_ITEMS));
  const texts: string[] = [];
  let done = 0;
  for (const { start, end } of Array.isArray(found) ? (found as readonly Span[]) : []) {
    texts.push(yield* toContents(content.subarray(start, end), uri));
    done += end - start;
    if (done < STEP_BYTES) continue;
    done = 0;
    yield undefined;
  }
  return Buffer.from(`{"contents":[${texts.join(',')}]}`);
}

const CONTENT = {
  ...RESULT,
  plan: buildPlan({ type: {}, text: {}, data: {}, mimeType: {}, resource: { uri: {} } }),
};

function* toContents(item: Buffer, uri: string): Steps<string> {
  const scan = yield* runScan(new ObjectScan(item, CONTENT, true));
  const members = scan.ok ? scan.value : undefined;
  const raw = (key: string): string | undefined => rawString(item, members, key);
  const type = readJsonString(item, findMember(members, 'type'));
  const start = `{"uri":${JSON.stringify(uri)},"mimeType":`;
  const [text, data, mimeType] = [raw('text'), raw('data'), raw('mimeType')];
  const resource = findMember(members, 'resource');
  if (type === 'text' && text !== undefined) return `${start}"text/plain","text":${text}}`;
  if (data !== undefined && mimeType !== undefined) return `${start}${mimeType},"blob":${data}}`;
  if (type === 'resource' && resource?.object !== undefined) return readRawValue(item, resource);
  return `${start}"application/json","text":${JSON.stringify(item.toString('utf8'))}}`;
}

/** Undefined if it is not a string. */
function rawString(item: Buffer, members: JsonObject | undefined, key: string): string | undefined {
  const member = findMember(members, key);
  return member !== undefined && item[member.start] === QUOTE ? readRawValue(item, member) : undefined;
}
