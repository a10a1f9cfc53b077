import { existsSync, mkdirSync, readFileSync, renameSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AppendFile } from '../../src/platform/append-file.ts';
import { tempDir } from '../../../../test/support/paths.ts';

it('appends to what is there, in a new file that only this user can read', async () => {
  const path = join(tempDir(), 'events');
  expect(await new AppendFile(path).append('a\n')).toBeUndefined();
  expect(await new AppendFile(path).append('b\n')).toBeUndefined();
  expect(readFileSync(path, 'utf8')).toBe('a\nb\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('follows a file that was renamed, and one that was truncated', async () => {
  const path = join(tempDir(), 'events');
  const file = new AppendFile(path);
  await file.append('a\n');
  renameSync(path, `${path}.1`);
  await file.append('b\n');
  expect([readFileSync(`${path}.1`, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['a\n', 'b\n']);
  truncateSync(path, 0);
  await file.append('c\n');
  expect(readFileSync(path, 'utf8')).toBe('c\n');
});

it('keeps what could not be written, and writes it first', async () => {
  const folder = join(tempDir(), 'missing');
  const file = new AppendFile(join(folder, 'events'));
  expect(await file.append('a\n')).toBe('ENOENT');
  expect(await file.append('')).toBe('ENOENT');
  mkdirSync(folder);
  expect(await file.append('b\n')).toBeUndefined();
  expect(readFileSync(join(folder, 'events'), 'utf8')).toBe('a\nb\n');
});

it.skipIf(!existsSync('/dev/full'))('reports a full disk', async () => {
  expect(await new AppendFile('/dev/full').append('a\n')).toBe('ENOSPC');
});
