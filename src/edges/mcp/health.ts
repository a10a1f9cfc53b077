import { VERSION } from '../../core/identity.ts';
import type { Catalog } from '../../gateway/catalog.ts';
import type { Server } from '../../gateway/server.ts';

export interface ServerHealth {
  readonly name: string;
  readonly state: string;
  /** Why it is not up. */
  readonly cause?: string;
  readonly era?: string;
  readonly revision?: string;
  readonly tools?: number;
}

export interface Health {
  /** `starting` until each server had its chance, then `ok` if all are up. */
  readonly status: 'ok' | 'starting' | 'degraded';
  readonly version: string;
  readonly uptimeMs: number;
  readonly servers: readonly ServerHealth[];
  /** Tools, prompts and resources that are shown otherwise than their servers wrote them, or not at all. */
  readonly reports: readonly string[];
}

export function healthOf(catalog: Catalog, uptimeMs: number): Health {
  const servers = catalog.servers.map(serverHealth);
  const isUp = servers.every(({ state }) => state === 'up');
  const isStarting = servers.some(({ state }) => state === 'starting');
  return {
    status: isUp ? 'ok' : isStarting ? 'starting' : 'degraded',
    version: VERSION,
    uptimeMs,
    servers,
    reports: catalog.reports(),
  };
}

function serverHealth({ spec, state, inventory }: Server): ServerHealth {
  const named = { name: spec.name, state: state.state };
  switch (state.state) {
    case 'up':
      return { ...named, era: state.link.era, revision: state.link.version, tools: inventory.tools.length };
    case 'restarting':
    case 'failed':
      return { ...named, cause: state.cause };
    case 'starting':
    case 'stopped':
      return named;
  }
}
