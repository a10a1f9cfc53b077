import { spawnSync } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { toStoreRefusal } from '../../../src/adapters/store/driver-faults.ts';
import { ALL_PARTS } from '../../../src/adapters/store/store-listeners.ts';
import { OpenFiles } from '../../../src/adapters/store/open-files.ts';
import { readFileFactsNow } from '@assay-mcp/kit/platform/files';
import type { StorePart } from '../../../src/gateway/ports/store.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { removeLater, until } from '../../../../../test/support/endings.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import { contentOf, digestOf, openAt, rawRows, startProcess } from '../../../../../test/support/stores.ts';
import {
  saveRecords,
  saveSetting,
  type StorePlace,
  toolChange,
  tryStore,
  valueOf,
} from '../../../../../test/support/store-values.ts';

const IS_ROOT = process.getuid?.() === 0;

function newPlace(): StorePlace {
  return { home: join(tempDir(), 'home'), databaseUrl: undefined };
}

function fileOf(place: StorePlace): string {
  return join(place.home, 'assay.db');
}

/** A closed store with some records. */
async function written(): Promise<StorePlace> {
  const place = newPlace();
  const store = await openAt(place);
  const changes = Array.from({ length: 200 }, (_, at) => toolChange(`tool-${at}`, 'x'.repeat(100)));
  valueOf(await saveRecords(store, changes));
  await store.close();
  return place;
}

describe('the file of a store', () => {
  it('is accessible only to its user, as is its folder', async () => {
    const place = newPlace();
    const store = await openAt(place);
    valueOf(await saveSetting(store, 'a', 1));
    expect(statSync(place.home).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(place.home))
      expect(statSync(join(place.home, name)).mode & 0o777).toBe(0o600);
    await store.close();
    chmodSync(fileOf(place), 0o644);
    await (await openAt(place)).close();
    expect(statSync(fileOf(place)).mode & 0o777).toBe(0o600);
  });

  it('uses a write-ahead log', async () => {
    const place = newPlace();
    await openAt(place);
    expect(await rawRows(place, 'pragma journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  });
});

describe('a damaged file', () => {
  const damages: readonly (readonly [string, (path: string) => void])[] = [
    ['is not a database', (path) => writeFileSync(path, 'Dear diary, this is no database at all.')],
    ['is shorter than a header', (path) => writeFileSync(path, 'x')],
    [
      'begins with zeros',
      (path) => writeFileSync(path, Buffer.concat([Buffer.alloc(4096), readFileSync(path).subarray(4096)])),
    ],
    ['is truncated', (path) => truncateSync(path, statSync(path).size - 3 * 4096)],
    ['has overwritten pages', (path) => writeFileSync(path, noisy(readFileSync(path)))],
  ];
  it.each(damages)(
    'that %s is kept under another name, and the next start begins with an empty store',
    async (_what, damage) => {
      const place = await written();
      damage(fileOf(place));
      writeFileSync(`${fileOf(place)}-wal`, '');
      const bytes = readFileSync(fileOf(place));
      const opened = await tryStore(place);
      if (opened.ok || opened.error.code !== 'STORE_DAMAGED') throw new Error(JSON.stringify(opened));
      const { path, keptAs } = opened.error;
      expect(path).toBe(fileOf(place));
      expect(keptAs).toMatch(/assay\.db\.damaged-\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z$/);
      expect(digestOf(readFileSync(keptAs))).toBe(digestOf(bytes));
      expect(existsSync(path)).toBe(false);
      const store = await openAt(place);
      expect(valueOf(await store.records(0))).toMatchObject({ records: [], unreadable: [], revision: 0 });
      expect(digestOf(readFileSync(keptAs))).toBe(digestOf(bytes));
    },
  );

  it('is not assumed if the file is empty', async () => {
    const place = newPlace();
    mkdirSync(place.home);
    writeFileSync(fileOf(place), '');
    await (await openAt(place)).close();
    expect(readdirSync(place.home)).toEqual(['assay.db']);
  });
});

function noisy(bytes: Buffer): Buffer {
  return bytes.fill(0xa5, 4096, 5 * 4096);
}

describe('an unusable store', () => {
  const refused = (reason: RegExp): unknown => ({
    ok: false,
    error: { code: 'STORE_UNAVAILABLE', reason: expect.stringMatching(reason) },
  });

  it('is left unchanged if a folder has its name', async () => {
    const place = newPlace();
    mkdirSync(fileOf(place), { recursive: true });
    expect(await tryStore(place)).toEqual(refused(/assay\.db": it is a folder$/));
    expect(readdirSync(place.home)).toEqual(['assay.db']);
  });

  it('is refused if its home is a file', async () => {
    const place = newPlace();
    writeFileSync(place.home, 'x');
    expect(await tryStore(place)).toEqual(refused(/home": /));
  });

  it.skipIf(IS_ROOT)(
    'is left unchanged if its file is not readable (not for root, who may read everything)',
    async () => {
      const place = await written();
      chmodSync(fileOf(place), 0o000);
      expect(await tryStore(place)).toEqual(refused(/permission|cannot be opened/));
      expect(readdirSync(place.home)).toEqual(['assay.db']);
    },
  );

  it.skipIf(IS_ROOT)(
    'is left unchanged if its folder is not writable (not for root, who may write everywhere)',
    async () => {
      const place = await written();
      chmodSync(place.home, 0o500);
      const before = await contentOf(place);
      expect((await tryStore(place)).ok).toBe(false);
      expect(await contentOf(place)).toEqual(before);
      chmodSync(place.home, 0o700);
    },
  );

  const disk = smallDisk();
  it.skipIf(disk === undefined)(
    'reports a full disk, has no partial writes, and recovers once there is room (needs to mount one)',
    async () => {
      const place = { home: disk ?? '', databaseUrl: undefined };
      const store = await openAt(place);
      valueOf(await saveRecords(store, [toolChange('a', 1)]));
      writeFileSync(join(place.home, 'ballast'), Buffer.alloc(1_500_000));
      const large = Array.from({ length: 400 }, (_, at) => toolChange(`${at}`, 'x'.repeat(8_000)));
      expect(await saveRecords(store, large)).toEqual(refused(/^the disk is full$/));
      expect(valueOf(await store.records(0)).records.map(({ id }) => id)).toEqual(['a']);
      writeFileSync(join(place.home, 'ballast'), '');
      valueOf(await saveSetting(store, 'a', 1));
    },
  );
});

/** A disk of 3 MB. Undefined if mounting is not permitted. */
function smallDisk(): string | undefined {
  if (!IS_ROOT || process.platform !== 'linux') return undefined;
  const path = mkdtempSync(join(tmpdir(), 'assay-disk-'));
  removeLater(() => {
    spawnSync('umount', ['-l', path]);
    rmSync(path, { recursive: true, force: true });
  });
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', path]).status !== 0) return undefined;
  return path;
}

describe.concurrent('a lock held by another process', () => {
  it('for 3 s delays a write, but not the rest of this process', async () => {
    const place = newPlace();
    const store = await openAt(place);
    const other = startProcess(place, 'lock', '3000');
    await until('it is locked', () => other.lines()[0]);
    const startMs = performance.now();
    let lastMs = startMs;
    let longestMs = 0;
    const ticks = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 10);
    const saved = await saveSetting(store, 'a', 1);
    clearInterval(ticks);
    expect(saved).toEqual({ ok: true, value: true });
    expect(performance.now() - startMs).toBeGreaterThan(2_000);
    // Waiting for the lock on this thread would take 3 s.
    expect(longestMs).toBeLessThan(2_000);
    await other.ended;
  });

  it('for more than 5 s causes a refusal, after which the store recovers', async () => {
    const place = newPlace();
    const store = await openAt(place);
    const other = startProcess(place, 'lock', '60000');
    await until('it is locked', () => other.lines()[0]);
    expect(await saveSetting(store, 'a', 1)).toEqual({
      ok: false,
      error: { code: 'STORE_UNAVAILABLE', reason: 'another process holds a lock on it' },
    });
    expect(valueOf(await store.settings())).toEqual(new Map());
    other.child.kill('SIGKILL');
    await other.ended;
    valueOf(await saveSetting(store, 'a', 2));
    expect(valueOf(await store.settings())).toEqual(new Map([['a', 2]]));
  });
});

describe('a store whose files disappear while it is opened', () => {
  const refused = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return toStoreRefusal(error);
    }
  };

  it('is refused with the reason', () => {
    const home = tempDir();
    const path = join(home, 'assay.db');
    writeFileSync(path, '');
    const files = new OpenFiles(path, readFileFactsNow(path)?.id ?? '');
    expect(refused(() => files.check())).toBe(undefined);
    rmSync(home, { recursive: true });
    expect(refused(() => files.check())).toEqual({ code: 'STORE_MOVED', path, what: 'gone' });
    expect(refused(() => openDatabase(path, { mode: 'create' }))).toEqual({
      code: 'STORE_UNAVAILABLE',
      reason: 'its file cannot be opened',
    });
  });
});

describe('a store thread that exits by itself', () => {
  it('fails pending requests, of which writes may have been saved, and is restarted by the next one', async () => {
    const threads = new Set<Worker>();
    channel('worker_threads').subscribe((message) => threads.add((message as { worker: Worker }).worker));
    const place = newPlace();
    const store = await openAt(place);
    expect(threads.size).toBe(1);
    const notified = new Set<StorePart>();
    store.onChange((parts) => parts.forEach((part) => notified.add(part)));
    valueOf(await saveSetting(store, 'a', 1));
    const ended = [...threads][0]!.terminate();
    const reason = 'its thread ended (1)';
    const pending = [store.settings(), saveSetting(store, 'a', 2)];
    expect(await Promise.all<unknown>(pending)).toEqual([
      { ok: false, error: { code: 'STORE_UNAVAILABLE', reason } },
      { ok: false, error: { code: 'WRITE_UNCONFIRMED', reason } },
    ]);
    await ended;
    expect([1, 2]).toContain(valueOf(await store.settings()).get('a'));
    await until('it listens again', () =>
      notified.size === Object.keys(ALL_PARTS).length ? true : undefined,
    );
    notified.clear();
    const other = await openAt(place);
    valueOf(await saveSetting(other, 'a', 3));
    await until('it hears again', () => (notified.has('records') ? true : undefined));
  });
});
