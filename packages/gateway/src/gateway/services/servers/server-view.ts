import type { ServerStatus } from '../../../api/status.ts';
import { isReady } from '../../../core/supervision.ts';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import type { Gateway } from '../../../api/server.ts';
import { computeGatewayId } from '../../../core/record-ids.ts';
import type { EntryRecord } from '../../../core/record.ts';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { formatReference, formatReferenceMember } from '../../../core/secrets/value-reference.ts';
import { type ShownSource, getSourceKind } from '../../../core/sources/source-kinds.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { listServerStatuses } from '../../catalog/server-status.ts';
import type { ToolClaims } from '../../catalog/tool-claims.ts';
import type { Server } from '../../catalog/server.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';

/** How a server is reached. Absent for one that cannot be started. */
export type Connection = Pick<
  Gateway,
  | keyof ShownSource
  | 'timeoutMs'
  | 'prefix'
  | 'isolation'
  | 'keepAlive'
  | 'stopTimeoutMs'
  | 'tags'
  | 'references'
  | 'maxResultBytes'
>;

export interface ViewDeps {
  readonly catalog: Catalog;
  readonly records: RecordReplica;
  readonly claims: ToolClaims;
  readonly registered: { readonly disabled: readonly ServerSpec[] };
  readonly mask: (text: string) => string;
}

/** In catalog order, followed by those that cannot be started and then by disabled ones. */
export function listServerViews(deps: ViewDeps): readonly Gateway[] {
  const { catalog, records, claims, mask } = deps;
  const servers = new Map<string, Server>(catalog.servers.map((server) => [server.spec.name, server]));
  const registered = new Map(records.all('gateway').map((record) => [record.name, record]));
  const seen = new Set<string>();
  const tried = listServerStatuses(catalog).flatMap((condition): readonly Gateway[] => {
    const { name, state, keptState, era, revision } = condition;
    if (seen.has(name)) return [];
    seen.add(name);
    const spec = servers.get(name)?.spec;
    const stateful = spec && claims.statefulOf(spec, servers.get(name)?.inventory.tools ?? []);
    const skipped = servers.get(name)?.link?.skipped ?? [];
    const isFixed = catalog.isFromConfig(name);
    const record = isFixed ? undefined : registered.get(name);
    return [
      {
        id: computeGatewayId(name),
        name,
        ...(spec && toConnectionView(spec, mask)),
        origin: isFixed ? 'config_file' : 'registered',
        enabled: true,
        reachable: isReady({ state }),
        state,
        ...shownCause(condition, mask),
        ...(keptState !== undefined && { keptState }),
        ...(era !== undefined && { era }),
        ...(revision !== undefined && { revision }),
        ...(spec && { trust: claims.trustOf(spec) }),
        toolCount: servers.get(name)?.inventory.tools.length ?? 0,
        ...(stateful && stateful.length > 0 && { stateful }),
        ...(skipped.length > 0 && { skipped: skipped.map(({ what, why }) => ({ what, why })) }),
        ...(isFixed && registered.has(name) && { shadows: true as const }),
        ...(record && madeBy(record)),
      },
    ];
  });
  const disabled = deps.registered.disabled.flatMap((spec): readonly Gateway[] => {
    const record = registered.get(spec.name);
    if (record === undefined || seen.has(spec.name)) return [];
    const shown = { id: computeGatewayId(spec.name), name: spec.name, ...toConnectionView(spec, mask) };
    const state = { enabled: false, reachable: false, state: 'disabled', toolCount: 0 } as const;
    return [{ ...shown, origin: 'registered', ...state, ...madeBy(record) }];
  });
  return [...tried, ...disabled];
}

function madeBy({ createdMs, author }: EntryRecord): Pick<Gateway, 'createdAt' | 'createdBy'> {
  return { createdAt: new Date(createdMs).toISOString(), createdBy: author };
}

function shownCause(
  { cause, causeCode, listFaults }: ServerStatus,
  mask: ViewDeps['mask'],
): Pick<Gateway, 'cause' | 'causeCode'> {
  const shown = cause === undefined ? listFaults?.[0] : { cause, causeCode };
  return shown === undefined
    ? {}
    : withoutUndefined({ cause: mask(shown.cause), causeCode: shown.causeCode });
}

/** How a server is reached, without secrets. */
export function toConnectionView(spec: ServerSpec, mask: (text: string) => string): Connection {
  const kind = getSourceKind(spec.transport);
  const common = withoutUndefined(Object.fromEntries(kind.settings.map((name) => [name, spec[name]])));
  return {
    ...withoutUndefined(kind.shown(spec.transport, mask)),
    ...common,
    ...(spec.tags && { tags: spec.tags }),
    ...(spec.resultLimits && { maxResultBytes: spec.resultLimits }),
    ...(spec.references && {
      references: spec.references.map(({ parts, ...reference }) => ({
        member: formatReferenceMember(reference),
        // Only what a reference leads to: the text around it may be secret.
        value: parts.flatMap((part) => (typeof part === 'string' ? [] : [formatReference(part)])).join(' '),
      })),
    }),
  };
}
