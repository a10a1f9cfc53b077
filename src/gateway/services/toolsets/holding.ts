import type { Refusal } from '../../../core/refusal.ts';
import { ok, type Result } from '../../../core/result.ts';
import type { ToolRef } from '../../../core/tool-ref.ts';
import type { HeldDefinition, ToolsetTool } from '../../../core/toolset.ts';
import { digestOf, recordTextOf } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import { nameIn, refIdIn, type ToolIndex } from './tool-index.ts';

/** What a toolset stores for a tool reference. A refId pins the tool to its definition. */
export function toolOf(index: ToolIndex, ref: ToolRef): Result<ToolsetTool, Refusal> {
  const entry = index.resolve(ref);
  if (!entry.ok) return entry;
  const namespacedName = nameIn(entry.value);
  if (ref.refId === undefined) return ok({ namespacedName });
  return ok({ namespacedName, held: holdingOf(entry.value) });
}

/** Pins a tool to its current definition. */
export function holdingOf(entry: Entry): HeldDefinition {
  return {
    refId: refIdIn(entry),
    digest: digestOf(entry.definition),
    text: recordTextOf(entry.definition),
  };
}
