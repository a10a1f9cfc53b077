import { isJsonObject, type JsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { splitName } from '../arguments/tool-words.ts';

/** One line of a text, or one scalar of JSON with the names of the members that lead to it. */
export interface AnswerLine {
  readonly text: string;
  /** Whether it is a number of JSON. */
  readonly isNumber: boolean;
}

/** How often an answer has each line. */
type Counted = ReadonlyMap<string, number>;

const MAX_LINES = 2_000;
const MAX_TEXT = 256 * 1024;
const MAX_LINE = 300;
const MAX_DEPTH = 8;
/** Parts of answers that describe the use of a server and not its data, by the names of tools and members. */
const ABOUT_USE =
  /(?:^|[^a-z])(?:stat(?:s|istics)?|metrics?|usage|cached?|caches|log(?:s|ged)?|histor(?:y|ies)|recent(?:ly)?|last|sessions?|calls?|hits?|access(?:ed)?|activit(?:y|ies)|uptime|time(?:stamp)?|at|health|quer(?:y|ies)|seen|views?|viewed)(?:$|[^a-z])/i;
/** Names of counters of what clients asked for. Only their numbers are left out: a list of pull requests is data. */
const COUNTS_USE =
  /(?:^|[^a-z])(?:requests?|served|lookups?|reads?|searches|invocations?|counter)(?:$|[^a-z])/i;
/** `get_status`, `server_status`; not `zone_status`. */
const SHOWS_STATUS = /^(?:get |show |check )?(?:(?:server|system|connection|index|cache) )?status$/;
/** Numbers that grow with each change, also with one that changes nothing else. */
const ABOUT_CHANGES =
  /(?:^|[^a-z])(?:(?:updated|modified|changed|edited)[a-z ]{0,10}|version|revision|rev|v|seq|sequence)(?:$|[^a-z])/i;

/** Whether a part of an answer describes how the server is used, which any call may change. */
export function isAboutUse(name: string): boolean {
  return ABOUT_USE.test(splitName(name).join(' '));
}

/** Whether a tool shows how its server is used, or its status. */
export function showsUse(tool: string): boolean {
  return isAboutUse(tool) || SHOWS_STATUS.test(splitName(tool).join(' '));
}

/** The lines of an answer, in order. Undefined for an error, and for an answer that is too large. */
export function readAnswerLines(result: JsonObject | undefined): readonly AnswerLine[] | undefined {
  if (result === undefined || result['isError'] === true) return undefined;
  const lines: AnswerLine[] = [];
  const structured = result['structuredContent'];
  if (structured !== undefined) walk(structured, '', { lines, depth: 0 });
  else
    for (const block of Array.isArray(result['content']) ? result['content'] : []) {
      const text: unknown = isJsonObject(block) ? block['text'] : undefined;
      if (typeof text !== 'string') continue;
      if (text.length > MAX_TEXT) return undefined;
      const value = parseJson(text);
      if (typeof value === 'object' && value !== null) walk(value, '', { lines, depth: 0 });
      else
        lines.push(
          ...text.split('\n').map((line) => ({ text: line.trim().slice(0, MAX_LINE), isNumber: false })),
        );
    }
  return lines.length > MAX_LINES ? undefined : lines;
}

/** One line for each scalar. */
function walk(
  value: unknown,
  path: string,
  out: { readonly lines: AnswerLine[]; readonly depth: number },
): void {
  const { lines, depth } = out;
  if (depth > MAX_DEPTH || lines.length > MAX_LINES) return;
  const deeper = { lines, depth: depth + 1 };
  if (Array.isArray(value)) for (const one of value) walk(one, path, deeper);
  else if (isJsonObject(value))
    for (const [key, one] of Object.entries(value)) {
      if (!isAboutUse(key)) walk(one, path === '' ? key : `${path}.${key}`, deeper);
    }
  else if (typeof value === 'string' || typeof value === 'number')
    lines.push({
      text: `${path === '' ? '' : `${path}: `}${value}`.slice(0, MAX_LINE),
      isNumber: typeof value === 'number',
    });
}

/** Texts with letters, without their numbers, since counters and times change anyway. */
function listTexts(lines: readonly AnswerLine[]): readonly string[] {
  return maskTexts(lines, (text) => text.replaceAll(/\d+/g, '#'));
}

/** Texts as `listTexts` returns them, with the digits of ids such as `D1` and `KB-1001`. */
function listTextsWithIds(lines: readonly AnswerLine[]): readonly string[] {
  return maskTexts(lines, (text) => text.replaceAll(TIMES, '#').replaceAll(/(?<![\p{L}\d_-])\d+/gu, '#'));
}

function maskTexts(lines: readonly AnswerLine[], mask: (text: string) => string): readonly string[] {
  return lines
    .filter(({ isNumber }) => !isNumber)
    .map(({ text }) => mask(text))
    .filter((text) => /\p{L}/u.test(text));
}

/** Dates, times of day, and times in s or ms since 1970. */
const TIMES = /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S{0,20})?|\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b|\b\d{10,}\b/g;

/** Lines with the numbers that are data, as far as that can be told. */
function listAmounts(lines: readonly AnswerLine[]): readonly string[] {
  return lines
    .map(({ text }) => text.replaceAll(TIMES, '#'))
    .map((text) =>
      ABOUT_CHANGES.test(text) || COUNTS_USE.test(text) || isAboutUse(text)
        ? text.replaceAll(/\d+/g, '#')
        : text,
    )
    .filter((text) => /[\p{L}\d]/u.test(text));
}

function count(lines: readonly string[]): Counted {
  const counted = new Map<string, number>();
  for (const line of lines) counted.set(line, (counted.get(line) ?? 0) + 1);
  return counted;
}

/** Whether an answer has no text. */
export function isWithoutText(lines: readonly AnswerLine[]): boolean {
  return listTexts(lines).length === 0;
}

export interface LineDifference {
  readonly gone: readonly string[];
  readonly added: readonly string[];
}

/** What one answer has more often than the other, in any order. Numbers are left out unless `withAmounts`. */
export function compareLines(
  before: readonly AnswerLine[],
  after: readonly AnswerLine[],
  { withAmounts }: { readonly withAmounts: boolean },
): LineDifference {
  const list = withAmounts ? listAmounts : listTexts;
  return compareTexts(list(before), list(after));
}

function compareTexts(before: readonly string[], after: readonly string[]): LineDifference {
  const [one, other] = [count(before), count(after)];
  const more = (here: Counted, there: Counted): readonly string[] =>
    [...here].flatMap(([line, number]) => (number > (there.get(line) ?? 0) ? [line] : []));
  return { gone: more(one, other), added: more(other, one) };
}

export function isDifferent({ gone, added }: LineDifference): boolean {
  return gone.length + added.length > 0;
}

/** Of lines that an answer still has as many of, at most this share may differ. */
const MAX_CHANGED = 0.5;
/** A state that a thing has at a time. Nothing is lost when it has another. */
const STATE =
  /(?:^|[^a-z])(?:status|state|(?:in)?active|running|stopped|started|paused|idle|enabled|disabled|open(?:ed)?|closed|done|todo|pending|completed?|true|false)(?:$|[^a-z])|(?:^|[^a-z])(?:on|off|yes|no)$/i;
/** What tools write instead of an empty list. */
const SAYS_EMPTY =
  /^\W*(?:no|none|nothing|empty|not|keine?|aucune?|ning[uú]n|nenhum|0|#)\b|\b(?:empty|yet)\b/i;

/**
 * What is lost from one answer to the next: lines that are gone without others in their place, or that were replaced
 * while the others stayed in their places. A list that shows only its first entries loses others as entries are added, so
 * that all lines move. Undefined if nothing is. After several calls, whatever is gone may be lost.
 */
export function findLoss(
  before: readonly AnswerLine[],
  after: readonly AnswerLine[],
  { isOneCall, withIds }: { readonly isOneCall: boolean; readonly withIds: boolean },
): LineDifference | undefined {
  const list = withIds ? listTextsWithIds : listTexts;
  const [one, other] = [list(before), list(after)];
  const difference = compareTexts(one, other);
  const gone = difference.gone.filter((line) => !SAYS_EMPTY.test(line));
  if (gone.length === 0) return undefined;
  if (other.length < one.length || !isOneCall) return { ...difference, gone };
  const changed = one.filter((line, at) => line !== other[at]);
  const replaced = gone.filter((line) => !STATE.test(line));
  const isReplaced = one.length === other.length && changed.length <= one.length * MAX_CHANGED;
  return isReplaced && replaced.length > 0 ? { ...difference, gone: replaced } : undefined;
}
