import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync, copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectStore } from '../../../src/adapters/store/inspect-store.ts';
import { SCHEMA_EDITION } from '../../../src/adapters/store/tables.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { readColumn } from '../../../../../test/support/sqlite.ts';
import { until } from '../../../../../test/support/endings.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import { newDatabase } from '../../../../../test/support/postgres.ts';
import { contentOf, openAt, rawRows, startProcess } from '../../../../../test/support/stores.ts';
import {
  saveSetting,
  type StorePlace,
  token,
  tryStore,
  valueOf,
} from '../../../../../test/support/store-values.ts';

/** What earlier builds left: a row for each of twelve migrations, without editions. */
const WITHOUT_EDITIONS = [
  'alter table assay_migrations drop column edition',
  `insert into assay_migrations (version, applied_ms) values ${Array.from({ length: 11 }, (_, at) => `(${at + 2}, 0)`).join()}`,
];
const SHAPES: readonly (readonly [what: string, statements: readonly string[]])[] = [
  ['without editions', WITHOUT_EDITIONS],
  ['of an earlier edition', [`update assay_migrations set edition = ${SCHEMA_EDITION - 1}`]],
];

/** A closed store of an earlier build, with the token `kept`. */
async function earlierStore(
  place: StorePlace = { home: tempDir(), databaseUrl: undefined },
  statements: readonly string[] = WITHOUT_EDITIONS,
): Promise<StorePlace> {
  const store = await openAt(place);
  valueOf(await store.addToken(token('kept')));
  await store.close();
  for (const statement of statements) await rawRows(place, statement);
  return place;
}

function tokensIn(path: string): readonly unknown[] {
  const database = openDatabase(path, { mode: 'read' });
  try {
    return readColumn(database, 'select id from assay_tokens order by id');
  } finally {
    database.close();
  }
}

function asideIn({ home }: StorePlace): readonly string[] {
  return readdirSync(home).filter((name) => /^assay\.db\.\d{4}-\d\d-\d\d(?:-\d+)?$/.test(name));
}

function messages(): Log & { readonly told: (readonly [string, unknown])[] } {
  const told: (readonly [string, unknown])[] = [];
  return {
    told,
    debug() {},
    info() {},
    warn() {},
    error: (message, fields) => void told.push([message, fields]),
  };
}

const unavailable = (reason: RegExp): unknown => ({
  ok: false,
  error: { code: 'STORE_UNAVAILABLE', reason: expect.stringMatching(reason) },
});

describe.each(SHAPES)('an assay.db %s', (_what, statements) => {
  it('is set aside complete and reported once, and an empty store takes its place', async () => {
    const place = await earlierStore(undefined, statements);
    const log = messages();
    const store = await openAt(place, log);
    expect(valueOf(await store.tokens())).toEqual([]);
    valueOf(await saveSetting(store, 'a', 1));
    const [name = '', ...others] = asideIn(place);
    expect(others).toEqual([]);
    const keptAs = join(place.home, name);
    expect(tokensIn(keptAs)).toEqual(['kept']);
    expect(log.told).toEqual([[expect.stringMatching(/earlier build.*set aside/), { keptAs }]]);
    await store.close();
    expect(readdirSync(place.home).sort()).toEqual(['assay.db', name]);
    const again = await openAt(place, log);
    expect(valueOf(await again.settings())).toEqual(new Map([['a', 1]]));
    expect([asideIn(place), log.told.length]).toEqual([[name], 1]);
  });

  it('is reported by an inspection, which leaves it unchanged', async () => {
    const place = await earlierStore(undefined, statements);
    const before = [await contentOf(place), readdirSync(place.home)];
    expect(await inspectStore(place)).toEqual({
      kind: 'file',
      place: join(place.home, 'assay.db'),
      is: 'earlier',
    });
    expect([await contentOf(place), readdirSync(place.home)]).toEqual(before);
  });
});

describe('an assay.db of an earlier build', () => {
  it('is set aside with what is only in its write-ahead log after a crash', async () => {
    const source = await earlierStore();
    const place = { home: tempDir(), databaseUrl: undefined };
    const database = openDatabase(join(source.home, 'assay.db'), { mode: 'write' });
    database.exec('pragma wal_autocheckpoint = 0');
    database.exec("update assay_tokens set id = 'only in the log'");
    for (const name of ['assay.db', 'assay.db-wal'])
      copyFileSync(join(source.home, name), join(place.home, name));
    database.close();
    const store = await openAt(place);
    expect(valueOf(await store.tokens())).toEqual([]);
    await store.close();
    const [name = ''] = asideIn(place);
    expect(readdirSync(place.home).sort()).toEqual(['assay.db', name]);
    expect(tokensIn(join(place.home, name))).toEqual(['only in the log']);
  });

  it('replaces no file that was set aside on the same day', async () => {
    const place = await earlierStore();
    const taken = join(place.home, `assay.db.${new Date().toISOString().slice(0, 10)}`);
    writeFileSync(taken, 'first');
    await (await openAt(place)).close();
    expect(readFileSync(taken, 'utf8')).toBe('first');
    const others = asideIn(place).filter((name) => name !== basename(taken));
    expect(others.map((name) => tokensIn(join(place.home, name)))).toEqual([['kept']]);
  });

  it('is refused unchanged while another process has it open, and set aside once that has ended', async () => {
    const place = await earlierStore();
    const other = startProcess(place, 'hold');
    await until('it has the file open', () => other.lines()[0], 120_000);
    const log = messages();
    const refused = await tryStore(place, log);
    expect(refused).toEqual(unavailable(/earlier build.*another process has it open\. Stop every Assay/));
    expect([asideIn(place), log.told]).toEqual([[], []]);
    expect(tokensIn(join(place.home, 'assay.db'))).toEqual(['kept']);
    await other.kill();
    valueOf(await (await openAt(place, log)).tokens());
    expect([asideIn(place).length, log.told.length]).toEqual([1, 1]);
  });

  it('is refused while a `serve` runs, which closes it when idle, but not because of a serve.json left behind', async () => {
    const place = await earlierStore();
    const { pid: endedPid } = spawnSync(process.execPath, ['--version']);
    const announce = (pid: number): void =>
      writeFileSync(
        join(place.home, 'serve.json'),
        JSON.stringify({ url: 'http://127.0.0.1:1', pid, token: 't', version: '', configPath: '' }),
      );
    announce(process.ppid);
    const before = await contentOf(place);
    expect(await tryStore(place)).toEqual(
      unavailable(new RegExp(`assay serve.*\\(process ${process.ppid}; `)),
    );
    expect(await contentOf(place)).toEqual(before);
    announce(endedPid);
    valueOf(await (await openAt(place)).tokens());
    expect(asideIn(place).length).toBe(1);
  });

  it('is set aside once by several processes that start concurrently, and all use the new store', async () => {
    const place = await earlierStore();
    const others = [startProcess(place, 'open'), startProcess(place, 'open')];
    const log = messages();
    const stores = await Promise.all([tryStore(place, log), tryStore(place, log), tryStore(place, log)]);
    const tokens = await Promise.all(stores.map((store) => valueOf(store).tokens()));
    expect(tokens.map(valueOf)).toEqual([[], [], []]);
    expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(valueOf(await valueOf(stores[0]).settings())).toEqual(new Map([['opened', true]]));
    await Promise.all(stores.map((store) => valueOf(store).close()));
    const [name = '', ...more] = asideIn(place);
    expect(more).toEqual([]);
    expect(tokensIn(join(place.home, name))).toEqual(['kept']);
    expect(log.told.length).toBeLessThanOrEqual(1);
    expect(readdirSync(place.home).sort()).toEqual(['assay.db', name]);
  });

  it('is set aside by the next start if a process was killed while setting it aside', async () => {
    const place = await earlierStore();
    // Its log was already moved into it, but it was not renamed yet.
    await rawRows(place, 'pragma journal_mode = DELETE');
    writeFileSync(join(place.home, 'assay.db.lock'), '');
    expect(valueOf(await (await openAt(place)).tokens())).toEqual([]);
    expect(asideIn(place).map((name) => tokensIn(join(place.home, name)))).toEqual([['kept']]);
    expect(existsSync(join(place.home, 'assay.db.lock'))).toBe(false);
  });
});

describe.each(SHAPES)('PostgreSQL tables %s', (_what, statements) => {
  it('are refused with their schema and database, and left unchanged', async () => {
    const place = await earlierStore({ home: tempDir(), databaseUrl: await newDatabase() }, statements);
    const content = async (): Promise<readonly unknown[]> => [
      await contentOf(place),
      await rawRows(place, 'select * from assay_tokens'),
    ];
    const before = await content();
    const name = new URL(place.databaseUrl ?? '').pathname;
    expect(await tryStore(place)).toEqual({
      ok: false,
      error: { code: 'SCHEMA_TOO_OLD', place: expect.stringContaining(name), schema: 'public' },
    });
    expect(await inspectStore(place)).toMatchObject({ kind: 'database', is: 'earlier' });
    expect(await content()).toEqual(before);
  });
});
