import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { ToolRef } from '../../../core/tool-ref.ts';
import type { HeldDefinition, ToolsetTool } from '../../../core/toolset.ts';
import { WHOLE_SERVER_LIMIT, wholeServer, wholeServerIn } from '../../../core/whole-server.ts';
import { digestOf, declaredTextOf } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import type { Server } from '../../catalog/server.ts';
import type { SelectOptions } from './selection.ts';
import { nameIn, refIdIn } from './tool-index.ts';

/**
 * What a toolset stores for a tool reference. A refId pins the tool to its definition; `server.*` means all tools of a
 * server, whether it runs now or not.
 */
export function toolOf(
  ref: ToolRef,
  { index, servers }: Pick<SelectOptions, 'index' | 'servers'>,
): Result<ToolsetTool, Refusal> {
  const whole = ref.namespacedName === undefined ? undefined : wholeServerIn(ref.namespacedName);
  if (whole !== undefined && ref.refId === undefined) {
    const server = servers.find(({ spec }) => spec.name === whole);
    if (server !== undefined) return ok(wholeServer(whole, toolNamesOf(server)));
    return err({ code: 'SERVER_UNKNOWN', name: whole, known: servers.map(({ spec }) => spec.name) });
  }
  const entry = index.resolve(ref);
  if (!entry.ok) return entry;
  const namespacedName = nameIn(entry.value);
  if (ref.refId === undefined) return ok({ namespacedName });
  return ok({ namespacedName, held: holdingOf(entry.value) });
}

/** The server's own names of its tools. Undefined until it has listed them. */
export function toolNamesOf({ inventory, lists }: Server): readonly string[] | undefined {
  if (!lists.isKnown('tools')) return undefined;
  return inventory.tools.flatMap(({ key }) => key ?? []).slice(0, WHOLE_SERVER_LIMIT);
}

/** Pins a tool to its current definition. */
export function holdingOf(entry: Entry): HeldDefinition {
  return {
    refId: refIdIn(entry),
    digest: digestOf(entry.definition),
    text: declaredTextOf(entry.definition),
  };
}
