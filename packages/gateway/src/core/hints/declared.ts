import { findHiddenTexts, type HiddenText } from './hidden-text.ts';
import { parseExactJson, isMembers } from '@assay-mcp/kit/canonical-json';
import { type Hint, HINTS, pickDeclaredHints, type DeclaredHints } from '@assay-mcp/kit/hint';
import type { ToolFacts } from './tool-facts.ts';

/** What a definition declares apart from its schemas, parsed once. */
export interface Declared {
  readonly hints: DeclaredHints;
  /** Hints that are present but not booleans; lists omit them. */
  readonly broken: readonly Hint[];
  /** Display name: `title`, else `annotations.title` (2025-11-25, schema#tool). */
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** HTTP method of the request that a tool built by Assay sends. */
  readonly method: string | undefined;
  /** `annotations` as written. Undefined if it is not an object. */
  readonly annotations: Readonly<Record<string, unknown>> | undefined;
  /** Texts with characters that models read but people do not see. */
  readonly hidden: readonly HiddenText[];
}

/** Reads a definition from JSON text. If it is not an object, nothing is declared. */
export function readDeclared(text: string, facts?: Pick<ToolFacts, 'method'>): Declared {
  const read = parseExactJson(text)?.value;
  const members = isMembers(read) ? read : {};
  const given = own(members, 'annotations');
  const annotations = isMembers(given) ? given : undefined;
  const hintMembers = annotations ?? {};
  const title = textOf(own(members, 'title')) ?? textOf(own(hintMembers, 'title'));
  return {
    hints: pickDeclaredHints(hintMembers),
    broken: HINTS.filter(
      (hint) => Object.hasOwn(hintMembers, hint) && typeof hintMembers[hint] !== 'boolean',
    ),
    title,
    description: textOf(own(members, 'description')),
    method: facts?.method,
    annotations,
    // Most definitions are ASCII without escapes, so the walk can be skipped.
    hidden: MAY_HIDE.test(text) ? findHiddenTexts(read) : [],
  };
}

const MAY_HIDE = /[^\t\n\r\u0020-\u007e]|\\[bfu]/;

function own(members: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
