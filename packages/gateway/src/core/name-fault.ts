import type { JsonObject } from '@assay-mcp/kit/json-object';
import { toPrintable } from '@assay-mcp/kit/printable';

export const MAX_NAME_LENGTH = 64;

const WANTED = `it takes 1 to ${MAX_NAME_LENGTH} characters, each of A-Z, a-z, 0-9, "_", ".", "@", ":", "+", "-" or a single space between others, and begins with a letter, a digit or "_"`;
const NAME = /^\w[\w.@:+-]*(?: [\w.@:+-]+)*$/;

/** The JSON Schema of such a name. */
export const NAME_SCHEMA: JsonObject = { maxLength: MAX_NAME_LENGTH, pattern: NAME.source };

const FOREIGN = /[^\w.@:+ -]/u;

/**
 * Why a text cannot name a server, a gateway or a token, as the end of a sentence. Names reach shells, terminals, URLs and
 * people's eyes, so they have no character that a shell expands, that is invisible, or that looks like another one.
 */
export function findNameFault(name: string): string | undefined {
  const [foreign] = FOREIGN.exec(name) ?? [];
  if (foreign !== undefined) return `it holds ${formatCharacter(foreign)}; ${WANTED}`;
  return name.length <= MAX_NAME_LENGTH && NAME.test(name) ? undefined : WANTED;
}

function formatCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const isAscii = code > 0x20 && code < 0x7f;
  const text = isAscii ? '' : ` (U+${code.toString(16).toUpperCase().padStart(4, '0')})`;
  return `${JSON.stringify(toPrintable(character))}${text}`;
}
