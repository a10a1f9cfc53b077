import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { getReach } from './addresses.ts';
import type { Reach } from '../reach.ts';
import { getFaultName, guardCallback, type Peer } from './guarded.ts';

/** Resolves host names; defaults to the system resolver. */
export type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: readonly LookupAddress[]) => void,
) => void;

/** A name whose addresses are all forbidden. */
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
  /** Called with a name and the reaches of its allowed addresses before a connection is made. */
  readonly onAllowed?: ((hostname: string, reaches: readonly Reach[]) => void) | undefined;
}

/**
 * A lookup for use at connection time. The connection uses the very addresses that were checked, so a second DNS answer
 * cannot lead elsewhere. Of several addresses, the allowed ones are used. Literal addresses bypass the lookup and must
 * be checked beforehand.
 */
export function createCheckedLookup({
  reaches,
  resolve = SYSTEM,
  onAllowed,
}: ConnectionRules): LookupFunction {
  return (hostname, options, callback) => {
    const peer: Peer = {
      name: `addresses of ${hostname}`,
      end: (error) => callback(error instanceof Error ? error : new Error(getFaultName(error)), []),
    };
    const take = guardCallback(
      peer,
      (error: NodeJS.ErrnoException | null, found: readonly LookupAddress[]): void => {
        if (error !== null) return callback(error, []);
        const allowed = found.filter(({ address }) => reaches.has(getReach(address)));
        const [first] = allowed;
        if (first === undefined) {
          const met = new Set(found.map(({ address }) => getReach(address)));
          return callback(new ForbiddenAddress([...met]), []);
        }
        onAllowed?.(
          hostname,
          allowed.map(({ address }) => getReach(address)),
        );
        if (options.all === true) callback(null, [...allowed]);
        else callback(null, first.address, first.family);
      },
    );
    guardCallback(peer, () => resolve(hostname, { ...options, all: true }, take))();
  };
}

const SYSTEM: ResolveName = (hostname, options, callback) => lookup(hostname, options, callback);
