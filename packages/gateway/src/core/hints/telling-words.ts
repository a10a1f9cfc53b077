/** Verbs in a name or description that reveal what a tool does. */
export const HARM: ReadonlySet<string> = new Set(
  'delete remove destroy drop erase wipe purge truncate overwrite kill terminate uninstall revoke discard'.split(
    ' ',
  ),
);
export const WRITE: ReadonlySet<string> = new Set(
  'write create update edit insert append upload send publish rename move install set put patch post save modify'.split(
    ' ',
  ),
);
export const READ: ReadonlySet<string> = new Set(
  'get list read search find show describe count view query lookup inspect'.split(' '),
);
export const REPEAT: ReadonlySet<string> = new Set('append increment send publish enqueue charge'.split(' '));
export const OUTSIDE: ReadonlySet<string> = new Set(
  'fetch browse download crawl scrape web http https url internet email'.split(' '),
);

const MAX_READ_LENGTH = 10_000;

/** Words in lower case, with `camelCase` and `snake_case` split. Bounded, since a server controls the text's length. */
export function splitWords(text: string): readonly string[] {
  const parts = text
    .slice(0, MAX_READ_LENGTH)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return parts.split(/[^a-z]+/).filter((word) => word !== '');
}

/** The words that are in a set, including third-person forms: "deletes". */
export function findWords(set: ReadonlySet<string>, words: readonly string[]): readonly string[] {
  return words.filter((word) => set.has(word) || (word.endsWith('s') && set.has(word.slice(0, -1))));
}
