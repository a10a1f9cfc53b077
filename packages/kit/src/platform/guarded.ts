import { channel } from 'node:diagnostics_channel';

/** Whatever sends bytes that Assay handles: a client, the process of a server, a web server, a thread. */
export interface Peer {
  /** For the log, such as `process npx`. */
  readonly name: string;
  /** Ends the connection to it because handling its data failed. */
  end(error: unknown): void;
}

export interface PeerFault {
  readonly peer: string;
  readonly error: unknown;
}

const FAULTS = channel('assay:peer-fault');

/**
 * Wraps a callback that acts on data of a peer. If it throws or rejects, the fault is reported and the peer is ended;
 * nothing reaches the process. Use it wherever an event of a stream, socket, process or thread enters Assay.
 */
export function guardCallback<A extends readonly unknown[]>(
  peer: Peer,
  callback: (...args: A) => unknown,
): (...args: A) => void {
  return (...args) => {
    try {
      const done = callback(...args);
      if (done instanceof Promise) done.catch((error: unknown) => failPeer(peer, error));
    } catch (error) {
      failPeer(peer, error);
    }
  };
}

/** Reports a fault in handling a peer's data, and ends the peer. */
export function failPeer(peer: Peer, error: unknown): void {
  FAULTS.publish({ peer: peer.name, error } satisfies PeerFault);
  try {
    peer.end(error);
  } catch (thrown) {
    FAULTS.publish({ peer: peer.name, error: thrown } satisfies PeerFault);
  }
}

/** Reports faults to the listener until the returned function is called. */
export function onPeerFault(listener: (fault: PeerFault) => void): () => void {
  const subscriber = (message: unknown): void => listener(message as PeerFault); // published only above and below
  FAULTS.subscribe(subscriber);
  return () => {
    FAULTS.unsubscribe(subscriber);
  };
}

/**
 * Keeps the process running after faults that no boundary caught, in timers and in promises that nobody awaits. They
 * are reported without ending a peer, because it is not known which one caused them. Returns a function that restores
 * Node's default.
 */
export function surviveStrayFaults(): () => void {
  const report = (error: unknown): void => FAULTS.publish({ peer: 'unknown', error } satisfies PeerFault);
  process.on('uncaughtException', report).on('unhandledRejection', report);
  return () => void process.off('uncaughtException', report).off('unhandledRejection', report);
}

/** The name of an error, for causes: a message may quote what the peer sent. */
export function getFaultName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
