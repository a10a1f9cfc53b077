import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isByteCode, findByteCodeSource } from '../src/byte-code.ts';
import { hasSameEntries, type NoiseFacts, classifyNoise } from '../src/noise.ts';
import { created, file, modified } from '../../verify/test/observations.ts';

const PYTHON = '/usr/bin/python3';
const noiseOf = (change: Parameters<typeof classifyNoise>[0], facts: Partial<NoiseFacts> = {}): unknown =>
  classifyNoise(change, {
    ...{
      path: change.path,
      existed: change.kind !== 'created',
      isPrivate: false,
      source: undefined,
    },
    ...facts,
  });

describe('the name of a file', () => {
  it('makes something new noise, but not what existed before the server started', () => {
    for (const [path, noise] of [
      ['/src/cache/entry', 'cache'],
      ['/src/.garden-cache/entry', 'cache'],
      ['/logs/today', 'log'],
      ['/audit.log', 'log'],
      ['/share/server/telemetry.jsonl', 'log'],
      ['/x.tmp', 'temporary'],
      ['/x.lock', 'temporary'],
    ] as const) {
      expect(noiseOf(created(path, 'some text')), path).toBe(noise);
      expect(noiseOf(modified(path, 'some text', 'other text')), path).toBeUndefined();
      expect(noiseOf({ path, kind: 'deleted', before: file('some text') }), path).toBeUndefined();
    }
    expect(noiseOf(modified('/audit.log', 'one\n', 'one\ntwo\n'))).toBe('log');
    expect(noiseOf(modified('/.git/index', 'some text', 'other text'))).toBeUndefined();
  });

  it('never makes code noise, except in the cache of the server', () => {
    for (const path of ['/src/cache/store.ts', '/logs/x.py', '/cache/run.sh']) {
      expect(noiseOf(created(path)), path).toBeUndefined();
      expect(noiseOf(modified(path, 'a', 'ab')), path).toBeUndefined();
    }
    expect(noiseOf(created('/.cache/x.js'), { isPrivate: true })).toBe('cache');
  });
});

describe('the content of a file', () => {
  it('shows a lock: empty, or a number of at most 20 digits', () => {
    const folder = {
      path: '/x.lock',
      kind: 'created',
      after: { type: 'folder', mode: 0o755 },
    } as const;
    expect(noiseOf(folder)).toBe('lock');
    for (const text of ['', '12345\n', '1'.repeat(20)])
      expect(noiseOf(created('/x.lock', text))).toBe('lock');
    expect(noiseOf(modified('/server.pid', '1', '2'))).toBe('lock');
    expect(noiseOf(modified('/x.lock', 'a note', '2'))).toBeUndefined();
    expect(noiseOf(modified('/x.lock', '2', '1'.repeat(21)))).toBeUndefined();
  });

  it('shows what SQLite keeps beside a database', () => {
    const source = {
      size: 1,
      mtimeMs: 1,
      content: undefined,
      isDatabase: true,
    };
    const kept = {
      path: '/d-journal',
      kind: 'created',
      after: file(Buffer.alloc(512)),
    } as const;
    expect(noiseOf(kept, { source })).toBe('database');
    expect(noiseOf(kept)).toBeUndefined();
    expect(noiseOf({ ...kept, after: file('\xd9\xd5\x05\xf9') }, { source })).toBeUndefined();
    expect(noiseOf({ ...kept, path: '/d-shm' }, { source })).toBe('database');
    expect(noiseOf(modified('/d-shm', 'my notes', 'gone'), { source })).toBeUndefined();
  });

  it.runIf(existsSync(PYTHON))('shows byte code of the source beside it, by size and time or by hash', () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-test-'));
    const path = join(folder, 'm.py');
    try {
      writeFileSync(path, 'print(1)\n'.repeat(7));
      utimesSync(path, 1e9, 1e9);
      const code = `import py_compile as p
p.compile('m.py', 'timed.pyc'); p.compile('m.py', 'hashed.pyc', invalidation_mode=p.PycInvalidationMode.CHECKED_HASH)`;
      execFileSync(PYTHON, ['-c', code], { cwd: folder });
      const content = readFileSync(path);
      const source = {
        size: content.length,
        mtimeMs: statSync(path).mtimeMs,
        content,
        isDatabase: false,
      };
      for (const name of ['timed.pyc', 'hashed.pyc']) {
        const entry = file(readFileSync(join(folder, name)));
        expect(isByteCode(entry, source), name).toBe(true);
        const others = [{ size: 1 }, { mtimeMs: 2e12 }].map((part) => ({
          ...source,
          ...part,
        }));
        const other = {
          ...source,
          size: 1,
          mtimeMs: 1,
          content: Buffer.from('x'),
        };
        expect(isByteCode(entry, other), name).toBe(false);
        if (name === 'timed.pyc') for (const one of others) expect(isByteCode(entry, one)).toBe(false);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(findByteCodeSource('/a/__pycache__/b.cpython-311.pyc')).toBe('/a/b.py');
    expect(noiseOf(created('/a/__pycache__/b.cpython-311.pyc', 'anything'))).toBeUndefined();
  });

  it('shows that Git only refreshed its index', () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-test-'));
    const git = (...args: readonly string[]): Buffer => {
      execFileSync('git', [...args], { cwd: folder });
      return readFileSync(join(folder, '.git', 'index'));
    };
    try {
      writeFileSync(join(folder, 'a.txt'), 'a\n');
      execFileSync('git', ['init', '-q'], { cwd: folder });
      const first = git('add', '.');
      utimesSync(join(folder, 'a.txt'), 1e9, 1e9);
      const refreshed = git('update-index', '--refresh');
      writeFileSync(join(folder, 'a.txt'), 'b\n');
      const staged = git('add', '.');
      expect(refreshed.equals(first)).toBe(false);
      expect(hasSameEntries(first, refreshed)).toBe(true);
      expect(hasSameEntries(refreshed, staged)).toBe(false);
      const path = '/.git/index';
      expect(noiseOf(modified(path, first, refreshed))).toBe('git_index');
      expect(noiseOf(modified(path, refreshed, staged))).toBeUndefined();
      expect(hasSameEntries(first.subarray(0, -1), first.subarray(0, -1))).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
