import { randomBytes, randomUUID } from 'node:crypto';
import { signedTaskIds } from './adapters/auth/task-ids.ts';
import { sentenceOf } from './core/sentences.ts';
import type { TaskAccess, TaskIds } from './gateway/ports/task-ids.ts';
import type { Store } from './gateway/ports/store.ts';
import { openHomeStore, type Ground } from './ground.ts';

const PURPOSE = 'task-ids';
const KEY_BYTES = 32;

/**
 * Task ids under a key of the store, so that they outlast the process and hold on each replica. A process without an open
 * store opens it when it meets its first task, for that alone. While there is no store, a key of the process does.
 */
export function openTaskIds(ground: Ground, store: Store | undefined): TaskAccess['ids'] {
  const passing = randomBytes(KEY_BYTES);
  const lasting = (key: Buffer): TaskIds => signedTaskIds([key, passing]);
  const alone = signedTaskIds([passing]);
  let asking: Promise<TaskIds | undefined> | undefined;
  return async () => {
    asking ??= keyOf(ground, store).then((key) => key && lasting(key));
    const ids = await asking;
    // What is given out meanwhile stays known when the store is back.
    if (ids === undefined) asking = undefined;
    return ids ?? alone;
  };
}

async function keyOf(ground: Ground, store: Store | undefined): Promise<Buffer | undefined> {
  const opened = store === undefined ? await openHomeStore(ground) : { ok: true as const, value: store };
  const kept = opened.ok
    ? await opened.value.ensureKey({
        id: randomUUID(),
        purpose: PURPOSE,
        bytes: randomBytes(KEY_BYTES),
        createdMs: Date.now(),
      })
    : opened;
  if (opened.ok && store === undefined) await opened.value.close();
  if (kept.ok) return kept.value.bytes;
  const { log } = ground;
  log.warn('ids of tasks will not outlast this process', { cause: sentenceOf(kept.error) });
  return undefined;
}
