import { computeShortHash } from '@assay-mcp/kit/digest';
import type { ListReport } from './list-report.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { transliterate } from '@assay-mcp/kit/transliterate';

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
  /** Names that tools had before names were transliterated and began with a letter, and those they have now. */
  readonly former: ReadonlyMap<string, string>;
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
 * Assigns names in `[a-zA-Z][a-zA-Z0-9_-]{0,63}`. They depend only on the set of inputs, so they survive restarts.
 * Overlong and contested names end in a hash of the namespaced name.
 */
export function assignPublicNames(all: readonly Named[]): PublicNames {
  const wanted = all.map(wantedName);
  const before = all.map(formerName);
  const reports: ListReport[] = [];
  const seen = new Map<string, Set<string>>();
  const claims = new Map<string, number>();
  const isRepeated = all.map((named, index) => {
    const ofServer = seen.get(named.server) ?? new Set();
    seen.set(named.server, ofServer);
    const repeated = ofServer.has(named.name);
    ofServer.add(named.name);
    const name = wanted[index] ?? '';
    // A tool's former name is never given to another tool: clients may still use it.
    if (!repeated)
      for (const one of new Set([name, before[index] ?? name])) claims.set(one, (claims.get(one) ?? 0) + 1);
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
  const former = findFormerNames(all, { wanted, before, names, claims, contested });
  return { names, contested, former, reports };
}

interface Assigned {
  readonly wanted: readonly string[];
  readonly before: readonly string[];
  readonly names: readonly (string | undefined)[];
  readonly claims: ReadonlyMap<string, number>;
  /** Is completed by former names that several tools had. */
  readonly contested: Map<string, string[]>;
}

function findFormerNames(
  all: readonly Named[],
  { wanted, before, names, claims, contested }: Assigned,
): ReadonlyMap<string, string> {
  const former = new Map<string, string>();
  const given = new Set(names);
  for (const [index, named] of all.entries()) {
    const name = names[index];
    const old = before[index];
    if (name === undefined || old === undefined || old === wanted[index]) continue;
    const isContested = (claims.get(old) ?? 0) > 1;
    if (isContested) {
      const twins = contested.get(old) ?? [];
      twins.push(name);
      contested.set(old, twins);
    }
    const formerly = isContested || old.length > MAX_NAME_LENGTH ? hashedName(old, named, claims) : old;
    if (!given.has(formerly)) former.set(formerly, name);
  }
  return former;
}

function wantedName({ server, name, isPrefixed }: Named): string {
  const clean = cleaned(toReadable(name));
  return isPrefixed ? getPublicPrefix(server) + clean : withLetter(clean);
}

function formerName({ server, name, isPrefixed }: Named): string {
  const clean = (isPrefixed ? getFormerPrefix(server) : '') + cleaned(name);
  return clean === '' ? '_' : clean;
}

/** Prefix of the public names of a server's tools. */
export function getPublicPrefix(server: string): string {
  return withLetter(`${cleaned(toReadable(server))}_`);
}

function getFormerPrefix(server: string): string {
  return `${cleaned(server)}_`;
}

/** Whether a tool of this public name may be one of this server. */
export function hasPublicPrefix(name: string, server: string): boolean {
  return name.startsWith(getPublicPrefix(server)) || name.startsWith(getFormerPrefix(server));
}

/** Some clients refuse a whole list for one name that begins with another character. */
function withLetter(name: string): string {
  if (/^[a-zA-Z]/.test(name)) return name;
  return name.startsWith('_') ? `t${name}` : `t_${name}`;
}

/** Longer names end in a hash anyway. */
const MAX_READABLE_LENGTH = 256;

/** Without its ASCII form, a name such as "查询" would be nothing but underscores. */
function toReadable(name: string): string {
  // eslint-disable-next-line no-control-regex -- ASCII has them
  if (/^[\x00-\x7f]*$/.test(name) || name.length > MAX_READABLE_LENGTH) return name;
  const ascii = transliterate(name.normalize('NFC'));
  return /[a-zA-Z0-9]/.test(ascii) ? ascii : name;
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
