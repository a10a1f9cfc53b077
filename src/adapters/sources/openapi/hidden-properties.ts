import { isMembers } from '../../../core/canonical-json.ts';
import { memberAt, type Documents, type Located } from './documents.ts';

/** Which way a schema goes: what a client sends holds nothing that only the server may write, and the other way round. */
export type Direction = 'input' | 'output';

const HIDING: Readonly<Record<Direction, string>> = { input: 'readOnly', output: 'writeOnly' };

export function isHidden(property: Located, documents: Documents, direction: Direction): boolean {
  if (saysHidden(property.value, direction)) return true;
  const end = documents.follow(property);
  return end.ok && saysHidden(end.value.value, direction);
}

/** Names of properties that are hidden by the schema or by those that it is put together of; the others may require them. */
export function hiddenNames(schema: Located, documents: Documents, direction: Direction): readonly string[] {
  const names: string[] = [];
  const seen = new Set<unknown>();
  const visit = (located: Located): void => {
    const end = documents.follow(located);
    if (!end.ok || seen.has(end.value.value)) return;
    seen.add(end.value.value);
    for (const [name, property] of membersIn(end.value, 'properties'))
      if (isHidden(property, documents, direction)) names.push(name);
    for (const [, part] of membersIn(end.value, 'allOf')) visit(part);
  };
  visit(schema);
  return names;
}

function saysHidden(value: unknown, direction: Direction): boolean {
  return isMembers(value) && value[HIDING[direction]] === true;
}

function membersIn(located: Located, name: string): readonly (readonly [string, Located])[] {
  const value = memberAt(located, name)?.value;
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([key, member]: [string, unknown]) => [
    key,
    { value: member, at: located.at },
  ]);
}
