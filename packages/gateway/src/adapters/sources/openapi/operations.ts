import { isMembers } from '@assay-mcp/kit/canonical-json';
import { computeShortHash } from '@assay-mcp/kit/digest';
import { isContradiction, pickDeclaredHints, type DeclaredHints } from '@assay-mcp/kit/hint';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Turns } from '@assay-mcp/kit/turns';
import type { Skipped } from '../../../gateway/ports/link.ts';
import type { Documents, Located } from './documents.ts';
import { shorten } from '@assay-mcp/kit/shorten';

/** One operation of a document, with its path item. */
export interface Operation {
  /** In upper case. */
  readonly method: string;
  /** Path template, as written in the document. */
  readonly path: string;
  readonly tags: readonly string[];
  readonly located: Located;
  readonly members: Readonly<Record<string, unknown>>;
  /** The path item and the URL of its document. */
  readonly item: Located & { readonly value: Readonly<Record<string, unknown>> };
}

interface Operations {
  readonly operations: readonly Operation[];
  readonly skipped: readonly Skipped[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];

/** Yields by `turns`. The error is a phrase: why the document is not supported. */
export async function readOperations(
  documents: Documents,
  turns: Turns,
): Promise<Result<Operations, string>> {
  const { root } = documents;
  const fault = faultOf(root.value);
  if (fault !== undefined) return err(fault);
  const given = isMembers(root.value) ? root.value['paths'] : undefined;
  const paths = isMembers(given) ? given : {};
  const operations: Operation[] = [];
  const skipped: Skipped[] = [];
  // A list of entries would take three times as long, in one turn.
  for (const path of Object.keys(paths)) {
    if (path.startsWith('x-')) continue;
    if (turns.isOver) await turns.next();
    const item = itemAt({ value: paths[path], at: root.at }, documents);
    if (!item.ok) {
      skipped.push({ what: path, why: item.error });
      continue;
    }
    for (const read of operationsAt(item.value)) {
      const { method, value, fault } = read;
      const located = { value, at: item.value.at };
      if (fault !== undefined) skipped.push({ what: `${method} ${path}`, why: fault });
      else if (isMembers(value))
        operations.push({ method, path, tags: tagsOf(value), located, members: value, item: item.value });
      else skipped.push({ what: `${method} ${path}`, why: 'it is not an object' });
    }
  }
  return ok({ operations, skipped });
}

interface ItemOperation {
  readonly method: string;
  readonly value: unknown;
  /** A phrase: why it cannot become a tool. */
  readonly fault?: string | undefined;
}

/** The operations of a path item, with `query` and `additionalOperations` of OpenAPI 3.2. */
function operationsAt({ value }: Operation['item']): readonly ItemOperation[] {
  const known = METHODS.filter((method) => Object.hasOwn(value, method)).map((method) => ({
    method: method.toUpperCase(),
    value: value[method],
  }));
  const others = value['additionalOperations'];
  if (others === undefined) return known;
  if (!isMembers(others))
    return [...known, { method: 'additionalOperations of', value: others, fault: 'it is not an object' }];
  return [
    ...known,
    ...Object.entries(others).map(([method, operation]) => ({
      method: shorten(method, MAX_METHOD_LENGTH),
      value: operation,
      fault: methodFault(method),
    })),
  ];
}

const MAX_METHOD_LENGTH = 30;
/** Methods are case-sensitive (RFC 9110, section 9.1), and other code compares them in upper case. */
const METHOD: RegExp = new RegExp(`^[A-Z][A-Z-]{0,${MAX_METHOD_LENGTH - 1}}$`);

function methodFault(method: string): string | undefined {
  if (METHODS.includes(method.toLowerCase()))
    return `it belongs at ${JSON.stringify(method.toLowerCase())}, not in additionalOperations`;
  if (method === 'CONNECT') return 'CONNECT opens a tunnel';
  return METHOD.test(method) ? undefined : 'its method is not made of upper-case letters and hyphens';
}

function tagsOf({ tags }: Readonly<Record<string, unknown>>): readonly string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}

/**
 * Whether an operation comes from a third party: the operator's file or upload refers to it by URL. Its hints are then not the
 * operator's own.
 */
export function isOfOthers({ item }: Operation, { root }: Documents): boolean {
  const isOwn = root.at.startsWith('file:') ? item.at.startsWith('file:') : item.at === root.at;
  return !isWebUrl(root.at) && !isOwn;
}

function isWebUrl(url: string): boolean {
  return /^https?:/i.test(url);
}

/** Whether the document uses OpenAPI 3.0, whose older JSON Schema has keywords of its own. */
export function isVersion30(document: unknown): boolean {
  return isMembers(document) && /^3(\.0|$)/.test(String(document['openapi']));
}

function faultOf(document: unknown): string | undefined {
  if (!isMembers(document)) return 'is not an OpenAPI document: it is not an object';
  const { openapi, swagger, paths } = document;
  if (openapi === undefined && swagger !== undefined)
    return `is of Swagger ${formatVersion(swagger)}, which is not read: convert it to OpenAPI 3 first`;
  if (openapi === undefined) return 'is not an OpenAPI document: it has no member "openapi"';
  // YAML reads an unquoted 3.0 as the number 3.
  if (!/^3(\.|$)/.test(formatVersion(openapi)))
    return `is of OpenAPI ${formatVersion(openapi)}; 3.0, 3.1 and 3.2 are read`;
  return paths === undefined || isMembers(paths)
    ? undefined
    : 'has a value at "/paths" that is not an object';
}

function formatVersion(version: unknown): string {
  return typeof version === 'string' || typeof version === 'number' ? String(version).slice(0, 20) : '?';
}

/** A path item may be a `$ref` with sibling members. */
function itemAt(located: Located, documents: Documents): Result<Operation['item'], string> {
  const end = documents.follow(located);
  if (!end.ok) return end;
  const { value, at } = end.value;
  if (!isMembers(value)) return err('its path is not an object');
  if (value === located.value || !isMembers(located.value) || at !== located.at) return ok({ value, at });
  const { $ref, ...beside } = located.value;
  return ok({ value: { ...value, ...beside }, at });
}

/** An operation's name, texts and hints from its document. */
export interface OperationWords {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  readonly isEnabled: boolean;
  /** Whether one `x-mcp` declares the operation both read-only and destructive. */
  readonly isContradictory: boolean;
}

const MAX_DESCRIPTION_LENGTH = 4_096;
const MAX_TITLE_LENGTH = 200;

/** `x-mcp` of an operation overrides its path's, and that the document's. Third-party hints are ignored. */
export function readOperationWords(operation: Operation, documents: Documents): OperationWords {
  const { root } = documents;
  const general = extensionOf(isMembers(root.value) ? root.value['x-mcp'] : undefined);
  const own = extensionOf(operation.members['x-mcp']);
  const layers = [general, extensionOf(operation.item.value['x-mcp']), own];
  const trusted = isOfOthers(operation, documents) ? [general] : layers;
  const { summary, description, deprecated } = operation.members;
  const title = textOf(own['title']) ?? textOf(summary) ?? textOf(operation.item.value['summary']);
  const text = textOf(own['description']) ?? textOf(description) ?? textOf(summary);
  const words = deprecated === true ? `Deprecated. ${text ?? ''}`.trim() : text;
  const shownTitle = title === undefined ? undefined : shorten(title, MAX_TITLE_LENGTH);
  const annotated = layers
    .map(({ annotations }) => annotatedTitle(annotations))
    .findLast((one) => one !== undefined);
  const shortTitle = annotated === undefined ? shownTitle : shorten(annotated, MAX_TITLE_LENGTH);
  const annotations = {
    ...trusted.reduce<DeclaredHints>((hints, { annotations }) => withHints(hints, hintsIn(annotations)), {}),
    ...(shortTitle !== undefined && { title: shortTitle }),
  };
  return {
    name: textOf(own['name']),
    title: shownTitle,
    description: words === undefined ? undefined : shorten(words, MAX_DESCRIPTION_LENGTH),
    annotations: Object.keys(annotations).length === 0 ? undefined : annotations,
    isContradictory: trusted.some(({ annotations }) => isContradiction(hintsIn(annotations))),
    isEnabled: layers.findLast(({ enabled }) => typeof enabled === 'boolean')?.['enabled'] !== false,
  };
}

function annotatedTitle(annotations: unknown): string | undefined {
  const title = isMembers(annotations) ? textOf(annotations['title']) : undefined;
  return title === '' ? undefined : title;
}

/** `x-mcp: false` is short for `{enabled: false}`. */
function extensionOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'boolean') return { enabled: value };
  return isMembers(value) ? value : {};
}

/** Clients reject a whole list if one hint is not a boolean. */
function hintsIn(annotations: unknown): DeclaredHints {
  return isMembers(annotations) ? pickDeclaredHints(annotations) : {};
}

/** A nearer `x-mcp` overrides a general one, even if the two contradict each other. */
function withHints(general: DeclaredHints, nearer: DeclaredHints): DeclaredHints {
  const both = { ...general, ...nearer };
  if (!isContradiction(both)) return both;
  const { readOnlyHint, ...withoutReads } = both;
  const { destructiveHint, ...withoutDestroys } = both;
  return nearer.readOnlyHint === true ? withoutDestroys : withoutReads;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

const MAX_LENGTH = 60;
const KEPT = 52;
const HASH_DIGITS = 8;
const MAX_READ = 1_000;

/** An operation and the tool name from its document, if any. */
interface NamedOperation {
  readonly operation: Operation;
  readonly given?: string | undefined;
}

/**
 * Unique tool names in the order of their operations, derived from the document alone. Operations that want the same
 * name all get a suffix, so that no name moves to another tool when an earlier operation comes or goes.
 */
export function assignToolNames(namings: readonly NamedOperation[]): readonly string[] {
  const wanted = namings.map(wantedName);
  const once = apart(wanted, namings, HASH_DIGITS);
  // A name may already end like such a hash.
  return apart(once, namings, 2 * HASH_DIGITS);
}

function wantedName({ operation, given }: NamedOperation): string {
  const { method, path, members } = operation;
  const id = typeof members['operationId'] === 'string' ? members['operationId'] : '';
  const clean = cleaned(given ?? '') || cleaned(id);
  const name =
    clean === ''
      ? [method, cleaned(path)]
          .filter((part) => part !== '')
          .join('_')
          .toLowerCase()
      : clean;
  return name.length <= MAX_LENGTH ? name : `${name.slice(0, KEPT)}_${computeShortHash(name, HASH_DIGITS)}`;
}

function apart(
  names: readonly string[],
  namings: readonly NamedOperation[],
  digits: number,
): readonly string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return names.map((name, index) => {
    const operation = namings[index]?.operation;
    if ((counts.get(name) ?? 0) < 2 || operation === undefined) return name;
    const { method, path } = operation;
    return `${name.slice(0, KEPT + HASH_DIGITS - digits)}_${computeShortHash(`${method} ${path}`, digits)}`;
  });
}

/** Strips diacritics and replaces each run of invalid characters by one `_`. */
function cleaned(text: string): string {
  return text
    .slice(0, MAX_READ)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/^[^A-Za-z0-9_-]+|[^A-Za-z0-9_-]+$/g, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_');
}
