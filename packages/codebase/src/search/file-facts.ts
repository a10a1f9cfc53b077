import { join } from 'node:path';
import { hashContent, readBytes, readEntry } from '../files/read-source.ts';
import type { Candidates } from './candidates.ts';

/** What a result says about its file as it is now. */
export interface FileFacts {
  /** The name of its repository, or its path if another one has that name; undefined if the index has only one. */
  readonly repository: string | undefined;
  /**
   * `stale`: its content has changed since it was indexed, or its time has and too much was read already. `missing`:
   * there is no such file. Undefined: as indexed.
   */
  readonly state: 'stale' | 'missing' | undefined;
}

interface Row {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly hash: string;
  readonly repositoryId: string;
  readonly root: string;
}

/** What one search reads of files whose time differs, so that it does not stall after a checkout of another commit. */
const MAX_READ_BYTES = 4 * 1024 * 1024;

/** The facts of indexed files. Reads the files' states only, and the content of those whose time differs. */
export class FileFactsReader {
  readonly #candidates: Candidates;
  readonly #names: ReadonlyMap<string, string>;
  readonly #known = new Map<number, FileFacts>();
  #bytesLeft = MAX_READ_BYTES;

  constructor(candidates: Candidates) {
    this.#candidates = candidates;
    const all = candidates.statement('SELECT id, name, path FROM repositories').all() as readonly {
      readonly id: string;
      readonly name: string;
      readonly path: string;
    }[];
    this.#names = new Map(
      all.length < 2
        ? []
        : all.map(({ id, name, path }) => [
            id,
            all.filter((other) => other.name === name).length > 1 ? path : name,
          ]),
    );
  }

  of(fileId: number): FileFacts {
    const known = this.#known.get(fileId);
    if (known !== undefined) return known;
    const row = this.#candidates
      .statement(
        `SELECT f.path AS path, f.size AS size, f.mtime_ms AS mtimeMs, f.hash AS hash, r.id AS repositoryId, r.path AS root
         FROM files f JOIN repositories r ON r.id = f.repository_id WHERE f.id = ?`,
      )
      .get(fileId) as Row | undefined;
    const facts = {
      repository: row && this.#names.get(row.repositoryId),
      state: row && this.#findState(row),
    };
    this.#known.set(fileId, facts);
    return facts;
  }

  #findState({ root, path, size, mtimeMs, hash: indexed }: Row): FileFacts['state'] {
    const absolute = join(root, path);
    const found = readEntry(absolute);
    if (found?.isFile() !== true) return 'missing';
    if (found.size !== size) return 'stale';
    if (found.mtimeMs === mtimeMs) return undefined;
    if (size > this.#bytesLeft) return 'stale';
    this.#bytesLeft -= size;
    const read = readBytes(absolute, size);
    return read.ok && hashContent(read.bytes) === indexed ? undefined : 'stale';
  }
}
