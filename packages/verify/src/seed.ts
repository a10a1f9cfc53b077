import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';

/** The seed data on this machine. Sandboxes never change it. */
export interface Seed {
  readonly folder: string;
  /** Paths of its files, relative to the folder. */
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly remove: () => Promise<void>;
}

/** Files of the kinds that common tools read, with content in which changes can be told apart. */
const TEXTS: Readonly<Record<string, string>> = {
  'notes.txt': 'A note about the garden.\nA note about the house.\n',
  'data.json': `${JSON.stringify(
    {
      items: [
        { id: 1, name: 'apple' },
        { id: 2, name: 'pear' },
      ],
    },
    undefined,
    2,
  )}\n`,
  'table.csv': 'id,name,price\n1,apple,2\n2,pear,3\n',
  'page.md': '# A page\n\nA note in Markdown.\n',
  'docs/guide.md': '# Guide\n\nSee the page.\n',
  'docs/todo.txt': 'water the garden\n',
  'page.html':
    '<!doctype html>\n<html lang="en"><head><title>A page</title></head><body><p>A note.</p></body></html>\n',
  'script.js': 'function add(one, other) {\n  return one + other;\n}\nconsole.log(add(1, 2));\n',
  'settings.yaml': 'name: apple\nprice: 2\n',
};

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
      .filter((path) => !path.startsWith('.git/'))
      .sort()
      .slice(0, MAX_LISTED);
  return {
    folder,
    files: names((entry) => entry.isFile()),
    folders: names((entry) => entry.isDirectory()),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function writeDefaults(folder: string): Promise<void> {
  await mkdir(join(folder, 'docs'));
  for (const [path, text] of Object.entries(TEXTS)) await writeFile(join(folder, path), text);
  await writeFile(join(folder, 'document.pdf'), PDF);
  await writeFile(join(folder, 'image.png'), Buffer.from(IMAGE, 'base64'));
  const database = openDatabase(join(folder, 'database.db'), { mode: 'create' });
  database.exec(`create table items (id integer primary key, name text);
    insert into items values (1, 'apple'), (2, 'pear');`);
  database.close();
}
