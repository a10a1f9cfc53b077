import { channel } from 'node:diagnostics_channel';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { formatRefusal } from '../../../src/core/sentences.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import type { Store, StorePart } from '../../../src/gateway/ports/store.ts';
import { sleep, until } from '../../../../../test/support/endings.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import {
  contentOf,
  openAt,
  rawRows,
  startProcess,
  type StoreProcess,
} from '../../../../../test/support/stores.ts';
import {
  RESTS_SOON,
  saveSetting,
  type StorePlace,
  token,
  valueOf,
} from '../../../../../test/support/store-values.ts';

/** Long enough for a thread to suspend, also after a write and on a busy machine. */
const REST_MS = 30_000;
const { idleMs: IDLE_MS } = RESTS_SOON;

/** The worker threads that this process starts from now on. */
class Threads {
  started = 0;
  readonly #alive = new Set<Worker>();

  constructor() {
    channel('worker_threads').subscribe((message) => {
      const { worker } = message as { readonly worker: Worker };
      this.started++;
      this.#alive.add(worker);
      worker.once('exit', () => this.#alive.delete(worker));
    });
  }

  async rest(): Promise<void> {
    await until('its thread ends', () => (this.#alive.size === 0 ? true : undefined), REST_MS);
  }
}

interface Listening {
  readonly place: StorePlace;
  readonly store: Store;
  readonly threads: Threads;
  readonly heard: StorePart[];
}

async function listen(log?: Log): Promise<Listening> {
  const threads = new Threads();
  const place = { home: tempDir(), databaseUrl: undefined };
  const store = await openAt(place, log, RESTS_SOON);
  const heard: StorePart[] = [];
  store.onChange((parts) => heard.push(...parts));
  return { place, store, threads, heard };
}

async function set(place: StorePlace, value: string): Promise<void> {
  expect(await startProcess(place, 'set', value).ended).toBe(0);
}

describe('an idle store thread', () => {
  it('suspends, with its file closed properly, and resumes with the next request', async () => {
    const threads = new Threads();
    const place = { home: tempDir(), databaseUrl: undefined };
    const store = await openAt(place, undefined, RESTS_SOON);
    valueOf(await saveSetting(store, 'a', 1));
    await threads.rest();
    expect(readdirSync(place.home)).toEqual(['assay.db']);
    // Answered in the order of the requests, although the first one has to start a thread.
    const calls = [
      saveSetting(store, 'a', 2),
      store.settings(),
      saveSetting(store, 'a', 3),
      store.settings(),
    ];
    const [, two, , three] = (await Promise.all(calls)).map((done) => valueOf<unknown>(done));
    expect([two, three]).toEqual([new Map([['a', 2]]), new Map([['a', 3]])]);
    expect(threads.started).toBe(2);
    await threads.rest();
    await store.close();
    expect(await store.settings()).toMatchObject({ ok: false, error: { code: 'STORE_UNAVAILABLE' } });
    expect(threads.started).toBe(2);
  });

  it('reports exactly the changes by other processes while suspended, each once', async () => {
    const { place, store, threads, heard } = await listen();
    valueOf(await store.addToken(token('t')));
    valueOf(await saveSetting(store, 'a', 1));
    await threads.rest();
    heard.length = 0;
    for (const round of ['one', 'two']) {
      await set(place, round);
      await until('it is told', () => (heard.length > 0 ? true : undefined));
      await threads.rest();
      expect(heard.splice(0)).toEqual(['records']);
    }
    expect(threads.started).toBe(3);
    await set(place, 'three');
    expect(valueOf(await store.settings()).get('set')).toBe('three');
    await until('it is told of what a call saw first', () => (heard.length > 0 ? true : undefined));
  });

  it('reports nothing when it suspends, or if nothing changed', async () => {
    const { store, threads, heard } = await listen();
    valueOf(await saveSetting(store, 'a', 1));
    await until('it is told', () => (heard.length > 0 ? true : undefined));
    heard.length = 0;
    await threads.rest();
    // Long enough for several checks of the files.
    await sleep(1_000);
    expect(threads.started).toBe(1);
    valueOf(await store.settings());
    await threads.rest();
    expect([heard, threads.started]).toEqual([[], 2]);
  });

  it('can be closed at any moment while it suspends', async () => {
    const moments = Array.from({ length: 12 }, async (_, at) => {
      const place = { home: tempDir(), databaseUrl: undefined };
      const store = await openAt(place, undefined, RESTS_SOON);
      store.onChange(() => undefined);
      valueOf(await saveSetting(store, 'b', at));
      await sleep(IDLE_MS - 100 + at * 20);
      const written = saveSetting(store, 'a', at);
      const read = store.settings();
      await store.close();
      expect(await written).toEqual({ ok: true, value: true });
      return valueOf(await read).get('a');
    });
    expect(await Promise.all(moments)).toEqual(moments.map((_, at) => at));
  });
});

/** Collects errors from the log. */
function errorsOnly(): Log & { readonly errors: readonly (readonly [string, unknown])[] } {
  const errors: (readonly [string, unknown])[] = [];
  return {
    errors,
    debug() {},
    info() {},
    warn() {},
    error: (message, fields) => void errors.push([message, fields]),
  };
}

describe('a file that cannot be reopened after a suspension', () => {
  it('is set aside if damaged, and stays refused: this process creates no new one', async () => {
    const log = errorsOnly();
    const { place, store, threads, heard } = await listen(log);
    valueOf(await store.addToken(token('t')));
    await threads.rest();
    heard.length = 0;
    const path = join(place.home, 'assay.db');
    const damaged = Buffer.concat([Buffer.alloc(4096), readFileSync(path).subarray(4096)]);
    writeFileSync(path, damaged);
    await until('the log tells it', () => log.errors[0]);
    const refused = await store.tokens();
    if (refused.ok || refused.error.code !== 'STORE_DAMAGED') throw new Error(JSON.stringify(refused));
    const { keptAs } = refused.error;
    expect(readFileSync(keptAs)).toEqual(damaged);
    // Longer than the delay before a lost thread restarts.
    await sleep(2_500);
    expect(await saveSetting(store, 'a', 1)).toEqual(refused);
    expect(await store.tokens()).toEqual(refused);
    expect(readdirSync(place.home)).toEqual([basename(keptAs)]);
    expect(log.errors).toEqual([
      ['store: it cannot be opened again', { cause: formatRefusal(refused.error) }],
    ]);
    expect([heard, threads.started]).toEqual([[], 2]);
    await store.close();
    expect(valueOf(await (await openAt(place)).tokens())).toEqual([]);
  });

  it.each([
    ['a newer Assay', 'update assay_migrations set version = 99', 'SCHEMA_TOO_NEW'],
    ['an earlier build', 'update assay_migrations set edition = 0', 'SCHEMA_TOO_OLD'],
  ])('stays refused and unchanged if %s wrote it', async (_who, statement, code) => {
    const log = errorsOnly();
    const { place, store, threads, heard } = await listen(log);
    valueOf(await store.addToken(token('t')));
    await threads.rest();
    heard.length = 0;
    await rawRows(place, statement);
    await until('the log tells it', () => log.errors[0]);
    const before = await contentOf(place);
    const refused = await store.tokens();
    expect(refused).toMatchObject({ ok: false, error: { code } });
    await sleep(2_500);
    expect(await saveSetting(store, 'a', 1)).toEqual(refused);
    expect(await contentOf(place)).toEqual(before);
    expect([heard, log.errors.length, threads.started]).toEqual([[], 1, 2]);
  });

  it('is reported once and retried if it was replaced', async () => {
    const log = errorsOnly();
    const { place, store, threads, heard } = await listen(log);
    valueOf(await store.addToken(token('t')));
    await threads.rest();
    heard.length = 0;
    const path = join(place.home, 'assay.db');
    renameSync(path, `${path}.away`);
    mkdirSync(path);
    await until('it is tried several times', () => (threads.started > 3 ? true : undefined));
    expect(await store.tokens()).toMatchObject({
      ok: false,
      error: { code: 'STORE_MOVED', what: 'replaced' },
    });
    expect(log.errors.length).toBe(1);
    rmdirSync(path);
    renameSync(`${path}.away`, path);
    await until('all are told', () => (heard.includes('tokens') ? true : undefined));
    expect(valueOf(await store.tokens())).toEqual([token('t')]);
    expect(log.errors.length).toBe(1);
  });
});

describe('two idle processes on one home', () => {
  it('do not wake each other, and are notified of changes by a third one', async () => {
    const place = { home: tempDir(), databaseUrl: undefined };
    const idle = [startProcess(place, 'idle'), startProcess(place, 'idle')];
    for (const one of idle) await until('it is ready', () => (one.lines().length > 1 ? true : undefined));
    await sleep(10 * IDLE_MS);
    const before = idle.map(startsOf);
    for (const starts of before) expect(starts).toBeLessThanOrEqual(2);
    await set(place, 'x');
    for (const one of idle)
      await until('it hears', () =>
        one.lines().includes('{"what":"heard","value":["records"]}') ? true : undefined,
      );
    await sleep(10 * IDLE_MS);
    for (const [at, one] of idle.entries()) expect(startsOf(one)).toBeLessThanOrEqual(before[at]! + 2);
    for (const { child } of idle) child.stdin?.end();
    expect(await Promise.all(idle.map(({ ended }) => ended))).toEqual([0, 0]);
  });
});

function startsOf(one: StoreProcess): number {
  return one.lines().filter((line) => line.includes('"thread"')).length;
}
