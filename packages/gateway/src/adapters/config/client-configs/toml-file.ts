import type { Node } from 'jsonc-parser';
import { getStaticTOMLValue, ParseError, parseTOML, type AST } from 'toml-eslint-parser';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Edited } from '../json-edit.ts';
import { toPosition, toTree, type SyntaxFault } from '../json-tree.ts';

/**
 * Parses TOML into the tree that the same values would have as JSON. Tables and keys have their own positions; anything
 * inside a value has the position of that value. Dates become strings.
 */
export function parseTomlTree(text: string): Result<Node, SyntaxFault> {
  const parsed = parseToml(text);
  if (!parsed.ok) return parsed;
  const places = new Map(parsed.value.parts.map(({ path, from }) => [JSON.stringify(path), from]));
  return ok(toTree(plain(parsed.value.value), 0, (path) => places.get(JSON.stringify(path))));
}

/**
 * Sets the table at `path` in a TOML text. All other bytes stay unchanged. Fails if the text is not TOML, or if a table
 * cannot be added there, as in an inline table.
 */
export function setTomlTable(
  text: string,
  path: readonly string[],
  value: unknown,
): Result<Edited, SyntaxFault> {
  const parsed = parseToml(text);
  if (!parsed.ok) return parsed;
  const own = partsAt(parsed.value.parts, path);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = tableLines(path, value);
  const rest = withoutLines(text, own);
  const [first] = own;
  const isInPlace = first?.isTable === true;
  const at = isInPlace ? lineStart(text, first.from) : rest.length;
  const [before, after] = [rest.slice(0, at), rest.slice(at)];
  const lead = isInPlace || before.trim() === '' ? '' : before.endsWith('\n') ? eol : eol + eol;
  const edited = before + lead + lines.map((line) => line + eol).join('') + after;
  const result = parseToml(edited);
  if (!result.ok || !isAt(result.value.value, path, value)) {
    const parent = parsed.value.parts.find((part) => isWithin(path, part.path));
    return err({
      offset: parent?.from ?? 0,
      reason: `no table can be added to this; write its members as tables, such as [${dotted(path)}]`,
    });
  }
  const { line } = toPosition(edited, before.length + lead.length);
  return ok({ text: edited, line, lines, isReplaced: own.length > 0 });
}

/** Removes the table at `path` with the tables in it, and the blank line before. Undefined if there is none. */
export function removeTomlTable(text: string, path: readonly string[]): string | undefined {
  const parsed = parseToml(text);
  if (!parsed.ok) return undefined;
  const own = partsAt(parsed.value.parts, path);
  if (own.length === 0) return undefined;
  const rest = withoutLines(text, own, /\r?\n(?=\r?\n$)/);
  const result = parseToml(rest);
  return result.ok && !has(result.value.value, path) ? rest : undefined;
}

/** A table with its own keys, or a key with its value. */
interface Part {
  readonly path: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly isTable: boolean;
}

interface Parsed {
  readonly value: unknown;
  readonly parts: readonly Part[];
}

function parseToml(text: string): Result<Parsed, SyntaxFault> {
  try {
    const program = parseTOML(text);
    return ok({ value: getStaticTOMLValue(program), parts: partsOf(program.body[0].body, []) });
  } catch (error) {
    if (error instanceof ParseError)
      return err({ offset: error.index, reason: `this is not TOML: ${error.message}` });
    if (error instanceof RangeError) return err({ offset: 0, reason: 'values are nested too deeply' });
    throw error;
  }
}

function partsOf(
  nodes: readonly (AST.TOMLKeyValue | AST.TOMLTable)[],
  table: readonly string[],
): readonly Part[] {
  return nodes.flatMap((node) => {
    const [from, to] = node.range;
    if (node.type === 'TOMLTable') {
      const path = node.resolvedKey.map(String);
      return [{ path, from, to, isTable: true }, ...partsOf(node.body, path)];
    }
    const names = node.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value));
    return [{ path: [...table, ...names], from, to, isTable: false }];
  });
}

/** The parts at or below `path`, without those nested in another. */
function partsAt(parts: readonly Part[], path: readonly string[]): readonly Part[] {
  const own = parts.filter((part) => isWithin(part.path, path));
  const tables = own.filter(({ isTable }) => isTable);
  return own.filter(
    ({ from, to, isTable }) => isTable || !tables.some((table) => table.from <= from && to <= table.to),
  );
}

function isWithin(path: readonly string[], outer: readonly string[]): boolean {
  return outer.every((key, index) => path[index] === key);
}

/** JSON has no dates. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]))
    : value;
}

function tableLines(path: readonly string[], value: unknown): readonly string[] {
  const members = isJsonObject(value) ? Object.entries(value) : [];
  return [`[${dotted(path)}]`, ...members.map(([key, member]) => `${bareOr(key)} = ${written(member)}`)];
}

function dotted(path: readonly string[]): string {
  return path.map(bareOr).join('.');
}

function bareOr(key: string): string {
  return /^[\w-]+$/.test(key) ? key : written(key);
}

/** TOML has JSON's escapes, but requires one more character to be escaped. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value).replaceAll('\u007f', String.raw`\u007f`);
  const members = Object.entries(value).map(([key, member]) => `${bareOr(key)} = ${written(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function isAt(root: unknown, path: readonly string[], value: unknown): boolean {
  return JSON.stringify(memberAt(root, path)) === JSON.stringify(value);
}

function has(root: unknown, path: readonly string[]): boolean {
  return memberAt(root, path) !== undefined;
}

function memberAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );
}

/** Removes the lines of these parts, and before each of them whatever text matches `lead`. */
function withoutLines(text: string, parts: readonly Part[], lead?: RegExp): string {
  let rest = text;
  for (const { from, to } of parts.toReversed()) {
    const end = rest.indexOf('\n', to);
    const before = rest.slice(0, lineStart(rest, from));
    const isLast = end < 0;
    rest = (lead === undefined ? before : before.replace(lead, '')) + (isLast ? '' : rest.slice(end + 1));
  }
  return rest;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}
