import { randomBytes, randomUUID } from 'node:crypto';
import { signedTaskIds } from './adapters/auth/task-ids.ts';
import type { Refusal } from './core/refusal.ts';
import { ok, type Result } from './core/result.ts';
import { sentenceOf } from './core/sentences.ts';
import type { TaskAccess, TaskIds } from './gateway/ports/task-ids.ts';
import type { Store } from './gateway/ports/store.ts';
import { openHomeStore, type Ground } from './ground.ts';

const PURPOSE = 'task-ids';
const KEY_BYTES = 32;
/** A store that could not be asked is left alone for so many ms, in which tasks do not wait for it. */
const RETRY_MS = 10_000;

/**
 * Task ids under a key of the store, so that they outlast the process and hold on each replica. A process without an open
 * store opens it when it meets its first task, for that alone. While there is no store, a key of the process does.
 */
export function openTaskIds(ground: Ground, store: Store | undefined): TaskAccess['ids'] {
  const passing = randomBytes(KEY_BYTES);
  const alone = signedTaskIds([passing]);
  let asking: Promise<TaskIds | undefined> | undefined;
  let failedMs: number | undefined;
  const ask = async (): Promise<TaskIds | undefined> => {
    const key = await keyOf(ground, store);
    // What was given out meanwhile stays known when the store is back.
    if (key.ok) return signedTaskIds([key.value, passing]);
    const cause = sentenceOf(key.error);
    if (failedMs === undefined) ground.log.warn('ids of tasks will not outlast this process', { cause });
    failedMs = performance.now();
    asking = undefined;
    return undefined;
  };
  return async () => {
    if (asking === undefined && failedMs !== undefined && performance.now() - failedMs < RETRY_MS)
      return alone;
    asking ??= ask();
    return (await asking) ?? alone;
  };
}

async function keyOf(ground: Ground, store: Store | undefined): Promise<Result<Buffer, Refusal>> {
  const opened = store === undefined ? await openHomeStore(ground) : ok(store);
  if (!opened.ok) return opened;
  const bytes = randomBytes(KEY_BYTES);
  const wanted = { id: randomUUID(), purpose: PURPOSE, bytes, createdMs: Date.now() };
  const kept = await opened.value.ensureKey(wanted);
  if (store === undefined) await opened.value.close();
  return kept.ok ? ok(kept.value.bytes) : kept;
}
