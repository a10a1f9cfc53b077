import { isJsonObject, parseJson } from '../json-object.ts';

/** Longer results, in characters, are taken to have content. */
const MAX_LENGTH = 8 * 1024;
/** The same in bytes, to decide it before a result is decoded. */
export const MAX_ACKNOWLEDGEMENT_BYTES: number = 3 * MAX_LENGTH;
const MAX_WORDS = 60;
/** Numbers can stand for letters. */
const MAX_NUMBERS = 24;
const MAX_DEPTH = 8;
/** Of larger arguments, nothing is recognised in the result. */
const MAX_SENT_LENGTH = 64 * 1024;
const MAX_SENT = 200;

/**
 * Whether the result of a call, as JSON text, only acknowledges it: it has nothing but text, numbers, what the caller
 * itself sent, and words of a short list. So it contains no sentence that another person could have written. If that is
 * not certain, the result has content.
 */
export function isAcknowledgement(result: string, args: string | undefined): boolean {
  if (result.length > MAX_LENGTH) return false;
  const parsed = parseJson(result);
  if (!isJsonObject(parsed)) return false;
  const { content = [], ...rest } = parsed;
  if (!Array.isArray(content)) return false;
  const texts = content.map(textOfBlock);
  if (texts.includes(undefined)) return false;
  const said = stringsIn([...texts.map((text) => structureOf(text ?? '')), rest]);
  if (said === undefined) return false;
  const sent = sentIn(args);
  const left = said.map((text) => withoutSent(text, sent));
  if (!left.every((text) => PLAIN_CHARACTERS.test(text))) return false;
  const words = left.flatMap(wordsOf);
  const unknown = words.filter((word) => !WORDS.has(word));
  return words.length <= MAX_WORDS && unknown.length <= MAX_NUMBERS && unknown.every(isNumber);
}

/** Undefined if it is not plain text: links, images and annotations are content. */
function textOfBlock(block: unknown): string | undefined {
  if (!isJsonObject(block) || Object.keys(block).some((key) => key !== 'type' && key !== 'text'))
    return undefined;
  const { type, text } = block;
  return type === 'text' && typeof text === 'string' ? text : undefined;
}

/** Many servers put JSON into their texts. */
function structureOf(text: string): unknown {
  const parsed = parseJson(text);
  return typeof parsed === 'object' && parsed !== null ? parsed : text;
}

/** All strings, numbers and names of members. Undefined if it is nested too deep. */
function stringsIn(value: unknown, depth = 0): readonly string[] | undefined {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  if (depth === MAX_DEPTH) return undefined;
  const parts = Array.isArray(value)
    ? value.map((one) => stringsIn(one, depth + 1))
    : Object.entries(value).map(([key, one]) => {
        const inside = stringsIn(one, depth + 1);
        return inside && [key, ...inside];
      });
  return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

/** What the caller sent, longest first. */
function sentIn(args: string | undefined): readonly string[] {
  if (args === undefined || args.length > MAX_SENT_LENGTH) return [];
  const sent = (stringsIn(parseJson(args)) ?? []).filter((text) => WORD_CHARACTER.test(text));
  return sent.toSorted((one, other) => other.length - one.length).slice(0, MAX_SENT);
}

/** Only whole words count as sent: otherwise single letters that were sent would make up any text. */
function withoutSent(text: string, sent: readonly string[]): string {
  return sent.reduce(
    (left, part) =>
      left.replaceAll(part, (found, at: number) => {
        const [before = '', after = ''] = [left[at - 1], left[at + part.length]];
        return WORD_CHARACTER.test(before) || WORD_CHARACTER.test(after) ? found : ' ';
      }),
    text,
  );
}

function wordsOf(text: string): readonly string[] {
  return text
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replace(/(\d\d)T(\d\d:[\d:.]{5,12})Z/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** Letters between digits could spell words, so of identifiers only hexadecimal ones count. */
function isNumber(word: string): boolean {
  return /^\d{1,20}$/.test(word) || (/^[0-9a-f]{6,64}$/.test(word) && /\d{2}/.test(word));
}

/** Half of a surrogate pair counts too. */
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}\p{Cs}]/u;
/** Of the others, many are readable as letters, or invisible. */
const PLAIN_CHARACTERS = /^(?:[\t\n\r -~‘’“”–—…•✓✔✅🎉]|\u{fe0f})*$/u;

const WORDS: ReadonlySet<string> = new Set(
  (
    'a an the to in on at of for from by with as is was were has been and it your this no not ' +
    'ok okay done success successful successfully status state result true false yes null none error complete ' +
    'sent posted created updated added saved delivered queued scheduled submitted accepted completed published ' +
    'received recorded uploaded written invited assigned closed opened merged commented booked reserved ' +
    'message messages email mail comment issue ticket task event note post reply file record item row rows ' +
    'channel thread user recipient recipients chat calendar meeting id ids uuid ts time timestamp date number ' +
    'count type text content structured meta t z utc'
  ).split(' '),
);
