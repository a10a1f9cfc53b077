import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';

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
  const said = findTexts(parseJson(result));
  if (said === undefined) return false;
  let sent: readonly string[] | undefined;
  let [wordCount, numberCount] = [0, 0];
  for (const text of said) {
    const left = withoutSent(text, (sent ??= sentIn(args)));
    if (!PLAIN_CHARACTERS.test(left)) return false;
    for (const word of wordsOf(left)) {
      wordCount += 1;
      if (WORDS.has(word)) continue;
      numberCount += 1;
      if (!isNumber(word)) return false;
    }
    if (wordCount > MAX_WORDS || numberCount > MAX_NUMBERS) return false;
  }
  return true;
}

/** All texts of a result. Undefined if it has content of another kind, or is nested too deep. */
function findTexts(result: unknown): readonly string[] | undefined {
  if (!isJsonObject(result)) return undefined;
  const { content = [], resultType = 'complete', ...rest } = result;
  if (!Array.isArray(content)) return undefined;
  const found: string[] = [];
  const isFound = content.every((block) => {
    const text = textOfBlock(block);
    return text !== undefined && findStrings(structureOf(text), found);
  });
  return isFound && findStrings(resultType, found) && findStrings(rest, found) ? found : undefined;
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
  // A text that is no JSON would cost an exception, more than all else here.
  const parsed = JSON_START.test(text) ? parseJson(text) : undefined;
  return typeof parsed === 'object' && parsed !== null ? parsed : text;
}

/** Adds all strings, numbers and names of members to `found`. False if it is nested too deep. */
function findStrings(value: unknown, found: string[], depth = 0): boolean {
  if (typeof value === 'string') found.push(value);
  else if (typeof value === 'number') found.push(String(value));
  if (typeof value !== 'object' || value === null) return true;
  if (depth === MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((one) => findStrings(one, found, depth + 1));
  return Object.entries(value).every(([key, one]) => {
    found.push(key);
    return findStrings(one, found, depth + 1);
  });
}

/** What the caller sent, longest first. */
function sentIn(args: string | undefined): readonly string[] {
  if (args === undefined || args.length > MAX_SENT_LENGTH) return [];
  const sent: string[] = [];
  if (!findStrings(parseJson(args), sent)) return [];
  return sent
    .filter((text) => WORD_CHARACTER.test(text))
    .sort((one, other) => other.length - one.length)
    .slice(0, MAX_SENT);
}

/** Only whole words count as sent: otherwise single letters that were sent would make up any text. */
function withoutSent(text: string, sent: readonly string[]): string {
  if (WORDS.has(text)) return text;
  let left = text;
  for (const part of sent) {
    if (left === part) return '';
    if (!left.includes(part)) continue;
    left = left.replaceAll(part, (found, at: number) => {
      const [before = '', after = ''] = [left[at - 1], left[at + part.length]];
      return WORD_CHARACTER.test(before) || WORD_CHARACTER.test(after) ? found : ' ';
    });
  }
  return left;
}

function wordsOf(text: string): readonly string[] {
  if (WORDS.has(text)) return [text];
  const words = text
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replace(/(\d\d)T(\d\d:[\d:.]{5,12})Z/g, '$1 $2')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return words ?? [];
}

/** Letters between digits could spell words, so of identifiers only hexadecimal ones count. */
function isNumber(word: string): boolean {
  return /^\d{1,20}$/.test(word) || (/^[0-9a-f]{6,64}$/.test(word) && /\d{2}/.test(word));
}

const JSON_START = /^[\t\n\r ]*[{[]/;
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
