/** Verbs by which a name or a description speaks of what a tool does. */
const HARM: ReadonlySet<string> = new Set(
  'delete remove destroy drop erase wipe purge truncate overwrite kill terminate uninstall revoke discard'.split(
    ' ',
  ),
);
const WRITE: ReadonlySet<string> = new Set(
  'write create update edit insert append upload send publish rename move install set put patch post save modify'.split(
    ' ',
  ),
);
const READ: ReadonlySet<string> = new Set(
  'get list read search find show describe count view query lookup inspect'.split(' '),
);
const REPEAT: ReadonlySet<string> = new Set('append increment send publish enqueue charge'.split(' '));
const OUTSIDE: ReadonlySet<string> = new Set(
  'fetch browse download crawl scrape web http https url internet email'.split(' '),
);

/** Words of destruction in a name, or as a verb in a description. */
export function harmWords(name: string, description: string): readonly string[] {
  return [...among(HARM, wordsOf(name)), ...among(HARM, wordsOf(description))];
}

export function writeWords(name: string): readonly string[] {
  return among(WRITE, wordsOf(name));
}

export function repeatWords(name: string): readonly string[] {
  return among(REPEAT, wordsOf(name));
}

export function outsideWords(name: string): readonly string[] {
  return among(OUTSIDE, wordsOf(name));
}

/** The verb with which a name begins, where that is one of reading. */
export function readingWord(name: string): readonly string[] {
  return among(READ, wordsOf(name).slice(0, 1));
}

const LONGEST_READ = 10_000;

/** In lower case, also the parts of `camelCase` and `snake_case`. A server chooses how long its texts are. */
function wordsOf(text: string): readonly string[] {
  const parts = text
    .slice(0, LONGEST_READ)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return parts.split(/[^a-z]+/).filter((word) => word !== '');
}

/** Those of a set, also as the third person has them: "deletes". */
function among(set: ReadonlySet<string>, words: readonly string[]): readonly string[] {
  return words.filter((word) => set.has(word) || (word.endsWith('s') && set.has(word.slice(0, -1))));
}
