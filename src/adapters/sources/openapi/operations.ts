import { isMembers } from '../../../core/canonical-json.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { Skipped } from '../../../gateway/ports.ts';
import type { Documents, Located } from './documents.ts';

/** One operation of a document, with what its path says for all of its own. */
export interface Operation {
  /** In capitals. */
  readonly method: string;
  /** Template, as the document has it. */
  readonly path: string;
  readonly located: Located;
  readonly members: Readonly<Record<string, unknown>>;
  /** The path item with the document that it stands in; absent members are absent. */
  readonly item: Located & { readonly value: Readonly<Record<string, unknown>> };
}

export interface Operations {
  readonly operations: readonly Operation[];
  readonly skipped: readonly Skipped[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** The error is a phrase: why it is no document that is read. */
export function operationsIn(documents: Documents): Result<Operations, string> {
  const { root } = documents;
  const fault = faultOf(root.value);
  if (fault !== undefined) return err(fault);
  const paths = isMembers(root.value) ? root.value['paths'] : undefined;
  const operations: Operation[] = [];
  const skipped: Skipped[] = [];
  for (const [path, value] of isMembers(paths) ? Object.entries(paths) : []) {
    if (path.startsWith('x-')) continue;
    const item = itemAt({ value, at: root.at }, documents);
    if (!item.ok) {
      skipped.push({ what: path, why: item.error });
      continue;
    }
    for (const method of METHODS) {
      if (!Object.hasOwn(item.value.value, method)) continue;
      const located = { value: item.value.value[method], at: item.value.at };
      const what = `${method.toUpperCase()} ${path}`;
      if (isMembers(located.value))
        operations.push({
          method: method.toUpperCase(),
          path,
          located,
          members: located.value,
          item: item.value,
        });
      else skipped.push({ what, why: 'it is no object' });
    }
  }
  return ok({ operations, skipped });
}

/**
 * Whether an operation is somebody else's: a file of the operator's refers to it at a URL. What it says of its harmlessness
 * is not the operator's word then.
 */
export function isOfOthers({ item }: Operation, { root }: Documents): boolean {
  return root.at.startsWith('file:') && !item.at.startsWith('file:');
}

/** Whether JSON Schema is that of OpenAPI 3.0, an older one with words of its own. */
export function isVersion30(document: unknown): boolean {
  return isMembers(document) && /^3(\.0|$)/.test(String(document['openapi']));
}

function faultOf(document: unknown): string | undefined {
  if (!isMembers(document)) return 'is no OpenAPI document: it is no object';
  const { openapi, swagger, paths } = document;
  if (openapi === undefined && swagger !== undefined)
    return `is of Swagger ${shown(swagger)}, which is not read: convert it to OpenAPI 3 first`;
  if (openapi === undefined) return 'is no OpenAPI document: it has no member "openapi"';
  // YAML reads an unquoted 3.0 as the number 3.
  if (!/^3(\.|$)/.test(shown(openapi))) return `is of OpenAPI ${shown(openapi)}; 3.0 and 3.1 are read`;
  return paths === undefined || isMembers(paths) ? undefined : 'has "paths" that are no object';
}

function shown(version: unknown): string {
  return typeof version === 'string' || typeof version === 'number' ? String(version).slice(0, 20) : '?';
}

/** A path item may be a reference with more beside it. */
function itemAt(located: Located, documents: Documents): Result<Operation['item'], string> {
  const end = documents.follow(located);
  if (!end.ok) return end;
  const { value, at } = end.value;
  if (!isMembers(value)) return err('its path is no object');
  if (value === located.value || !isMembers(located.value) || at !== located.at) return ok({ value, at });
  const { $ref: _, ...beside } = located.value;
  return ok({ value: { ...value, ...beside }, at });
}
