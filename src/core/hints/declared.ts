import { hiddenTexts, type HiddenText } from './hidden-text.ts';
import { exactJson, isMembers } from '../canonical-json.ts';
import { type Hint, HINTS, saidHints, type SaidHints } from './hint.ts';
import type { ToolFacts } from './tool-facts.ts';

/** What a definition says of its tool beside its schemas, read once. */
export interface Declared {
  readonly hints: SaidHints;
  /** Hints that are there and are no booleans; lists leave them out. */
  readonly broken: readonly Hint[];
  /** What people are to be shown as its name: `title`, else `annotations.title` (2025-11-25, schema#tool). */
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** HTTP method of the request that a tool of Assay's own sends. */
  readonly method: string | undefined;
  /** `annotations` as it is written; undefined where it is no object. */
  readonly annotations: Readonly<Record<string, unknown>> | undefined;
  /** Where people do not see all that models read. */
  readonly hidden: readonly HiddenText[];
}

/** Reads a definition as JSON text; of one that is no object nothing is declared. */
export function declaredIn(text: string, facts?: Pick<ToolFacts, 'method'>): Declared {
  const read = exactJson(text)?.value;
  const members = isMembers(read) ? read : {};
  const given = own(members, 'annotations');
  const annotations = isMembers(given) ? given : undefined;
  const said = annotations ?? {};
  const title = textOf(own(members, 'title')) ?? textOf(own(said, 'title'));
  return {
    hints: saidHints(said),
    broken: HINTS.filter((hint) => Object.hasOwn(said, hint) && typeof said[hint] !== 'boolean'),
    title,
    description: textOf(own(members, 'description')),
    method: facts?.method,
    annotations,
    // Most definitions are ASCII without escapes, and need no walk.
    hidden: MAY_HIDE.test(text) ? hiddenTexts(read) : [],
  };
}

const MAY_HIDE = /[^\t\n\r\u0020-\u007e]|\\[bfu]/;

function own(members: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
