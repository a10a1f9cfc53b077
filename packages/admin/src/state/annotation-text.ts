import type { Hint } from '../../../gateway/src/api/hint.ts';
import type { Tool } from '../../../gateway/src/api/tool.ts';
import { findHintSetting } from './hint-words.ts';
import { HINT_LABELS } from './tools.ts';

export function formatAnnotations({ annotations }: Pick<Tool, 'annotations'>): string {
  return JSON.stringify(annotations, null, 2);
}

type Edited =
  | { readonly change: Readonly<Record<string, unknown>> }
  /** Why the text is invalid. */
  | { readonly fault: string };

/**
 * The changes made by editing the annotations that clients get. A hint that is left out is reset, as by `PUT /tools/{id}`,
 * so that an example of one or two hints can be pasted. Other members that are left out stay as they are.
 */
export function readEditedAnnotations(tool: Tool, text: string): Edited {
  const parsed = objectIn(text);
  if ('fault' in parsed) return parsed;
  const { value } = parsed;
  const before = tool.annotations;
  const isSame = (key: string): boolean => JSON.stringify(value[key]) === JSON.stringify(before[key]);
  const change = Object.fromEntries(Object.entries(value).filter(([key]) => !isSame(key)));
  for (const hint of Object.keys(HINT_LABELS) as readonly Hint[])
    if (!Object.hasOwn(value, hint) && findHintSetting(tool, hint) !== undefined) change[hint] = null;
  return { change };
}

function objectIn(text: string): { readonly value: Record<string, unknown> } | { readonly fault: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> };
    return { fault: 'It must be a JSON object, such as {"readOnlyHint": true}.' };
  } catch (error) {
    return { fault: `It is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
