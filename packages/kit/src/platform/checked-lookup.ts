import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { getReach } from './addresses.ts';
import { getErrorCode } from './file-error.ts';
import type { Reach } from '../reach.ts';
import { err, ok, type Result } from '../result.ts';
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

/** All addresses of a name, or the code of the error. */
export function resolveAddresses(
  hostname: string,
  resolve: ResolveName = SYSTEM,
): Promise<Result<readonly LookupAddress[], string>> {
  return new Promise((settle) => {
    const fail = (error: unknown): void => settle(err(getErrorCode(error)));
    const peer: Peer = { name: `addresses of ${hostname}`, end: fail };
    const take = guardCallback(
      peer,
      (error: NodeJS.ErrnoException | null, found: readonly LookupAddress[]): void => {
        if (error !== null) fail(error);
        else settle(found.length === 0 ? err('ENODATA') : ok(found));
      },
    );
    guardCallback(peer, () => resolve(hostname, { all: true }, take))();
  });
}

const SYSTEM: ResolveName = (hostname, options, callback) => lookup(hostname, options, callback);
