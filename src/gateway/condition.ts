import type { Life } from '../core/supervision.ts';
import type { Catalog } from './catalog.ts';
import type { Server } from './server.ts';

/** How one server is, for people and machines that look after it. */
export interface Condition {
  readonly name: string;
  readonly state: Life['state'];
  /** The first cause of its being down. */
  readonly cause?: string;
  /** Ends in a row. */
  readonly failures?: number;
  /** When it is tried next, in ms from now; 0 while it is tried. */
  readonly nextTryMs?: number;
  readonly era?: string;
  readonly revision?: string;
  readonly tools?: number;
}

/** All servers of the config in its order, then the entries that cannot even be tried. */
export function conditionsOf({ servers, rejected }: Catalog, nowMs: number): readonly Condition[] {
  const refused = rejected.map(({ name, cause }) => ({ name, state: 'refused', cause }) as const);
  return [...servers.map((server) => conditionOf(server, nowMs)), ...refused];
}

function conditionOf({ spec, life, link, inventory }: Server, nowMs: number): Condition {
  const named = { name: spec.name, state: life.state };
  switch (life.state) {
    case 'up':
      return {
        ...named,
        ...(link && { era: link.era, revision: link.version }),
        tools: inventory.tools.length,
      };
    case 'starting':
      return named;
    case 'stopped':
      return { ...named, cause: life.cause };
    case 'restarting':
    case 'resting':
    case 'refused':
    case 'unauthorized': {
      const { cause, failures, nextMs } = life;
      return { ...named, cause, failures, nextTryMs: Math.max(nextMs - nowMs, 0) };
    }
  }
}
