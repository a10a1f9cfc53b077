import type { Cancellation } from '@assay-mcp/kit/cancellation';
import { Listeners } from '../../core/listeners.ts';
import { hasPublicPrefix } from '../../core/names.ts';
import type { HiddenTools } from '../../core/policy/hidden-tools.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { declares } from '@assay-mcp/protocol/capabilities';
import type { Era } from '@assay-mcp/protocol/eras';
import type { ListKind } from '../ports/link.ts';
import type { LivePolicy } from './call-deps.ts';
import type { ClientSession } from './client-session.ts';
import { type ConfigurationTool, isHidden, getVisibleListing } from './visible-listing.ts';
import { LIST_KINDS } from './inventory.ts';
import { buildListing, type Entry, type Listing, type PageOptions } from './listing.ts';
import { joinServerInstructions } from './server-instructions.ts';
import type { Server } from './server.ts';
import { getUriScheme, templateFits } from './uri-template.ts';
import { getStateCause } from './wait-refusal.ts';

export interface ViewOptions {
  /** The path it is served under. Also identifies the view in state that a client keeps. */
  readonly endpoint: string;
  /** Hides tools from callers. */
  readonly policy?: Pick<LivePolicy, 'hidden'> | undefined;
  /** The current servers; editing the config changes them. */
  readonly servers: () => readonly Server[];
  readonly isAggregated: boolean;
  /** Resolves when the first list of a kind may be returned. */
  readonly settled: (kind: ListKind) => Promise<void>;
  /** Undefined: everything is shown. */
  readonly filter?: ViewFilter | undefined;
  /** The view of which this is a caller's. */
  readonly base?: View | undefined;
}

/** Selects what a view shows. */
export interface ViewFilter {
  /** All servers it may ever select from. Their capabilities are declared to clients. */
  readonly candidates: () => readonly Server[];
  readonly listing: (kind: ListKind) => Listing;
  /** One of Assay's own tools, whether currently listed or not. */
  readonly configurationTool?: ((name: string) => ConfigurationTool | undefined) | undefined;
  /**
   * Why an unlisted tool cannot be called. Undefined if there is no particular reason. `hidden`: tools that are unknown
   * to the caller.
   */
  readonly absence: (name: string, hidden?: HiddenTools) => Refusal | undefined;
  /** Requests must wait for this, even if lists need not: access is never decided on remembered data. */
  readonly pending?: () => Promise<Result<unknown, Refusal>> | undefined;
  readonly instructions?: () => string | undefined;
  readonly toolset?: () => string | undefined;
  readonly sharesMode?: boolean;
  /** The view of one client, if clients see different things at this endpoint. */
  readonly forClient?: ((client: string) => View) | undefined;
  /** Called when the client of this view is gone. `isOver`: it cannot come back. */
  readonly left?: (isOver: boolean) => void;
}

/** Maximum number of callers whose views are kept, apart from those that listen for changes. */
const MAX_CALLERS = 1_000;

/** What one endpoint shows: some servers, under public names or their own. */
export class View {
  readonly endpoint: string;
  readonly isAggregated: boolean;
  /** Whether one client can change what all clients of this endpoint see. */
  readonly sharesMode: boolean;
  readonly toolset: ViewFilter['toolset'];
  readonly #servers: () => readonly Server[];
  readonly #settled: (kind: ListKind) => Promise<void>;
  readonly #options: ViewOptions;
  readonly #filter: ViewFilter | undefined;
  /** The views of single callers, by subject; least recently used first. */
  readonly #callers = new Map<string, View>();
  #listings: Partial<Record<ListKind, Listing>> = {};
  #announced: Partial<Record<ListKind, Listing>> = {};
  readonly #listeners = new Listeners<[readonly ListKind[]]>();

  constructor(options: ViewOptions) {
    this.endpoint = options.endpoint;
    this.isAggregated = options.isAggregated;
    this.#options = options;
    this.#servers = options.servers;
    this.#settled = options.settled;
    this.#filter = options.filter;
    this.sharesMode = options.filter?.sharesMode === true;
    this.toolset = options.filter?.toolset;
  }

  get servers(): readonly Server[] {
    return this.#servers();
  }

  /** The view of one client at this endpoint. `client` returns its identity, and is called only if clients differ. */
  forClient(client: () => string): View {
    return this.#filter?.forClient?.(client()) ?? this;
  }

  /**
   * What a caller sees: this view without the tools that rules hide from it. `isLasting`: the view is used for more than
   * one request, so it has to follow the rules.
   */
  forCaller(subject: string, { isLasting = false }: { readonly isLasting?: boolean } = {}): View {
    if (this.#options.policy?.hidden === undefined) return this;
    const open = this.#callers.get(subject);
    // An open view learns which lists its caller has read, so that it need not announce them.
    const isNeeded =
      isLasting || open !== undefined || this.#isPending || this.#hiddenFrom(subject) !== undefined;
    if (!isNeeded) return this;
    const view = open ?? this.#openFor(subject);
    this.#callers.delete(subject);
    this.#callers.set(subject, view);
    if (this.#callers.size > MAX_CALLERS) this.#evict(subject);
    return view;
  }

  /** The tool that rules hide from the caller under this name: one of a server, or one of Assay's own. */
  hiddenTool(name: string, subject: string): Entry | ConfigurationTool | undefined {
    const hidden = this.#hiddenFrom(subject);
    const entry = hidden && (this.#base.configurationTool(name) ?? this.#base.listing('tools').find(name));
    return entry !== undefined && isHidden(entry, hidden) ? entry : undefined;
  }

  /** Whether it is not known yet what the view shows. */
  get #isPending(): boolean {
    return this.#filter?.pending?.() !== undefined;
  }

  #hiddenFrom(subject: string): HiddenTools | undefined {
    return this.#options.policy?.hidden?.({ identity: { subject }, toolset: this.toolset?.() });
  }

  get #base(): View {
    return this.#options.base ?? this;
  }

  #openFor(subject: string): View {
    const filter = this.#filter;
    const hidden = (): HiddenTools | undefined => this.#hiddenFrom(subject);
    const view = new View({
      ...this.#options,
      base: this,
      filter: {
        ...filter,
        forClient: undefined,
        candidates: () => this.capable,
        listing: (kind) =>
          kind === 'tools' ? getVisibleListing(this.listing(kind), hidden()) : this.listing(kind),
        absence: (name) => filter?.absence(name, hidden()),
        configurationTool:
          filter?.configurationTool &&
          ((name) => {
            const tool = filter.configurationTool?.(name);
            return tool === undefined || isHidden(tool, hidden()) ? undefined : tool;
          }),
      },
    });
    const { tools, ...others } = this.#announced;
    view.#announced = { ...others, ...(tools && { tools: getVisibleListing(tools, hidden()) }) };
    return view;
  }

  #evict(except: string): void {
    for (const [subject, view] of this.#callers) {
      if (this.#callers.size <= MAX_CALLERS) return;
      if (!view.hasListeners && subject !== except) this.#callers.delete(subject);
    }
  }

  /** The servers whose capabilities the view declares, even if it currently shows nothing of them. */
  get capable(): readonly Server[] {
    return this.#filter?.candidates() ?? this.servers;
  }

  listing(kind: ListKind): Listing {
    const { servers, isAggregated } = this;
    return (this.#listings[kind] ??=
      this.#filter?.listing(kind) ?? buildListing({ kind, servers, isAggregated }));
  }

  /** Whether the view has any of Assay's own tools. */
  get hasConfigurationTools(): boolean {
    return this.#filter?.configurationTool !== undefined;
  }

  configurationTool(name: string): ConfigurationTool | undefined {
    return this.#filter?.configurationTool?.(name);
  }

  /** One page of a list as JSON text. The first lists wait until the servers have had a chance to start. */
  async page(kind: ListKind, era: Era, options: PageOptions): Promise<Result<Buffer, Refusal>> {
    await this.#settled(kind);
    const only = this.isAggregated ? undefined : this.servers[0];
    if (only !== undefined && !isListable(only))
      return err({ code: 'SERVER_UNAVAILABLE', server: only.spec.name, cause: getStateCause(only.state) });
    const listing = this.listing(kind);
    // A client that reads the first list need not be notified of it.
    this.#announced[kind] ??= listing;
    return listing.page(era, options);
  }

  /** Returns a promise only if it has to wait: for the first lists, and for the server while it starts. */
  tool(name: string, cancellation?: Cancellation): Result<Entry, Refusal> | Promise<Result<Entry, Refusal>> {
    const pending = this.#filter?.pending?.();
    const entry = pending === undefined ? this.listing('tools').find(name) : undefined;
    return entry === undefined ? this.#toolLater(name, pending, cancellation) : callable(entry);
  }

  async #toolLater(
    name: string,
    pending: Pending,
    cancellation: Cancellation | undefined,
  ): Promise<Result<Entry, Refusal>> {
    const known = pending && (await pending);
    if (known?.ok === false) return known;
    const entry =
      this.listing('tools').find(name) ??
      (await this.#afterStart('tools', name, cancellation)) ??
      this.listing('tools').findShortened(name);
    if (entry !== undefined) return callable(entry);
    if (this.listing('tools').isDisabled(name)) return err({ code: 'TOOL_DISABLED', tool: name });
    const absence = this.#filter?.absence(name);
    if (absence !== undefined) return err(absence);
    const candidates = this.listing('tools').candidates(name);
    if (candidates !== undefined) return err({ code: 'NAME_AMBIGUOUS', name, candidates });
    return err(findUnseenRefusal(this, 'tools', name) ?? { code: 'TOOL_UNKNOWN', name });
  }

  async prompt(name: string, cancellation?: Cancellation): Promise<Result<Entry, Refusal>> {
    const pending = this.#filter?.pending?.();
    const known = pending && (await pending);
    if (known?.ok === false) return known;
    const entry =
      this.listing('prompts').find(name) ?? (await this.#afterStart('prompts', name, cancellation));
    if (entry !== undefined) return ok(entry);
    const candidates = this.listing('prompts').candidates(name);
    if (candidates !== undefined) return err({ code: 'NAME_AMBIGUOUS', name, candidates });
    return err(findUnseenRefusal(this, 'prompts', name) ?? { code: 'PROMPT_UNKNOWN', name });
  }

  /**
   * Finds the server of a resource: one that lists it, else one with a matching template, else the only one that lists
   * anything with its scheme.
   */
  async resource(uri: string): Promise<Result<Server, Refusal>> {
    const pending = this.#filter?.pending?.();
    const known = pending && (await pending);
    if (known?.ok === false) return known;
    const listed = this.listing('resources').find(uri) ?? (await this.#afterStart('resources', uri));
    if (listed !== undefined) return ok(listed.server);
    const template = this.listing('resourceTemplates').entries.find(({ key }) => templateFits(key, uri));
    if (template !== undefined) return ok(template.server);
    const servers = this.servers.filter((server) => mayHave(server, 'resources'));
    const scheme = getUriScheme(uri);
    const related = servers.filter(({ inventory }) =>
      [...inventory.resources, ...inventory.resourceTemplates].some(
        ({ key }) => key !== undefined && getUriScheme(key) === scheme,
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

  /** The accepted instructions of all servers, each under its name. Those of a single server are unchanged. */
  instructions(): string | undefined {
    const chosen = this.#filter?.instructions?.();
    if (chosen !== undefined) return chosen;
    const { servers } = this;
    const [only] = servers;
    return this.isAggregated ? joinServerInstructions(servers)?.text : only?.instructions.passed(only.spec);
  }

  /**
   * Whether any server has the capability, or a member of it. True while some server has never declared any. An
   * aggregated view always has tools: operators may add some at any time, and clients are notified only if tools were
   * declared.
   */
  has(capability: string, member?: string): boolean {
    if (capability === 'tools' && this.isAggregated) return true;
    if (capability === 'resources' && member === undefined && this.#limitsResults) return true;
    return this.capable.some(
      (server) => mayHave(server, capability, member) && (capability !== 'logging' || relaysLogs(server)),
    );
  }

  /** Whether large results become resources. */
  get #limitsResults(): boolean {
    return this.capable.some(({ spec }) => spec.resultLimits !== undefined);
  }

  /** Requests log messages of this level from the client's servers, unless they already send more. */
  async requestLogLevel(level: string, client?: ClientSession): Promise<void> {
    const own = (server: Server): Promise<void> | undefined =>
      client && server.privateLinks.requestLogLevel(client.id, level);
    const running = this.capable.filter(({ isStopped }) => !isStopped);
    await Promise.all(running.map(async (server) => own(server) ?? server.requestLogLevel(level)));
  }

  /** Sends a client's notification to all servers that have a link on its behalf. */
  say(client: ClientSession, note: Buffer): void {
    for (const { privateLinks, sole, link, sharedRequests, isStopped } of this.capable) {
      if (isStopped) continue;
      const isOnlyClient = sole !== undefined || sharedRequests?.isOnlyUser(client.id) === true;
      (isOnlyClient ? link : privateLinks.find(client.id))?.notify(note);
    }
  }

  /**
   * Closes the links that were opened for a client that is gone. `isOver`: its session cannot continue, here or at another
   * replica, so what it has chosen is forgotten too.
   */
  forget(session: string, isOver: boolean): void {
    for (const { privateLinks } of this.capable) privateLinks.end(session, { code: 'CLIENT_GONE' });
    this.#filter?.left?.(isOver);
  }

  /** Closes the process of a client at a server, as its session goes on with one at another replica. */
  giveUpProcess(session: string, name: string): void {
    for (const { spec, privateLinks } of this.capable)
      if (spec.name === name) privateLinks.closeWhenUnused(session, { code: 'CLIENT_GONE' });
  }

  /** Calls back with the lists that have changed for clients of this view. Returns a function that unsubscribes. */
  onChange(listener: (kinds: readonly ListKind[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Whether there are listeners, also of a caller's view. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0 || [...this.#callers.values()].some((view) => view.hasListeners);
  }

  /** Drops the cached lists after a server's lists have changed. */
  invalidate(): void {
    this.#announced = { ...this.#listings, ...this.#announced };
    this.#listings = {};
    for (const view of this.#callers.values()) view.invalidate();
  }

  /** Notifies listeners of differences from the last announcement. */
  announce(): void {
    this.#announce((listing) => listing.entries.length > 0);
    for (const view of this.#callers.values()) view.announce();
  }

  /** Applies a changed filter and notifies listeners. */
  refresh(): void {
    this.invalidate();
    this.#announceRefreshed();
  }

  #announceRefreshed(): void {
    this.#announce((listing) => !listing.isEmpty);
    for (const view of this.#callers.values()) view.#announceRefreshed();
  }

  /** `isNews`: whether to announce a list not requested so far; clients from before a restart may still use it. */
  #announce(isNews: (listing: Listing) => boolean): void {
    const changed = LIST_KINDS.filter((kind) => {
      const before = this.#announced[kind];
      const now = this.listing(kind);
      return before === undefined ? isNews(now) : !before.isSame(now);
    });
    this.#announced = { ...this.#listings };
    if (changed.length > 0) this.#listeners.notify(changed);
  }

  async #afterStart(kind: ListKind, key: string, cancellation?: Cancellation): Promise<Entry | undefined> {
    await this.#settled(kind);
    const entry = this.listing(kind).find(key);
    if (entry !== undefined || cancellation === undefined) return entry;
    await waitForStart(findUnseenServers(this, kind, key), kind, cancellation);
    return this.listing(kind).find(key);
  }
}

type Pending = ReturnType<NonNullable<ViewFilter['pending']>>;

function callable(entry: Entry): Result<Entry, Refusal> {
  const { legacy, modern } = entry.definition.fitness;
  return legacy.kind === 'withheld' && modern.kind === 'withheld'
    ? err({ code: 'TOOL_WITHHELD', name: entry.key, reason: legacy.reason })
    : ok(entry);
}

/** Whether a server has a capability, or a member of it. True if it has never declared any. */
function mayHave({ capabilities }: Server, capability: string, member?: string): boolean {
  if (capabilities === undefined) return true;
  return member === undefined
    ? capabilities[capability] !== undefined
    : declares(capabilities, capability, member);
}

/**
 * Whether log messages of a server can reach clients. Those of a process that several clients share belong to no request,
 * and may be about any of them; an attached client gets them while it is the only one.
 */
function relaysLogs({ spec, sole, sharedRequests }: Server): boolean {
  const isForOne = sole !== undefined || spec.isolation === 'session' || sharedRequests?.isOffered === true;
  return isForOne || spec.transport.kind !== 'stdio';
}

/** False for a server that is down and never listed anything: an empty list would be wrong. */
function isListable({ state, capabilities }: Server): boolean {
  return capabilities !== undefined || !('nextMs' in state);
}

interface Servers {
  readonly servers: readonly Server[];
  readonly isAggregated: boolean;
}

/** The servers that never listed anything of a kind and may have a tool or prompt of this name. */
function findUnseenServers(
  { servers, isAggregated }: Servers,
  kind: ListKind,
  name: string,
): readonly Server[] {
  return servers.filter(
    ({ spec, inventory }) =>
      inventory[kind].length === 0 && (!isAggregated || (spec.prefix && hasPublicPrefix(name, spec.name))),
  );
}

/** Waits while servers start for the first time and have not listed anything, each at most for its time limit. */
async function waitForStart(
  servers: readonly Server[],
  kind: ListKind,
  cancellation: Cancellation,
): Promise<void> {
  const waiting = servers.map((server) => {
    server.startToList(kind);
    return cancellation.within(server.spec.timeoutMs, (giveUp) => server.settled(kind, giveUp));
  });
  await Promise.all(waiting);
}

/** A server that is down and never listed anything may have what was requested; it is tried again. */
function findUnseenRefusal(among: Servers, kind: ListKind, name: string): Refusal | undefined {
  const server = findUnseenServers(among, kind, name).find(
    // What an idle server offers is known.
    ({ link, state }) => link === undefined && state.state !== 'idle',
  );
  if (server === undefined) return undefined;
  server.wake();
  return { code: 'SERVER_UNAVAILABLE', server: server.spec.name, cause: getStateCause(server.state) };
}
