import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Log } from '../../../src/gateway/ports/log.ts';
import type { RestTimes } from '../../../src/adapters/store/sqlite-thread.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { until } from '../../../../../test/support/endings.ts';
import { scaledMs } from '../../../../../test/support/slow-machine.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import { openAt, rawRows } from '../../../../../test/support/stores.ts';
import { RESTS_SOON, saveSetting, token, valueOf } from '../../../../../test/support/store-values.ts';

interface Opened {
  readonly home: string;
  readonly path: string;
  readonly store: Store;
  readonly lines: string[];
}

async function opened(rest?: RestTimes): Promise<Opened> {
  const home = join(tempDir(), 'home');
  const lines: string[] = [];
  const take = (message: string, fields: unknown): number =>
    lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug() {}, info: take, warn: take, error: take };
  const store = await openAt({ home, databaseUrl: undefined }, log, rest);
  valueOf(await saveSetting(store, 'first', 1));
  valueOf(await store.addToken(token('t')));
  return { home, path: join(home, 'assay.db'), store, lines };
}

async function isRefused(store: Store, what: string): Promise<void> {
  const write = await saveSetting(store, 'lost', true);
  expect(write).toMatchObject({ ok: false, error: { code: 'STORE_MOVED', what } });
  expect(store.fault).toMatchObject({ code: 'STORE_MOVED', what });
}

describe('the file of an open store', () => {
  const TAKEN_AWAY: readonly (readonly [how: string, what: string, take: (path: string) => void])[] = [
    ['deleted', 'gone', (path) => unlinkSync(path)],
    [
      'deleted with its logs',
      'gone',
      (path) => ['', '-wal', '-shm'].forEach((end) => unlinkSync(path + end)),
    ],
    ['moved', 'gone', (path) => renameSync(path, `${path}.moved`)],
    [
      'replaced by an older backup',
      'replaced',
      (path) => {
        copyFileSync(path, `${path}.backup`);
        renameSync(`${path}.backup`, path);
      },
    ],
    [
      'moved with its folder, as if unmounted',
      'gone',
      (path) => {
        renameSync(dirname(path), `${dirname(path)}.moved`);
        mkdirSync(dirname(path));
      },
    ],
  ];

  it.each(TAKEN_AWAY)(
    'is not recreated when it is %s: writes are refused, which is logged once',
    async (_, what, take) => {
      const { home, path, store, lines } = await opened();
      take(path);
      const there = readdirSync(home);
      await isRefused(store, what);
      await isRefused(store, what);
      expect(valueOf(await store.tokens()).map(({ id }) => id)).toEqual(['t']);
      expect(lines.filter((line) => line.startsWith('store:'))).toHaveLength(1);
      await store.close();
      expect(readdirSync(home).filter((name) => !there.includes(name))).toEqual([]);
    },
  );

  it('is not reopened by a suspended thread while it is missing, until the same file is back', async () => {
    const { home, path, store, lines } = await opened(RESTS_SOON);
    store.onChange(() => undefined);
    await until('it rests', () => (existsSync(`${path}-wal`) ? undefined : true), scaledMs(30_000));
    renameSync(path, `${path}.moved`);
    await until('it is noticed', () => (store.fault === undefined ? undefined : true), scaledMs(10_000));
    await isRefused(store, 'gone');
    expect(await store.tokens()).toMatchObject({ ok: false, error: { code: 'STORE_MOVED' } });
    expect(readdirSync(home)).toEqual(['assay.db.moved']);
    renameSync(`${path}.moved`, path);
    await until('it is there again', () => (store.fault === undefined ? true : undefined), scaledMs(10_000));
    valueOf(await saveSetting(store, 'last', 2));
    expect(valueOf(await store.settings())).toEqual(
      new Map([
        ['first', 1],
        ['last', 2],
      ]),
    );
    expect(lines.filter((line) => line.startsWith('store:'))).toHaveLength(2);
  });

  it('accepts writes again after it was moved away and back while open', async () => {
    const { home, path, store } = await opened();
    renameSync(path, `${path}.moved`);
    await isRefused(store, 'gone');
    renameSync(`${path}.moved`, path);
    valueOf(await saveSetting(store, 'last', 2));
    expect(
      await rawRows({ home, databaseUrl: undefined }, 'select id_json as key from assay_records'),
    ).toEqual([{ key: '"first"' }, { key: '"last"' }]);
  });

  it.each(['-wal', '-shm'])(
    'loses no acknowledged write when its %s is deleted, and recovers after one refusal',
    async (end) => {
      const { home, path, store } = await opened();
      // After this, the store knows its log files.
      valueOf(await saveSetting(store, 'second', 2));
      rmSync(`${path}${end}`);
      await isRefused(store, 'log');
      valueOf(await saveSetting(store, 'third', 3));
      await store.close();
      expect(
        await rawRows(
          { home, databaseUrl: undefined },
          'select id_json as key from assay_records order by 1',
        ),
      ).toEqual([{ key: '"first"' }, { key: '"second"' }, { key: '"third"' }]);
    },
  );
});
