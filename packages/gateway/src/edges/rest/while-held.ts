import type { Identity } from '../../core/subject.ts';
import type { AdminDeps } from './admin-deps.ts';

/** Interval in ms at which the credential of long work is checked. */
const HOLDER_INTERVAL_MS = 2_000;

interface Held {
  readonly identity: Identity;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  readonly cancel: () => void;
}

/**
 * Cancels work when its client disconnects, or its credential or the process ends. Returns a function to call when the
 * work is done.
 */
export function watchHolder(
  { gate, ending, nowMs }: Pick<AdminDeps, 'gate' | 'ending' | 'nowMs'>,
  { identity, signal, cancel }: Held,
): () => void {
  const over = AbortSignal.any([signal, ending]);
  over.addEventListener('abort', cancel);
  const holding = setInterval(() => {
    if (!gate.isHolder(identity, 'admin', nowMs())) cancel();
  }, HOLDER_INTERVAL_MS);
  return () => {
    clearInterval(holding);
    over.removeEventListener('abort', cancel);
  };
}
