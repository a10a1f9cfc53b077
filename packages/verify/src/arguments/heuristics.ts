import type { JsonObject } from '@assay-mcp/kit/json-object';
import { PAGE_URL } from '@assay-mcp/sandbox/page-url';
import type { Knowledge } from './knowledge.ts';
import { GLOBS, SAMPLES } from './samples.ts';
import { kindOfTool, splitName } from './tool-words.ts';

/** What arguments can refer to: the seed data in the sandbox, and values that other tools returned. */
export interface ArgumentContext {
  /** Absolute path of the folder with the seed data. */
  readonly folder: string;
  /** Absolute paths of the files in it, sorted. */
  readonly files: readonly string[];
  /** Absolute paths of its subfolders, sorted. */
  readonly folders: readonly string[];
  readonly knowledge: Pick<Knowledge, 'find'>;
}

export interface Property {
  readonly name: string;
  readonly schema: JsonObject;
  /** The name of the tool. */
  readonly tool: string;
  /** Names of the members beside it. */
  readonly siblings: readonly string[];
}

/** Values for a string property by its format or name, likeliest first. Empty if neither says anything. */
export function listStrings(property: Property, context: ArgumentContext): readonly string[] {
  const { name, schema, tool } = property;
  const format = typeof schema['format'] === 'string' ? FORMATS[schema['format']] : undefined;
  if (format !== undefined) return format;
  const words = splitName(name);
  const description = typeof schema['description'] === 'string' ? schema['description'].toLowerCase() : '';
  // Descriptions of tools mention too much: a tool that reads a file says that it must be in an allowed directory.
  const about = splitName(tool).join(' ');
  const paths = listPaths({ words, text: `${words.join(' ')} ${description}`, about, tool }, context);
  if (paths.length > 0) return paths;
  if (
    words.some((word) => ['sql', 'statement'].includes(word)) ||
    (/\bsql\b/.test(description) && /\b(?:query|statement)\b/.test(`${name} ${description}`))
  )
    return listSql(tool, context);
  if (words.some((word) => SHELL.has(word))) return [`ls ${context.folder}`, 'true', 'pwd'];
  if (words.some((word) => word === 'code' || word === 'script' || word === 'program' || word === 'snippet'))
    return listCode(`${about} ${description} ${property.siblings.join(' ')}`);
  const described = DESCRIBED.filter(([pattern]) => pattern.test(description)).flatMap(
    ([, values]) => values,
  );
  const named = NAMES.find(([names]) => words.some((word) => names.includes(word)))?.[1] ?? [];
  const values = [...new Set([...described, ...named])];
  const isNew = words.some((word) => ['new', 'replacement', 'replace'].includes(word));
  return isNew ? values.map((value) => REPLACEMENTS.get(value) ?? value) : values;
}

/**
 * Values that change something where a tool takes a query, a program or a path. A tool that only reads refuses them or
 * ignores what they ask for.
 */
export function listWritingStrings(
  { name, schema, tool }: Property,
  context: ArgumentContext,
): readonly string[] {
  const words = splitName(name);
  const description = typeof schema['description'] === 'string' ? schema['description'].toLowerCase() : '';
  if (
    words.includes('sql') ||
    words.includes('statement') ||
    (/\bsql\b/.test(`${tool.toLowerCase()} ${description}`) && words.includes('query'))
  ) {
    const table = tableOf(tool, context);
    return [
      `INSERT INTO ${table} (name) VALUES ('plum')`,
      `UPDATE ${table} SET name = 'plum'`,
      `DELETE FROM ${table}`,
      'CREATE TABLE created_table (id INTEGER PRIMARY KEY, name TEXT)',
      `DROP TABLE ${table}`,
      `SELECT 1; DELETE FROM ${table}`,
    ];
  }
  if (words.some((word) => SHELL.has(word)))
    return [`touch ${context.folder}/created.txt`, `rm -f ${context.folder}/notes.txt`];
  if (words.some((word) => ['code', 'script', 'program', 'expression', 'snippet'].includes(word)))
    return [
      `require('node:fs').writeFileSync(${JSON.stringify(`${context.folder}/created.txt`)}, 'x')`,
      `open(${JSON.stringify(`${context.folder}/created.txt`)}, 'w').write('x')`,
    ];
  return [];
}

/** What replaces a value that exists, so that replacing changes something. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ['A note.', 'Another note.'],
  ['A title', 'Another title'],
  ['A value', 'Another value'],
  ['ada', 'grace'],
]);

const SHELL: ReadonlySet<string> = new Set(['command', 'cmd', 'shell', 'commandline']);

function tableOf(tool: string, { knowledge }: ArgumentContext): string {
  const table = knowledge
    .find('table_name', tool)
    .find(({ isSure, known }) => isSure && /^\w+$/.test(String(known.value)));
  return table === undefined ? 'items' : String(table.known.value);
}

function listSql(tool: string, context: ArgumentContext): readonly string[] {
  const table = tableOf(tool, context);
  const select = `SELECT * FROM ${table} LIMIT 5`;
  const words = splitName(tool);
  const has = (...some: readonly string[]): boolean => some.some((word) => words.includes(word));
  const insert = `INSERT INTO ${table} (name) VALUES ('plum')`;
  const create = 'CREATE TABLE IF NOT EXISTS created_table (id INTEGER PRIMARY KEY, name TEXT)';
  if (has('create')) return [create, insert, select];
  if (has('alter')) return [`ALTER TABLE ${table} ADD COLUMN note TEXT`, create];
  if (has('drop')) return [`DROP TABLE IF EXISTS ${table}`];
  if (has('delete')) return [`DELETE FROM ${table} WHERE id = 1`];
  if (has('update')) return [`UPDATE ${table} SET name = 'plum' WHERE id = 1`];
  if (has('insert', 'write', 'mutate', 'modify', 'append')) return [insert, create];
  return [select, 'SELECT 1', create];
}

const PYTHON = 'print(1 + 1)';
const SCRIPT = 'console.log(1 + 1);';

function listCode(text: string): readonly string[] {
  if (/\bpython\b/.test(text) && !/javascript|node/.test(text)) return [PYTHON];
  if (/\b(?:shell|bash|interpreter)\b/.test(text) && !/javascript|node|python/.test(text)) return ['echo 1'];
  return [SCRIPT, PYTHON, '1 + 1', 'const a = 1;\nfunction add(x, y) {\n  return x + y;\n}\n'];
}

interface PropertyText {
  readonly words: readonly string[];
  readonly text: string;
  readonly about: string;
  readonly tool: string;
}

/** Paths in the seed data, if the property is one. Properties for a destination get a path that does not exist. */
function listPaths(property: PropertyText, context: ArgumentContext): readonly string[] {
  const { words, text, about, tool } = property;
  const { folder, files, folders } = context;
  const isPath =
    words.some((word) => PATH_WORDS.has(word)) ||
    (words.some((word) => PLACE_WORDS.has(word)) &&
      /\b(?:path|file|folder|directory)\b/.test(`${text} ${about}`)) ||
    /\b(?:file|folder|directory) path\b|\bpath (?:to|of) (?:the|a|an)\b/.test(text);
  if (!isPath || words.some((word) => NO_PATH_WORDS.has(word))) return [];
  // `file_name` is a path, `src_sheet_name` is the name of something in a file.
  if (words.length > 1 && words.at(-1) === 'name' && !words.some((word) => NAMED_WORDS.has(word))) return [];
  const isNew = words.some((word) => NEW_WORDS.has(word));
  const folderFirst =
    words.some((word) => FOLDER_WORDS.has(word)) ||
    (!words.some((word) => FILE_WORDS.has(word)) &&
      /\b(?:director(?:y|ies)|folders?|tree|repository|project|workspace|vault)\b/.test(`${text} ${about}`) &&
      !/\bfile\b/.test(about));
  // What the name says counts most: the `pdfPath` of a tool that makes images of pages.
  const ending = [words.join(' '), text, about]
    .map((one) => EXTENSIONS.find(([pattern]) => pattern.test(one))?.[1])
    .find((one) => one !== undefined);
  const created = `${folder}/created${isFolderTool(about, folderFirst) ? '' : (ending ?? '.txt')}`;
  if (isNew) return folderFirst ? [folder, `${folder}/created`] : [created, ...files.slice(0, 2)];
  const isMaking = kindOfTool(tool) === 'creates' && !/\b(?:open|import|start)\b/.test(about);
  const matching = files.filter((file) => ending !== undefined && file.endsWith(ending));
  const texts = files.filter((file) => file.endsWith('.txt'));
  const existing = [...new Set([...matching, ...(ending === undefined ? [] : texts), ...files])];
  const relative = (path: string): string => path.slice(folder.length + 1);
  const places = folderFirst ? [folder, ...folders, ...existing] : [...existing.slice(0, 4), folder];
  const all =
    isMaking && !folderFirst ? [created, ...places] : isMaking ? [`${folder}/created`, ...places] : places;
  const [first] = all;
  // A server that keeps files in a folder of its own takes names within it.
  return [...all, ...(first?.startsWith(`${folder}/`) === true ? [relative(first)] : ['.'])];
}

function isFolderTool(about: string, folderFirst: boolean): boolean {
  return folderFirst || /\b(?:directory|folder|dir|mkdir)\b/.test(about);
}

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const PATH_WORDS = wordSet(
  'path paths file files filename filepath folder folders dir directory directories root src dest dst cwd workdir',
);
/** Paths only where the description says so. */
const PLACE_WORDS = wordSet(
  'source destination target repo repository database db location workspace vault project input output',
);
const NO_PATH_WORDS = wordSet('url uri content text pattern glob id type format query extension extensions');
const FOLDER_WORDS = wordSet(
  'folder folders dir directory directories root repo repository cwd workdir workspace vault project',
);
const FILE_WORDS = wordSet('file files filename filepath database db');
const NAMED_WORDS = wordSet('file files folder folders dir directory path database db');
const NEW_WORDS = wordSet('destination dest dst target output new to');
const EXTENSIONS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:excel|xlsx|spreadsheet|workbook|worksheet)\b/, '.xlsx'],
  [/\b(?:docx|word (?:document|file))\b/, '.docx'],
  [/\bdrawio\b/, '.drawio'],
  [/\b(?:zip|archive)\b/, '.zip'],
  [/\b(?:image|png|picture)\b/, '.png'],
  [/\bmedia\b/, '.png'],
  [/\bjson\b/, '.json'],
  [/\bcsv\b/, '.csv'],
  [/\b(?:sqlite|database)\b/, '.db'],
  [/\b(?:markdown|note)\b/, '.md'],
  [/\bpdf\b/, '.pdf'],
  [/\bhtml?\b/, '.html'],
  [/\bya?ml\b/, '.yaml'],
  [/\b(?:dot)?env\b/, '.env'],
  [/\b(?:code|script|javascript|test|component)\b/, '.js'],
];

const URLS = [PAGE_URL, 'http://example.com/'];

/** RFC 3339, 3986, 4122, 5322 and so on, as JSON Schema names them. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  date: [SAMPLES.date],
  'date-time': [SAMPLES.dateTime],
  time: ['12:00:00Z'],
  duration: ['PT1H'],
  email: [SAMPLES.email],
  hostname: [SAMPLES.hostname],
  ipv4: [SAMPLES.ipv4],
  ipv6: ['2001:db8::1'],
  uri: URLS,
  'uri-reference': ['/index.html'],
  url: URLS,
  uuid: [SAMPLES.uuid],
  regex: [SAMPLES.regex],
};

/** By what a description says, where that is exact. */
const DESCRIBED: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\bjson (?:string|text|document|object)\b|\bas json\b|\bstringified\b/, [SAMPLES.json]],
  [/\byyyy-mm-dd\b/, [SAMPLES.date]],
  [/\biso[- ]?8601\b/, [SAMPLES.dateTime]],
  [/\bhh:mm\b/, [SAMPLES.time]],
  [/\bregular expression\b|\bregexp?\b/, [SAMPLES.regex]],
  [/\bglob\b/, GLOBS],
  [/\bmermaid\b/, [SAMPLES.mermaid]],
  [/\bbase64\b/, [SAMPLES.base64]],
  [/\bhex(?:adecimal)? colou?r\b/, [SAMPLES.color]],
  [/\bcron\b/, [SAMPLES.cron]],
  [/\bhtml\b/, [SAMPLES.html]],
  [/\bmarkdown\b/, [SAMPLES.markdown]],
  [/\byaml\b/, [SAMPLES.yaml]],
  [/\bcsv\b/, [SAMPLES.csv]],
  [/\bxml\b/, [SAMPLES.xml]],
  [/\bsvg\b/, [SAMPLES.svg]],
  [/\bcss selector\b/, [SAMPLES.selector]],
];

const NAMES: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['url', 'urls', 'uri', 'href', 'link', 'endpoint'], URLS],
  [['email', 'mail'], [SAMPLES.email]],
  [['host', 'hostname', 'domain'], [SAMPLES.hostname]],
  [['timezone', 'tz'], ['Europe/Berlin']],
  [
    ['city', 'location', 'place', 'origin', 'destination', 'address'],
    ['Berlin', 'Hamburg'],
  ],
  [['country'], ['DE']],
  [
    ['language', 'lang', 'locale'],
    ['en', 'javascript'],
  ],
  [['currency'], ['EUR']],
  [
    ['date', 'day', 'since', 'until', 'start', 'end', 'from', 'before', 'after'],
    [SAMPLES.date, SAMPLES.dateTime],
  ],
  [
    ['time', 'timestamp'],
    [SAMPLES.time, SAMPLES.dateTime],
  ],
  [['regex', 'regexp'], [SAMPLES.regex]],
  [['glob', 'globs', 'include', 'exclude'], GLOBS],
  [['pattern'], ['note', '*.txt']],
  [
    ['extension', 'extensions'],
    ['.txt', 'txt'],
  ],
  [['json'], [SAMPLES.json]],
  [['yaml', 'yml'], [SAMPLES.yaml]],
  [['csv'], [SAMPLES.csv]],
  [['xml'], [SAMPLES.xml]],
  [['html'], [SAMPLES.html]],
  [['markdown', 'md'], [SAMPLES.markdown]],
  [['svg'], [SAMPLES.svg]],
  [['diagram', 'mermaid'], [SAMPLES.mermaid]],
  [['cron', 'schedule'], [SAMPLES.cron]],
  [['version', 'semver'], ['1.2.3']],
  [['port'], ['8080']],
  [['interpreter'], ['bash']],
  [['ip'], [SAMPLES.ipv4]],
  [['uuid', 'guid'], [SAMPLES.uuid]],
  [
    ['color', 'colour', 'background'],
    [SAMPLES.color, 'blue'],
  ],
  [['hash', 'checksum'], ['d41d8cd98f00b204e9800998ecf8427e']],
  [['base64'], [SAMPLES.base64]],
  [['branch'], ['main']],
  [['ref', 'revision', 'commit'], ['HEAD']],
  [['selector'], [SAMPLES.selector]],
  [['package', 'module', 'library', 'dependency'], ['react']],
  [
    ['query', 'search', 'q', 'keyword', 'keywords', 'term'],
    ['note', 'a'],
  ],
  [
    [
      'message',
      'text',
      'content',
      'contents',
      'body',
      'prompt',
      'description',
      'summary',
      'comment',
      'thought',
      'note',
      'context',
      'string',
      'str',
      'replacement',
      'replace',
      'find',
    ],
    ['A note.', SAMPLES.json],
  ],
  [['title', 'subject', 'label', 'heading'], ['A title']],
  [['name', 'username', 'user', 'author', 'owner', 'entity', 'subject'], ['ada']],
  [['tag', 'tags', 'category', 'type', 'kind'], ['note']],
  [['key', 'field', 'column'], ['name']],
  [['expression', 'formula', 'equation'], ['1 + 1']],
  [['value'], ['A value']],
  [
    ['id', 'identifier'],
    ['1', 'a'],
  ],
];
