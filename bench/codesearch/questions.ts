// How often a question in plain English is answered within the first results, in whole packages as published and in
// repositories at a commit. Some sets are also asked as a model does, with queries that a model wrote from the question, the
// language of the code and the definition of search_code, without seeing code (model-queries.tsv):
//   node bench/codesearch/questions.ts CACHE [--misses]
// CACHE is a folder for packages, repositories and indexes, which are fetched and made the first time.
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Indexer } from '../../packages/codebase/src/indexing/indexer.ts';
import { searchCode } from '../../packages/codebase/src/search/search-code.ts';
import { getIndexPath } from '../../packages/codebase/src/store/index-file.ts';
import { formatIndexRefusal } from '../../packages/codebase/src/store/index-refusal.ts';
import { openDatabase, type Database } from '@assay-mcp/kit/platform/sqlite';
import { fetched } from './fetch.ts';
import { OWN_HELD_OUT } from './own-questions.ts';
import { NEW_HELD_OUT, NEW_TUNING } from './repository-questions.ts';
import { HELD_OUT, type Question, type Questions, TUNING } from './question-sets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { misses: { type: 'boolean', default: false } },
});
const [cache] = positionals;
if (cache === undefined) throw new Error('Give a folder to keep packages and indexes in.');
const ROOT = join(import.meta.dirname, '..', '..');
const WITHIN = 5;
const DEPTH = 10;

const queries = await readModelQueries();
const indexer = new Indexer();
await report('tuning', TUNING, resolve(cache));
await report('held out', HELD_OUT, resolve(cache));
await report('repositories, tuning', NEW_TUNING, resolve(cache));
await report('repositories, held out', NEW_HELD_OUT, resolve(cache));
await report('repositories, held out, as a model asks', asModelAsks(NEW_HELD_OUT), resolve(cache));
await report('this repository, held out', OWN_HELD_OUT, resolve(cache));
await report('this repository, held out, as a model asks', asModelAsks(OWN_HELD_OUT), resolve(cache));
await indexer.close();

/** By question. */
async function readModelQueries(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(import.meta.dirname, 'model-queries.tsv'), 'utf8');
  const rows = text.trimEnd().split('\n').slice(1);
  return new Map(rows.map((row) => row.split('\t') as [string, string]));
}

function asModelAsks(questions: Questions): Questions {
  const rewrite = ([text, answer]: Question): Question => {
    const query = queries.get(text);
    if (query === undefined) throw new Error(`model-queries.tsv has no query for: ${text}`);
    return [query, answer];
  };
  return Object.fromEntries(Object.entries(questions).map(([name, asked]) => [name, asked.map(rewrite)]));
}

async function report(use: string, questions: Questions, folder: string): Promise<void> {
  const ranks: number[] = [];
  for (const [name, asked] of Object.entries(questions)) {
    const database = await indexed(name, folder);
    for (const question of asked) {
      const { rank, first } = ask(database, question, name === '.' ? 'packages' : undefined);
      ranks.push(rank);
      if (values.misses && rank > WITHIN)
        console.log([`${name}: ${question[0]}`, ...first.map((place) => `    ${place}`)].join('\n'));
    }
    database.close();
  }
  const within = (limit: number): number => ranks.filter((rank) => rank <= limit).length;
  console.log(
    `${use}: of ${ranks.length} questions ${within(1)} are answered by the first result, ${within(WITHIN)} within the first five, ${within(DEPTH)} within ten`,
  );
}

async function indexed(name: string, folder: string): Promise<Database> {
  const at = name.lastIndexOf('@');
  const isRepository = /^[^@]+\//.test(name);
  const from = isRepository ? 'git' : 'npm';
  const source = { from, name: name.slice(0, at), version: name.slice(at + 1) } as const;
  const path = name === '.' ? ROOT : await fetched({ ...source, folders: ['.'], extension: 'js' }, folder);
  const project = join(
    folder,
    'indexes',
    `questions-${name === '.' ? 'assay' : source.name.replace('/', '+')}`,
  );
  await mkdir(project, { recursive: true });
  const made = await indexer.indexRepository({ folder: project, path });
  if (!made.ok) throw new Error(formatIndexRefusal(made.error).message);
  return openDatabase(getIndexPath(project), { mode: 'read' });
}

/** `rank` is that of the first file that answers the question; infinite if none does. */
function ask(
  database: Database,
  [text, answer]: Question,
  directory: string | undefined,
): { readonly rank: number; readonly first: readonly string[] } {
  const { files } = searchCode(database, { query: text, limit: DEPTH, directory }, { maxBytes: 1_000_000 });
  const places = files.map(({ file_path, chunks }) =>
    [file_path, ...chunks.map(({ symbol }) => symbol ?? '')].join(' '),
  );
  const index = places.findIndex(
    (place, at) => answer.test(place) || answer.test(files[at]?.file_path ?? ''),
  );
  return { rank: index < 0 ? Infinity : index + 1, first: places.slice(0, WITHIN) };
}
