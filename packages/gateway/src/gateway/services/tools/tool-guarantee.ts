import {
  computeCodebaseGuarantee,
  computeGuarantee,
  type GuaranteeView,
  isHeldToReading,
  READING_FUNCTION,
  computeTwinRights,
} from '../../../core/guarantee.ts';
import type { SandboxSupport } from '@assay-mcp/sandbox/support';
import type { TwinRights } from '@assay-mcp/sandbox/rights';
import { getSourceKind } from '../../../core/sources/source-kinds.ts';
import type { Command } from '@assay-mcp/sandbox/rights';
import type { Entry } from '../../catalog/listing.ts';
import type { ToolClaims } from '../../catalog/tool-claims.ts';

export interface GuaranteeBasis {
  readonly claims: Pick<ToolClaims, 'resolvedOf' | 'unsharedStateOf'>;
  /** Whether this machine can confine servers or, failing that, this twin by other means. */
  readonly sandboxSupport: (twin?: TwinCommand) => Promise<SandboxSupport>;
}

interface TwinCommand {
  readonly command: Command;
  readonly rights: TwinRights;
}

/** What is guaranteed for calls of a tool. Undefined if they start no process here. Probes the machine only if the server is configured to have a sandbox. */
export async function computeToolGuarantee(
  { server, definition }: Entry,
  { claims, sandboxSupport }: GuaranteeBasis,
): Promise<GuaranteeView | undefined> {
  const { spec } = server;
  const hints = claims.resolvedOf(spec, definition);
  if (definition.facts?.kind === 'function' && isHeldToReading(hints)) return READING_FUNCTION;
  const kind = getSourceKind(spec.transport);
  if (kind.isConfined) return computeCodebaseGuarantee(await sandboxSupport());
  const command = kind.command(spec.transport);
  if (command === undefined && definition.facts?.kind !== 'function') return undefined;
  const mode = command?.sandbox;
  if (command === undefined || mode === undefined)
    return computeGuarantee(undefined, hints, { canEnforce: true, lacks: [] });
  const rights = computeTwinRights(hints);
  if (rights !== undefined && claims.unsharedStateOf(spec, server.inventory.tools).length > 0)
    return computeGuarantee(mode, hints, { canEnforce: false, gap: 'state' });
  return computeGuarantee(mode, hints, await sandboxSupport(rights && { command, rights }));
}
