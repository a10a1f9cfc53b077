import { isMembers } from '@assay-mcp/kit/canonical-json';
import { err, ok, type Result } from '@assay-mcp/kit/result';

export interface ParsedDocument {
  readonly value: unknown;
  /** URLs of the other documents that it refers to, each once. */
  readonly others: readonly string[];
}

/** `values_limit`: it contains more values than were allowed. */
export type ParseFault =
  { readonly code: 'values_limit' } | { readonly code: 'invalid'; readonly reason: string };

/** A document of 32 MiB has fewer values, unless its aliases multiply them. */
export const MAX_VALUES = 5_000_000;

/** Deeper than any handwritten document, and shallow enough to walk recursively. */
const MAX_DEPTH = 200;

/**
 * The value of a JSON or YAML text. Takes seconds and more than 1 GB for a large text: call it through `ParseDocument`.
 * The reason is a phrase that follows the document's name.
 */
export async function parseText(
  text: string,
  url: string,
  maxValues: number,
): Promise<Result<ParsedDocument, ParseFault>> {
  const read = /^\s*\{/.test(text) ? fromJson(text) : undefined;
  const parsed = read ?? (await fromYaml(text, maxValues));
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  const fault = faultOf(value, maxValues);
  return fault === undefined ? ok({ value, others: othersIn(value, url) }) : err(fault);
}

/** A phrase that follows the document's name. */
export function formatParseFault(fault: ParseFault): string {
  return fault.code === 'invalid' ? fault.reason : 'contains too many values, perhaps through its aliases';
}

function invalid(reason: string): ParseFault {
  return { code: 'invalid', reason };
}

/** Undefined if it is not JSON: a YAML text may begin with a brace too. */
function fromJson(text: string): Result<unknown, never> | undefined {
  try {
    return ok(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Why a text that begins like JSON is invalid: the parser's message, with line and column. */
function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch (error) {
    if (/^\s*\{\s*"/.test(text) && error instanceof SyntaxError) return error.message;
  }
  return undefined;
}

async function fromYaml(text: string, maxValues: number): Promise<Result<unknown, ParseFault>> {
  const { CORE_SCHEMA, load } = await import('js-yaml'); // loaded on first use: most documents are JSON
  try {
    const value = load(text, { schema: CORE_SCHEMA, maxDepth: MAX_DEPTH + 1 });
    return mergeKeys(value, maxValues) ? ok(value) : err({ code: 'values_limit' });
  } catch (error) {
    const reason = jsonFault(text) ?? (error instanceof Error ? error.message : '');
    return err(invalid(`is neither JSON nor YAML: ${(reason.split('\n')[0] ?? '').slice(0, 200)}`));
  }
}

/**
 * Applies `<<: *common` (yaml.org/type/merge.html), which YAML 1.2's core schema ignores. Own members win. Returns
 * whether it did so everywhere: it stops when it has copied this many members.
 */
function mergeKeys(document: unknown, maxCopies: number): boolean {
  let left = maxCopies;
  const seen = new Set<object>();
  const merge = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    for (const member of Object.values(value)) merge(member);
    if (!isMembers(value) || !Object.hasOwn(value, '<<')) return;
    const merged = value['<<'];
    const sources = (Array.isArray(merged) ? merged : [merged]).filter(isMembers);
    if (sources.length === 0) return;
    Reflect.deleteProperty(value, '<<');
    for (const source of sources) {
      if (left <= 0) return;
      for (const key of Object.keys(source)) {
        left -= 1;
        if (!Object.hasOwn(value, key)) setMember(value, key, source[key]);
      }
    }
  };
  merge(document);
  return left > 0;
}

/** Also sets a member called `__proto__`. */
export function setMember(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') Reflect.set(target, key, value);
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** YAML aliases can expand a small text into a huge or endless value, so every use of an alias counts. */
function faultOf(document: unknown, maxValues: number): ParseFault | undefined {
  let left = maxValues;
  const isWithin = (value: unknown, levels: number): boolean => {
    left -= 1;
    if (left < 0 || levels > MAX_DEPTH) return false;
    if (typeof value !== 'object' || value === null) return true;
    for (const member of Object.values(value)) if (!isWithin(member, levels + 1)) return false;
    return true;
  };
  if (isWithin(document, 0)) return undefined;
  return left < 0 ? { code: 'values_limit' } : invalid(`is nested over ${MAX_DEPTH} levels`);
}

/** The other documents that a document refers to, each once. */
function othersIn(document: unknown, at: string): readonly string[] {
  const others = new Set<string>();
  const seen = new Set<object>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    for (const [key, member] of Object.entries(value)) {
      if (key === '$ref' && typeof member === 'string' && !member.startsWith('#')) {
        const url = URL.canParse(member, at) ? removeHash(new URL(member, at)) : at;
        if (url !== at) others.add(url);
      } else visit(member);
    }
  };
  visit(document);
  return [...others];
}

export function removeHash(url: URL): string {
  const bare = new URL(url);
  bare.hash = '';
  return bare.href;
}
