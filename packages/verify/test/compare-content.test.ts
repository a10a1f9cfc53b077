import { describe, expect, it } from 'vitest';
import { compareContent } from '../src/state/compare-content.ts';
import { writeDatabase } from '../../../test/support/sqlite.ts';

const compared = (before: string | Buffer, after: string | Buffer): unknown =>
  compareContent(Buffer.from(before as string), Buffer.from(after as string));

describe('comparing content distinguishes additions from losses:', () => {
  const cases: readonly (readonly [string, string, string, object])[] = [
    ['appended bytes', 'a', 'ab', { format: 'bytes', isAdditive: true }],
    ['an inserted line', 'a\nc\n', 'a\nb\nc\n', { format: 'lines', isAdditive: true }],
    ['a changed line', 'a\nb\n', 'a\nc\n', { format: 'lines', isAdditive: false }],
    ['swapped lines', 'a\nb\n', 'b\na\n', { format: 'lines', isAdditive: false }],
    [
      'a rewritten JSON file with one more member',
      '{"a":1}',
      '{\n "b": 2, "a": 1 }',
      { format: 'json', isAdditive: true },
    ],
    ['a changed JSON value', '{"a":1}', '{"a":2}', { format: 'json', isAdditive: false }],
    ['a removed element of a JSON array', '[1,2]', '[2]', { format: 'json', isAdditive: false }],
    [
      'an extended record of JSON Lines',
      '{"n":"a","o":[1]}\n{"n":"b"}\n',
      '{"n":"a","o":[1,2]}\n{"n":"b"}\n',
      { format: 'json_lines', isAdditive: true },
    ],
    [
      'a removed record of JSON Lines',
      '{"n":"a"}\n{"n":"b"}\n',
      '{"n":"b"}\n',
      { format: 'json_lines', isAdditive: false },
    ],
    [
      'an advanced timestamp',
      '{"updatedAt":"2026-01-01T00:00:00Z","a":1}',
      '{"updatedAt":"2026-01-02T00:00:00Z","a":1}',
      { isAdditive: true, isTimestamps: true },
    ],
    [
      'a changed duration',
      '{"ended_at":"2026-01-01T00:00:00Z","duration_seconds":2}',
      '{"ended_at":"2026-01-02T00:00:00Z","duration_seconds":1}',
      { isAdditive: true, isTimestamps: true },
    ],
    [
      'an advanced id counter',
      '{"nextId":1,"items":[]}',
      '{"nextId":2,"items":[1]}',
      { isAdditive: true, isTimestamps: false },
    ],
    ['a task that is done', '[{"id":1,"done":false}]', '[{"id":1,"done":true}]', { isAdditive: 'unknown' }],
    [
      'a status, and one more element',
      '[{"id":1,"status":"open"}]',
      '[{"id":1,"status":"closed"},{"id":2}]',
      { isAdditive: 'unknown' },
    ],
    ['what is running no longer', '{"running":{"id":1}}', '{"running":null}', { isAdditive: 'unknown' }],
    [
      'a status, and a lost element',
      '[{"status":"open"},{"id":2}]',
      '[{"status":"closed"}]',
      { isAdditive: false },
    ],
    [
      'a long text under the name of a state',
      `{"status":"${'a'.repeat(50)}"}`,
      '{"status":"b"}',
      { isAdditive: false },
    ],
  ];
  for (const [name, before, after, expected] of cases)
    it(name, () => expect(compared(before, after)).toMatchObject(expected));

  it('rows of a database, regardless of its pages', () => {
    const one = writeDatabase(
      "create table t (id integer primary key, v text); insert into t values (1, 'a'), (2, 'b')",
    );
    expect(compared(one, writeDatabase("insert into t values (3, 'c')", one))).toMatchObject({
      format: 'sqlite',
      isAdditive: true,
    });
    expect(compared(one, writeDatabase("update t set v = 'x' where id = 1", one))).toMatchObject({
      isAdditive: false,
    });
    expect(compared(one, writeDatabase('delete from t where id = 2', one))).toMatchObject({
      isAdditive: false,
    });
  });

  it('tables, views, triggers and indexes of a database', () => {
    const one = writeDatabase(
      'create table t (v text); create table n (v); create view w as select 1; create index i on t (v)',
    );
    for (const lost of [
      'drop view w',
      'drop index i',
      'drop view w; create view w as select 2',
      'drop table t',
    ])
      expect(compared(one, writeDatabase(lost, one)), lost).toMatchObject({ isAdditive: false });
    for (const added of ['create table u (v)', 'alter table t add column x', 'create view x as select 1'])
      expect(compared(one, writeDatabase(added, one)), added).toMatchObject({
        format: 'sqlite',
        isAdditive: true,
        isTimestamps: false,
      });
  });

  it('documents of a full-text index, but not its internal tables, which could hold anything', () => {
    const one = writeDatabase(
      `create virtual table t using fts5 (body); create virtual table v using fts5vocab (t, 'row');
      insert into t values ('one two'), ('three')`,
    );
    expect(compared(one, writeDatabase("insert into t values ('one four')", one))).toMatchObject({
      ...{ format: 'sqlite', isAdditive: 'unknown', isTimestamps: false },
    });
    expect(compared(one, writeDatabase('delete from t where rowid = 1', one))).toMatchObject({
      isAdditive: false,
    });
  });

  it('what SQLite would read as the same: invalid texts, byte order marks and large numbers', () => {
    const one = writeDatabase(
      "create table t (v); insert into t values (cast(x'ff' as text)), ('a'), (9007199254740993)",
    );
    for (const value of ["cast(x'fe' as text)", "cast(x'efbbbf61' as text)", '9007199254740992'])
      for (const rowid of [1, 2, 3])
        expect(
          compared(one, writeDatabase(`update t set v = ${value} where rowid = ${rowid}`, one)),
          `${value} in row ${rowid}`,
        ).toMatchObject({ format: 'sqlite', isAdditive: false, isTimestamps: false });
  });

  it('the rows of a table, whatever one of its indexes says, and whatever its columns are called', () => {
    const one = writeDatabase("create table t (v); create index i on t (v); insert into t values ('kept')");
    const forged = Buffer.from(one);
    // On the second page, which is that of the table. The third one is that of the index.
    forged.write('lost', forged.indexOf('kept', 4096));
    expect(compared(one, forged)).toMatchObject({ format: 'sqlite', isAdditive: false });
    const odd = writeDatabase(
      'create table t (rowid, "__proto__" text, "a""b"); insert into t values (1, 2, 3), (1, 5, 6)',
    );
    expect(compared(odd, writeDatabase('update t set "__proto__" = 4 where "a""b" = 6', odd))).toMatchObject({
      isAdditive: false,
    });
    expect(compared(odd, writeDatabase('insert into t values (1, 2, 3)', odd))).toMatchObject({
      isAdditive: true,
    });
    const keyed = writeDatabase(
      'create table t (k primary key, v) without rowid; insert into t values (1, 2)',
    );
    expect(compared(keyed, writeDatabase('insert into t values (2, 2)', keyed))).toMatchObject({
      isAdditive: true,
    });
    expect(compared(keyed, writeDatabase('update t set v = 3', keyed))).toMatchObject({ isAdditive: false });
  });

  it('nothing of a database that is damaged or has too many rows', () => {
    const many = writeDatabase(
      `create table t (v); insert into t
        with recursive c(x) as (select 1 union all select x + 1 from c limit 60000) select null from c`,
    );
    expect(compared(many, writeDatabase('delete from t where rowid = 1', many))).toEqual({
      ...{ format: 'unknown', why: 'it has more than 50000 rows' },
    });
    const one = writeDatabase('create table t (v); insert into t values (1)');
    const damaged = Buffer.from(one);
    damaged.fill(0xff, 4096);
    expect(compared(one, damaged)).toEqual({
      ...{ format: 'unknown', why: 'SQLite cannot read it, SQLITE_CORRUPT' },
    });
  });

  it('the state of a row, which is unknown to be a loss', () => {
    const one = writeDatabase(`create table t (name text, status text); insert into t values ('a', 'open')`);
    const updated = (change: string): unknown => compared(one, writeDatabase(`update t set ${change}`, one));
    expect(updated(`status = 'closed'`)).toMatchObject({ isAdditive: 'unknown' });
    expect(updated(`status = 'closed', name = 'b'`)).toMatchObject({ isAdditive: false });
  });

  it('JSON in a column, by its structure', () => {
    const one = writeDatabase(
      `create table t (v text); insert into t values ('{"a":1,"ended_at":"2026-01-01"}')`,
    );
    const updated = (json: string): unknown =>
      compared(one, writeDatabase(`update t set v = '${json}'`, one));
    expect(updated('{"a":1,"ended_at":"2026-01-02"}')).toMatchObject({
      isAdditive: true,
      isTimestamps: true,
    });
    expect(updated('{"a":1,"ended_at":"2026-01-02","b":2}')).toMatchObject({
      isAdditive: true,
      isTimestamps: false,
    });
    expect(updated('{"a":2,"ended_at":"2026-01-02"}')).toMatchObject({ isAdditive: false });
    expect(updated('gone')).toMatchObject({ isAdditive: false });
  });
});
