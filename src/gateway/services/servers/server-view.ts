import type { CauseCode } from '../../../core/cause.ts';
import { gatewayIdOf } from '../../../core/hints/hint.ts';
import type { EntryRecord } from '../../../core/record.ts';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { type ShownSource, sourceKind } from '../../../core/sources/source-kinds.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { serverStatuses, type ServerStatus } from '../../catalog/server-status.ts';
import type { ToolClaims, Trust } from '../../catalog/tool-claims.ts';
import type { Skipped } from '../../ports/link.ts';
import type { Server } from '../../catalog/server.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';

/** A server as in the REST API, without secrets. */
export interface ServerView extends ConnectionView {
  readonly id: string;
  readonly name: string;
  /** Where it is defined. A server of the config file is read-only here. */
  readonly origin: 'config_file' | 'registered';
  /** False if Assay does not connect to it. */
  readonly enabled: boolean;
  readonly reachable: boolean;
  readonly state: ServerStatus['state'] | 'disabled';
  /** Why it is down, or why its tools are from an earlier reading. */
  readonly cause?: string | undefined;
  readonly causeCode?: CauseCode | undefined;
  readonly era?: string | undefined;
  readonly revision?: string | undefined;
  readonly trust?: Trust | undefined;
  readonly toolCount: number;
  /** Its tools that a verification saw keep state in memory. */
  readonly stateful?: readonly string[] | undefined;
  /** Parts of its source that could not become tools. */
  readonly skipped?: readonly Skipped[] | undefined;
  /** Whether a registered server of this name exists but does not run, because the config file takes precedence. */
  readonly shadows?: true | undefined;
  readonly createdAt?: string | undefined;
  readonly createdBy?: string | undefined;
}

/** How a server is reached. Absent for one that cannot be started. */
export interface ConnectionView extends Partial<ShownSource> {
  readonly timeoutMs?: number | undefined;
  readonly prefix?: boolean | undefined;
  readonly isolation?: ServerSpec['isolation'] | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface ViewDeps {
  readonly catalog: Catalog;
  readonly records: RecordReplica;
  readonly claims: ToolClaims;
  readonly registered: { readonly disabled: readonly ServerSpec[] };
  readonly mask: (text: string) => string;
}

/** In catalog order, followed by those that cannot be started and then by disabled ones. */
export function serverViews(deps: ViewDeps): readonly ServerView[] {
  const { catalog, records, claims, mask } = deps;
  const servers = new Map<string, Server>(catalog.servers.map((server) => [server.spec.name, server]));
  const registered = new Map(records.all('gateway').map((record) => [record.name, record]));
  const seen = new Set<string>();
  const tried = serverStatuses(catalog).flatMap((condition): readonly ServerView[] => {
    const { name, state, era, revision } = condition;
    if (seen.has(name)) return [];
    seen.add(name);
    const spec = servers.get(name)?.spec;
    const stateful = spec && claims.statefulOf(spec, servers.get(name)?.inventory.tools ?? []);
    const skipped = servers.get(name)?.link?.skipped ?? [];
    const isFixed = catalog.isFromConfig(name);
    const record = isFixed ? undefined : registered.get(name);
    return [
      {
        id: gatewayIdOf(name),
        name,
        ...(spec && connectionViewOf(spec, mask)),
        origin: isFixed ? 'config_file' : 'registered',
        enabled: true,
        reachable: state === 'up',
        state,
        ...shownCause(condition, mask),
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
  const disabled = deps.registered.disabled.flatMap((spec): readonly ServerView[] => {
    const record = registered.get(spec.name);
    if (record === undefined || seen.has(spec.name)) return [];
    const shown = { id: gatewayIdOf(spec.name), name: spec.name, ...connectionViewOf(spec, mask) };
    const state = { enabled: false, reachable: false, state: 'disabled', toolCount: 0 } as const;
    return [{ ...shown, origin: 'registered', ...state, ...madeBy(record) }];
  });
  return [...tried, ...disabled];
}

function madeBy({ createdMs, author }: EntryRecord): Pick<ServerView, 'createdAt' | 'createdBy'> {
  return { createdAt: new Date(createdMs).toISOString(), createdBy: author };
}

function shownCause(
  { cause, causeCode, listFaults }: ServerStatus,
  mask: ViewDeps['mask'],
): Pick<ServerView, 'cause' | 'causeCode'> {
  const shown = cause === undefined ? listFaults?.[0] : { cause, causeCode };
  return shown === undefined ? {} : { cause: mask(shown.cause), causeCode: shown.causeCode };
}

/** How a server is reached, without secrets. */
export function connectionViewOf(spec: ServerSpec, mask: (text: string) => string): ConnectionView {
  const kind = sourceKind(spec.transport);
  const common = Object.fromEntries(kind.settings.map((name) => [name, spec[name]]));
  return { ...kind.shown(spec.transport, mask), ...common, ...(spec.tags && { tags: spec.tags }) };
}
