import { toConnectionKey } from './link-choice.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cause } from '../../core/cause.ts';
import type { ListReport } from '../../core/list-report.ts';
import { isSameServer, isSameTransport } from '../../core/server-identity.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Connect, ListKind, Memory } from '../ports/link.ts';
import type { LivePolicy } from './call-deps.ts';
import { LIST_KINDS } from './inventory.ts';
import { REAL_CLOCK } from './list-pace.ts';
import type { ServerDeps } from './server-deps.ts';
import { buildDifferenceReports } from './list-reports.ts';
import { buildInstructionsReports } from './server-instructions.ts';
import {
  mergePlans,
  NO_PLAN,
  type Plan,
  type PlanChange,
  type PlanPart,
  type Rejected,
} from './server-plan.ts';
import { Server } from './server.ts';
import { View, type ViewFilter, type ViewOptions } from './view.ts';

/** Changes within this many ms are announced together. */
const ANNOUNCE_AFTER_MS = 50;
/** After an announcement, the next one waits this many times the CPU time that it took. */
const ANNOUNCE_REST = 10;

export interface CatalogDeps extends Omit<ServerDeps, 'onChange'> {
  /** Hides tools from callers. */
  readonly policy?: Pick<LivePolicy, 'hidden' | 'onRules' | 'findStop'> | undefined;
}

/** What a view selects, from which servers, and when it may be shown. */
export type OpenFilter = ViewFilter & Pick<ViewOptions, 'servers' | 'settled'>;

/** All servers of a config, in order, and the views that endpoints show of them. */
export class Catalog {
  /** Everything, under public names. */
  readonly all: View;
  readonly #plans = new Map<PlanPart, Plan>();
  #servers: readonly Server[] = [];
  #rejected: readonly Rejected[] = [];
  readonly #views = new Map<string, View>();
  /** Filtered views, by key. */
  readonly #choices = new Map<string, View>();
  readonly #deps: CatalogDeps;
  readonly #ending = new Map<ServerSpec, Promise<void>>();
  #announcing: NodeJS.Timeout | undefined;
  #announceAfterMs = ANNOUNCE_AFTER_MS;
  #started: Promise<void> = Promise.resolve();
  /** Why the current config file is not in effect. Undefined if it is. */
  configFault: string | undefined;
  #isRunning = false;
  #reported: ReadonlySet<string> = new Set();

  constructor(plan: Plan, deps: CatalogDeps) {
    this.#deps = deps;
    this.all = new View({
      endpoint: 'all',
      policy: deps.policy,
      servers: () => this.#servers,
      isAggregated: true,
      settled: (kind) => this.listed(this.#servers, kind),
    });
    this.follow(plan);
    deps.claims?.onChange(() => this.#changed());
    deps.policy?.onRules?.(() => this.#changed());
  }

  get servers(): readonly Server[] {
    return this.#servers;
  }

  /** Opens a link outside the catalog. */
  get connect(): Connect {
    return this.#deps.connect;
  }

  get rejected(): readonly Rejected[] {
    return this.#rejected;
  }

  /** Whether a server of this name is defined, and therefore edited, in the config file. */
  isFromConfig(name: string): boolean {
    const { servers, rejected } = this.#plans.get('config') ?? NO_PLAN;
    return [...servers, ...rejected].some((one) => one.name === name);
  }

  /** Re-reads the lists of all servers that are up. */
  refresh(): void {
    for (const { lists } of this.#servers) void lists.readAgain();
  }

  /** The view of one server, its names unprefixed. */
  of(server: string): View | undefined {
    return this.#views.get(server);
  }

  /** Opens a filtered view that follows the servers like the others. Replaces an earlier one with this key. */
  open(endpoint: string, choice: OpenFilter, key: string = endpoint): View {
    const { policy } = this.#deps;
    const { servers, settled } = choice;
    const view = new View({
      endpoint,
      policy,
      servers,
      isAggregated: true,
      settled,
      filter: choice,
    });
    this.#choices.set(key, view);
    return view;
  }

  forget(key: string): void {
    this.#choices.delete(key);
  }

  /** Whether a server must not be stopped now: a client uses it, or has something open there. */
  get isBusy(): boolean {
    return this.#servers.some((server) => server.isBusy);
  }

  /** Starts these servers, if they are needed now. */
  start(only: readonly Server[] = this.#servers): void {
    this.#isRunning = true;
    for (const server of only) server.startWhenNeeded(true);
    this.#started = waitForFirstLists(only, this.#deps.memory);
  }

  /** Starts the servers that a view shows. The processes of others start when they are needed. */
  startFor({ servers: shown }: Pick<View, 'servers'>): void {
    this.#isRunning = true;
    for (const server of this.#servers) server.startWhenNeeded(shown.includes(server));
    this.#started = waitForFirstLists(shown, this.#deps.memory);
  }

  /** Updates the servers to match the plans, and touches only those that differ. */
  follow(given: Plan, part: PlanPart = 'config'): PlanChange {
    this.#plans.set(part, given);
    const plan = mergePlans(this.#plans);
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

  /** Stops a server, with the calls that it is handling, and starts a new one. Returns the new one. */
  restart(old: Server): Server {
    const cause: Cause = { code: 'SERVER_RESTARTED' };
    const server = this.#replacement(old.spec, old, cause);
    this.#servers = this.#servers.map((one) => (one === old ? server : one));
    this.#changed();
    return server;
  }

  /** Resolves when every server that was started last has had its chance, after 5 s at the latest. */
  settled(): Promise<void> {
    return this.#started;
  }

  /**
   * Reports, with reasons, the entries that clients see changed or not at all: of these lists, or of all lists and the
   * instructions.
   */
  reports(kinds?: readonly ListKind[]): readonly ListReport[] {
    const hasTools = kinds?.includes('tools') ?? true;
    const differences = hasTools ? buildDifferenceReports(this.#servers) : [];
    return [...this.#listReports(kinds), ...this.#masked(differences)];
  }

  /** The reports that change only with a list. */
  #listReports(kinds?: readonly ListKind[]): readonly ListReport[] {
    const lists = (kinds ?? LIST_KINDS).flatMap((kind) => this.all.listing(kind).reports);
    return this.#masked(kinds === undefined ? [...lists, ...buildInstructionsReports(this.#servers)] : lists);
  }

  #masked(reports: readonly ListReport[]): readonly ListReport[] {
    const { mask } = this.#deps;
    return reports.map(({ code, text }) => ({ code, text: mask?.(text) ?? text }));
  }

  /** Closes the links of a closed connection, each after its suspended calls. */
  endLinksOf(connectionId: string): void {
    const key = toConnectionKey(connectionId);
    for (const { privateLinks } of this.#servers) privateLinks.closeWhenUnused(key, { code: 'CLIENT_GONE' });
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    clearTimeout(this.#announcing);
    await Promise.all([...this.#servers.map((server) => server.stop()), ...this.#ending.values()]);
  }

  #serverFor(spec: ServerSpec, old: Server | undefined): Server {
    if (old !== undefined && isSameServer(old.spec, spec)) return old;
    if (old !== undefined && isSameTransport(old.spec, spec)) {
      old.adopt(spec);
      return old;
    }
    return this.#replacement(spec, old, { code: 'ENTRY_CHANGED' });
  }

  #replacement(spec: ServerSpec, old: Server | undefined, cause: Cause): Server {
    const { subscriptions } = old ?? {};
    const server = new Server(spec, { ...this.#deps, onChange: () => this.#changed(), subscriptions });
    if (!this.#views.has(spec.name)) this.#views.set(spec.name, this.#viewOf(spec.name));
    if (old !== undefined) server.privateLinks.takeOver(old.privateLinks);
    this.#end(old, cause);
    if (this.#isRunning) void this.#gone(spec).then(() => server.start());
    return server;
  }

  #viewOf(name: string): View {
    const servers = (): readonly Server[] => this.#servers.filter(({ spec }) => spec.name === name);
    const { policy } = this.#deps;
    return new View({
      endpoint: `servers/${name}`,
      policy,
      servers,
      isAggregated: false,
      settled: (kind) => this.listed(servers(), kind),
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

  /** Waits until the predecessor is gone, also under another name: it may hold a port or a lock. */
  async #gone(spec: ServerSpec): Promise<void> {
    const same = [...this.#ending].filter(
      ([other]) => other.name === spec.name || isSameTransport(other, spec),
    );
    await Promise.all(same.map(([, ending]) => ending));
  }

  /** Resolves when lists may be returned: all are known, or the time for the first start is over. */
  async listed(servers: readonly Server[], kind: ListKind): Promise<void> {
    if (this.#isRunning) for (const server of servers) server.startToList(kind);
    await Promise.race([Promise.all(servers.map((server) => server.settled(kind))), this.#started]);
  }

  #changed(): void {
    this.all.invalidate();
    for (const view of [...this.#views.values(), ...this.#choices.values()]) view.invalidate();
    this.#announcing ??= setTimeout(() => this.#announce(), this.#announceAfterMs);
  }

  #announce(): void {
    this.#announcing = undefined;
    const startMs = REAL_CLOCK.workMs();
    this.all.announce();
    for (const view of [...this.#views.values(), ...this.#choices.values()]) view.announce();
    const reports = new Set(this.#listReports().map(({ text }) => text));
    for (const report of reports) if (!this.#reported.has(report)) this.#deps.log.warn(report);
    this.#reported = reports;
    this.#announceAfterMs = Math.max(ANNOUNCE_AFTER_MS, ANNOUNCE_REST * (REAL_CLOCK.workMs() - startMs));
  }
}

/** Maximum time in ms that the first lists wait for servers that are still starting. */
const FIRST_LIST_WAIT_MS = 5_000;

/**
 * Resolves when the first lists may be returned: when all servers have settled, after 5 s at the latest. Remembers
 * servers that were too late, so that the first lists after the next start do not wait for them again.
 */
async function waitForFirstLists(servers: readonly Server[], memory: Memory): Promise<void> {
  const settled = Promise.all(servers.map((server) => server.settled()));
  await Promise.race([settled, sleep(FIRST_LIST_WAIT_MS, undefined, { ref: false })]);
  for (const { spec, state, lists } of servers)
    if ((state.state === 'starting' || state.state === 'up') && !lists.isKnown('tools'))
      memory.rememberAbsence(spec);
}
