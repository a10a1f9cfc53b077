import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { buildFilterConditions, type FileFilter } from '../src/file-filter.ts';
import { readColumn } from '../../../test/support/sqlite.ts';

const PATHS = [
  'src/a_b/x.ts',
  'src/axb/y.ts',
  'src/a_b.ts',
  'src/a_bc/z.TS',
  'x.d.ts',
  'ts',
  'src/a_b/n.mts',
];

test('filters by directory and file type match whole names, without wildcards', () => {
  const db = new DatabaseSync(':memory:');
  db.exec('CREATE TABLE files (repository_id TEXT, path TEXT)');
  for (const path of PATHS) db.prepare("INSERT INTO files VALUES ('r', ?)").run(path);
  const found = (filter: FileFilter): unknown => {
    const { where, params } = buildFilterConditions(filter);
    return readColumn(db, `SELECT path FROM files f WHERE ${where} ORDER BY path`, params);
  };
  expect(found({ directory: 'src/a_b' })).toEqual(['src/a_b/n.mts', 'src/a_b/x.ts']);
  expect(found({ directory: './src//a_b/' })).toEqual(['src/a_b/n.mts', 'src/a_b/x.ts']);
  expect(found({ directory: '%' })).toEqual([]);
  expect(found({ fileType: 'TS' })).toEqual([
    'src/a_b.ts',
    'src/a_b/x.ts',
    'src/a_bc/z.TS',
    'src/axb/y.ts',
    'x.d.ts',
  ]);
  expect(found({ repositoryId: 'r', directory: 'src/axb', fileType: 'ts' })).toEqual(['src/axb/y.ts']);
  expect(found({ repositoryId: 'other' })).toEqual([]);
  expect(found({ directory: '.' })).toHaveLength(PATHS.length);
  db.close();
});
