import type { JsonObject } from '@assay-mcp/kit/json-object';

/** What arguments can refer to: the seed data in the sandbox, and values that list-like tools returned. */
export interface ArgumentContext {
  /** Absolute path of the folder with the seed data. */
  readonly folder: string;
  /** Absolute paths of the files in it, sorted. */
  readonly files: readonly string[];
  /** Absolute paths of its subfolders, sorted. */
  readonly folders: readonly string[];
  /** Values by the name of the member that held them: `id` → [4, 7]. */
  readonly seen: ReadonlyMap<string, readonly unknown[]>;
}

export interface Property {
  readonly name: string;
  readonly schema: JsonObject;
  /** The words of the tool's name, in lower case. */
  readonly about: string;
}

/** A value for a string property by its format or name. Undefined if neither says anything. */
export function generateString(
  { name, schema, about }: Property,
  context: ArgumentContext,
  variant: number,
): string | undefined {
  const format = typeof schema['format'] === 'string' ? FORMATS[schema['format']] : undefined;
  if (format !== undefined) return format;
  const words = splitName(name);
  const text =
    `${name} ${typeof schema['description'] === 'string' ? schema['description'] : ''}`.toLowerCase();
  const path = pathFor({ words, text, about, variant }, context);
  if (path !== undefined) return path;
  const found = NAMES.find(([names]) => words.some((word) => names.includes(word)));
  return found?.[1];
}

interface PropertyText {
  readonly words: readonly string[];
  readonly variant: number;
  readonly text: string;
  readonly about: string;
}

/** A path in the seed data, if the property is one. Properties for a destination get a path that does not exist. */
function pathFor(
  { words, text, about, variant }: PropertyText,
  context: ArgumentContext,
): string | undefined {
  const isPath =
    words.some((word) => PATH_WORDS.has(word)) || /\b(?:file|folder|directory) path\b/.test(text);
  if (!isPath) return undefined;
  if (words.some((word) => NEW_WORDS.has(word))) return `${context.folder}/created-${variant}.txt`;
  const isFolder =
    words.some((word) => FOLDER_WORDS.has(word)) ||
    (!words.some((word) => FILE_WORDS.has(word)) &&
      /\b(?:director(?:y|ies)|folders?|tree|repository)\b/.test(`${text} ${about}`));
  if (isFolder) return variant % 2 === 0 ? context.folder : (context.folders[0] ?? context.folder);
  const extension = EXTENSIONS.find(([pattern]) => pattern.test(`${text} ${about}`))?.[1];
  const matching = context.files.filter((file) => extension !== undefined && file.endsWith(extension));
  const files = matching.length > 0 ? matching : context.files;
  return files[variant % Math.max(files.length, 1)] ?? `${context.folder}/notes.txt`;
}

const PATH_WORDS: ReadonlySet<string> = new Set(
  'path paths file files filename filepath folder folders dir directory root source src destination dest target repo repository cwd database db'.split(
    ' ',
  ),
);
const FOLDER_WORDS: ReadonlySet<string> = new Set(
  'folder folders dir directory root repo repository cwd'.split(' '),
);
const FILE_WORDS: ReadonlySet<string> = new Set('file files filename filepath database db'.split(' '));
const NEW_WORDS: ReadonlySet<string> = new Set('destination dest target output new to'.split(' '));
const EXTENSIONS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:image|png|picture)\b/, '.png'],
  [/\bmedia\b/, '.png'],
  [/\bjson\b/, '.json'],
  [/\bcsv\b/, '.csv'],
  [/\b(?:sqlite|database)\b/, '.db'],
  [/\bmarkdown\b/, '.md'],
];

/** RFC 3339, 3986, 4122, 5322 and so on, as JSON Schema names them. Hosts and addresses are reserved for examples. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-15',
  'date-time': '2026-01-15T12:00:00Z',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'http://example.com/',
  'uri-reference': '/index.html',
  url: 'http://example.com/',
  uuid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
};

const NAMES: readonly (readonly [readonly string[], string])[] = [
  [['url', 'uri', 'href', 'link', 'endpoint'], 'http://example.com/'],
  [['email', 'mail'], 'ada@example.com'],
  [['host', 'hostname', 'domain'], 'example.com'],
  [['sql'], 'select 1'],
  [['timezone', 'tz'], 'Europe/Berlin'],
  [['city', 'location', 'place'], 'Berlin'],
  [['country'], 'DE'],
  [['language', 'lang', 'locale'], 'en'],
  [['currency'], 'EUR'],
  [['date', 'day', 'since', 'until', 'start', 'end'], '2026-01-15'],
  [['time'], '12:00'],
  [['regex', 'glob'], '*.txt'],
  [['pattern'], '*.txt'],
  [['command', 'cmd'], 'true'],
  [['branch'], 'main'],
  [['ref', 'revision', 'commit'], 'HEAD'],
  [['query', 'search', 'q', 'keyword', 'keywords', 'term'], 'note'],
  [
    ['message', 'text', 'content', 'contents', 'body', 'prompt', 'description', 'summary', 'comment'],
    'A note.',
  ],
  [['title', 'subject', 'label'], 'A title'],
  [['name', 'username', 'user', 'author', 'owner'], 'ada'],
  [['tag', 'category', 'type', 'kind'], 'note'],
  [['key', 'field', 'column'], 'name'],
  [['color', 'colour'], 'blue'],
  [['expression', 'formula'], '1 + 1'],
  [['code', 'script'], '1 + 1'],
];

/** `repoPath`, `repo_path` and `repo-path` are the words repo and path. */
export function splitName(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}
