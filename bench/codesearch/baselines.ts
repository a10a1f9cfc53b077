import { DatabaseSync } from 'node:sqlite';
import { isStopWord } from '../../packages/codebase/src/stop-words.ts';
import { inTransaction } from '@assay-mcp/kit/platform/sqlite';

export interface Text {
  readonly id: number;
  readonly content: string;
}

/** Where the right chunk is among those that match equally well: it has each of these ranks with the same chance. */
export interface TiedRank {
  readonly from: number;
  readonly to: number;
}

/** Ranks chunks by how many different words of the query they contain, as from one `rg -i` for each word. */
export class WordCount {
  readonly #texts: readonly Text[];
  readonly #all: string;
  readonly #starts: readonly number[];
  readonly #places: ReadonlyMap<number, number>;
  readonly #matches = new Map<string, Uint8Array>();

  constructor(texts: readonly Text[]) {
    this.#texts = texts;
    this.#places = new Map(texts.map(({ id }, index) => [id, index]));
    const lower = texts.map(({ content }) => content.toLowerCase());
    this.#all = lower.join('\n\n');
    let at = 0;
    this.#starts = lower.map((text) => (at += text.length + 2) - text.length - 2);
  }

  rankOf(words: readonly string[], ids: readonly number[]): TiedRank | undefined {
    const counts = new Uint16Array(this.#texts.length);
    for (const word of new Set(words))
      this.#matching(word).forEach((is, index) => {
        counts[index] = (counts[index] ?? 0) + is;
      });
    const best = Math.max(...ids.map((id) => counts[this.#places.get(id) ?? -1] ?? 0));
    if (best === 0) return undefined;
    const better = counts.filter((count) => count > best).length;
    const equal = counts.filter((count) => count === best).length;
    return { from: better + 1, to: better + equal };
  }

  /** A match may not span two chunks, which a line break between them sees to. */
  #matching(word: string): Uint8Array {
    const known = this.#matches.get(word);
    if (known !== undefined) return known;
    const found = new Uint8Array(this.#texts.length);
    let index = 0;
    for (
      let at = this.#all.indexOf(word);
      at >= 0;
      at = this.#all.indexOf(word, this.#starts[index + 1] ?? Infinity)
    ) {
      while ((this.#starts[index + 1] ?? Infinity) <= at) index += 1;
      found[index] = 1;
      if (index + 1 >= this.#starts.length) break;
    }
    this.#matches.set(word, found);
    return found;
  }
}

/** FTS5 as it comes: its own tokenizer and BM25 on the text of each chunk. */
export class PlainFts {
  readonly #database = new DatabaseSync(':memory:');

  constructor(texts: readonly Text[]) {
    this.#database.exec(
      `CREATE VIRTUAL TABLE texts USING fts5 (content, content = '', tokenize = 'unicode61')`,
    );
    const add = this.#database.prepare('INSERT INTO texts (rowid, content) VALUES (?, ?)');
    inTransaction(this.#database, () => {
      for (const { id, content } of texts) add.run(id, content);
    });
  }

  search(words: readonly string[], limit: number): readonly number[] {
    const expression = [...new Set(words)].map((word) => `"${word}"`).join(' OR ');
    return this.#database
      .prepare('SELECT rowid AS id FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?')
      .all(expression, limit)
      .map(({ id }) => Number(id));
  }

  close(): void {
    this.#database.close();
  }
}

export function wordsOf(query: string): readonly string[] {
  return query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

export function tellingWordsOf(query: string): readonly string[] {
  const words = wordsOf(query);
  const telling = words.filter((word) => word.length > 1 && !isStopWord(word));
  return telling.length > 0 ? telling : words;
}
