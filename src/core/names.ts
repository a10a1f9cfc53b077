import { shortHash } from './digest.ts';
import type { ListReport } from './list-report.ts';
import { printable } from './printable.ts';

/** A tool or prompt that needs a public name. */
export interface Named {
  readonly server: string;
  /** What the server calls it. */
  readonly name: string;
  readonly isPrefixed: boolean;
}

/** Public names in the order of what they name. An undefined one repeats an earlier entry of the same server. */
export interface PublicNames {
  readonly names: readonly (string | undefined)[];
  /** Names that more than one tool wanted: all of these got another, so that no name silently changes its tool. */
  readonly contested: ReadonlyMap<string, readonly string[]>;
  /** What was renamed or left out: `server.name` and why. */
  readonly reports: readonly ListReport[];
}

/** Longest name that all known clients accept. */
export const LONGEST_NAME = 64;
const HASH_DIGITS = 8;

export function namespacedName(named: Named): string {
  return `${named.server}.${named.name}`;
}

/**
 * Names in `[a-zA-Z0-9_-]{1,64}`, depending on nothing but the set of what is named: the same after every start.
 * Over-long names and names wanted twice end in a hash of the namespaced name.
 */
export function publicNames(all: readonly Named[]): PublicNames {
  const wanted = all.map(wantedName);
  const reports: ListReport[] = [];
  const seen = new Set<string>();
  const claims = new Map<string, number>();
  const isRepeated = all.map((named, index) => {
    const key = JSON.stringify([named.server, named.name]);
    const repeated = seen.has(key);
    seen.add(key);
    const name = wanted[index] ?? '';
    if (!repeated) claims.set(name, (claims.get(name) ?? 0) + 1);
    return repeated;
  });
  const contested = new Map<string, string[]>();
  const names = all.map((named, index) => {
    const name = wanted[index] ?? '';
    const whose = printable(namespacedName(named));
    if (isRepeated[index] === true) {
      reports.push({
        code: 'name_repeated',
        text: `${whose} is listed twice by its server; the first one counts`,
      });
      return undefined;
    }
    if ((claims.get(name) ?? 0) < 2 && name.length <= LONGEST_NAME) return name;
    const unique = hashedName(name, named, claims);
    if (name.length <= LONGEST_NAME) {
      const twins = contested.get(name) ?? [];
      twins.push(unique);
      contested.set(name, twins);
      reports.push({
        code: 'name_ambiguous',
        text: `${whose} is called ${unique}: the name ${name} fits more than one`,
      });
    } else
      reports.push({
        code: 'name_too_long',
        text: `${whose} is called ${unique}: its own name is longer than ${LONGEST_NAME}`,
      });
    return unique;
  });
  return { names, contested, reports };
}

function wantedName(named: Named): string {
  const clean = (named.isPrefixed ? publicPrefix(named.server) : '') + cleaned(named.name);
  return clean === '' ? '_' : clean;
}

/** What the public names of a server's tools start with. */
export function publicPrefix(server: string): string {
  return `${cleaned(server)}_`;
}

function cleaned(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** Longer hashes only in the freak case that somebody's plain name looks like the hashed one. */
function hashedName(name: string, named: Named, claims: ReadonlyMap<string, number>): string {
  // With a dot in its name a server could stand for another one and a part of its tool's name.
  const whose = named.server.includes('.')
    ? JSON.stringify([named.server, named.name])
    : namespacedName(named);
  for (let digits = HASH_DIGITS; ; digits += HASH_DIGITS) {
    const suffix = `_${shortHash(whose, digits)}`;
    const unique = name.slice(0, LONGEST_NAME - suffix.length) + suffix;
    if (!claims.has(unique) || digits >= 32) return unique;
  }
}
