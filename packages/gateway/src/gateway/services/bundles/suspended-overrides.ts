import { type Hint, HINTS, isCautious } from '@assay-mcp/kit/hint';
import { computeServerId, computeToolId } from '../../../core/record-ids.ts';
import type { CurrentDefinition, ToolOverrides } from '../../../core/hints/tool-record.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { Catalog } from '../../catalog/catalog.ts';
import { getServerIds, findToolId, type ToolClaims } from '../../catalog/tool-claims.ts';
import { findSuspendedHints } from '../../catalog/tool-drift.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';

export interface KnownTools {
  readonly catalog: Pick<Catalog, 'all' | 'servers'>;
  readonly claims: ToolClaims;
  readonly records: Pick<RecordReplica, 'store'>;
}

/** Hints whose override would be suspended here, by the id of their tool. */
export type SuspendedHere = ReadonlyMap<string, readonly Hint[]>;

/**
 * Compares overrides with the definitions that servers currently list here, or else with the accepted ones. Skips tools
 * that this Assay has never seen.
 */
export async function findSuspendedHere(
  overrides: readonly ToolOverrides[],
  known: KnownTools,
): Promise<Result<SuspendedHere, Refusal>> {
  const suspended = new Map<string, readonly Hint[]>();
  const lowering = overrides.filter(isLowering);
  if (lowering.length === 0) return ok(suspended);
  const listed = listedIn(known);
  for (const override of lowering) {
    const id = computeToolId(override.server, override.identity, override.name);
    const now = listed.has(id) ? ok(listed.get(id)) : await acceptedHere(id, override, known);
    if (!now.ok) return now;
    const hints = now.value === undefined ? [] : findSuspendedHints({ id, ...override }, now.value);
    if (hints.length > 0) suspended.set(id, hints);
  }
  return ok(suspended);
}

function isLowering({ overrides }: ToolOverrides): boolean {
  return HINTS.some((hint) => {
    const override = overrides[hint];
    return override !== undefined && !isCautious(hint, override.value);
  });
}

function listedIn({ catalog, claims }: KnownTools): ReadonlyMap<string, CurrentDefinition> {
  const listed = new Map<string, CurrentDefinition>();
  const { entries, disabled } = catalog.all.listing('tools');
  for (const { server, definition } of [...entries, ...disabled]) {
    const id = findToolId(server.spec, definition);
    if (id !== undefined && !listed.has(id))
      listed.set(id, claims.currentDefinitionOf(server.spec, definition));
  }
  return listed;
}

async function acceptedHere(
  id: string,
  { server, identity, name }: ToolOverrides,
  { catalog, claims, records }: KnownTools,
): Promise<Result<CurrentDefinition | undefined, Refusal>> {
  const serverId = computeServerId(server, identity);
  const found = catalog.servers.find(({ spec }) => getServerIds(spec).serverId === serverId);
  if (found === undefined) return ok(undefined);
  const store = await records.store();
  if (!store.ok) return store;
  const accepted = await store.value.accepted(id);
  if (!accepted.ok) return accepted;
  if (accepted.value === undefined) return ok(undefined);
  return ok(claims.currentTextOf(found.spec, { name, ...accepted.value }));
}
