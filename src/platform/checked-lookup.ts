import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { reachOf, type Reach } from './addresses.ts';

/** How names become addresses; that of the system where nothing else is given. */
export type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: readonly LookupAddress[]) => void,
) => void;

/** A name all of whose addresses lead where nobody may go. */
export class ForbiddenAddress extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';
  readonly reaches: readonly Reach[];

  constructor(reaches: readonly Reach[]) {
    super(`leads to ${reaches.join(' and ')} addresses alone`);
    this.reaches = reaches;
  }
}

/** Where connections may lead. */
export interface ConnectionRules {
  readonly reaches: ReadonlySet<Reach>;
  readonly resolve?: ResolveName | undefined;
  /** Told of a name and of where its addresses lead that a connection may be made to. */
  readonly onAllowed?: ((hostname: string, reaches: readonly Reach[]) => void) | undefined;
}

/**
 * A look-up for the moment of a connection, which is made to the very addresses that were checked: no second answer of the
 * DNS leads elsewhere. Of several addresses those that are allowed are used. A literal address is connected to without a
 * look-up, so it is to be checked before.
 */
export function checkedLookup({ reaches, resolve = SYSTEM, onAllowed }: ConnectionRules): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const allowed = found.filter(({ address }) => reaches.has(reachOf(address)));
      const [first] = allowed;
      if (first === undefined) {
        const met = new Set(found.map(({ address }) => reachOf(address)));
        return callback(new ForbiddenAddress([...met]), []);
      }
      onAllowed?.(
        hostname,
        allowed.map(({ address }) => reachOf(address)),
      );
      if (options.all === true) callback(null, [...allowed]);
      else callback(null, first.address, first.family);
    });
  };
}

const SYSTEM: ResolveName = (hostname, options, callback) => lookup(hostname, options, callback);
