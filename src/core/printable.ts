/**
 * What a person does not see, or a terminal obeys: controls, formats (tags, directions, zero widths, soft hyphens), what is
 * ignorable by default (variation selectors, fillers), line and paragraph separators, lone surrogates, noncharacters, and
 * spaces other than that of ASCII and the ideographic one.
 */
const HIDDEN =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Zs}\u2800]--[\u0020\u3000]]/v;

let lazyEmojiOrHidden: RegExp | undefined;

/**
 * Alternatives are tried in order. An emoji of Unicode's own list is seen as what it is, selectors and joiners included. Made
 * when it is needed, as reading that list takes 30 ms.
 */
function emojiOrHidden(): RegExp {
  return (lazyEmojiOrHidden ??= new RegExp(`\\p{RGI_Emoji}|(${HIDDEN.source})`, 'gv'));
}

/** A text from elsewhere for people, in one line: what is hidden is shown as `\u001b` or `\u{e0041}`. */
export function printable(text: string): string {
  return escaped(text, shownCharacter);
}

/** The same for texts of several lines: line feeds and tabs stay. */
export function printableLines(text: string): string {
  return escaped(text, (character) =>
    character === '\n' || character === '\t' ? character : shownCharacter(character),
  );
}

/** JSON text that a terminal shows: the same value, in which what is hidden is written by JSON's own escapes. */
export function printableJson(json: string): string {
  // Outside of strings JSON has no other of these characters, and within strings it has no line feed.
  return escaped(json, (character) =>
    character === '\n' ? character : character.split('').map(fourDigits).join(''),
  );
}

/** The hidden characters of a text that no prose needs, each once, as `U+E0041`; spaces, line feeds and tabs are none. */
export function hiddenCharacters(text: string): readonly string[] {
  const found = new Set<string>();
  escaped(text, (character) => {
    if (!/[\n\r\t\p{Zs}]/u.test(character)) found.add(codePoint(character));
    return '';
  });
  return [...found];
}

function escaped(text: string, shown: (character: string) => string): string {
  // What is hidden of ASCII are its controls, and no emoji begins there without another character.
  if (!/\P{ASCII}/u.test(text)) return text.replace(/\p{Cc}/gu, shown);
  if (!HIDDEN.test(text)) return text;
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
