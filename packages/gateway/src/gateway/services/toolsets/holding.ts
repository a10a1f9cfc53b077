import type { MemberRef } from '../../../api/toolset.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ToolRef } from '../../../core/tool-ref.ts';
import type { HeldDefinition, ToolsetTool } from '../../../core/toolset.ts';
import { isWhole, WHOLE_SERVER_LIMIT, toWholeServer, parseWholeServer } from '../../../core/whole-server.ts';
import { getDigest, getDeclaredText } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import type { Server } from '../../catalog/server.ts';
import type { SelectOptions } from './selection.ts';
import { getEntryName, getRefId } from './tool-index.ts';

/**
 * What a toolset stores for a tool reference. A refId pins the tool to its definition; `server.*` means all tools of a
 * server, whether it runs now or not. Errors: REF_UNKNOWN, REF_AMBIGUOUS, REF_DISAGREES, TOOL_DISABLED, SERVER_UNKNOWN.
 */
export function resolveToolRef(
  ref: ToolRef,
  { index, servers }: Pick<SelectOptions, 'index' | 'servers'>,
): Result<ToolsetTool, Refusal> {
  const whole = ref.namespacedName === undefined ? undefined : parseWholeServer(ref.namespacedName);
  if (whole !== undefined && ref.refId === undefined) {
    const known = servers.map(({ spec }) => spec.name);
    if (known.includes(whole)) return ok(toWholeServer(whole, findToolNames(servers, whole)));
    return err({ code: 'SERVER_UNKNOWN', name: whole, known });
  }
  const entry = index.resolve(ref);
  if (!entry.ok) return entry;
  const namespacedName = getEntryName(entry.value);
  if (ref.refId === undefined) return ok({ namespacedName });
  return ok({ namespacedName, held: toHeldDefinition(entry.value) });
}

/** For a whole server: `except` in the ref replaces the earlier exceptions; without it, they stay. */
export function applyExceptions(tool: ToolsetTool, { except }: MemberRef): ToolsetTool {
  return isWhole(tool) && except !== undefined ? { ...tool, except: [...new Set(except)] } : tool;
}

/** A server's own names of its tools. Undefined until it has listed them. */
export function findToolNames(servers: readonly Server[], name: string): readonly string[] | undefined {
  const server = servers.find(({ spec }) => spec.name === name);
  if (server?.lists.isKnown('tools') !== true) return undefined;
  return server.inventory.tools.flatMap(({ key }) => key ?? []).slice(0, WHOLE_SERVER_LIMIT);
}

/** Pins a tool to its current definition. */
export function toHeldDefinition(entry: Entry): HeldDefinition {
  return {
    refId: getRefId(entry),
    digest: getDigest(entry.definition),
    text: getDeclaredText(entry.definition),
  };
}
