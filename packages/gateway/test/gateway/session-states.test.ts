import { describe, expect, it } from 'vitest';
import { endAfterEach } from '../../../../test/support/end-after-each.ts';
import { openAt } from '../../../../test/support/stores.ts';
import { valueOf } from '../../../../test/support/store-values.ts';
import { tempDir } from '../../../../test/support/paths.ts';
import { until } from '../../../../test/support/endings.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { SessionStates } from '../../src/gateway/catalog/session-states.ts';
import type { Store } from '../../src/gateway/ports/store.ts';
import { SILENT } from './listed-server.ts';

endAfterEach();

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const START_MS = 1_770_000_000_000;
const SESSION = { id: 'a', subject: 'ada' };

interface Replica {
  readonly states: SessionStates;
  readonly clock: { ms: number };
  isUp: boolean;
}

/** A replica with a clock of its own. */
function replicaOn(store: Store, skewMs = 0): Replica {
  const clock = { ms: START_MS + skewMs };
  const replica: Replica = {
    clock,
    isUp: true,
    states: new SessionStates({
      open: () =>
        Promise.resolve(replica.isUp ? ok(store) : err({ code: 'STORE_UNAVAILABLE', reason: 'stopped' })),
      idleMs: 4 * HOUR_MS,
      nowMs: () => clock.ms,
      log: SILENT,
      replica: crypto.randomUUID(),
    }),
  };
  return replica;
}

const openStore = (): Promise<Store> => openAt({ home: tempDir(), databaseUrl: undefined });
const verdictOf = async (reading: ReturnType<SessionStates['read']>): Promise<string> => {
  const read = await reading;
  return read.ok ? 'ok' : read.error.code;
};

describe('a session that another replica continues', () => {
  it('is unknown after its idle time, which its use extends, at most by a quarter too little', async () => {
    const store = await openStore();
    const [one, two] = [replicaOn(store), replicaOn(store)];
    await one.states.start();
    one.states.add(SESSION, START_MS, undefined);
    two.clock.ms = START_MS + 4 * HOUR_MS;
    expect(await verdictOf(two.states.read('a', START_MS))).toBe('ok');
    two.clock.ms += 1;
    expect(await verdictOf(two.states.read('a', START_MS))).toBe('SESSION_UNKNOWN');

    one.clock.ms = START_MS + 0.9 * HOUR_MS;
    one.states.use([{ id: 'a', agoMs: 0 }]);
    expect(valueOf(await store.legacySession('a', START_MS))).toBeUndefined();
    one.clock.ms = START_MS + 3 * HOUR_MS;
    one.states.use([{ id: 'a', agoMs: MINUTE_MS }]);
    await until('it is saved', async () => valueOf(await store.legacySession('a', START_MS)));
    expect(await verdictOf(two.states.read('a', START_MS))).toBe('ok');
    two.clock.ms = START_MS + 7 * HOUR_MS;
    expect(await verdictOf(two.states.read('a', START_MS))).toBe('SESSION_UNKNOWN');
  });

  it.each([-10, 10])(
    'is known there if its clock differs by %s minutes, and ended if it was ended',
    async (minutes) => {
      const store = await openStore();
      const [one, two] = [replicaOn(store), replicaOn(store, minutes * MINUTE_MS)];
      one.states.add(SESSION, START_MS, undefined);
      expect(await verdictOf(two.states.read('a', START_MS))).toBe('ok');
      two.states.add(SESSION, START_MS, undefined);
      valueOf(await one.states.end(SESSION));
      // The row is kept for as long as any clock would accept the id.
      two.clock.ms += 4 * HOUR_MS - minutes * MINUTE_MS;
      expect(
        await verdictOf(replicaOn(store, 4 * HOUR_MS + minutes * MINUTE_MS - 1).states.read('a', START_MS)),
      ).toBe('SESSION_UNKNOWN');
    },
  );

  it('has its use saved in batches, of which one is under way, so that other writes run in between', async () => {
    const store = await openStore();
    const sizes: number[] = [];
    const pending: (() => void)[] = [];
    const slow: Store = Object.create(store, {
      useLegacySessions: {
        value: async (used: Parameters<Store['useLegacySessions']>[0]) => {
          sizes.push(used.length);
          await new Promise<void>((resolve) => pending.push(resolve));
          return store.useLegacySessions(used);
        },
      },
      onChange: { value: () => () => undefined },
    }) as Store;
    const { states, clock } = replicaOn(slow);
    const ids = Array.from({ length: 450 }, (_, at) => String(at));
    for (const id of ids) states.add({ id, subject: 'ada' }, START_MS, undefined);
    for (let hour = 2; hour <= 3; hour += 1) {
      clock.ms = START_MS + hour * HOUR_MS;
      states.use(ids.map((id) => ({ id, agoMs: 0 })));
      await until('the first batch is under way', () => (pending.length > 0 ? true : undefined));
    }
    for (const count of [1, 2, 3]) {
      await until('a batch is under way', () => (pending.length === 1 ? true : undefined));
      expect(sizes.length).toBe(count);
      pending.shift()?.();
    }
    const isSaved = async (): Promise<true | undefined> =>
      valueOf(await store.legacySession('449', START_MS)) === undefined ? undefined : true;
    await until('the last is saved', isSaved);
    expect(sizes).toEqual([200, 200, 50]);
  });

  it('learns of changes and of its end', async () => {
    const store = await openStore();
    const [one, two] = [replicaOn(store), replicaOn(store)];
    for (const { states } of [one, two]) {
      await states.start();
      states.add(SESSION, START_MS, undefined);
    }
    const heard: unknown[] = [];
    two.states.follow('a', (...change) => heard.push(change));
    valueOf(await one.states.change('a', { kind: 'log_level', level: 'error' }));
    await until('it is told', () => (heard.length > 0 ? true : undefined));
    valueOf(await one.states.change('a', { kind: 'log_level', level: 'error' }));
    valueOf(await one.states.end(SESSION));
    await until('it has ended', () => (heard.length > 1 ? true : undefined));
    expect(heard).toEqual([
      [{ logLevel: 'error' }, false],
      [{}, true],
    ]);
    for (const { states } of [one, two])
      expect(await verdictOf(states.read('a', START_MS))).toBe('SESSION_UNKNOWN');
  });

  it('cannot be continued while the store is away, and is over here once its end is stored', async () => {
    const store = await openStore();
    const one = replicaOn(store);
    one.states.add(SESSION, START_MS, undefined);
    one.isUp = false;
    expect(await verdictOf(one.states.read('b', START_MS))).toBe('STORE_UNAVAILABLE');
    const changed = await one.states.change('a', { kind: 'log_level', level: 'error' });
    expect(changed.ok).toBe(false);
    expect((await one.states.end(SESSION)).ok).toBe(false);
    one.isUp = true;
    expect(await verdictOf(one.states.read('a', START_MS))).toBe('ok');
    valueOf(await one.states.end(SESSION));
    one.isUp = false;
    expect(await verdictOf(one.states.read('a', START_MS))).toBe('SESSION_UNKNOWN');
  });

  it('does not take over a process, not even its own from before it was dropped', async () => {
    const store = await openStore();
    const [one, two] = [replicaOn(store), replicaOn(store)];
    const start = async ({ states }: { states: SessionStates }): Promise<string> => {
      const row = valueOf(await store.legacySession('a', START_MS));
      states.add(SESSION, START_MS, row);
      const started = await states.startProcess('a', 's');
      return started.ok ? 'started' : started.error.code;
    };
    expect(await start(one)).toBe('started');
    expect((await one.states.startProcess('a', 's')).ok).toBe(true);
    one.states.remove('a');
    expect(await start(one)).toBe('SERVER_STATE_LOST');
    expect(await start(two)).toBe('started');
    expect(await start(one)).toBe('SERVER_STATE_LOST');
    expect(await start(one)).toBe('started');
  });
});
