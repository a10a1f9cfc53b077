import { isMembers } from '../../../core/canonical-json.ts';
import { err, ok, type Result } from '../../../core/result.ts';

/** Deeper than anything that a person writes, and shallow enough for every stack that walks it. */
const MOST_LEVELS = 200;

/** A document of 32 MiB has fewer values, unless its aliases multiply them. */
const MOST_VALUES = 5_000_000;

/** The value of a JSON or YAML text. The error is a phrase to stand behind the document's name. */
export async function parseDocument(text: string, url: string): Promise<Result<unknown, string>> {
  const read = /^\s*\{/.test(text) ? fromJson(text) : undefined;
  const parsed = read ?? (await fromYaml(text, url));
  if (!parsed.ok) return parsed;
  const fault = faultOf(parsed.value);
  return fault === undefined ? parsed : err(fault);
}

/** Undefined where it is no JSON: a YAML text may begin with a brace too. */
function fromJson(text: string): Result<unknown, string> | undefined {
  try {
    return ok(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function fromYaml(text: string, url: string): Promise<Result<unknown, string>> {
  // Loaded when the first such document comes: most are JSON.
  const { getJsonSchemaRefParserDefaultOptions } = await import('@apidevtools/json-schema-ref-parser');
  const { yaml } = getJsonSchemaRefParserDefaultOptions().parse;
  if (typeof yaml !== 'object' || typeof yaml.parse !== 'function') throw new Error('No parser of YAML');
  try {
    const file = { url, hash: '', extension: '.yaml', data: text };
    const value: unknown = await yaml.parse(file);
    mergeKeys(value, new Set());
    return ok(value);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    return err(`is neither JSON nor YAML: ${firstLine(reason)}`);
  }
}

function firstLine(reason: string): string {
  return (reason.split('\n')[0] ?? '').replace(/^Error parsing \S+: /, '').slice(0, 200);
}

/** `<<: *common` (yaml.org/type/merge.html), which the core schema of YAML 1.2 leaves as it is. Members of its own win. */
function mergeKeys(value: unknown, seen: Set<object>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  for (const member of Object.values(value)) mergeKeys(member, seen);
  if (!isMembers(value) || !Object.hasOwn(value, '<<')) return;
  const merged = value['<<'];
  const sources = (Array.isArray(merged) ? merged : [merged]).filter(isMembers);
  if (sources.length === 0) return;
  Reflect.deleteProperty(value, '<<');
  for (const source of sources)
    for (const [key, member] of Object.entries(source))
      if (!Object.hasOwn(value, key))
        Object.defineProperty(value, key, {
          value: member,
          enumerable: true,
          writable: true,
          configurable: true,
        });
}

/** Aliases of YAML make a small text stand for a value without end, or nearly so: they are counted as often as they are used. */
function faultOf(document: unknown): string | undefined {
  let left = MOST_VALUES;
  const isWithin = (value: unknown, levels: number): boolean => {
    left -= 1;
    if (left < 0 || levels > MOST_LEVELS) return false;
    if (typeof value !== 'object' || value === null) return true;
    for (const member of Object.values(value)) if (!isWithin(member, levels + 1)) return false;
    return true;
  };
  if (isWithin(document, 0)) return undefined;
  return left < 0 ? 'holds too many values, perhaps by its aliases' : `is nested over ${MOST_LEVELS} levels`;
}
