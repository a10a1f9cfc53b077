import type { Server as HttpServer, ServerResponse } from 'node:http';
import type { Health, ServerStatus } from '../../api/status.ts';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import { VERSION } from '@assay-mcp/kit/version';
import { SERVER_STATE_NAMES } from '@assay-mcp/kit/server-states';
import { countStops, type Stop } from '../../core/stops.ts';
import { isReady } from '../../core/supervision.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { Relay } from '../../gateway/relay/call.ts';
import { listServerStatuses } from '../../gateway/catalog/server-status.ts';
import { toActiveStop } from '../../gateway/services/stops.ts';
import { countReviews } from '../../gateway/services/tools/review-counts.ts';
import { sendJson } from './http-answer.ts';
import type { Meter, PendingApprovals, Readings } from '../../gateway/ports/telemetry.ts';

interface HealthFacts {
  readonly uptimeMs: number;
  readonly isStopping: boolean;
  readonly storeFault?: string | undefined;
  readonly keyFault?: string | undefined;
  readonly stops?: readonly Stop[] | undefined;
}

/** Callers without the `read` scope get only the status. */
export function sendHealth(
  response: ServerResponse,
  { catalog, isFull, ...facts }: HealthFacts & { readonly catalog: Catalog; readonly isFull: boolean },
): void {
  // Anyone may ask for the status, often, so it costs no more than that.
  const shown = isFull
    ? buildHealth(catalog, facts)
    : { status: overallStatus(catalog, listServerStatuses(catalog), facts) };
  sendJson(response, 200, {
    headers: { 'cache-control': 'no-store' },
    pieces: [Buffer.from(JSON.stringify(shown))],
  });
}

export function buildHealth(catalog: Catalog, facts: HealthFacts): Health {
  const servers = listServerStatuses(catalog);
  const { uptimeMs, storeFault, keyFault, stops = [] } = facts;
  return withoutUndefined({
    status: overallStatus(catalog, servers, facts),
    version: VERSION,
    uptimeMs,
    configFault: catalog.configFault,
    storeFault,
    keyFault,
    ...(stops.length > 0 && { stops: stops.map(toActiveStop) }),
    servers,
    reports: catalog.reports().map(({ text }) => text),
    review: countReviews(catalog),
  });
}

function overallStatus(
  { configFault }: Pick<Catalog, 'configFault'>,
  servers: readonly ServerStatus[],
  { isStopping, storeFault, keyFault }: HealthFacts,
): Health['status'] {
  const isWell = [configFault, storeFault, keyFault].every((fault) => fault === undefined);
  const isUp =
    servers.every(({ state, listFaults }) => isReady({ state }) && listFaults === undefined) && isWell;
  const isStarting = servers.some(({ state }) => state === 'starting');
  return isStopping ? 'stopping' : isUp ? 'ok' : isStarting ? 'starting' : 'degraded';
}

interface ReadingSources extends Pick<Readings, 'sessions' | 'subscriptions' | 'isReady' | 'storeFault'> {
  readonly catalog: Catalog;
  readonly relay: Relay;
  /** The server whose connections are counted. */
  readonly httpServer: HttpServer;
  readonly readApprovals: () => Promise<PendingApprovals | undefined>;
}

/** The gauges of this process, as they are now. */
export async function collectReadings(sources: ReadingSources): Promise<Readings> {
  const { catalog, relay, httpServer, sessions, subscriptions, isReady, storeFault, readApprovals } = sources;
  const servers = catalog.servers.map(({ spec, state, restarts, queue, privateLinks }) => ({
    name: spec.name,
    state: state.state,
    restarts,
    waiting: queue.waiting,
    privateLinks: privateLinks.size,
  }));
  const [connections, approvals] = await Promise.all([connectionsOf(httpServer), readApprovals()]);
  return {
    ...{ servers, states: STATES, sessions, connections, subscriptions, isReady, storeFault, approvals },
    suspendedCalls: relay.deps.suspended.size,
    stops: countStops(relay.deps.policy.stops ?? []),
  };
}

/** Sends all metrics of this process in Prometheus format. */
export async function sendMetrics(
  response: ServerResponse,
  meter: Meter,
  readings: Promise<Readings>,
): Promise<void> {
  const { type, text } = await meter.expose(await readings);
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
}

/** A disabled server is not in the catalog. */
const STATES: readonly string[] = SERVER_STATE_NAMES.filter((state) => state !== 'disabled');

function connectionsOf(httpServer: HttpServer): Promise<number> {
  return new Promise((resolve) =>
    httpServer.getConnections((error, count) => resolve(error === null ? count : 0)),
  );
}
