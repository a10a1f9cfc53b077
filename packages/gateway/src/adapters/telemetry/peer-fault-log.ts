import { OncePerPeriod } from '../../core/once-per-period.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { onPeerFault, type PeerFault } from '@assay-mcp/kit/platform/guarded';

/** Logs faults in handling the data of peers, each at most once a minute, until the returned function is called. */
export function logPeerFaults(log: Log): () => void {
  // Bounded, since a fault may name data of the peer.
  const faults = new OncePerPeriod(60_000, 200);
  return onPeerFault(({ peer, error }: PeerFault) => {
    const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const others = faults.admit(`${peer} ${shown}`, performance.now());
    if (others === undefined) return;
    log.error('handling data of a peer failed inside Assay; its connection was ended', {
      peer,
      error: shown,
      ...(others > 0 && { othersSince: others }),
    });
  });
}
