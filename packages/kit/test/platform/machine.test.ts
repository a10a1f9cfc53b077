import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findCommand,
  measureFreeBytes,
  findNearestExisting,
  getOpenFilesLimit,
  inspectPath,
} from '../../src/platform/machine.ts';
import { tempDir } from '../../../../test/support/paths.ts';

describe('a command', () => {
  const [first, second, cwd] = [tempDir(), tempDir(), tempDir()];
  const path = `${first}:${second}`;
  const put = (folder: string, name: string, mode: number): string => {
    const file = join(folder, name);
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, mode);
    return file;
  };
  const runs = put(second, 'runs', 0o755);
  const dead = put(first, 'dead', 0o644);
  put(first, 'shadowed', 0o644);
  const shadowed = put(second, 'shadowed', 0o755);
  mkdirSync(join(first, 'folder'));
  symlinkSync(runs, join(first, 'link'));
  const own = put(cwd, 'own', 0o755);

  it.each([
    ['runs', { kind: 'found', path: runs }],
    ['link', { kind: 'found', path: join(first, 'link') }],
    ['shadowed', { kind: 'found', path: shadowed }],
    ['dead', { kind: 'not_executable', path: dead }],
    ['folder', { kind: 'absent' }],
    ['nothing', { kind: 'absent' }],
    ['own', { kind: 'absent' }],
    ['./own', { kind: 'found', path: own }],
    [runs, { kind: 'found', path: runs }],
    ['/no/such/file', { kind: 'absent' }],
  ])('%s is looked up as the system does', async (command, expected) => {
    expect(await findCommand(command, { cwd, path })).toEqual(expected);
  });
});

it('the kind of a path is reported, and for a missing path its nearest existing parent', async () => {
  const folder = tempDir();
  chmodSync(folder, 0o700);
  expect(await inspectPath(folder)).toMatchObject({ is: 'folder', mode: 0o700 });
  expect(await inspectPath(join(folder, 'none'))).toBeUndefined();
  expect(await findNearestExisting(join(folder, 'none', 'deeper'))).toBe(folder);
  expect(await findNearestExisting(folder)).toBe(folder);
});

it('free disk space and the limit on open files are available', async () => {
  expect(await measureFreeBytes(tempDir())).toBeGreaterThan(0);
  expect(await measureFreeBytes('/no/such/folder')).toBeUndefined();
  expect(getOpenFilesLimit()).toBeGreaterThan(0);
});
