import type { Server as HttpServer, ServerResponse } from 'node:http';
import type { Life } from '../../core/supervision.ts';
import type { Catalog } from '../../gateway/catalog.ts';
import type { Meter, Readings } from '../../gateway/ports/telemetry.ts';

export interface MetricsSources extends Pick<Readings, 'sessions' | 'subscriptions'> {
  readonly catalog: Catalog;
  readonly meter: Meter;
  /** The server whose connections are counted. */
  readonly door: HttpServer;
}

/** Answers with all numbers of this process, as Prometheus collects them. */
export async function sendMetrics(response: ServerResponse, sources: MetricsSources): Promise<void> {
  const { catalog, meter, door, sessions, subscriptions } = sources;
  const servers = catalog.servers.map(({ spec, life, turnstile, privateLinks }) => ({
    name: spec.name,
    state: life.state,
    waiting: turnstile.waiting,
    privateLinks: privateLinks.size,
  }));
  const connections = await connectionsOf(door);
  const { type, text } = await meter.expose({
    servers,
    states: STATES,
    sessions,
    connections,
    subscriptions,
    parkedCalls: catalog.all.asking.parked.size,
  });
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
}

const EACH_STATE: Readonly<Record<Life['state'], true>> = {
  starting: true,
  up: true,
  restarting: true,
  resting: true,
  refused: true,
  unauthorized: true,
  stopped: true,
};
const STATES: readonly string[] = Object.keys(EACH_STATE);

function connectionsOf(door: HttpServer): Promise<number> {
  return new Promise((resolve) => door.getConnections((error, count) => resolve(error === null ? count : 0)));
}
