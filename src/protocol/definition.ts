import { memberOf, planOf, scanObject, type Plan } from './scan.ts';
import { removals, splice, type Edit } from './splice.ts';

/** What of a definition a list shows otherwise than its server wrote it. */
export interface DefinitionChange {
  /** The public name of a tool or prompt. */
  readonly name: string | undefined;
  /** Members to leave out, each as the path of its keys, one or two long. */
  readonly without: readonly (readonly string[])[];
}

const PLAN: Plan = planOf({ name: {}, annotations: {}, execution: {} });

/** The bytes of one definition with the change made and every other byte kept. */
export function changedDefinition(bytes: Buffer, change: DefinitionChange): Buffer {
  if (change.name === undefined && change.without.length === 0) return bytes;
  const scan = scanObject(bytes, { plan: PLAN, strict: false });
  if (!scan.ok) return bytes;
  const edits: Edit[] = [];
  const name = memberOf(scan.value, 'name');
  if (change.name !== undefined && name !== undefined)
    edits.push({ start: name.start, end: name.end, text: JSON.stringify(change.name) });
  const topLevel = new Set(change.without.filter((path) => path.length === 1).map(([key]) => key));
  edits.push(...removals(scan.value, ({ key }) => topLevel.has(key)));
  for (const parent of new Set(
    change.without.filter((path) => path.length === 2).map(([key]) => key ?? ''),
  )) {
    const object = memberOf(scan.value, parent)?.object;
    const gone = new Set(change.without.filter(([key]) => key === parent).map(([, key]) => key));
    if (object !== undefined && !topLevel.has(parent))
      edits.push(...removals(object, ({ key }) => gone.has(key)));
  }
  return splice(bytes, edits);
}
