import { jsonChanges, type JsonChange } from '../../core/json-changes.ts';
import type { HeldDefinition, Toolset } from '../../core/toolset.ts';
import { digestOf, isWithheld } from '../definition-facts.ts';
import { holdingOf } from './holding.ts';
import type { ToolIndex } from './tool-index.ts';

/** How a tool stands to the definition that a toolset holds it to. */
export type Review =
  | {
      readonly state: 'absent' | 'disabled' | 'withheld';
      readonly namespacedName: string;
      readonly held: HeldDefinition;
    }
  | { readonly state: 'as it was'; readonly namespacedName: string; readonly held: HeldDefinition }
  | {
      readonly state: 'changed';
      readonly namespacedName: string;
      readonly held: HeldDefinition;
      /** The definition as it is now. */
      readonly now: HeldDefinition;
      readonly changes: readonly JsonChange[];
    };

/** Every tool that is held to a definition, in the toolset's order; twice where two servers have one of its name. */
export function reviewsOf(toolset: Pick<Toolset, 'tools'>, index: ToolIndex): readonly Review[] {
  return toolset.tools.flatMap(({ namespacedName, held }): readonly Review[] => {
    if (held === undefined) return [];
    const named = index.named(namespacedName);
    if (named.length === 0) {
      const state = index.isDisabled(namespacedName) ? 'disabled' : 'absent';
      return [{ state, namespacedName, held }];
    }
    return named.map((entry) => {
      if (digestOf(entry.definition) === held.digest)
        return { state: isWithheld(entry.definition) ? 'withheld' : 'as it was', namespacedName, held };
      const now = holdingOf(entry);
      return { state: 'changed', namespacedName, held, now, changes: jsonChanges(held.text, now.text) };
    });
  });
}
