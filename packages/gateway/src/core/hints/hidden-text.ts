import { findHiddenCharacters } from '@assay-mcp/kit/printable';
import { isMembers } from '@assay-mcp/kit/canonical-json';
import { formatMemberPath } from '../json-changes.ts';

/** A text in a definition with characters that models read but people do not see. */
export interface HiddenText {
  /** `inputSchema.properties.a.description`; for a key, the path of its member. */
  readonly path: string;
  /** Distinct characters, as `U+E0041`. */
  readonly characters: readonly string[];
}

/** Further findings would add nothing new. */
const MAX_FINDINGS = 10;
const MAX_CHARACTERS = 8;

/** Finds hidden characters in a value from `parseExactJson`: in texts and keys at any depth, in document order. */
export function findHiddenTexts(definition: unknown): readonly HiddenText[] {
  const found: HiddenText[] = [];
  const look = (path: string, text: string): void => {
    const characters = findHiddenCharacters(text).slice(0, MAX_CHARACTERS);
    if (characters.length > 0) found.push({ path, characters });
  };
  // No recursion: a server controls how deeply its definitions are nested.
  const open: { readonly path: string; readonly value: unknown }[] = [{ path: '', value: definition }];
  for (let next = open.pop(); next !== undefined && found.length < MAX_FINDINGS; next = open.pop()) {
    const { path, value } = next;
    if (typeof value === 'string') look(path, value);
    else if (Array.isArray(value))
      for (let at = value.length - 1; at >= 0; at -= 1)
        open.push({ path: `${path}[${at}]`, value: value[at] });
    else if (isMembers(value)) {
      for (const [key, member] of Object.entries(value).reverse()) {
        const inner = formatMemberPath(path, key);
        look(inner, key);
        open.push({ path: inner, value: member });
      }
    }
  }
  return found.slice(0, MAX_FINDINGS);
}
