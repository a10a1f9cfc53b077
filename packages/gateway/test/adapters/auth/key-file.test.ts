import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { parseKeyFile, readKeyFile } from '../../../src/adapters/auth/key-file.ts';
import { keysIn, newKey, writeKeyFile } from '../../../../../test/support/encryption-keys.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';

const FORMAT =
  'it must be 32 random bytes in base64 or hexadecimal; create them with `openssl rand -base64 32`';
const key = (fill: number): Buffer => Buffer.alloc(32, fill);

describe('the text of a key file', () => {
  it('has one key per line, newest first, in base64 or hexadecimal, with blank lines and comments', () => {
    const text = `# of May\r\n\r\n${key(1).toString('base64')}\r\n  ${key(2).toString('hex').toUpperCase()}  # of April\n\n`;
    const parsed = parseKeyFile(text, '"f"');
    expect(parsed).toMatchObject({
      value: [
        { bytes: key(1), place: 'line 3 of "f"' },
        { bytes: key(2), place: 'line 4 of "f"' },
      ],
    });
    expect(parseKeyFile(key(1).toString('base64url'), '')).toMatchObject({ value: [{ bytes: key(1) }] });
  });

  it('is refused with the line of each fault, and without its content', () => {
    const lines = [key(1).toString('base64'), 'hunter2-hunter2', '', key(1).toString('hex'), 'AAAA'];
    expect(parseKeyFile(lines.join('\n'), '')).toEqual({
      ok: false,
      error: `line 2: ${FORMAT}; line 4: it is the same key as in line 1; line 5: ${FORMAT}`,
    });
    for (const text of ['', '\n# only a comment\n'])
      expect(parseKeyFile(text, '')).toMatchObject({ error: expect.stringContaining('it contains no key') });
    const many = Array.from({ length: 20 }, (_, at) => key(at).toString('hex'));
    expect(parseKeyFile(many.slice(0, 16).join('\n'), '').ok).toBe(true);
    expect(parseKeyFile(many.join('\n'), '')).toEqual({
      ok: false,
      error: 'line 17: at most 16 keys are allowed',
    });
    const bad = Array.from({ length: 200 }, () => 'x').join('\n');
    expect(parseKeyFile(bad, '')).toMatchObject({
      error: expect.stringMatching(/line 5: .*; and 195 more$/),
    });
  });

  it('is refused if the last key was cut off while it was written', () => {
    const text = `${key(1).toString('base64')}\n${key(2).toString('base64')}`;
    for (let length = 1; length < text.length; length += 1) {
      const parsed = parseKeyFile(text.slice(0, length), '');
      const isWhole = [43, 44, 45, 88].includes(length);
      expect([length, parsed.ok]).toEqual([length, isWhole]);
    }
  });
});

describe('a key file', () => {
  const read = (path: string, env: Record<string, string> = {}): ReturnType<typeof readKeyFile> =>
    readKeyFile(path, { env, home: tempDir() });

  it('is refused if it is a folder, a pipe, too large, not text, or not there', async () => {
    const folder = tempDir();
    const place = (name: string): string => join(folder, name);
    mkdirSync(place('folder'), { mode: 0o700 });
    execFileSync('mkfifo', ['-m', '600', place('pipe')]);
    writeFileSync(place('huge'), `${newKey()}\n${'#'.repeat(16 * 1024)}`, { mode: 0o600 });
    writeFileSync(place('bytes'), Buffer.from([0xff, 0xfe]), { mode: 0o600 });
    const faults = ['folder', 'pipe', 'huge', 'bytes', 'none'].map(async (name) => {
      const done = await read(place(name));
      return done.ok ? 'read' : done.error;
    });
    expect(await Promise.all(faults)).toEqual([
      'it is a folder',
      'it is not a regular file',
      'it has more than 16384 bytes',
      'it is not UTF-8 text',
      'there is no such file or folder',
    ]);
  });

  it('is refused if every user can read it, or others can write it', async () => {
    const path = join(tempDir(), 'keys');
    writeKeyFile(path, newKey());
    chmodSync(path, 0o644);
    const exposed = await read(path);
    expect(exposed).toMatchObject({
      error: expect.stringContaining('every user of this machine can read it (mode 644)'),
    });
    expect((await read(path, { ASSAY_FILE_CHECKS: 'off' })).ok).toBe(true);
    chmodSync(path, 0o602);
    expect(await read(path)).toMatchObject({ error: expect.stringContaining('is writable by every user') });
    chmodSync(path, 0o400);
    expect((await read(path)).ok).toBe(true);
  });

  it('may be readable by its group if it belongs to root, as a mounted secret does, and only then', async () => {
    const path = join(tempDir(), 'keys');
    writeKeyFile(path, newKey());
    chmodSync(path, 0o440);
    const isRoot = process.getuid?.() === 0;
    expect((await read(path)).ok).toBe(isRoot);
    if (isRoot) chownSync(path, 1_000, 1_000);
    expect(await read(path)).toMatchObject({
      error: expect.stringContaining('its group can read it (mode 440)'),
    });
  });

  it('may be a link, as in a mounted secret, unless others can replace the link', async () => {
    const folder = tempDir();
    const data = join(folder, '..2026');
    const mount = join(folder, 'mount');
    mkdirSync(data, { mode: 0o755 });
    mkdirSync(mount);
    writeKeyFile(join(data, 'keys'), newKey());
    symlinkSync(data, join(folder, '..data'));
    symlinkSync(join(folder, '..data', 'keys'), join(mount, 'keys'));
    expect((await read(join(mount, 'keys'))).ok).toBe(true);
    chmodSync(mount, 0o1777);
    expect((await read(join(mount, 'keys'))).ok).toBe(true);
    chmodSync(mount, 0o777);
    expect(await read(join(mount, 'keys'))).toEqual({
      ok: false,
      error: 'it is a link in a folder in which others can replace it',
    });
  });
});

describe('the keys of a process', () => {
  it('are those of the changed file, without a restart', async () => {
    const home = tempDir();
    const file = join(home, 'keys');
    const [former, next] = [newKey(), newKey()];
    writeKeyFile(file, former);
    const keys = keysIn(home, { file });
    const changes: string[][] = [];
    keys.onChange((all) => changes.push(all.map(({ place }) => place)));
    const own = valueOf(await keys.ensure());
    writeKeyFile(`${file}.new`, next, former);
    renameSync(`${file}.new`, file);
    const [first, second] = valueOf(await keys.read(true));
    expect(second?.id).toBe(own.id);
    expect(valueOf(await keys.ensure()).id).toBe(first?.id);
    expect(changes).toEqual([[`line 1 of ${JSON.stringify(file)}`, `line 2 of ${JSON.stringify(file)}`]]);
    // An unknown id is looked for in the file at once.
    const another = newKey();
    writeKeyFile(file, another, next, former);
    const { id } = valueOf(await keysIn(home, { file }).ensure());
    expect(valueOf(await keys.readFor([id]))[0]?.id).toBe(id);
  });

  it('stay in use, with one warning, while the file is absent, truncated or exposed', async () => {
    const home = tempDir();
    const file = join(home, 'keys');
    const one = newKey();
    writeKeyFile(file, one);
    const warnings: unknown[] = [];
    const log = {
      debug() {},
      info() {},
      error() {},
      warn: (_: string, fields: unknown) => void warnings.push(fields),
    };
    const keys = keysIn(home, { file, log });
    const known = valueOf(await keys.read());
    const spoil = [
      () => rmSync(file),
      () => writeFileSync(file, one.slice(0, 20), { mode: 0o600 }),
      () => chmodSync(file, 0o604),
    ];
    for (const [at, change] of spoil.entries()) {
      change();
      for (let time = 0; time < 3; time += 1) expect(valueOf(await keys.read(true))).toEqual(known);
      expect(warnings).toHaveLength(Math.min(at + 1, 3));
    }
    expect(JSON.stringify(warnings)).not.toContain(one.slice(0, 20));
    const next = newKey();
    rmSync(file);
    writeKeyFile(file, next, one);
    expect(valueOf(await keys.read(true)).map(({ id }) => id)).toEqual([
      expect.not.stringContaining(known[0]?.id ?? ''),
      known[0]?.id,
    ]);
  });

  it('are refused if both variables are set, and if the file is faulty at the first reading', async () => {
    const home = tempDir();
    const file = join(home, 'keys');
    writeFileSync(file, 'x', { mode: 0o600 });
    expect(await keysIn(home, { file, given: newKey() }).read()).toMatchObject({
      error: {
        code: 'KEY_UNUSABLE',
        reason: expect.stringContaining('ASSAY_ENCRYPTION_KEY is set, too'),
      },
    });
    expect(await keysIn(home, { file }).ensure()).toMatchObject({
      error: {
        code: 'KEY_UNUSABLE',
        place: `${JSON.stringify(file)} (ASSAY_KEY_FILE)`,
        reason: `line 1: ${FORMAT}`,
      },
    });
  });
});
