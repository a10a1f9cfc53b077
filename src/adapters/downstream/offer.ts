import type { Capabilities } from '../../gateway/ports.ts';
import type { RequestMessage } from '../../protocol/message.ts';

/** What is offered to legacy servers at their handshake in the place of nothing, to see what they make of it. */
export interface Offer {
  /** Told of each request that a server makes of its client, but for `ping`. */
  readonly onRequest: (method: string) => void;
}

/** All that a client of the legacy era can offer. */
export const OFFERED_CAPABILITIES: Capabilities = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: {},
};

/** The result that a client gives who offers everything and has nothing; undefined where it refuses. */
export function emptyResultOf({ method }: RequestMessage): string | undefined {
  return method === 'roots/list' ? '{"roots":[]}' : undefined;
}
