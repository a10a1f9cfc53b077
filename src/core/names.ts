import { computeShortHash } from './digest.ts';
import type { ListReport } from './list-report.ts';
import { toPrintable } from './printable.ts';

/** A tool or prompt that needs a public name. */
export interface Named {
  readonly server: string;
  /** Its name on its server. */
  readonly name: string;
  readonly isPrefixed: boolean;
}

/** Public names in input order. Undefined for a duplicate within the same server. */
export interface PublicNames {
  readonly names: readonly (string | undefined)[];
  /** Names claimed by more than one tool. All of them are renamed, so that no name silently changes its tool. */
  readonly contested: ReadonlyMap<string, readonly string[]>;
  /** What was renamed or left out: `server.name` and the reason. */
  readonly reports: readonly ListReport[];
}

/** Longest name that all known clients accept. */
export const MAX_NAME_LENGTH = 64;
const HASH_DIGITS = 8;

export function getNamespacedName(named: Named): string {
  return `${named.server}.${named.name}`;
}

/**
 * Assigns names in `[a-zA-Z0-9_-]{1,64}`. They depend only on the set of inputs, so they survive restarts. Overlong and
 * contested names end in a hash of the namespaced name.
 */
export function assignPublicNames(all: readonly Named[]): PublicNames {
  const wanted = all.map(wantedName);
  const reports: ListReport[] = [];
  const seen = new Map<string, Set<string>>();
  const claims = new Map<string, number>();
  const isRepeated = all.map((named, index) => {
    const ofServer = seen.get(named.server) ?? new Set();
    seen.set(named.server, ofServer);
    const repeated = ofServer.has(named.name);
    ofServer.add(named.name);
    const name = wanted[index] ?? '';
    if (!repeated) claims.set(name, (claims.get(name) ?? 0) + 1);
    return repeated;
  });
  const contested = new Map<string, string[]>();
  const names = all.map((named, index) => {
    const name = wanted[index] ?? '';
    const isShort = name.length <= MAX_NAME_LENGTH;
    const isAlone = (claims.get(name) ?? 0) < 2;
    if (isRepeated[index] !== true && isAlone && isShort) return name;
    const fullName = toPrintable(getNamespacedName(named));
    if (isRepeated[index] === true) {
      reports.push({
        code: 'name_repeated',
        text: `${fullName} is listed twice by its server; the first one counts`,
      });
      return undefined;
    }
    const unique = hashedName(name, named, claims);
    if (isShort) {
      const twins = contested.get(name) ?? [];
      twins.push(unique);
      contested.set(name, twins);
      reports.push({
        code: 'name_ambiguous',
        text: `${fullName} is called ${unique}: the name ${name} is ambiguous`,
      });
    } else
      reports.push({
        code: 'name_too_long',
        text: `${fullName} is called ${unique}: its own name is longer than ${MAX_NAME_LENGTH}`,
      });
    return unique;
  });
  return { names, contested, reports };
}

function wantedName(named: Named): string {
  const clean = (named.isPrefixed ? getPublicPrefix(named.server) : '') + cleaned(named.name);
  return clean === '' ? '_' : clean;
}

/** Prefix of the public names of a server's tools. */
export function getPublicPrefix(server: string): string {
  return `${cleaned(server)}_`;
}

function cleaned(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** The hash is extended only if another tool's plain name happens to equal the hashed one. */
function hashedName(name: string, named: Named, claims: ReadonlyMap<string, number>): string {
  // "a.b" + "c" and "a" + "b.c" would otherwise give the same hash.
  const fullName = named.server.includes('.')
    ? JSON.stringify([named.server, named.name])
    : getNamespacedName(named);
  for (let digits = HASH_DIGITS; ; digits += HASH_DIGITS) {
    const suffix = `_${computeShortHash(fullName, digits)}`;
    const unique = name.slice(0, MAX_NAME_LENGTH - suffix.length) + suffix;
    if (!claims.has(unique) || digits >= 32) return unique;
  }
}
