import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { sha256 } from '@assay-mcp/kit/digest';
import type { EntryDifference } from '../../../core/client-configs.ts';
import { maskArgs, maskUrl } from '../../../core/secrets/masked-command.ts';
import { expand, type VariableSources } from '../expand.ts';

/** What an entry starts or reaches, by the member that says it, with its variables expanded. Holds secrets. */
type EntryFacts = ReadonlyMap<string, string>;

/**
 * Whether two entries start the same program, or reach the same address, with the same accounts. Their variables are
 * expanded and hashes compared, so that a token and the variable that holds it count as the same.
 */
export function isSameServer(one: unknown, other: unknown, sources: VariableSources): boolean {
  return hashEntry(one, sources) === hashEntry(other, sources);
}

function hashEntry(entry: unknown, sources: VariableSources): string {
  return sha256(JSON.stringify([...readFacts(entry, sources)].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/**
 * The members in which two entries differ. Values of variables and headers are never shown, and secrets in arguments and
 * addresses are masked.
 */
export function listDifferences(
  imported: JsonObject,
  own: unknown,
  sources: VariableSources,
): readonly EntryDifference[] {
  const [there, here] = [readFacts(imported, sources), readFacts(own, sources)];
  const [shownThere, shownHere] = [showFacts(imported), showFacts(own)];
  const members = [...new Set([...here.keys(), ...there.keys()])];
  return members.flatMap((member): readonly EntryDifference[] => {
    if (here.get(member) === there.get(member)) return [];
    const [own, other] = [shownHere.get(member), shownThere.get(member)];
    // Two values that are masked to the same text are not worth showing.
    return [{ member, ...(own !== other && { own: own ?? null, imported: other ?? null }) }];
  });
}

/** Other members, added by the operator, do not make it a different server. */
function readFacts(entry: unknown, sources: VariableSources): EntryFacts {
  const facts = new Map<string, string>();
  if (!isJsonObject(entry)) return facts;
  const env = toTexts(entry['env']).map(([name, text]) => [name, expandValue(text, sources)] as const);
  // As in a config file, the entry's own variables count in its arguments.
  const withOwn = { ...sources, ofEntry: Object.fromEntries(env) };
  for (const [member, text] of listTexts(entry))
    facts.set(member, expand(text, member.startsWith('args') ? withOwn : sources).text);
  for (const [name, text] of env) facts.set(`env.${name}`, text);
  for (const [name, text] of toTexts(entry['headers']))
    facts.set(`headers.${name.toLowerCase()}`, expandValue(text, sources));
  return facts;
}

/** An import stores a missing variable as a secret of its name: the entry is still the same. */
function expandValue(text: string, sources: VariableSources): string {
  const written = text.replace(/\$\{secret:([A-Za-z_]\w*)\}/g, '${$1}');
  const { text: expanded, missing } = expand(written, sources);
  return missing.length > 0 ? written : expanded;
}

function showFacts(entry: unknown): EntryFacts {
  const shown = new Map<string, string>();
  if (!isJsonObject(entry)) return shown;
  // Any of these values may be a secret, whatever it looks like.
  const secrets = [entry['env'], entry['headers']].flatMap((named) => toTexts(named).map(([, text]) => text));
  const args = maskArgs(toWords(entry['args']), secrets);
  for (const [member, text] of listTexts({ ...entry, args }))
    if (member.startsWith('args')) shown.set(member, text);
    else shown.set(member, member === 'url' ? maskUrl(text) : maskArgs([text], secrets).join(' '));
  return shown;
}

/** The members that are texts, and each argument. */
function listTexts(entry: JsonObject): readonly (readonly [string, string])[] {
  const single = ['command', 'cwd', 'envFile', 'url'].flatMap((member) => {
    const text = entry[member];
    return typeof text === 'string' ? [[member, text] as const] : [];
  });
  return [...single, ...toWords(entry['args']).map((arg, index) => [`args[${index}]`, arg] as const)];
}

function toWords(args: unknown): readonly string[] {
  return Array.isArray(args) ? args.filter((arg) => typeof arg === 'string') : [];
}

/** The texts of `env` or `headers`; a number counts as its text and null as absent. */
export function toTexts(named: unknown): readonly (readonly [string, string])[] {
  return Object.entries(isJsonObject(named) ? named : {}).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : [],
  );
}
