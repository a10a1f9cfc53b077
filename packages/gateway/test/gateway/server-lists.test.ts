import { describe, expect, it } from 'vitest';
import type { Link } from '../../src/gateway/ports/link.ts';
import { ServerLists } from '../../src/gateway/catalog/server-lists.ts';
import { HandClock } from './hand-clock.ts';
import { listLink } from './list-link.ts';

const COST_MS = 100;
/** Makes the list large enough for the cost, which is limited per byte received. */
const PADDING = `"padding":"${'x'.repeat(COST_MS * 20_000)}",`;

interface Watched {
  readonly lists: ServerLists;
  readonly clock: HandClock;
  readonly link: Link;
  /** When each read of the tools began. */
  readonly reads: readonly number[];
  onRead: () => void;
}

/** A server whose tools take 100 ms of work to read. */
function watched(): Watched {
  const clock = new HandClock();
  const reads: number[] = [];
  const lists = new ServerLists({
    remembered: undefined,
    timeoutMs: () => 1_000,
    isPaced: true,
    clock,
    onRead: (_, { list }) => {
      if (list === 'tools') all.onRead();
    },
    mask: (text) => text,
    onFailed: () => undefined,
  });
  const link = listLink(() => {
    reads.push(clock.nowMs());
    clock.work(COST_MS);
    return `{${PADDING}"tools":[{"name":"t${reads.length}","inputSchema":{"type":"object"}}]}`;
  });
  const all: Watched = { lists, clock, link, reads, onRead: () => undefined };
  return all;
}

/** From one read to the next: its cost, and then a pause of ten times that. */
const ROUND_MS = 11 * COST_MS;
const STALL_MS = 500;

describe('a server that announces a change after each read of its tools', () => {
  it('is read again only after a pause of ten times the cost of the last read', async () => {
    const { lists, clock, link, reads, ...all } = watchedWith((watching) => watching.lists.changed('tools'));
    void lists.readFirst(link);
    await clock.pass(20 * ROUND_MS);
    expect(reads.length).toBeGreaterThan(10);
    expect(reads.length).toBeLessThanOrEqual(21);
    expect(all.gaps().every((gap) => gap >= ROUND_MS)).toBe(true);
  });

  it('is read at the same pace if a manual refresh, a lost stream or a new connection triggers it', async () => {
    const { lists, clock, link, reads, ...all } = watchedWith(({ lists: its }) => {
      its.changed('tools');
      its.missed();
      void its.readAgain();
      void its.readAgain();
    });
    void lists.readFirst(link);
    for (let storms = 0; storms < 200; storms += 1) {
      await clock.pass(ROUND_MS / 10);
      if (storms % 3 === 0) {
        lists.forgetLink();
        void lists.readFirst({ ...link });
      }
    }
    expect(reads.length).toBeGreaterThan(10);
    expect(reads.length).toBeLessThanOrEqual(21);
    expect(all.gaps().every((gap) => gap >= ROUND_MS)).toBe(true);
  });
});

it('the pause depends on the work of a read, not on the delays of a busy machine', async () => {
  const { lists, clock, link, reads, ...all } = watchedWith((watching) => {
    watching.clock.stall(STALL_MS);
    watching.lists.changed('tools');
  });
  void lists.readFirst(link);
  await clock.pass(5 * (ROUND_MS + STALL_MS));
  expect(reads.length).toBeGreaterThan(3);
  expect(new Set(all.gaps())).toEqual(new Set([ROUND_MS + STALL_MS]));
});

describe('the pause between reads', () => {
  it('is followed at once by a single read if the list changed during it', async () => {
    const { lists, clock, link, reads } = watched();
    await lists.readFirst(link);
    lists.changed('tools');
    lists.changed('tools');
    const again = lists.readAgain();
    await clock.pass(ROUND_MS - COST_MS - 1);
    expect(reads).toHaveLength(1);
    await clock.pass(1);
    expect(await again).toBe(true);
    expect(reads).toEqual([0, ROUND_MS]);
    await clock.pass(10 * ROUND_MS);
    expect([reads.length, lists.inventory.tools.map(({ key }) => key)]).toEqual([2, ['t2']]);
  });

  it('is followed by one more read if the list changed during a read', async () => {
    const { lists, clock, link, reads } = watched();
    const first = lists.readFirst(link);
    lists.changed('tools');
    await first;
    await clock.pass(10 * ROUND_MS);
    expect(reads).toEqual([0, ROUND_MS]);
  });

  it('does not delay a reconnecting server whose lists are known', async () => {
    const { lists, clock, link, reads } = watched();
    await lists.readFirst(link);
    lists.forgetLink();
    await lists.readFirst({ ...link });
    expect([reads, lists.inventory.tools.map(({ key }) => key)]).toEqual([[0], ['t1']]);
    await clock.pass(ROUND_MS);
    expect(lists.inventory.tools.map(({ key }) => key)).toEqual(['t2']);
  });
});

function watchedWith(
  onRead: (watching: Watched) => void,
): Watched & { readonly gaps: () => readonly number[] } {
  const watching = watched();
  watching.onRead = () => onRead(watching);
  const { reads } = watching;
  return { ...watching, gaps: () => reads.slice(1).map((ms, at) => ms - (reads[at] ?? 0)) };
}
