import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { PAGE_URL } from '@assay-mcp/sandbox/page-url';
import { SAMPLES } from './arguments/samples.ts';

/** The seed data on this machine. Sandboxes never change it. */
export interface Seed {
  readonly folder: string;
  /** Paths of its files, relative to the folder. */
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly remove: () => Promise<void>;
}

/**
 * Files of the kinds that common tools read, with content in which changes can be told apart. "A note." is once in each
 * text, so that a tool that replaces text finds it; a row occurs twice, and a line ends with spaces, so that tools that clean
 * up find something.
 */
const TEXTS: Readonly<Record<string, string>> = {
  'notes.txt': 'A note.\nA note about the house.\n',
  'data.json': `${JSON.stringify(
    {
      items: [
        { id: 1, name: 'apple' },
        { id: 2, name: 'pear' },
      ],
      text: 'A note.',
    },
    undefined,
    2,
  )}\n`,
  'table.csv': 'id,name,price,text\n1,apple,2,A note.\n2,pear,3,\n2,pear,3,\n',
  'page.md': '# A page\n\nA note.\n',
  'docs/guide.md': '# Guide\n\nSee the page. A note.\n',
  'docs/todo.txt': 'water the garden  \nA note.\n',
  'page.html': `<!doctype html>\n<html lang="en"><head><title>A page</title></head><body><p>A note.</p><a href="${PAGE_URL}">A page</a></body></html>\n`,
  'script.js': '// A note.\nfunction add(one, other) {\n  return one + other;\n}\nconsole.log(add(1, 2));\n',
  '.env': 'NAME=apple\nPRICE=2\nTEXT="A note."\n',
  'settings.yaml': 'name: apple\nprice: 2\ntext: A note.\n',
  'page.drawio':
    '<mxfile><diagram id="1" name="Page-1"><mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/>' +
    '<mxCell id="2" parent="1" vertex="1" value="A note."><mxGeometry width="80" height="40" as="geometry"/></mxCell>' +
    '</root></mxGraphModel></diagram></mxfile>\n',
};

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const CONTENT_TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const SHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

/** Archives, by the files in each. Office documents are archives as ECMA-376 defines them. */
const ARCHIVES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'sheet.xlsx': {
    ...createOfficeParts('xl/workbook.xml', 'spreadsheetml.sheet.main', {
      'xl/worksheets/sheet1.xml': 'spreadsheetml.worksheet',
      'xl/styles.xml': 'spreadsheetml.styles',
    }),
    'xl/workbook.xml': `${XML}<workbook xmlns="${SHEET}" xmlns:r="${OFFICE}"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${XML}<Relationships xmlns="${RELATIONSHIPS}"><Relationship Id="r1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `${XML}<styleSheet xmlns="${SHEET}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="1"><xf/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `${XML}<worksheet xmlns="${SHEET}"><dimension ref="A1:B2"/><sheetData>${toRow(1, ['name', 'text'])}${toRow(2, ['apple', 'A note.'])}</sheetData></worksheet>`,
  },
  'text.docx': {
    ...createOfficeParts('word/document.xml', 'wordprocessingml.document.main', {}),
    'word/document.xml': `${XML}<w:document xmlns:w="${WORD}"><w:body><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:body></w:document>`,
  },
  'texts.zip': { 'note.txt': 'A note.\n' },
};

function createOfficeParts(
  main: string,
  type: string,
  others: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const toOverride = ([path, kind]: readonly [string, string]): string =>
    `<Override PartName="/${path}" ContentType="application/vnd.openxmlformats-officedocument.${kind}+xml"/>`;
  return {
    '[Content_Types].xml': `${XML}<Types xmlns="${CONTENT_TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${[[main, type] as const, ...Object.entries(others)].map(toOverride).join('')}</Types>`,
    '_rels/.rels': `${XML}<Relationships xmlns="${RELATIONSHIPS}"><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="${main}"/></Relationships>`,
  };
}

function toRow(number: number, cells: readonly string[]): string {
  const texts = cells.map(
    (text, at) => `<c r="${'ABC'.charAt(at)}${number}" t="inlineStr"><is><t>${text}</t></is></c>`,
  );
  return `<row r="${number}">${texts.join('')}</row>`;
}

/** One page with a line of text. The table at its end has the offsets of the objects. */
const PDF = [
  '%PDF-1.4',
  '1 0 obj',
  '<</Type/Catalog/Pages 2 0 R>>',
  'endobj',
  '2 0 obj',
  '<</Type/Pages/Kids[3 0 R]/Count 1>>',
  'endobj',
  '3 0 obj',
  '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
  'endobj',
  '4 0 obj',
  '<</Length 37>>',
  'stream',
  'BT /F1 12 Tf 20 50 Td (A note.) Tj ET',
  'endstream',
  'endobj',
  '5 0 obj',
  '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  'endobj',
  'xref',
  '0 6',
  '0000000000 65535 f ',
  '0000000009 00000 n ',
  '0000000054 00000 n ',
  '0000000105 00000 n ',
  '0000000217 00000 n ',
  '0000000302 00000 n ',
  'trailer',
  '<</Size 6/Root 1 0 R>>',
  'startxref',
  '365',
  '%%EOF',
  '',
].join('\n');

/** 1 × 1 pixels. */
const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const MAX_LISTED = 1_000;
/** Files of the seed data that its repository does not know. */
const UNCOMMITTED = ['docs/todo.txt'];
/** The user's own settings do not count, and commits are the same whenever they are made. */
const GIT_ENVIRONMENT = {
  PATH: process.env['PATH'],
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_DATE: SAMPLES.dateTime,
  GIT_COMMITTER_DATE: SAMPLES.dateTime,
};

/** Copies `from`, or writes default seed data, into a new temporary folder. The caller removes it. */
export async function prepareSeed(from: string | undefined): Promise<Seed> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-seed-'));
  if (from === undefined) await writeDefaults(folder);
  else await cp(from, folder, { recursive: true, verbatimSymlinks: true });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = (isWanted: (entry: (typeof entries)[number]) => boolean): readonly string[] =>
    entries
      .filter(isWanted)
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
      .filter((path) => path !== '.git' && !path.startsWith('.git/'))
      .sort((one, other) => compareHidden(one, other) || (one < other ? -1 : 1))
      .slice(0, MAX_LISTED);
  return {
    folder,
    files: names((entry) => entry.isFile()),
    folders: names((entry) => entry.isDirectory()),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Hidden files come last: a tool that takes any file gets another one. */
function compareHidden(one: string, other: string): number {
  return Number(one.startsWith('.')) - Number(other.startsWith('.'));
}

async function writeDefaults(folder: string): Promise<void> {
  await mkdir(join(folder, 'docs'));
  for (const [path, text] of Object.entries(TEXTS)) await writeFile(join(folder, path), text);
  for (const [path, files] of Object.entries(ARCHIVES)) {
    const contents = Object.entries(files).map(([name, text]) => [name, strToU8(text)] as const);
    await writeFile(join(folder, path), zipSync(Object.fromEntries(contents)));
  }
  await writeFile(join(folder, 'document.pdf'), PDF);
  await writeFile(join(folder, 'image.png'), Buffer.from(IMAGE, 'base64'));
  const database = openDatabase(join(folder, 'database.db'), { mode: 'create' });
  database.exec(`create table items (id integer primary key, name text);
    insert into items values (1, 'apple'), (2, 'pear');`);
  database.close();
  makeRepository(folder);
}

/** Two commits, a tag, a branch, a remote, a file that changed since and a new one. Nothing is done where Git is missing. */
function makeRepository(folder: string): void {
  const git = (...args: readonly string[]): boolean =>
    spawnSync('git', args, { cwd: folder, env: GIT_ENVIRONMENT, stdio: 'ignore' }).status === 0;
  if (!git('init', '--quiet', '--template=', '--initial-branch', 'main')) return;
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', SAMPLES.email);
  for (const files of [['page.md', 'settings.yaml'], ['.']]) {
    git('add', ...files);
    git('reset', '--quiet', '--', ...UNCOMMITTED);
    git('commit', '--quiet', '--message', 'A note.');
  }
  git('tag', 'v1');
  git('branch', 'other');
  // A remote that is within reach: the repository itself.
  git('remote', 'add', 'origin', '.');
  git('fetch', '--quiet', 'origin');
  git('branch', '--quiet', '--set-upstream-to', 'origin/main');
  appendFileSync(join(folder, 'settings.yaml'), 'count: 3\n');
}
