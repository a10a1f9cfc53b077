import { expect, it } from 'vitest';
import { Freshness, MAX_STALE_MS } from '../../src/core/freshness.ts';
import { err, ok } from '@assay-mcp/kit/result';

const LATER_MS = MAX_STALE_MS + 1;
const clock = { nowMs: 0 };
const succeeds = (): Promise<ReturnType<typeof ok<number>>> => Promise.resolve(ok(1));

/** A copy that was read at time 0, and whose store was heard at time 0. */
async function readCopy(): Promise<{ readonly copy: Freshness; readonly store: { heardMs: number } }> {
  clock.nowMs = 0;
  const store = { heardMs: 0 };
  const copy = new Freshness(
    () => store.heardMs,
    () => clock.nowMs,
  );
  await copy.during(succeeds);
  return { copy, store };
}

it('a copy is stale before it was read and heard of, and never if announcements cannot get lost', () => {
  expect(new Freshness(() => -Infinity).isFresh).toBe(false);
  expect(new Freshness(undefined).isFresh).toBe(true);
});

it('a copy that nobody announced a change of stays fresh for as long as announcements arrive', async () => {
  const { copy, store } = await readCopy();
  clock.nowMs = store.heardMs = 10 * LATER_MS;
  expect(copy.isFresh).toBe(true);
  clock.nowMs += LATER_MS;
  expect(copy.isFresh).toBe(false);
  await copy.during(succeeds);
  expect(copy.isFresh).toBe(true);
});

it('an announced change that cannot be read makes the copy stale, even if announcements arrive', async () => {
  const { copy, store } = await readCopy();
  copy.announced();
  await copy.during(() => Promise.resolve(err({ code: 'STORE_UNAVAILABLE', reason: 'it is away' })));
  expect(copy.isFresh).toBe(true);
  clock.nowMs = store.heardMs = LATER_MS;
  expect(copy.isFresh).toBe(false);
});

it('a change announced during a read is not covered by it', async () => {
  const { copy, store } = await readCopy();
  await copy.during(() => {
    copy.announced();
    return succeeds();
  });
  clock.nowMs = store.heardMs = LATER_MS;
  expect(copy.isFresh).toBe(false);
  await copy.during(succeeds);
  clock.nowMs = store.heardMs = 2 * LATER_MS;
  expect(copy.isFresh).toBe(true);
});

it('a read that hangs leaves the copy stale, and a read that nothing asked for does not', async () => {
  const { copy, store } = await readCopy();
  void copy.during(() => new Promise<never>(() => undefined));
  clock.nowMs = store.heardMs = LATER_MS;
  expect(copy.isFresh).toBe(true);
  copy.announced();
  clock.nowMs = store.heardMs = 3 * LATER_MS;
  expect(copy.isFresh).toBe(false);
});
