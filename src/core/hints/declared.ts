import { hiddenTexts, type HiddenText } from './hidden-text.ts';
import { FUNCTION_FACTS, HTTP_FACTS } from './made-facts.ts';
import { exactJson, isMembers } from '../canonical-json.ts';
import { type Hint, HINTS, saidHints, type SaidHints } from './hint.ts';

/** What a definition says of its tool beside its schemas, read once. */
export interface Declared {
  readonly hints: SaidHints;
  /** Hints that are there and are no booleans; lists leave them out. */
  readonly broken: readonly Hint[];
  /** What people are to be shown as its name: `title`, else `annotations.title` (2025-11-25, schema#tool). */
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** Of the HTTP request that a tool of our own making sends. */
  readonly method: string | undefined;
  /** The mark of the module of functions that it is of. */
  readonly module: string | undefined;
  /** `annotations` as it is written; undefined where it is no object. */
  readonly annotations: Readonly<Record<string, unknown>> | undefined;
  /** Where people do not see all that models read. */
  readonly hidden: readonly HiddenText[];
}

/** Reads a definition as JSON text; of one that is no object nothing is declared. */
export function declaredIn(text: string): Declared {
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
    method: textOf(membersAt(membersAt(members, '_meta'), HTTP_FACTS)['method']),
    module: textOf(membersAt(membersAt(members, '_meta'), FUNCTION_FACTS)['module']),
    annotations,
    // Most definitions are ASCII without escapes, and need no walk.
    hidden: MAY_HIDE.test(text) ? hiddenTexts(read) : [],
  };
}

const MAY_HIDE = /[^\t\n\r\u0020-\u007e]|\\[bfu]/;

function membersAt(
  members: Readonly<Record<string, unknown>>,
  key: string,
): Readonly<Record<string, unknown>> {
  const value = own(members, key);
  return isMembers(value) ? value : {};
}

function own(members: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
