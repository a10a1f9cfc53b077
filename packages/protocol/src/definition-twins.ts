import { DEFINITIONS, type ListedKind, type Rule } from './definition-rules.ts';
import { formatPathMessage, type JsonPath } from './listable.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  isSpace,
} from './tokens.ts';
import { truncateText } from '@assay-mcp/kit/shorten';

/**
 * Why two readers may understand a definition differently. An object in it may contain the same key twice, of which
 * some readers take the first value and some the last. Or it may spell a known key in two ways, which readers that
 * ignore case treat as one. Undefined if neither is so. `text` is the definition and `value` the result of
 * `JSON.parse`.
 */
export function findTwinFault(kind: ListedKind, text: string, value: unknown): string | undefined {
  const twin = exactTwin(text) ?? variant(DEFINITIONS[kind], value, []);
  return twin && formatPathMessage(twin.at, twin.message);
}

/** A key as readers that ignore case see it: Unicode simple folding, like Go's encoding/json for ASCII names. */
export function foldKey(key: string): string {
  // `toLowerCase` folds the Kelvin sign to k but leaves the long s unchanged.
  return key.toLowerCase().replaceAll('\u017f', 's');
}

interface Twin {
  readonly at: JsonPath;
  readonly message: string;
}

/** An open object or array; `step` is the key or index being read. */
interface Open {
  readonly keys: Set<string> | undefined;
  step: string | number;
}

/** The first duplicate key in an object, at any depth. The text must be valid JSON. */
function exactTwin(text: string): Twin | undefined {
  const open: Open[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const inner = open.at(-1);
    switch (text.charCodeAt(at)) {
      case OPEN_BRACE:
        open.push({ keys: new Set(), step: '' });
        break;
      case OPEN_BRACKET:
        open.push({ keys: undefined, step: 0 });
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop();
        break;
      case COMMA:
        if (typeof inner?.step === 'number') inner.step += 1;
        break;
      case QUOTE: {
        const start = at;
        at = stringEnd(text, start);
        if (inner?.keys === undefined || !isKey(text, at + 1)) break;
        const key = stringIn(text.slice(start, at + 1));
        if (inner.keys.has(key)) return doubled(open, key);
        inner.keys.add(key);
        inner.step = key;
      }
    }
  }
  return undefined;
}

function doubled(open: readonly Open[], key: string): Twin {
  const at = open.slice(0, -1).map(({ step }) => step);
  return { at, message: `holds the key ${quoteKey(key)} twice` };
}

/** Position of the closing quote of a string. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at;
    if (unit === BACKSLASH) at += 1;
  }
  return text.length;
}

/** Whether a colon follows, which only happens after a key. */
function isKey(text: string, after: number): boolean {
  let at = after;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return text.charCodeAt(at) === COLON;
}

function stringIn(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1); // valid JSON string
}

/** The first known key that appears in two spellings that differ only in case. */
function variant(rule: Rule, value: unknown, at: JsonPath): Twin | undefined {
  if (rule.kind === 'array' && Array.isArray(value)) return firstOf(value.entries(), () => rule.each, at);
  if (rule.kind !== 'object' || typeof value !== 'object' || value === null || Array.isArray(value))
    return undefined;
  const names = foldedNames(rule.members);
  const seen = new Map<string, string>();
  for (const key of Object.keys(value)) {
    const name = foldKey(key);
    if (!names.has(name)) continue;
    const other = seen.get(name);
    if (other !== undefined)
      return {
        at,
        message: `holds the keys ${quoteKey(other)} and ${quoteKey(key)}, which some readers take for one`,
      };
    seen.set(name, key);
  }
  const { members } = rule;
  return firstOf(
    Object.entries(value),
    (key) => (Object.hasOwn(members, key) ? members[key]?.rule : undefined),
    at,
  );
}

function firstOf<Key extends string | number>(
  parts: Iterable<readonly [Key, unknown]>,
  ruleOf: (key: Key) => Rule | undefined,
  at: JsonPath,
): Twin | undefined {
  for (const [key, part] of parts) {
    const rule = ruleOf(key);
    const found = rule && variant(rule, part, [...at, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Members = Extract<Rule, { readonly kind: 'object' }>['members'];

const FOLDED = new WeakMap<Members, ReadonlySet<string>>();

function foldedNames(members: Members): ReadonlySet<string> {
  const known = FOLDED.get(members) ?? new Set(Object.keys(members).map(foldKey));
  FOLDED.set(members, known);
  return known;
}

const MAX_KEY_LENGTH = 64;

function quoteKey(key: string): string {
  return JSON.stringify(truncateText(key, MAX_KEY_LENGTH));
}
