import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { backUpSqlite, restoreSqlite } from '../../../src/adapters/store/sqlite-backup.ts';
import { until } from '../../../../../test/support/endings.ts';
import { ROOT, tempDir } from '../../../../../test/support/paths.ts';
import { openAt, rawRows, startProcess } from '../../../../../test/support/stores.ts';
import { type StorePlace, token, valueOf } from '../../../../../test/support/store-values.ts';
import {
  createTokenBackup,
  createTokenStore,
  listTokenIds,
  readTokenIds,
} from '../../../../../test/support/token-store.ts';

/** A store that was not closed: its last change is only in its log. */
async function storeWithLog(): Promise<StorePlace> {
  const source = await createTokenStore('old');
  const place = { home: tempDir(), databaseUrl: undefined };
  const database = openDatabase(join(source.home, 'assay.db'), { mode: 'write' });
  database.exec('pragma wal_autocheckpoint = 0');
  database.exec("update assay_tokens set id = 'only in the log'");
  for (const name of ['assay.db', 'assay.db-wal'])
    copyFileSync(join(source.home, name), join(place.home, name));
  database.close();
  return place;
}

const refused = (code: string, reason: RegExp): unknown => ({
  ok: false,
  error: expect.objectContaining({ code, reason: expect.stringMatching(reason) }),
});

describe('a backup of assay.db', () => {
  it('has what was written when it was made, though the store is in use, and is one private file', async () => {
    const place = await createTokenStore('first');
    const store = await openAt(place);
    valueOf(await store.addToken(token('second')));
    const folder = tempDir();
    const path = join(folder, 'backup.db');
    const writing = Array.from({ length: 50 }, (_, at) => store.addToken(token(`later-${at}`)));
    const done = valueOf(await backUpSqlite({ home: place.home, path, replaces: false }));
    await Promise.all(writing);
    expect([done.bytes, done.migrations[0]]).toEqual([statSync(path).size, 1]);
    expect(readTokenIds(path)).toEqual(expect.arrayContaining(['first', 'second']));
    expect([statSync(path).mode & 0o777, readdirSync(folder)]).toEqual([0o600, ['backup.db']]);
  });

  it('replaces a regular file only if it may, and never a link or the store itself', async () => {
    const { home } = await createTokenStore('kept');
    const folder = tempDir();
    const at = (name: string): string => join(folder, name);
    const backUp = (path: string, replaces: boolean): unknown => backUpSqlite({ home, path, replaces });
    writeFileSync(at('file'), 'mine');
    symlinkSync(at('file'), at('link'));
    symlinkSync(at('nowhere'), at('dangling'));
    symlinkSync(home, at('home'));
    mkdirSync(at('folder'));
    execFileSync('mkfifo', [at('fifo')]);
    for (const name of ['file', 'link', 'dangling', 'folder', 'fifo'])
      expect([name, await backUp(at(name), false)]).toEqual([name, refused('FILE_UNWRITABLE', /--force/)]);
    for (const name of ['link', 'dangling', 'folder', 'fifo'])
      expect([name, await backUp(at(name), true)]).toEqual([
        name,
        refused('FILE_UNWRITABLE', /only a regular/),
      ]);
    for (const path of [join(home, 'assay.db'), join(home, 'assay.db-wal'), at('home/assay.db')])
      expect([path, await backUp(path, true)]).toEqual([path, refused('FILE_UNWRITABLE', /store itself/)]);
    expect(await backUp(at('no/such/folder'), false)).toEqual(refused('FILE_UNWRITABLE', /no such file/));
    expect(readFileSync(at('file'), 'utf8')).toBe('mine');
    expect(await backUp(at('file'), true)).toMatchObject({ ok: true });
    expect(readTokenIds(at('file'))).toEqual(['kept']);
    expect(readdirSync(folder).sort()).toEqual(['dangling', 'fifo', 'file', 'folder', 'home', 'link']);
  });

  it('is not made of a store that is damaged or absent', async () => {
    const { home } = await createTokenStore('lost');
    truncateSync(join(home, 'assay.db'), 8_192);
    const folder = tempDir();
    const path = join(folder, 'b');
    expect(await backUpSqlite({ home, path, replaces: false })).toEqual(
      refused('FILE_UNREADABLE', /damaged/),
    );
    expect(await backUpSqlite({ home: folder, path, replaces: false })).toEqual(
      refused('FILE_UNREADABLE', /no such file/),
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a restored backup', () => {
  it('takes the place of the store, which is kept with what was only in its log', async () => {
    const backup = await createTokenBackup('new');
    const place = await storeWithLog();
    const { keptAs = '' } = valueOf(await restoreSqlite(place.home, backup));
    expect(await listTokenIds(place)).toEqual(['new']);
    expect(readTokenIds(keptAs)).toEqual(['only in the log']);
    expect(statSync(join(place.home, 'assay.db')).mode & 0o777).toBe(0o600);
    expect(readTokenIds(backup)).toEqual(['new']);
    // The kept file can be restored in turn.
    valueOf(await restoreSqlite(place.home, keptAs));
    expect(await listTokenIds(place)).toEqual(['only in the log']);
  });

  it('takes the place of a damaged store and of its log, and of none', async () => {
    const backup = await createTokenBackup('new');
    const place = await storeWithLog();
    writeFileSync(join(place.home, 'assay.db'), 'no database '.repeat(500));
    const log = readFileSync(join(place.home, 'assay.db-wal'));
    const { keptAs = '' } = valueOf(await restoreSqlite(place.home, backup));
    expect(await listTokenIds(place)).toEqual(['new']);
    expect(readFileSync(keptAs, 'utf8')).toMatch(/^no database/);
    expect(readFileSync(`${keptAs}-wal`)).toEqual(log);
    const empty = { home: join(tempDir(), 'new-home'), databaseUrl: undefined };
    expect(valueOf(await restoreSqlite(empty.home, backup)).keptAs).toBeUndefined();
    expect(await listTokenIds(empty)).toEqual(['new']);
  });

  it('is refused while a process uses the store, which stays as it is', async () => {
    const backup = await createTokenBackup('new');
    const place = await createTokenStore('old');
    const other = startProcess(place, 'hold');
    await until('it has the file open', () => other.lines()[0], 120_000);
    expect(await restoreSqlite(place.home, backup)).toEqual(refused('STORE_UNAVAILABLE', /Stop every Assay/));
    await other.kill();
    const serve = { url: 'http://127.0.0.1:1', pid: process.ppid, token: 't', version: '', configPath: '' };
    writeFileSync(join(place.home, 'serve.json'), JSON.stringify(serve));
    expect(await restoreSqlite(place.home, backup)).toMatchObject({
      error: { code: 'GATEWAY_RUNNING', pid: process.ppid },
    });
    expect(readTokenIds(join(place.home, 'assay.db'))).toEqual(['old']);
    expect(readdirSync(place.home).filter((name) => /^\.|\d{4}-/.test(name))).toEqual([]);
  });

  it('is refused if it is not a usable store, and changes nothing', async () => {
    const place = await createTokenStore('old');
    const folder = tempDir();
    const [earlier, newer, other, damaged, cut] = ['a', 'b', 'c', 'd', 'e'].map((name) => join(folder, name));
    const backup = await createTokenBackup('new');
    for (const [path, edition] of [
      [earlier, 2],
      [newer, 4],
    ] as const) {
      const home = tempDir();
      copyFileSync(backup, join(home, 'assay.db'));
      await rawRows({ home, databaseUrl: undefined }, `update assay_migrations set edition = ${edition}`);
      copyFileSync(join(home, 'assay.db'), path ?? '');
    }
    const database = openDatabase(other ?? '', { mode: 'create' });
    database.exec('create table notes (text)');
    database.close();
    const bytes = readFileSync(backup);
    writeFileSync(
      damaged ?? '',
      Buffer.concat([bytes.subarray(0, 8_192), Buffer.alloc(bytes.length - 8_192, 7)]),
    );
    writeFileSync(cut ?? '', bytes.subarray(0, bytes.length - 4_096));
    const cases: readonly (readonly [string | undefined, RegExp])[] = [
      [earlier, /a build of an earlier edition/],
      [newer, /a newer version/],
      [other, /not a store of Assay/],
      [damaged, /damaged/],
      [cut, /damaged/],
      [join(ROOT, 'package.json'), /damaged or not a database/],
      [folder, /not a file/],
      [join(folder, 'absent'), /no such file/],
      ['/dev/zero', /not a file/],
    ];
    for (const [path = '', reason] of cases)
      expect([path, await restoreSqlite(place.home, path)]).toEqual([
        path,
        refused('FILE_UNREADABLE', reason),
      ]);
    writeFileSync(`${backup}-wal`, 'something');
    expect(await restoreSqlite(place.home, backup)).toEqual(refused('FILE_UNREADABLE', /write-ahead log/));
    expect(await listTokenIds(place)).toEqual(['old']);
    expect(readdirSync(place.home).sort()).toEqual(['assay.db', 'assay.db.lock']);
  });
});
