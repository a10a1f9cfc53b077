const PLAIN_WORD = /^[\w.@:/+-]+$/;

/** Whether a shell takes the text as one word and expands nothing in it. */
export function isPlainWord(text: string): boolean {
  return PLAIN_WORD.test(text);
}

/**
 * Writes a text as one argument of a command that people paste into a shell: as it is, or in single quotes, in which
 * POSIX shells and fish expand nothing. Backslashes stand outside of them: fish would read one as an escape. Texts of
 * others are escaped with `printable` afterwards, like the rest of the line.
 */
export function quoteShellArgument(text: string): string {
  return isPlainWord(text) ? text : `'${text.replaceAll(/['\\]/g, String.raw`'\$&'`)}'`;
}
