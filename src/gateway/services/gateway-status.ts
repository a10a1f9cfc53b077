import type { Catalog } from '../catalog/catalog.ts';
import type { InstructionsReview } from '../catalog/instructions-review.ts';
import { listServerStatuses, type ServerStatus } from '../catalog/server-status.ts';
import { countReviews } from './tools/review-counts.ts';
import type { Toolsets } from './toolsets/toolsets.ts';

/** What `assay status` prints. Pure JSON. */
export interface GatewayStatus {
  /** Absent: no gateway is running. */
  readonly running?: RunningStatus | undefined;
  /** Without a running gateway, servers are `stopped`, and `tools` is from their last listing. */
  readonly servers: readonly ServerStatus[];
  /** The toolset that `/mcp` serves. Absent: none is equipped. */
  readonly equipped?: string;
  readonly pending: PendingReviews;
}

export interface RunningStatus {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  readonly uptimeMs: number;
  readonly configPath: string;
  /** Why the current config file is not in effect. */
  readonly configFault?: string | undefined;
  readonly clients: readonly ConnectedClient[];
}

/**
 * A client with a session or an open stream of updates, or a modern one that made a request in the last few minutes.
 */
export interface ConnectedClient {
  /** The name that the client gives itself. */
  readonly name: string;
  readonly version?: string | undefined;
  readonly era: 'legacy' | 'modern';
  readonly endpoint: string;
  /** The name of its token, or `local`. */
  readonly subject: string;
  /** How long ago it sent its last request; absent if one or its stream is open. */
  readonly idleMs?: number | undefined;
}

export interface PendingReviews {
  readonly tools: number;
  readonly instructions: number;
  readonly notes: number;
}

export interface StatusSources {
  readonly catalog: Catalog;
  readonly toolsets: Pick<Toolsets, 'all' | 'equipped'>;
  readonly instructions: Pick<InstructionsReview, 'viewOf'>;
}

export function buildGatewayStatus(
  { catalog, toolsets, instructions }: StatusSources,
  running: RunningStatus | undefined,
): GatewayStatus {
  const statuses = listServerStatuses(catalog);
  const counts = new Map(
    catalog.servers.flatMap(({ spec, lists, inventory }) =>
      lists.isKnown('tools') ? [[spec.name, inventory.tools.length] as const] : [],
    ),
  );
  const idle = ({ name, ...status }: ServerStatus): ServerStatus => {
    const tools = counts.get(name);
    return status.state === 'refused'
      ? { name, ...status }
      : { name, state: 'stopped', ...(tools !== undefined && { tools }) };
  };
  const equipped = toolsets.equipped?.name;
  return {
    ...(running && { running }),
    servers: running === undefined ? statuses.map(idle) : statuses,
    ...(equipped !== undefined && { equipped }),
    pending: {
      tools: countReviews(catalog)?.tools ?? 0,
      instructions: catalog.servers.filter(({ spec }) => instructions.viewOf(spec)?.drift !== undefined)
        .length,
      notes: toolsets.all
        .flatMap(({ toolNotes }) => toolNotes.flatMap(({ notes }) => notes))
        .filter(({ isHeld }) => isHeld).length,
    },
  };
}
