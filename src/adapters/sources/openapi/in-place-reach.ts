import { isMembers } from '../../../core/canonical-json.ts';
import { refOf, type Documents, type Located, type Target } from './documents.ts';
import { IN_PLACE } from './schema-keywords.ts';

/** Whether a definition refers, for the same value, to one of those keys: validators would follow that for ever. */
export type InPlaceReach = (from: Target, keys: readonly string[]) => boolean;

/** One that refers to more than so many counts as if it did. */
const MOST_VISITED = 500;

export function openInPlaceReach(documents: Documents): InPlaceReach {
  const known = new Map<string, readonly Target[]>();
  const nextOf = (target: Target): readonly Target[] => {
    const next = known.get(target.key) ?? inPlace(target, documents);
    known.set(target.key, next);
    return next;
  };
  return (from, keys) => {
    const goals = new Set(keys);
    const seen = new Set([from.key]);
    const waiting = [from];
    for (let here = waiting.pop(); here !== undefined; here = waiting.pop()) {
      if (goals.has(here.key) || seen.size > MOST_VISITED) return true;
      for (const next of nextOf(here)) {
        if (seen.has(next.key)) continue;
        seen.add(next.key);
        waiting.push(next);
      }
    }
    return false;
  };
}

function inPlace(schema: Located, documents: Documents): readonly Target[] {
  const targets: Target[] = [];
  const visit = (value: unknown): void => {
    if (!isMembers(value)) return;
    const reference = refOf(value);
    const found = reference === undefined ? undefined : documents.find(reference, schema.at);
    if (found?.ok === true) targets.push(found.value);
    for (const [keyword, member] of Object.entries(value)) {
      if (!IN_PLACE.has(keyword) || typeof member !== 'object' || member === null) continue;
      const parts =
        Array.isArray(member) || keyword === 'dependentSchemas' ? Object.values(member) : [member];
      for (const part of parts) visit(part);
    }
  };
  visit(schema.value);
  return targets;
}
