import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mergeDatabaseLogs, applyWriteAheadLog } from '../src/sqlite-wal.ts';
import { compareEntries } from '../src/state.ts';
import type { StateChange, StateEntry } from '../src/observation.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { readColumn, useCopy } from '../../../test/support/sqlite.ts';
import { file } from '../../verify/test/observations.ts';
import { logOf, pagesOf } from '../../verify/test/write-ahead-log.ts';

/** A database with its log after each of these statements, as SQLite writes them. */
function written(...statements: readonly string[]): readonly (readonly [database: Buffer, log: Buffer])[] {
  const folder = mkdtempSync(join(tmpdir(), 'assay-test-'));
  const path = join(folder, 'd');
  const database = openDatabase(path, { mode: 'create' });
  try {
    database.exec('pragma journal_mode = wal');
    return statements.map((statement) => {
      database.exec(statement);
      return [readFileSync(path), readFileSync(`${path}-wal`)];
    });
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
}

const [[BASE], [, INSERTED], [, CHECKPOINT_LOG], [CHECKPOINTED]] = written(
  'create table t (a); insert into t values (1); pragma wal_checkpoint(truncate)',
  'insert into t values (2)',
  'select 1',
  'pragma wal_checkpoint',
) as [[Buffer, Buffer], [Buffer, Buffer], [Buffer, Buffer], [Buffer, Buffer]];

function rowsOf(database: Buffer | undefined): unknown {
  if (database === undefined) return undefined;
  const content = Buffer.from(database);
  content.fill(1, 18, 20);
  return useCopy(content, (opened) => readColumn(opened, 'select a from t'));
}

describe('a write-ahead log', () => {
  it('is read as a part of its database', () => {
    expect(rowsOf(applyWriteAheadLog(BASE, INSERTED))).toEqual([1, 2]);
    const own = logOf(pagesOf(CHECKPOINTED), pagesOf(CHECKPOINTED).length);
    expect(rowsOf(applyWriteAheadLog(BASE, own))).toEqual([1, 2]);
  });

  it('is not read if it makes its database larger than all pages that were written', () => {
    const log = (pages: number): Buffer => logOf(pagesOf(CHECKPOINTED), pages);
    expect(applyWriteAheadLog(BASE, log(pagesOf(CHECKPOINTED).length))).toBeDefined();
    expect(applyWriteAheadLog(BASE, log(16_000))).toBeUndefined();
  });

  it('is not read if any byte is not what SQLite would accept', () => {
    for (let at = 0; at < INSERTED.length; at += 1) {
      // The number of checkpoints, which only the checksum of the header covers.
      const log = Buffer.from(INSERTED);
      log[at] = (log[at] ?? 0) ^ 0x40;
      expect(applyWriteAheadLog(BASE, log), `byte ${at}`).toBeUndefined();
    }
    for (const log of [
      INSERTED.subarray(0, -1),
      Buffer.concat([INSERTED, Buffer.alloc(8)]),
      INSERTED.subarray(0, 32),
    ])
      expect(applyWriteAheadLog(BASE, log)).toBeUndefined();
    const [first = [1, BASE] as const] = pagesOf(BASE);
    expect(applyWriteAheadLog(BASE, logOf([first], 0))).toBeUndefined();
  });

  it('is not read beside a file that is no database, has other pages, or keeps no log', () => {
    const text = Buffer.alloc(4096, 'A note. ');
    expect(applyWriteAheadLog(text, logOf([[1, text]], 1))).toBeUndefined();
    expect(applyWriteAheadLog(BASE, logOf([[1, BASE.subarray(0, 512)]], 1))).toBeUndefined();
    const rollback = Buffer.from(BASE).fill(1, 18, 20);
    expect(applyWriteAheadLog(rollback, INSERTED)).toBeUndefined();
    expect(applyWriteAheadLog(BASE.subarray(0, -1), INSERTED)).toBeUndefined();
  });
});

type Pair = readonly [database: Buffer | undefined, log: Buffer | undefined];

/** `kind path rows` of each change from one database with its log to another. */
async function changes(before: Pair, after: Pair): Promise<readonly string[]> {
  const entry = (pair: Pair, path: string): StateEntry | undefined => {
    const content = path.endsWith('-wal') ? pair[1] : pair[0];
    return content && file(content);
  };
  const raw = ['/d', '/d-wal'].flatMap((path): readonly StateChange[] => {
    const change = compareEntries(path, entry(before, path), entry(after, path));
    return change === undefined ? [] : [change];
  });
  const found = await mergeDatabaseLogs(raw, (path) =>
    Promise.resolve({ before: entry(before, path), after: entry(after, path) }),
  );
  return found.map(({ kind, path, isLog }) => `${kind} ${path}${isLog === true ? ' (log)' : ''}`);
}

describe('the changes of a database with its log', () => {
  const text = Buffer.alloc(512, 'A note. ');
  const forged = logOf([[1, text]], 1);
  const ofBase = logOf(pagesOf(BASE), pagesOf(BASE).length);
  const lost = Buffer.from(BASE).fill(0, BASE.length / 2);

  it('are those that its readers see', async () => {
    expect(await changes([BASE, undefined], [BASE, INSERTED])).toEqual(['modified /d']);
    expect(await changes([undefined, undefined], [BASE, INSERTED])).toEqual(['created /d']);
    expect(await changes([BASE, Buffer.alloc(0)], [BASE, undefined])).toEqual([]);
    expect(await changes([BASE, undefined], [BASE, Buffer.alloc(0)])).toEqual([]);
    expect(await changes([BASE, undefined], [CHECKPOINTED, undefined])).toEqual(['modified /d']);
  });

  it('show a checkpoint as bytes that were written without a visible change', async () => {
    expect(await changes([BASE, CHECKPOINT_LOG], [CHECKPOINTED, CHECKPOINT_LOG])).toEqual(['rewritten /d']);
    expect(await changes([BASE, CHECKPOINT_LOG], [CHECKPOINTED, undefined])).toEqual(['rewritten /d']);
    expect(await changes([BASE, undefined], [BASE, ofBase])).toEqual(['rewritten /d']);
  });

  it('cannot be hidden behind a log', async () => {
    const ordinary = ['modified /d', 'created /d-wal'];
    expect(await changes([text, undefined], [Buffer.from('gone'), forged])).toEqual(ordinary);
    expect(await changes([text, forged], [Buffer.from('gone'), forged])).toEqual(['modified /d']);
    expect(await changes([BASE, undefined], [Buffer.from('gone'), ofBase])).toEqual(ordinary);
    expect(await changes([text, undefined], [BASE, logOf(pagesOf(BASE), 1)])).toEqual(ordinary);
    expect(await changes([BASE, undefined], [lost, ofBase])).toEqual(['modified /d']);
    const twice = logOf([...pagesOf(lost), ...pagesOf(BASE)], pagesOf(BASE).length);
    expect(await changes([BASE, undefined], [lost, twice])).toEqual(['modified /d']);
    expect(await changes([BASE, ofBase], [lost, ofBase])).toEqual(['modified /d']);
    const rollback = Buffer.from(BASE).fill(1, 18, 20);
    expect(await changes([rollback, text], [BASE, ofBase])).toEqual(['modified /d', 'modified /d-wal']);
  });

  it('include the log itself if it cannot be read, or belongs to nothing', async () => {
    const stale = Buffer.concat([INSERTED, INSERTED.subarray(32)]);
    expect(await changes([BASE, undefined], [BASE, stale])).toEqual(['created /d-wal (log)']);
    expect(await changes([BASE, INSERTED], [undefined, undefined])).toEqual(['deleted /d', 'deleted /d-wal']);
    expect(await changes([undefined, undefined], [undefined, INSERTED])).toEqual(['created /d-wal']);
    expect(await changes([text, INSERTED], [text, undefined])).toEqual(['deleted /d-wal']);
  });
});
