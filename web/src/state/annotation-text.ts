import type { HintName, Tool } from '../../../src/edges/rest/contract/tools.ts';
import { overrideOf } from './hint-words.ts';
import { HINT_LABELS } from './tools.ts';

export function annotationText({ annotations }: Pick<Tool, 'annotations'>): string {
  return JSON.stringify(annotations, null, 2);
}

type Edited =
  | { readonly change: Readonly<Record<string, unknown>> }
  /** Why the text is invalid. */
  | { readonly fault: string };

/** The changes made by editing the annotations that clients get. A removed hint is inherited again. */
export function editedAnnotations(tool: Tool, text: string): Edited {
  const parsed = objectIn(text);
  if ('fault' in parsed) return parsed;
  const { value } = parsed;
  const before = tool.annotations;
  const isSame = (key: string): boolean => JSON.stringify(value[key]) === JSON.stringify(before[key]);
  const change = Object.fromEntries(Object.entries(value).filter(([key]) => !isSame(key)));
  for (const key of Object.keys(before).filter((one) => !Object.hasOwn(value, one))) {
    if (key !== 'title' && !isOverridden(tool, key))
      return { fault: `${key}: its server declares it, so it cannot be omitted. Use true or false.` };
    change[key] = null;
  }
  return { change };
}

function isOverridden(tool: Tool, key: string): boolean {
  return Object.hasOwn(HINT_LABELS, key) && overrideOf(tool, key as HintName) !== undefined;
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
