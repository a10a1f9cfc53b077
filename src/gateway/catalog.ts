import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerSpec } from '../core/server-spec.ts';
import { LIST_KINDS } from './inventory.ts';
import type { Telemetry } from './ports.ts';
import { Server, type ServerDeps } from './server.ts';
import { View } from './view.ts';

/** Longest time in ms that the first lists wait for servers that are still starting. */
const FIRST_LIST_WAIT_MS = 5_000;
/** Changes within this many ms are announced once. */
const ANNOUNCE_AFTER_MS = 50;

export interface CatalogDeps extends Omit<ServerDeps, 'onChange'> {
  readonly telemetry?: Telemetry;
}

/** All servers of a config, in its order, and the views that endpoints show of them. */
export class Catalog {
  readonly servers: readonly Server[];
  /** Everything, under public names. */
  readonly all: View;
  readonly #views = new Map<string, View>();
  readonly #log: ServerDeps['log'];
  readonly #mask: Telemetry['mask'];
  #announcing: NodeJS.Timeout | undefined;
  #started: Promise<void> = Promise.resolve();
  readonly #reported = new Set<string>();

  constructor(specs: readonly ServerSpec[], { telemetry, ...deps }: CatalogDeps) {
    this.#log = deps.log;
    this.#mask = telemetry?.mask ?? ((text) => text);
    this.servers = specs.map((spec) => new Server(spec, { ...deps, onChange: () => this.#changed() }));
    const settled = (): Promise<void> => this.#started;
    this.all = new View({ servers: this.servers, isAggregated: true, settled, telemetry });
    for (const server of this.servers)
      this.#views.set(
        server.spec.name,
        new View({ servers: [server], isAggregated: false, settled: () => this.#within(server), telemetry }),
      );
  }

  /** The view of one server, its names unprefixed. */
  of(server: string): View | undefined {
    return this.#views.get(server);
  }

  start(): void {
    for (const server of this.servers) server.start();
    const settled = Promise.all(this.servers.map((server) => server.settled()));
    this.#started = firstOf(settled, FIRST_LIST_WAIT_MS);
  }

  /** Resolves when every server had its chance to start, at the latest after 5 s. */
  settled(): Promise<void> {
    return this.#started;
  }

  /** What is shown otherwise than its server wrote it, or not at all, with the reason. */
  reports(): readonly string[] {
    return LIST_KINDS.flatMap((kind) => this.all.listing(kind).reports).map(this.#mask);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#announcing);
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  #within(server: Server): Promise<void> {
    return server.state.state === 'starting'
      ? firstOf(Promise.race([server.settled(), this.#started]), FIRST_LIST_WAIT_MS)
      : Promise.resolve();
  }

  #changed(): void {
    this.all.invalidate();
    for (const view of this.#views.values()) view.invalidate();
    this.#announcing ??= setTimeout(() => this.#announce(), ANNOUNCE_AFTER_MS);
  }

  #announce(): void {
    this.#announcing = undefined;
    this.all.announce();
    for (const view of this.#views.values()) view.announce();
    for (const report of this.reports()) {
      if (this.#reported.has(report)) continue;
      this.#reported.add(report);
      this.#log.warn(report);
    }
  }
}

async function firstOf(promise: Promise<unknown>, limitMs: number): Promise<void> {
  await Promise.race([promise, sleep(limitMs, undefined, { ref: false })]);
}
