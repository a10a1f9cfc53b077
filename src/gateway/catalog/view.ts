import type { Refusal } from '../../core/refusal.ts';
import { publicPrefix } from '../../core/names.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { declares } from '../../protocol/capabilities.ts';
import type { Era } from '../../protocol/eras.ts';
import type { CallDeps } from './call-deps.ts';
import type { ClientSession } from './client-session.ts';
import { LIST_KINDS } from './inventory.ts';
import { listingOf, type Entry, type Listing } from './listing.ts';
import type { ConfigurationTool } from './configuration-tool.ts';
import type { ListKind } from '../ports/link.ts';
import type { TaskAccess } from '../ports/task-ids.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Server } from './server.ts';
import { joinedInstructionsOf } from './server-instructions.ts';
import { templateFits } from './uri-template.ts';
import { causeOf } from './wait-refusal.ts';

export interface ViewOptions {
  /** Under which it is reached, and by which a state that a client keeps knows it again. */
  readonly endpoint: string;
  readonly calls: CallDeps;
  /** Those of the moment: a config that is edited changes them. */
  readonly servers: () => readonly Server[];
  readonly isAggregated: boolean;
  /** Resolves when the first list of a kind may be given out. */
  readonly settled: (kind: ListKind) => Promise<void>;
  readonly telemetry?: Telemetry | undefined;
  /** Undefined: no tasks are offered. */
  readonly tasks?: TaskAccess | undefined;
  /** Undefined: all that the servers have is shown. */
  readonly filter?: ViewFilter | undefined;
}

/** Chooses of all that there is what a view shows. */
export interface ViewFilter {
  /** All servers that it may ever choose of: what they can do is promised to clients. */
  readonly candidates: () => readonly Server[];
  readonly listing: (kind: ListKind) => Listing;
  /** A tool of Assay's own, whether it is listed at the moment or not. */
  readonly configurationTool?: (name: string) => ConfigurationTool | undefined;
  /** Why a tool that is not in the list cannot be called; undefined: there is none. */
  readonly absence: (name: string) => Refusal | undefined;
  /** What a request has to wait for, although a list need not: a boundary is not judged from memory. */
  readonly pending?: () => Promise<Result<unknown, Refusal>> | undefined;
  readonly instructions?: () => string | undefined;
}

/** What one endpoint shows: some servers, under public names or their own. */
export class View {
  readonly endpoint: string;
  readonly calls: CallDeps;
  readonly isAggregated: boolean;
  readonly telemetry: Telemetry | undefined;
  readonly tasks: TaskAccess | undefined;
  readonly #servers: () => readonly Server[];
  readonly #settled: (kind: ListKind) => Promise<void>;
  readonly #filter: ViewFilter | undefined;
  #listings: Partial<Record<ListKind, Listing>> = {};
  #announced: Partial<Record<ListKind, Listing>> = {};
  readonly #listeners = new Set<(kinds: readonly ListKind[]) => void>();

  constructor(options: ViewOptions) {
    this.endpoint = options.endpoint;
    this.calls = options.calls;
    this.isAggregated = options.isAggregated;
    this.#servers = options.servers;
    this.#settled = options.settled;
    this.telemetry = options.telemetry;
    this.tasks = options.tasks;
    this.#filter = options.filter;
  }

  get servers(): readonly Server[] {
    return this.#servers();
  }

  /** Those whose capabilities the view has, whether it shows anything of them at the moment or not. */
  get capable(): readonly Server[] {
    return this.#filter?.candidates() ?? this.servers;
  }

  listing(kind: ListKind): Listing {
    const { servers, isAggregated } = this;
    return (this.#listings[kind] ??=
      this.#filter?.listing(kind) ?? listingOf({ kind, servers, isAggregated }));
  }

  /** Whether there are tools of Assay's own. */
  get hasConfigurationTools(): boolean {
    return this.#filter?.configurationTool !== undefined;
  }

  configurationTool(name: string): ConfigurationTool | undefined {
    return this.#filter?.configurationTool?.(name);
  }

  /** JSON text of one page of a list. The first lists wait until the servers had their chance to start. */
  async page(kind: ListKind, era: Era, cursor: string | undefined): Promise<Result<Buffer, Refusal>> {
    await this.#settled(kind);
    const only = this.isAggregated ? undefined : this.servers[0];
    if (only !== undefined && !isListable(only))
      return err({ code: 'SERVER_UNAVAILABLE', server: only.spec.name, cause: causeOf(only.life) });
    const listing = this.listing(kind);
    // Who sees the first list need not be told that there is one.
    this.#announced[kind] ??= listing;
    return listing.page(era, cursor);
  }

  /** A promise only where something must be waited for. */
  tool(name: string): MaybePromise<Result<Entry, Refusal>> {
    const pending = this.#filter?.pending?.();
    const entry = pending === undefined ? this.listing('tools').find(name) : undefined;
    return entry === undefined ? this.#toolLater(name, pending) : callable(entry);
  }

  async #toolLater(name: string, pending: Pending): Promise<Result<Entry, Refusal>> {
    const known = pending && (await pending);
    if (known?.ok === false) return known;
    const entry = this.listing('tools').find(name) ?? (await this.#afterStart('tools', name));
    if (entry !== undefined) return callable(entry);
    if (this.listing('tools').isDisabled(name)) return err({ code: 'TOOL_DISABLED', tool: name });
    const absence = this.#filter?.absence(name);
    if (absence !== undefined) return err(absence);
    const candidates = this.listing('tools').candidates(name);
    if (candidates !== undefined) return err({ code: 'NAME_AMBIGUOUS', name, candidates });
    return err(this.#unseen('tools', name) ?? { code: 'TOOL_UNKNOWN', name });
  }

  async prompt(name: string): Promise<Result<Entry, Refusal>> {
    const pending = this.#filter?.pending?.();
    const known = pending && (await pending);
    if (known?.ok === false) return known;
    const entry = this.listing('prompts').find(name) ?? (await this.#afterStart('prompts', name));
    if (entry !== undefined) return ok(entry);
    const candidates = this.listing('prompts').candidates(name);
    if (candidates !== undefined) return err({ code: 'NAME_AMBIGUOUS', name, candidates });
    return err(this.#unseen('prompts', name) ?? { code: 'PROMPT_UNKNOWN', name });
  }

  /** Who has a resource: who lists it, else whose template fits, else the only one that lists anything of its scheme. */
  async resource(uri: string): Promise<Result<Server, Refusal>> {
    const pending = this.#filter?.pending?.();
    const known = pending && (await pending);
    if (known?.ok === false) return known;
    const listed = this.listing('resources').find(uri) ?? (await this.#afterStart('resources', uri));
    if (listed !== undefined) return ok(listed.server);
    const template = this.listing('resourceTemplates').entries.find(({ key }) => templateFits(key, uri));
    if (template !== undefined) return ok(template.server);
    const servers = this.servers.filter((server) => mayHave(server, 'resources'));
    const scheme = schemeOf(uri);
    const related = servers.filter(({ inventory }) =>
      [...inventory.resources, ...inventory.resourceTemplates].some(
        ({ key }) => key !== undefined && schemeOf(key) === scheme,
      ),
    );
    const [only] = related.length === 0 ? servers : related;
    return only !== undefined && (related.length === 1 || servers.length === 1)
      ? ok(only)
      : err({ code: 'RESOURCE_UNKNOWN', uri });
  }

  async template(uriTemplate: string): Promise<Result<Server, Refusal>> {
    const pending = this.#filter?.pending?.();
    const known = pending && (await pending);
    if (known?.ok === false) return known;
    const entry =
      this.listing('resourceTemplates').find(uriTemplate) ??
      (await this.#afterStart('resourceTemplates', uriTemplate));
    return entry === undefined ? this.resource(uriTemplate) : ok(entry.server);
  }

  /** The accepted instructions of all servers, each under its name; those of a single server as they are. */
  instructions(): string | undefined {
    const chosen = this.#filter?.instructions?.();
    if (chosen !== undefined) return chosen;
    const { servers } = this;
    const [only] = servers;
    return this.isAggregated ? joinedInstructionsOf(servers)?.text : only?.instructions.passed(only.spec);
  }

  /**
   * Whether any server has the capability, or even a member of it; true while some have never said. Where all servers
   * are joined there may be tools at any time, as people add them, and a client hears of that only where tools were declared.
   */
  has(capability: string, member?: string): boolean {
    if (capability === 'tools' && this.isAggregated) return true;
    return this.capable.some((server) => mayHave(server, capability, member));
  }

  /** A client wants log messages of this level: its servers are asked for them, unless they send more already. */
  async requestLogLevel(level: string, client?: ClientSession): Promise<void> {
    const own = (server: Server): Promise<void> | undefined =>
      client && server.privateLinks.requestLogLevel(client.id, level);
    await Promise.all(this.capable.map(async (server) => own(server) ?? server.requestLogLevel(level)));
  }

  /** A client says something to all servers that have a link in its name. */
  say(client: ClientSession, note: Buffer): void {
    for (const { privateLinks, sole, link } of this.capable)
      (sole === undefined ? privateLinks.find(client.id) : link)?.notify(note);
  }

  /** A client is gone, and with it what its servers opened for it. */
  forget(session: string): void {
    for (const { privateLinks } of this.capable) privateLinks.end(session, { code: 'CLIENT_GONE' });
  }

  /** Told which lists have changed for clients of this view. The returned function ends it. */
  onChange(listener: (kinds: readonly ListKind[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether somebody wants to hear of changes. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** Forgets the lists that were built: a server's have changed. */
  invalidate(): void {
    this.#announced = { ...this.#listings, ...this.#announced };
    this.#listings = {};
  }

  /** Tells the listeners what differs from what was last announced. */
  announce(): void {
    this.#announce((listing) => listing.entries.length > 0);
  }

  /** What is shown is another from now on. */
  refresh(): void {
    this.invalidate();
    this.#announce((listing) => !listing.isEmpty);
  }

  /** `isNews`: whether a list is that nobody has asked for so far, as who asked before a restart may count on it. */
  #announce(isNews: (listing: Listing) => boolean): void {
    const changed = LIST_KINDS.filter((kind) => {
      const before = this.#announced[kind];
      const now = this.listing(kind);
      return before === undefined ? isNews(now) : !before.isSame(now);
    });
    this.#announced = { ...this.#listings };
    if (changed.length > 0) for (const listener of [...this.#listeners]) listener(changed);
  }

  /** A server that is down and never listed anything may well have what was asked for; it is tried again. */
  #unseen(kind: ListKind, name: string): Refusal | undefined {
    const server = this.servers.find(
      ({ spec, link, inventory }) =>
        link === undefined &&
        inventory[kind].length === 0 &&
        (!this.isAggregated || (spec.prefix && name.startsWith(publicPrefix(spec.name)))),
    );
    if (server === undefined) return undefined;
    server.wake();
    return { code: 'SERVER_UNAVAILABLE', server: server.spec.name, cause: causeOf(server.life) };
  }

  async #afterStart(kind: ListKind, key: string): Promise<Entry | undefined> {
    await this.#settled(kind);
    return this.listing(kind).find(key);
  }
}

function mayHave({ capabilities }: Server, capability: string, member?: string): boolean {
  if (capabilities === undefined) return true;
  return member === undefined
    ? capabilities[capability] !== undefined
    : declares(capabilities, capability, member);
}

type MaybePromise<T> = T | Promise<T>;

type Pending = ReturnType<NonNullable<ViewFilter['pending']>>;

function callable(entry: Entry): Result<Entry, Refusal> {
  const { legacy, modern } = entry.definition.fitness;
  return legacy.kind === 'withheld' && modern.kind === 'withheld'
    ? err({ code: 'TOOL_WITHHELD', name: entry.key, reason: legacy.reason })
    : ok(entry);
}

/** A server that is down and never listed anything has no list; an empty one would be a lie. */
function isListable({ life, capabilities }: Server): boolean {
  return capabilities !== undefined || !('nextMs' in life);
}

function schemeOf(uri: string): string {
  return uri.slice(0, Math.max(uri.indexOf(':'), 0)).toLowerCase();
}
