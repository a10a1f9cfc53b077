import { stemWord } from '@assay-mcp/kit/stem-word';

/** A longer word is data. It is cut, both in the index and in queries. */
const MAX_WORD_LENGTH = 64;

/**
 * The words of a text in lower case, without accents. `createIssue`, `create_issue` and `create-issue` are the same two.
 * Words of scripts that are written without spaces are still whole runs.
 */
export function splitWords(text: string): readonly string[] {
  const spaced = foldAccents(text)
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    // Before the last capital of `HTTPServer`, but not of `PRs`.
    .replace(/(\p{Lu})(\p{Lu}(?!s(?!\p{L}))\p{Ll})/gu, '$1 $2')
    .toLowerCase();
  return spaced.match(WORD) ?? [];
}

/** The terms by which a word is indexed. None for a word that says nothing about what a tool does. */
export function toIndexTerms(word: string): readonly string[] {
  return splitScripts(word).flatMap(toRunTerms);
}

/** The parts of a word with and without spaces between words: `2024年` is two. */
export function splitScripts(word: string): readonly string[] {
  return word.match(RUN) ?? [];
}

/** Whether the word consists of characters of a script without spaces between words. */
export function isSpaceless(word: string): boolean {
  return SPACELESS_START.test(word);
}

/** Each character with the next one, and the last one alone, so that each begins a term. */
export function listPairs(run: string): readonly string[] {
  const characters = run.match(/./gsu) ?? [];
  return characters.map((character, at) => character + (characters[at + 1] ?? ''));
}

function toRunTerms(run: string): readonly string[] {
  if (isSpaceless(run)) return listPairs(run);
  const word = run.slice(0, MAX_WORD_LENGTH);
  if (STOP_WORDS.has(word)) return [];
  const parts = splitDigits(word);
  return parts.length > 1 ? [word, ...parts] : [stemWord(word)];
}

/** `utf8` as `utf` and `8`. */
export function splitDigits(word: string): readonly string[] {
  return word.match(/\p{N}+|\P{N}+/gu) ?? [];
}

/**
 * Without the marks that people leave out: accents of letters, and vowel points of Arabic and Hebrew. The marks of Thai,
 * Devanagari and others are letters in their own right, and stay.
 */
function foldAccents(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .replace(EXCESS_MARKS, '')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]/g, '')
    .replace(/[ßæœøłđðþıÆŒØŁĐÐÞ]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFC');
}

/** Letters that have no decomposition. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  Æ: 'Ae',
  Œ: 'Oe',
  Ø: 'O',
  Ł: 'L',
  Đ: 'D',
  Ð: 'D',
  Þ: 'Th',
};

const ASCII = /^[\0-\x7f]*$/;
/** Normalizing puts successive marks in order, in time that grows with the square of their number. */
const EXCESS_MARKS = /(?<=\p{M}{8})\p{M}+/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const SPACELESS =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{sc=Hangul}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}';
const SPACELESS_START = new RegExp(`^[${SPACELESS}]`, 'u');
const RUN = new RegExp(`[${SPACELESS}]+|[^${SPACELESS}]+`, 'gu');

/** Words that say nothing about what a tool does. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  'a about all also am an and any anybody anyone anything are as at be been being but by can could d did do does doing done dont for from gave give given got had has have he her here him his how i if im in into is isnt it its ive just kind left let lets like ll m made make me might mine must my myself need needs never no not now of off ok okay on one or our ours out own please put re really s she should so some somebody someone something stuff such t than that the their them then there these they thing things this those to too tool tools up us use used uses using ve very via want wants was we were what whats when where which who whose why will wish with without would you your yours'.split(
    ' ',
  ),
);
