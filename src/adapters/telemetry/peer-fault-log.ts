import type { Log } from '../../gateway/ports/log.ts';
import { onPeerFault, type PeerFault } from '../../platform/guarded.ts';

/** Equal faults are logged once in this many ms. */
const PERIOD_MS = 60_000;
/** Bounds memory: a fault may name data of the peer. */
const MAX_KNOWN = 200;

/** Logs faults in handling the data of peers, each at most once a minute, until the returned function is called. */
export function logPeerFaults(log: Log): () => void {
  const known = new Map<string, { readonly sinceMs: number; others: number }>();
  return onPeerFault(({ peer, error }: PeerFault) => {
    const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const key = `${peer} ${shown}`;
    const nowMs = performance.now();
    const before = known.get(key);
    if (before !== undefined && nowMs - before.sinceMs < PERIOD_MS) {
      before.others += 1;
      return;
    }
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, { sinceMs: nowMs, others: 0 });
    log.error('handling data of a peer failed inside Assay; its connection was ended', {
      peer,
      error: shown,
      ...(before !== undefined && before.others > 0 && { othersSince: before.others }),
    });
  });
}
