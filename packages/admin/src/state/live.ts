import type { QueryClient } from '@tanstack/react-query';

export type LiveState = 'connecting' | 'live' | 'lost';

/** The queries that each event makes stale. */
const STALE: Readonly<Record<string, readonly string[]>> = {
  tools: ['tools', 'gateways', 'toolsets', 'policy'],
  approvals: ['approvals'],
  calls: ['calls'],
  activity: ['activity', 'gateways', 'tools', 'preferences', 'tokens', 'toolsets', 'policy', 'stops'],
};

let state: LiveState = 'connecting';
const listeners = new Set<() => void>();

export function getLiveState(): LiveState {
  return state;
}

export function onLive(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: LiveState): void {
  state = next;
  for (const listener of listeners) listener();
}

/**
 * Follows the event stream until the returned function is called. Whenever the stream opens, everything is read again,
 * as it may have changed before.
 */
export function follow(client: QueryClient, onEnded: () => void): () => void {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    source = new EventSource('/events');
    source.onopen = () => {
      void client.invalidateQueries();
      set('live');
    };
    source.onerror = () => {
      set('lost');
      if (source?.readyState !== EventSource.CLOSED) return;
      // The server refused the stream: perhaps the session has ended.
      onEnded();
      retry = setTimeout(open, 2_000);
    };
    for (const [event, keys] of Object.entries(STALE))
      source.addEventListener(event, () => {
        for (const key of keys) void client.invalidateQueries({ queryKey: [key] });
      });
  };
  open();
  return () => {
    clearTimeout(retry);
    source?.close();
    set('connecting');
  };
}
