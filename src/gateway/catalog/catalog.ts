import type { Cause } from '../../core/cause.ts';
import type { ListReport } from '../../core/list-report.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSameServer, isSameTransport } from '../../core/server-identity.ts';
import { LOCAL_SOURCE, type ServerSpec } from '../../core/server-spec.ts';
import { joinedLocal } from '../../core/sources/local-spec.ts';
import type { CallDeps } from './call-deps.ts';
import { LIST_KINDS } from './inventory.ts';
import type { Connect, ListKind } from '../ports/link.ts';
import type { TaskAccess } from '../ports/task-ids.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { Server } from './server.ts';
import { instructionsReports } from './server-instructions.ts';
import type { ServerDeps } from './server-deps.ts';
import { sourceKind } from '../../core/sources/source-kinds.ts';
import { View, type ViewFilter, type ViewOptions } from './view.ts';

/** Longest time in ms that the first lists wait for servers that are still starting. */
const FIRST_LIST_WAIT_MS = 5_000;
/** Changes within this many ms are announced once. */
const ANNOUNCE_AFTER_MS = 50;
/** So many times as long as an announcement took nothing is announced after it. */
const ANNOUNCE_REST = 10;

/** A server of the config that cannot even be tried, and why. */
export interface Rejected {
  readonly name: string;
  readonly cause: Cause;
}

/** What a config asks for. */
export interface Plan {
  /** In the config's order. */
  readonly servers: readonly ServerSpec[];
  readonly rejected: readonly Rejected[];
}

export interface CatalogDeps extends Omit<ServerDeps, 'onChange'> {
  readonly calls: CallDeps;
  readonly telemetry?: Telemetry;
  readonly tasks?: TaskAccess | undefined;
}

/** Whose plan it is: that of the config file, or of what was registered while Assay ran. */
export type PlanPart = 'config' | 'registered';

/** Names of the servers that a new plan touched. */
export interface PlanChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What a view chooses, of which servers, and when that may be shown. */
export type OpenFilter = ViewFilter & Pick<ViewOptions, 'servers' | 'settled'>;

/** All servers of a config, in its order, and the views that endpoints show of them. */
export class Catalog {
  /** Everything, under public names. */
  readonly all: View;
  readonly #plans = new Map<PlanPart, Plan>();
  #servers: readonly Server[] = [];
  #rejected: readonly Rejected[] = [];
  readonly #views = new Map<string, View>();
  /** Those that show a choice, by their endpoint. */
  readonly #choices = new Map<string, View>();
  readonly #deps: CatalogDeps;
  readonly #ending = new Map<ServerSpec, Promise<void>>();
  #announcing: NodeJS.Timeout | undefined;
  #announceAfterMs = ANNOUNCE_AFTER_MS;
  #started: Promise<void> = Promise.resolve();
  /** Why the config file, as it is now, is not what runs; undefined: it is. */
  configFault: string | undefined;
  #isRunning = false;
  #reported: ReadonlySet<string> = new Set();

  constructor(plan: Plan, deps: CatalogDeps) {
    this.#deps = deps;
    this.all = new View({
      endpoint: 'all',
      calls: deps.calls,
      servers: () => this.#servers,
      isAggregated: true,
      settled: (kind) => this.listed(this.#servers, kind),
      telemetry: deps.telemetry,
      tasks: deps.tasks,
    });
    this.follow(plan);
    deps.claims?.onChange(() => this.#changed());
  }

  get servers(): readonly Server[] {
    return this.#servers;
  }

  /** Opens a link of its own, which the catalog knows nothing of. */
  get connect(): Connect {
    return this.#deps.connect;
  }

  get rejected(): readonly Rejected[] {
    return this.#rejected;
  }

  /** Whether the config file has a server of this name, so that it is fixed there. */
  isFromConfig(name: string): boolean {
    const { servers, rejected } = this.#plans.get('config') ?? NO_PLAN;
    return [...servers, ...rejected].some((one) => one.name === name);
  }

  /** Reads the lists of all servers that are up once more. */
  refresh(): void {
    for (const { lists } of this.#servers) void lists.readAgain();
  }

  /** The view of one server, its names unprefixed. */
  of(server: string): View | undefined {
    return this.#views.get(server);
  }

  /** A view of its own choice, which follows the servers as the others do. Another one of this endpoint is forgotten. */
  open(endpoint: string, choice: OpenFilter): View {
    const { telemetry, calls, tasks } = this.#deps;
    const { servers, settled } = choice;
    const view = new View({
      endpoint,
      calls,
      servers,
      isAggregated: true,
      settled,
      telemetry,
      tasks,
      filter: choice,
    });
    this.#choices.set(endpoint, view);
    return view;
  }

  forget(endpoint: string): void {
    this.#choices.delete(endpoint);
  }

  start(): void {
    this.#isRunning = true;
    for (const server of this.#servers) server.start();
    this.#started = firstOf(this.#servers.map((server) => server.settled()));
  }

  /** Makes of the servers what the plans ask for, and touches only those that differ from it. */
  follow(given: Plan, part: PlanPart = 'config'): PlanChange {
    this.#plans.set(part, given);
    const plan = joined(this.#plans);
    const before = new Map(this.#servers.map((server) => [server.spec.name, server]));
    const planned = new Set(plan.servers.map(({ name }) => name));
    const removed = [...before.keys()].filter((name) => !planned.has(name));
    for (const name of removed) {
      this.#views.delete(name);
      this.#end(before.get(name), { code: 'ENTRY_REMOVED' });
    }
    const added: string[] = [];
    const changed: string[] = [];
    this.#servers = plan.servers.map((spec) => {
      const old = before.get(spec.name);
      if (old === undefined) added.push(spec.name);
      else if (!isSameServer(old.spec, spec)) changed.push(spec.name);
      return this.#serverFor(spec, old);
    });
    const isNews = added.length + changed.length + removed.length > 0;
    if (this.#isRunning && (isNews || JSON.stringify(this.#rejected) !== JSON.stringify(plan.rejected)))
      this.#changed();
    this.#rejected = plan.rejected;
    return { added, changed, removed };
  }

  /** Resolves when every server had its chance to start, at the latest after 5 s. */
  settled(): Promise<void> {
    return this.#started;
  }

  /** What is shown otherwise than its server wrote it, or not at all, with the reason. */
  reports(): readonly ListReport[] {
    const { telemetry } = this.#deps;
    const lists = LIST_KINDS.flatMap((kind) => this.all.listing(kind).reports);
    const reports = [...lists, ...instructionsReports(this.#servers)];
    return reports.map(({ code, text }) => ({ code, text: telemetry?.mask(text) ?? text }));
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    clearTimeout(this.#announcing);
    this.#deps.calls.suspended.stop();
    await Promise.all([...this.#servers.map((server) => server.stop()), ...this.#ending.values()]);
  }

  #serverFor(spec: ServerSpec, old: Server | undefined): Server {
    if (old !== undefined && isSameServer(old.spec, spec)) return old;
    if (old !== undefined && isSameTransport(old.spec, spec)) {
      old.adopt(spec);
      return old;
    }
    const { subscriptions } = old ?? {};
    const mask = this.#deps.telemetry?.mask;
    const server = new Server(spec, { ...this.#deps, mask, onChange: () => this.#changed(), subscriptions });
    if (!this.#views.has(spec.name)) this.#views.set(spec.name, this.#viewOf(spec.name));
    if (old !== undefined) server.privateLinks.takeOver(old.privateLinks);
    this.#end(old, { code: 'ENTRY_CHANGED' });
    if (this.#isRunning) void this.#gone(spec).then(() => server.start());
    return server;
  }

  #viewOf(name: string): View {
    const servers = (): readonly Server[] => this.#servers.filter(({ spec }) => spec.name === name);
    const { telemetry, calls, tasks } = this.#deps;
    return new View({
      endpoint: `servers/${name}`,
      calls,
      servers,
      isAggregated: false,
      settled: (kind) => this.listed(servers(), kind),
      telemetry,
      tasks,
    });
  }

  #end(server: Server | undefined, cause: Cause): void {
    if (server === undefined) return;
    const { spec } = server;
    const ending = server.stop(cause).then(() => {
      this.#ending.delete(spec);
    });
    this.#ending.set(spec, ending);
  }

  /** What one server holds alone, a port or a lock, the next can have only when it is gone; also under another name. */
  async #gone(spec: ServerSpec): Promise<void> {
    const same = [...this.#ending].filter(
      ([other]) => other.name === spec.name || isSameTransport(other, spec),
    );
    await Promise.all(same.map(([, ending]) => ending));
  }

  /** Resolves when lists may be given out: those of a server that stood before are known; of the others they are waited for, for a while after the start. */
  async listed(servers: readonly Server[], kind: ListKind): Promise<void> {
    await Promise.race([Promise.all(servers.map((server) => server.settled(kind))), this.#started]);
  }

  #changed(): void {
    this.all.invalidate();
    for (const view of [...this.#views.values(), ...this.#choices.values()]) view.invalidate();
    this.#announcing ??= setTimeout(() => this.#announce(), this.#announceAfterMs);
  }

  #announce(): void {
    this.#announcing = undefined;
    const startMs = performance.now();
    this.all.announce();
    for (const view of [...this.#views.values(), ...this.#choices.values()]) view.announce();
    const reports = new Set(this.reports().map(({ text }) => text));
    for (const report of reports) if (!this.#reported.has(report)) this.#deps.log.warn(report);
    this.#reported = reports;
    this.#announceAfterMs = Math.max(ANNOUNCE_AFTER_MS, ANNOUNCE_REST * (performance.now() - startMs));
  }
}

/** The config file goes first: a name that it has is no other's. */
function joined(plans: ReadonlyMap<PlanPart, Plan>): Plan {
  const config = plans.get('config') ?? NO_PLAN;
  const registered = plans.get('registered') ?? NO_PLAN;
  const local = joinedLocal(config.servers.find(isLocal), registered.servers.find(isLocal));
  const servers = config.servers.filter((spec) => !isLocal(spec));
  const others = registered.servers.filter((spec) => !isLocal(spec));
  const taken = new Set([...servers, ...config.rejected].map(({ name }) => name));
  const shadowed = [
    ...others.filter(({ name }) => taken.has(name)).map(({ name }) => name),
    ...local.shadowed.map((name) => `${LOCAL_SOURCE}.${name}`),
  ];
  return {
    servers: [
      ...servers,
      ...others.filter(({ name }) => !taken.has(name)),
      ...(local.spec === undefined ? [] : [local.spec]),
    ],
    rejected: [
      ...config.rejected,
      ...registered.rejected,
      ...shadowed.map((name): Rejected => ({ name, cause: { code: 'ENTRY_SHADOWED' } })),
    ],
  };
}

function isLocal({ transport }: ServerSpec): boolean {
  return sourceKind(transport).isCustom;
}

const NO_PLAN: Plan = { servers: [], rejected: [] };

/** Resolves when all have, at the latest after 5 s. */
async function firstOf(settled: readonly Promise<void>[]): Promise<void> {
  await Promise.race([Promise.all(settled), sleep(FIRST_LIST_WAIT_MS, undefined, { ref: false })]);
}
