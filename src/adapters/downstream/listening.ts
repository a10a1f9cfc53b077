import { Cancellation } from '../../core/cancellation.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import { ownAsk, type Ask, type LinkEvents, type Reply } from '../../gateway/ports.ts';
import { pause } from '../../platform/waiting.ts';
import { ownRequest } from '../../protocol/message.ts';
import type { Facts } from './handshake.ts';

export interface Listening {
  readonly facts: Facts;
  readonly events: LinkEvents;
  readonly signal: AbortSignal;
  readonly ask: (ask: Ask) => Promise<Result<Reply, Refusal>>;
}

/** Wait in ms before a subscription that ended is opened again; it doubles up to the longest. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A subscription that stood this long, in ms, has not failed. */
const STABLE_MS = 5_000;

/**
 * Keeps a `subscriptions/listen` open at a modern server, so that it tells of changes of its lists
 * (2026-07-28, basic/patterns/subscriptions). What changed while none was open is read again.
 */
export async function listen({ facts, events, signal, ask }: Listening): Promise<void> {
  const notifications = wishes(facts);
  if (Object.keys(notifications).length === 0) return;
  let waitMs = FIRST_WAIT_MS;
  let cancellation = new Cancellation();
  signal.addEventListener('abort', () => cancellation.cancel(), { once: true });
  while (!signal.aborted) {
    const startedMs = Date.now();
    cancellation = new Cancellation();
    const ended = await ask(
      ownAsk(ownRequest('subscriptions/listen', { notifications }), Infinity, cancellation),
    );
    if (ended.ok && ended.value.message.isError) return; // it declared changes, but does not tell of them
    const hadStood = Date.now() - startedMs > STABLE_MS;
    if (hadStood) waitMs = FIRST_WAIT_MS;
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    if (notifications.toolsListChanged === true) events.changed('tools');
    if (notifications.promptsListChanged === true) events.changed('prompts');
    if (notifications.resourcesListChanged === true) events.changed('resources');
  }
}

interface Wishes {
  toolsListChanged?: true;
  promptsListChanged?: true;
  resourcesListChanged?: true;
}

function wishes({ capabilities }: Facts): Wishes {
  const wished: Wishes = {};
  if (says(capabilities['tools'])) wished.toolsListChanged = true;
  if (says(capabilities['prompts'])) wished.promptsListChanged = true;
  if (says(capabilities['resources'])) wished.resourcesListChanged = true;
  return wished;
}

function says(capability: unknown): boolean {
  return (
    typeof capability === 'object' &&
    capability !== null &&
    (capability as { listChanged?: unknown }).listChanged === true
  );
}
