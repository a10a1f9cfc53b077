/**
 * Characters that people cannot see or that terminals interpret: controls, formats (tags, directions, zero widths, soft
 * hyphens), default ignorables (variation selectors, fillers), line and paragraph separators, lone surrogates,
 * noncharacters, and spaces other than the ASCII and the ideographic one.
 */
const HIDDEN: string = String.raw`[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Zs}\u2800]--[\u0020\u3000]]`;

let lazyHidden: RegExp | undefined;

/** Built lazily, because compiling it takes a millisecond, and most texts are ASCII. */
function eachHidden(): RegExp {
  return (lazyHidden ??= new RegExp(HIDDEN, 'gv'));
}

/** The hidden characters that emoji contain: the joiner, the selector and the tags. */
const IN_EMOJI = /\u200d|\ufe0f|[\u{e0020}-\u{e007f}]/u;

let lazyEmojiOrHidden: RegExp | undefined;

/**
 * Alternatives are tried in order, so the selectors and joiners in one of Unicode's own emoji do not count as hidden.
 * Built lazily, because compiling that list takes 30 ms and 1 MB.
 */
function emojiOrHidden(): RegExp {
  return (lazyEmojiOrHidden ??= new RegExp(`\\p{RGI_Emoji}|(${HIDDEN})`, 'gv'));
}

/** Makes untrusted text safe to show on one line: hidden characters become `\u001b` or `\u{e0041}`. */
export function toPrintable(text: string): string {
  return escaped(text, shownCharacter);
}

/** The same for multi-line text: line feeds and tabs are kept. */
export function toPrintableLines(text: string): string {
  return escaped(text, (character) =>
    character === '\n' || character === '\t' ? character : shownCharacter(character),
  );
}

/** JSON text that is safe for a terminal: the same value, with hidden characters as JSON escapes. */
export function toPrintableJson(json: string): string {
  // Outside of strings the line feed is the only such character in the JSON, and strings contain none.
  return escaped(json, (character) =>
    character === '\n' ? character : character.split('').map(fourDigits).join(''),
  );
}

/** Distinct hidden characters as `U+E0041`, except those common in prose: spaces, line feeds and tabs. */
export function findHiddenCharacters(text: string): readonly string[] {
  const found = new Set<string>();
  escaped(text, (character) => {
    if (!/[\n\r\t\p{Zs}]/u.test(character)) found.add(codePoint(character));
    return '';
  });
  return [...found];
}

function escaped(text: string, shown: (character: string) => string): string {
  // The only hidden characters in ASCII are controls, and no emoji consists of ASCII alone.
  if (!/\P{ASCII}/u.test(text)) return text.replace(/\p{Cc}/gu, shown);
  if (text.search(eachHidden()) < 0) return text;
  if (!IN_EMOJI.test(text)) return text.replace(eachHidden(), shown);
  return text.replace(emojiOrHidden(), (match, hidden?: string) =>
    hidden === undefined ? match : shown(hidden),
  );
}

function shownCharacter(character: string): string {
  return character.length === 1 ? fourDigits(character) : `\\u{${hex(character)}}`;
}

function fourDigits(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function codePoint(character: string): string {
  return `U+${hex(character).toUpperCase().padStart(4, '0')}`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** Untrusted text within a sentence: quoted, and on one line. The caller has cut it. */
export const quote: (text: string) => string = JSON.stringify;

/** `config_file` as readable words. */
export function toWords(value: string): string {
  return value.replaceAll('_', ' ');
}
