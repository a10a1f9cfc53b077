import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { truncateText } from '@assay-mcp/kit/shorten';
import { getFirstSentence } from '../tools/tool-search.ts';

/** Results up to this size are not shortened: five tools cost a model about 500 tokens. */
const MIN_BYTES = 2_000;
const BYTES_PER_TOOL = 400;

/**
 * One line of JSON for each tool: name, description, arguments as a signature, and whether it declares that it only
 * reads or that it may destroy. All lines together take at most 2,000 bytes, or 400 per tool if there are more than
 * five; long ones are shortened first. `describe_tool` gives the whole definition.
 */
export function formatSearchResults(tools: readonly JsonObject[]): string {
  const forms = tools.map((tool) => [
    ...DETAILS.map((detail) => JSON.stringify(summarize(tool, detail))),
    JSON.stringify({ name: tool['name'] }),
  ]);
  const shares = divide(
    forms.map(([full = '']) => countBytes(full)),
    Math.max(MIN_BYTES, BYTES_PER_TOOL * tools.length),
  );
  return forms
    .map((lines, at) => lines.find((line) => countBytes(line) <= (shares[at] ?? 0)) ?? lines.at(-1) ?? '')
    .join('\n');
}

interface Detail {
  /** Maximum number of characters of the description. */
  readonly description: number;
  /** Whether only the first sentence of the description is shown. */
  readonly isSentence: boolean;
  /** Depth to which members of objects are shown. */
  readonly depth: number;
  /** Maximum number of characters of the arguments. */
  readonly arguments: number;
}

/** From the most to the least detailed. Texts that need escapes may leave room for the name only. */
const DETAILS: readonly Detail[] = [
  { description: 1_000, isSentence: false, depth: 2, arguments: 1_000 },
  { description: 300, isSentence: true, depth: 2, arguments: 1_000 },
  { description: 200, isSentence: true, depth: 1, arguments: 400 },
  { description: 150, isSentence: true, depth: 0, arguments: 250 },
  { description: 120, isSentence: true, depth: 0, arguments: 150 },
  { description: 80, isSentence: true, depth: 0, arguments: 100 },
  { description: 50, isSentence: true, depth: 0, arguments: 50 },
];

function summarize({ name, description, inputSchema, annotations }: JsonObject, detail: Detail): JsonObject {
  const text = typeof description === 'string' ? description.trim() : '';
  const shown = detail.isSentence ? getFirstSentence(text) : text;
  const hints = isJsonObject(annotations) ? annotations : {};
  return {
    name: name ?? '',
    description: cut(shown.replace(/\s+/g, ' '), detail.description),
    arguments: cut(formatArguments(inputSchema, detail.depth), detail.arguments),
    ...(hints['readOnlyHint'] === true
      ? { readOnly: true }
      : hints['destructiveHint'] === true && { destructive: true }),
  };
}

/** Maximum number of members of one object, and of values of one enumeration, that are shown. */
const MAX_SHOWN = 40;

/** `path: string, head?: number`: the required ones first. */
function formatArguments(schema: unknown, depth: number): string {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return '';
  const { properties } = schema;
  const required = new Set(Array.isArray(schema['required']) ? schema['required'].slice(0, MAX_SHOWN) : []);
  const names = Object.keys(properties);
  const ordered = [
    ...names.filter((name) => required.has(name)),
    ...names.filter((name) => !required.has(name)),
  ];
  const shown = ordered.slice(0, MAX_SHOWN).map((name) => {
    const shownName = /^[\w$-]+$/.test(name) ? name : JSON.stringify(cut(name, MAX_SHOWN));
    return `${shownName}${required.has(name) ? '' : '?'}: ${formatType(properties[name], depth)}`;
  });
  return shown.join(', ') + (ordered.length > MAX_SHOWN ? ', …' : '');
}

/** A JSON Schema as a type. */
function formatType(schema: unknown, depth: number): string {
  if (!isJsonObject(schema)) return 'any';
  const { type, enum: values, items } = schema;
  const alternatives = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(values))
    return depth === 0 && values.length > FEW ? 'enum' : joinTypes(values.map((one) => JSON.stringify(one)));
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (Array.isArray(alternatives)) return joinTypes(alternatives.map((one) => formatType(one, depth - 1)));
  if (Array.isArray(type)) return joinTypes(type.map(String));
  if (type === 'array') {
    const item = depth < 0 ? 'any' : formatType(items, depth - 1);
    return item.includes('|') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
  }
  if (type === 'object' && depth > 0 && isJsonObject(schema['properties']))
    return `{${formatArguments(schema, depth - 1)}}`;
  return typeof type === 'string' ? type : 'any';
}

const FEW = 4;

function joinTypes(types: readonly string[]): string {
  const distinct = [...new Set(types.slice(0, MAX_SHOWN))];
  return distinct.join('|') + (types.length > MAX_SHOWN ? '|…' : '');
}

function cut(text: string, maxLength: number): string {
  return text.length > maxLength ? `${truncateText(text, maxLength - 1)}…` : text;
}

function countBytes(line: string): number {
  return Buffer.byteLength(line) + 1;
}

/** Shares of a total: small wishes are met, and the others get equal parts of the rest. */
function divide(wishes: readonly number[], total: number): readonly number[] {
  const shares: number[] = [];
  let rest = total;
  const ascending = wishes.map((wish, at) => ({ wish, at })).sort((one, other) => one.wish - other.wish);
  for (const [done, { wish, at }] of ascending.entries()) {
    const share = Math.min(wish, Math.floor(rest / (wishes.length - done)));
    shares[at] = share;
    rest -= share;
  }
  return shares;
}
