// How often the documentation of a function finds it, in an index without documentation, beside two baselines:
//   node bench/codesearch/run.ts CACHE [--queries 1000] [--set NAME]...
// CACHE is a folder for the packages and indexes, which are fetched and made the first time.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Indexer } from '../../packages/codebase/src/indexing/indexer.ts';
import { formatIndexRefusal } from '../../packages/codebase/src/store/index-refusal.ts';
import { getIndexPath } from '../../packages/codebase/src/store/index-file.ts';
import { searchCode } from '../../packages/codebase/src/search/search-code.ts';
import { WEIGHTS } from '../../packages/codebase/src/search/rank.ts';
import { openDatabase, type Database } from '@assay-mcp/kit/platform/sqlite';
import { quantile } from '../statistics.ts';
import { PlainFts, type Text, tellingWordsOf, WordCount, wordsOf } from './baselines.ts';
import { type Corpus, corpusOf } from './corpus.ts';
import { identifierReport, symbolsOf } from './identifiers.ts';
import { queriesOf, type Query, sample } from './queries.ts';
import { type RepositorySet, SETS } from './repositories.ts';
import { DEPTH, rankAmong, type Score, scoreOf } from './score.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { queries: { type: 'string', default: '1000' }, set: { type: 'string', multiple: true } },
});
const [cache] = positionals;
if (cache === undefined) throw new Error('Give a folder to keep packages and indexes in.');
const IDENTIFIERS = 500;

const indexer = new Indexer();
for (const set of SETS)
  if (values.set === undefined || values.set.includes(set.name)) await report(set, resolve(cache));
await indexer.close();

async function report(set: RepositorySet, folder: string): Promise<void> {
  const corpus = await corpusOf(set, folder);
  const database = await indexed(set, corpus, folder);
  const all = queriesOf(corpus, database);
  const queries = sample(all, Number(values.queries));
  const texts = database
    .prepare("SELECT c.id, c.content FROM chunks c JOIN files f ON f.id = c.file_id WHERE f.state = 'live'")
    .all() as readonly Text[];
  console.log(
    `\n${set.name} (${set.use}): ${texts.length} chunks, ${queries.length} of ${all.length} queries`,
  );
  const ms: number[] = [];
  const rows: readonly (readonly [string, Score])[] = [
    ['ripgrep-style, all words', byWords(texts, queries, wordsOf)],
    ['ripgrep-style, without stop words', byWords(texts, queries, tellingWordsOf)],
    ['plain FTS5', byPlainFts(texts, queries)],
    ['search, tests not demoted', bySearch(database, queries, { test: 1, ms: [] })],
    ['search', bySearch(database, queries, { test: WEIGHTS.test, ms })],
  ];
  for (const [name, { mrr, recall }] of rows)
    console.log(`  ${name.padEnd(36)} MRR@10 ${mrr.toFixed(3)}  recall@10 ${recall.toFixed(3)}`);
  const mrrOf = (row: number): number => rows[row]?.[1].mrr ?? 0;
  for (const row of [3, 4])
    console.log(
      `  ${rows[row]?.[0] ?? ''}: ${(mrrOf(row) / mrrOf(0)).toFixed(2)} x ripgrep-style (${(mrrOf(row) / mrrOf(1)).toFixed(2)} x without stop words), ${(mrrOf(row) / mrrOf(2)).toFixed(2)} x plain FTS5`,
    );
  console.log(
    `  one search takes ${(quantile(ms, 0.5) ?? 0).toFixed(1)} ms (median), ${(quantile(ms, 0.95) ?? 0).toFixed(1)} ms (p95) of processor time`,
  );
  const symbols = sample(symbolsOf(database), IDENTIFIERS);
  const { asked, faults } = identifierReport(database, symbols);
  console.log(`  identifiers: definition first for ${asked - faults.length} of ${asked}`);
  for (const fault of faults.slice(0, 5)) console.log(`    ${fault}`);
  database.close();
}

async function indexed(set: RepositorySet, corpus: Corpus, folder: string): Promise<Database> {
  const project = join(folder, 'indexes', set.name);
  await mkdir(project, { recursive: true });
  const made = await indexer.indexRepository({ folder: project, path: corpus.root });
  if (!made.ok) throw new Error(formatIndexRefusal(made.error).message);
  return openDatabase(getIndexPath(project), { mode: 'read' });
}

function byWords(texts: readonly Text[], queries: readonly Query[], split: typeof wordsOf): Score {
  const counter = new WordCount(texts);
  return scoreOf(queries.map(({ text, ids }) => counter.rankOf(split(text), ids)));
}

function byPlainFts(texts: readonly Text[], queries: readonly Query[]): Score {
  const plain = new PlainFts(texts);
  const ranks = queries.map(({ text, ids }) =>
    rankAmong(plain.search(wordsOf(text), DEPTH).map((id) => ids.includes(id))),
  );
  plain.close();
  return scoreOf(ranks);
}

function bySearch(
  database: Database,
  queries: readonly Query[],
  { test, ms }: { readonly test: number; readonly ms: number[] },
): Score {
  return scoreOf(
    queries.map((query) => {
      const before = process.cpuUsage();
      const { results } = searchCode(
        database,
        { query: query.text, limit: DEPTH },
        { weights: { ...WEIGHTS, test }, maxBytes: 1_000_000 },
      );
      const { user, system } = process.cpuUsage(before);
      ms.push((user + system) / 1_000);
      return rankAmong(
        results.map(
          ({ file_path, symbol, parent, start_line }) =>
            file_path === query.path &&
            symbol === query.symbol &&
            parent === query.parent &&
            start_line >= query.start &&
            start_line <= query.end,
        ),
      );
    }),
  );
}
