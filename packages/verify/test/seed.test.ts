import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareSeed, type Seed } from '../src/seed.ts';

describe('the default seed data', () => {
  let seed: Seed;
  beforeAll(async () => {
    seed = await prepareSeed(undefined);
  });
  afterAll(() => seed.remove());

  it('has "A note." once in each text, so that a tool that replaces it has one place', () => {
    const texts = seed.files.filter((path) => !/\.(?:db|pdf|png|xlsx|docx|zip)$/.test(path));
    expect(texts.length).toBeGreaterThan(8);
    for (const path of texts)
      expect(readFileSync(join(seed.folder, path), 'utf8').split('A note.'), path).toHaveLength(2);
  });

  it('has archives that can be read', () => {
    const read = (path: string): Readonly<Record<string, Uint8Array>> =>
      unzipSync(readFileSync(join(seed.folder, path)));
    expect(strFromU8(read('texts.zip')['note.txt'] ?? new Uint8Array())).toBe('A note.\n');
    expect(Object.keys(read('sheet.xlsx'))).toContain('xl/worksheets/sheet1.xml');
    expect(Object.keys(read('text.docx'))).toContain('word/document.xml');
  });

  it('is a repository whose own files are not listed', () => {
    const git = (...args: readonly string[]): string =>
      execFileSync('git', args, { cwd: seed.folder, encoding: 'utf8' });
    expect(git('status', '--short')).toBe(' M settings.yaml\n?? docs/todo.txt\n');
    expect(git('log', '--oneline').trim().split('\n')).toHaveLength(2);
    expect(git('fetch', '--dry-run')).toBe('');
    expect([...seed.files, ...seed.folders].filter((path) => path.startsWith('.git'))).toEqual([]);
  });
});
