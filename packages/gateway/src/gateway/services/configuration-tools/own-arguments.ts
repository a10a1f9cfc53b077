import { readDigitString } from '@assay-mcp/kit/digit-string';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { unknownReason } from '@assay-mcp/kit/json-reader';
import { findMeant } from '@assay-mcp/kit/nearest';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { shortenPeerText } from '../../../core/bounded-refusal.ts';
import type { SchemaFault } from '../../ports/compile-schema.ts';

/**
 * The arguments as the schema of a tool of ours describes them. Models write integers as strings, and `null` for what
 * they leave out; both are understood, as nothing is lost. A member that the schema does not have is refused, also
 * where it allows others: a misspelt one would be ignored.
 */
export function readOwnArguments(value: unknown, schema: JsonObject): Result<unknown, SchemaFault> {
  const { type, properties, items, required } = schema;
  if (type === 'integer') return ok(readDigitString(value) ?? value);
  if (Array.isArray(value)) return isJsonObject(items) ? readItems(value, items) : ok(value);
  if (!isJsonObject(value) || !isJsonObject(properties)) return ok(value);
  const read: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (known === undefined) return err(unknownMember(key, Object.keys(properties)));
    if (member === null && !(Array.isArray(required) && required.includes(key))) continue;
    const part = isJsonObject(known) ? readOwnArguments(member, known) : ok(member);
    if (!part.ok) return err({ ...part.error, path: [key, ...part.error.path] });
    read.push([key, part.value]);
  }
  return ok(Object.fromEntries(read));
}

function readItems(values: readonly unknown[], items: JsonObject): Result<unknown, SchemaFault> {
  const read: unknown[] = [];
  for (const [index, value] of values.entries()) {
    const part = readOwnArguments(value, items);
    if (!part.ok) return err({ ...part.error, path: [String(index), ...part.error.path] });
    read.push(part.value);
  }
  return ok(read);
}

function unknownMember(key: string, known: readonly string[]): SchemaFault {
  const reason =
    known.length === 0 ? 'the tool takes no arguments' : unknownReason(key, known, findMeant(key, known));
  return { path: [shortenPeerText(key)], reason };
}
