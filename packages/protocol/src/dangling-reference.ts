import { isJsonObject, parseObject } from '@assay-mcp/kit/json-object';
import { findDanglingReference } from './compilable.ts';
import { formatPathMessage } from './listable.ts';

/** Where the input schema of a tool refers to a part that it does not have, as a phrase. `definition`: its JSON text. */
export function describeDanglingReference(definition: Buffer): string | undefined {
  if (!definition.includes('"$ref"')) return undefined;
  const { inputSchema } = parseObject(definition.toString());
  const fault = isJsonObject(inputSchema) ? findDanglingReference(inputSchema) : undefined;
  return fault && formatPathMessage(['inputSchema', ...fault.at], fault.message);
}
