import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { computeReadiness, type Readiness } from '../../core/readiness.ts';
import type { Refusal } from '../../core/refusal.ts';
import { formatRefusal } from '../../core/sentences.ts';
import { allows, type Identity } from '../../core/subject.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { Meter, PendingApprovals, Readings } from '../../gateway/ports/telemetry.ts';
import type { Relay } from '../../gateway/relay/call.ts';
import { collectReadings, sendHealth, sendMetrics } from './health.ts';
import { refuseMethod, sendJson } from './http-answer.ts';

export interface FixedRouteSources {
  readonly catalog: Catalog;
  readonly relay: Relay;
  readonly meter: Meter;
  readonly httpServer: () => HttpServer;
  readonly storeFault?: (() => Refusal | undefined) | undefined;
  readonly isStoreStale?: (() => boolean) | undefined;
  readonly keyFault?: (() => Refusal | undefined) | undefined;
  /** Whether it should get no new requests. */
  readonly isStopping: () => boolean;
  readonly readApprovals: () => Promise<PendingApprovals | undefined>;
  readonly counts: () => Pick<Readings, 'sessions' | 'subscriptions'>;
  readonly refuse: (response: ServerResponse, what: Refusal) => void;
}

/** `/live`, `/ready`, `/health` and `/metrics`. Only the last one reads the store. */
export class FixedRoutes {
  readonly #sources: FixedRouteSources;
  readonly #startedMs = performance.now();

  constructor(sources: FixedRouteSources) {
    this.#sources = sources;
  }

  /** Returns false if the path is not that of a probe. */
  answerProbe(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    return answerProbe(request, response, { path, readiness: () => this.#readiness });
  }

  sendHealth(response: ServerResponse, isFull: boolean): void {
    const { catalog, relay, isStopping } = this.#sources;
    const [storeFault, keyFault] = this.#faults.map((fault) => fault && formatRefusal(fault));
    const uptimeMs = Math.round(performance.now() - this.#startedMs);
    sendHealth(response, {
      ...{ catalog, isFull, uptimeMs, isStopping: isStopping() },
      ...{ storeFault, keyFault, stops: relay.deps.policy.stops },
    });
  }

  async answerMetrics(
    { method }: IncomingMessage,
    response: ServerResponse,
    identity: Identity,
  ): Promise<void> {
    const { meter, refuse } = this.#sources;
    if (!allows(identity, 'read')) refuse(response, { code: 'SCOPE_MISSING', scope: 'read' });
    else if (method === 'GET') await sendMetrics(response, meter, this.readings());
    else refuseMethod(response, 'GET');
  }

  /** The gauges of this process. */
  readings(): Promise<Readings> {
    const { counts, httpServer, storeFault } = this.#sources;
    return collectReadings({
      ...{ ...this.#sources, ...counts(), httpServer: httpServer() },
      isReady: this.#readiness.status !== 'unavailable',
      storeFault: storeFault?.()?.code,
    });
  }

  get #faults(): readonly (Refusal | undefined)[] {
    const { storeFault, keyFault } = this.#sources;
    return [storeFault?.(), keyFault?.()];
  }

  get #readiness(): Readiness {
    const { catalog, isStoreStale, isStopping } = this.#sources;
    const [storeFault, keyFault] = this.#faults;
    return computeReadiness({
      isStopping: isStopping(),
      isStoreStale: isStoreStale?.() === true,
      storeFault,
      keyFault,
      isConfigInvalid: catalog.configFault !== undefined,
    });
  }
}

const NO_STORE = { 'cache-control': 'no-store' };
const LIVE = Buffer.from(JSON.stringify({ status: 'live' }));

/**
 * Answers `/live` and `/ready`. They look at no token and say nothing but codes, so that anyone may ask, at any rate.
 * Returns false for other paths.
 */
export function answerProbe(
  { method }: IncomingMessage,
  response: ServerResponse,
  { path, readiness }: { readonly path: string; readonly readiness: () => Readiness },
): boolean {
  if (path !== '/live' && path !== '/ready') return false;
  if (method !== 'GET' && method !== 'HEAD') refuseMethod(response, 'GET, HEAD');
  else if (path === '/live') sendJson(response, 200, { headers: NO_STORE, pieces: [LIVE] });
  else {
    const found = readiness();
    const status = found.status === 'unavailable' ? 503 : 200;
    sendJson(response, status, { headers: NO_STORE, pieces: [Buffer.from(JSON.stringify(found))] });
  }
  return true;
}
