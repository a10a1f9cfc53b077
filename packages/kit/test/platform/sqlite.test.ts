import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getErrorCode, inTransaction, openDatabase, readPragma } from '../../src/platform/sqlite.ts';
import { tempDir } from '../../../../test/support/paths.ts';
import { readColumn } from '../../../../test/support/sqlite.ts';

function codeOf(work: () => unknown): string {
  try {
    work();
    return '';
  } catch (error) {
    return getErrorCode(error);
  }
}

describe('a database', () => {
  it('is created only in the mode for that', () => {
    const folder = tempDir();
    for (const mode of ['read', 'read_alone', 'write'] as const)
      expect(
        codeOf(() => openDatabase(join(folder, 'a.db'), { mode })),
        mode,
      ).toBe('SQLITE_CANTOPEN');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('in WAL mode without a log is read alone with no file created beside it, whatever its name', () => {
    const [folder, name] = [tempDir(), 'a b%?#.db'];
    const database = openDatabase(join(tempDir(), 'a.db'), { mode: 'create' });
    expect(readPragma(database, 'journal_mode = WAL')).toBe('wal');
    database.exec('create table t (a); insert into t values (1); pragma wal_checkpoint(truncate)');
    copyFileSync(database.location() ?? '', join(folder, name));
    database.close();
    const alone = openDatabase(join(folder, name), { mode: 'read_alone' });
    expect(readColumn(alone, 'select a from t')).toEqual([1]);
    expect(codeOf(() => alone.exec('delete from t'))).toBe('SQLITE_READONLY');
    expect(readdirSync(folder)).toEqual([name]);
    alone.close();
  });

  it('keeps nothing of a transaction that throws, and names a lock', () => {
    const path = join(tempDir(), 'a.db');
    const database = openDatabase(path, { mode: 'create' });
    database.exec('create table t (a)');
    const fail = (): never => {
      database.exec('insert into t values (1)');
      throw new Error('stop');
    };
    expect(() => inTransaction(database, fail)).toThrow('stop');
    expect(readColumn(database, 'select a from t')).toEqual([]);
    database.exec('begin immediate');
    const other = openDatabase(path, { mode: 'write', timeoutMs: 0 });
    expect(codeOf(() => other.exec('begin immediate'))).toBe('SQLITE_BUSY');
    other.close();
    database.close();
  });

  it('writes beside a row id that no number can hold', () => {
    const database = openDatabase(join(tempDir(), 'a.db'), { mode: 'create' });
    database.exec('create table t (id integer primary key, a)');
    const largest = 2n ** 53n + 3n;
    const { changes, lastInsertRowid } = database.prepare('insert into t (id) values (?)').run(largest);
    expect({ changes, lastInsertRowid }).toEqual({ changes: 1n, lastInsertRowid: largest });
    expect(database.prepare('update t set a = 1').run().changes).toBe(1n);
    database.close();
  });

  it('hides no other warning', () => {
    const before = Reflect.get(process, 'emitWarning') as unknown;
    openDatabase(join(tempDir(), 'a.db'), { mode: 'create' }).close();
    expect(Reflect.get(process, 'emitWarning')).toBe(before);
  });
});
