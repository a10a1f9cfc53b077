import {
  guaranteeOf,
  type GuaranteeView,
  isHeldToReading,
  READING_FUNCTION,
  type SandboxSupport,
} from '../../../core/sandbox.ts';
import { sourceKind } from '../../../core/sources/source-kinds.ts';
import type { Entry } from '../../catalog/listing.ts';
import type { ToolClaims } from '../../catalog/tool-claims.ts';

export interface GuaranteeBasis {
  readonly claims: Pick<ToolClaims, 'resolvedOf'>;
  /** Whether this machine can confine servers. */
  readonly sandboxSupport: () => Promise<SandboxSupport>;
}

/** What holds for the calls of a tool. The machine is tried out only if its server is to have a sandbox. */
export async function toolGuarantee(
  { server: { spec }, definition }: Entry,
  { claims, sandboxSupport }: GuaranteeBasis,
): Promise<GuaranteeView> {
  const hints = claims.resolvedOf(spec, definition);
  if (definition.facts?.kind === 'function' && isHeldToReading(hints)) return READING_FUNCTION;
  const mode = sourceKind(spec.transport).command(spec.transport)?.sandbox;
  const support: SandboxSupport =
    mode === undefined ? { canEnforce: true, lacks: [] } : await sandboxSupport();
  return guaranteeOf(mode, hints, support);
}
