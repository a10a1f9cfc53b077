import type { GatewayStatus, RunningStatus, ServerStatus } from '../../api/status.ts';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import type { Catalog } from '../catalog/catalog.ts';
import type { InstructionsReview } from '../catalog/instructions-review.ts';
import { listServerStatuses } from '../catalog/server-status.ts';
import type { Stop } from '../../core/stops.ts';
import { toActiveStop } from './stops.ts';
import { countReviews } from './tools/review-counts.ts';
import type { Toolsets } from './toolsets/toolsets.ts';

export interface StatusSources {
  readonly catalog: Catalog;
  readonly toolsets: Pick<Toolsets, 'all' | 'equipped'>;
  readonly instructions: Pick<InstructionsReview, 'viewOf'>;
  readonly stops: () => readonly Stop[];
}

export function buildGatewayStatus(
  { catalog, toolsets, instructions, stops }: StatusSources,
  running: RunningStatus | undefined,
): GatewayStatus {
  const statuses = listServerStatuses(catalog);
  const counts = new Map(
    catalog.servers.flatMap(({ spec, lists, inventory }) =>
      lists.isKnown('tools') ? [[spec.name, inventory.tools.length] as const] : [],
    ),
  );
  const idle = (status: ServerStatus): ServerStatus =>
    status.state === 'refused'
      ? status
      : withoutUndefined({ name: status.name, state: 'stopped', tools: counts.get(status.name) });
  return withoutUndefined({
    running,
    servers: running === undefined ? statuses.map(idle) : statuses,
    equipped: toolsets.equipped?.name,
    stops: stops().length === 0 ? undefined : stops().map(toActiveStop),
    pending: {
      tools: countReviews(catalog)?.tools ?? 0,
      instructions: catalog.servers.filter(({ spec }) => instructions.viewOf(spec)?.drift !== undefined)
        .length,
      notes: toolsets.all
        .flatMap(({ toolNotes }) => toolNotes.flatMap(({ notes }) => notes))
        .filter(({ isHeld }) => isHeld).length,
    },
  });
}
