import type { Change } from '../../gateway/ports/commit.ts';
import type { StoredWord, Word, WordKind, WordNews } from '../../gateway/ports/words.ts';
import { replaceAccepted } from './accepted-rows.ts';
import { portions, type Trx } from './dialect.ts';
import type { WordRow } from './tables.ts';

export async function readWords(trx: Trx, since: number): Promise<WordNews> {
  const rows = await trx
    .selectFrom('assay_words')
    .selectAll()
    .where('revision', '>', since)
    .orderBy('revision')
    .execute();
  const state = await trx.selectFrom('assay_word_state').select('last_revision').executeTakeFirstOrThrow();
  return { words: rows.map(wordOf), revision: state.last_revision };
}

/** The changes of words in a commit, whose revisions were compared before. */
type WordChange = Extract<Change, { readonly kind: 'word' }>;

export async function writeWords(trx: Trx, changes: readonly WordChange[]): Promise<readonly StoredWord[]> {
  const last = await takeRevisions(trx, changes.length);
  const stored = changes.map(({ word }, at): StoredWord => {
    const { kind, id, body } = word;
    return { kind, id, body, revision: last - changes.length + at + 1 };
  });
  for (const rows of portions(stored.map(rowOf)))
    await trx
      .insertInto('assay_words')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['kind', 'id_json']).doUpdateSet((build) => ({
          revision: build.ref('excluded.revision'),
          body_json: build.ref('excluded.body_json'),
        })),
      )
      .execute();
  await replaceAccepted(
    trx,
    changes.flatMap(({ accepted }) => accepted ?? []),
  );
  return stored;
}

type WordKey = `${WordKind} ${string}`;

export function wordKeyOf({ kind, id }: Pick<Word, 'kind' | 'id'>): WordKey {
  return `${kind} ${JSON.stringify(id)}`;
}

/** Those of the words that are there. */
export async function readWordRevisions(
  trx: Trx,
  words: readonly Pick<Word, 'kind' | 'id'>[],
): Promise<ReadonlyMap<WordKey, number>> {
  const found = new Map<WordKey, number>();
  for (const [kind, some] of Map.groupBy(words, (word) => word.kind))
    for (const portion of portions(some.map(({ id }) => JSON.stringify(id)))) {
      const rows = await trx
        .selectFrom('assay_words')
        .select(['id_json', 'revision'])
        .where('kind', '=', kind)
        .where('id_json', 'in', portion)
        .execute();
      for (const { id_json, revision } of rows) found.set(`${kind} ${id_json}`, revision);
    }
  return found;
}

/** The last one of so many. One row gives them out, so what is committed later has later ones. */
async function takeRevisions(trx: Trx, count: number): Promise<number> {
  const row = await trx
    .updateTable('assay_word_state')
    .set((build) => ({ last_revision: build('last_revision', '+', count) }))
    .returning('last_revision')
    .executeTakeFirstOrThrow();
  return row.last_revision;
}

function rowOf({ kind, id, body, revision }: StoredWord): WordRow {
  const body_json = body === undefined ? null : JSON.stringify(body);
  return { kind, id_json: JSON.stringify(id), revision, body_json };
}

function wordOf({ kind, id_json, body_json, revision }: WordRow): StoredWord {
  const body = body_json === null ? undefined : (JSON.parse(body_json) as unknown);
  return { kind, id: JSON.parse(id_json) as string, body, revision }; // `rowOf` wrote it
}
