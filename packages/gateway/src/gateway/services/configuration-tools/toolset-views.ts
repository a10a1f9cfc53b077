import type { HiddenTools } from '../../../core/policy/hidden-tools.ts';
import type { Refusal } from '../../../core/refusal.ts';
import type { Toolset } from '../../../core/toolset.ts';
import { ClientViews, type ClientChoice } from './client-views.ts';
import type { ConfigurationContext } from './context.ts';
import {
  CONFIGURATION_INSTRUCTIONS,
  createConfigurationTools,
  createModeTools,
  type Own,
  findOwnTool,
  selectVisibleTools,
} from './configuration-tools.ts';
import type { OpenFilter } from '../../catalog/catalog.ts';
import {
  type ConfigurationTool,
  getVisibleListing as visibleListing,
} from '../../catalog/visible-listing.ts';
import { Listing } from '../../catalog/listing.ts';
import type { ListKind } from '../../ports/link.ts';
import type { Server } from '../../catalog/server.ts';
import type { SessionStates } from '../../catalog/session-states.ts';
import type { View } from '../../catalog/view.ts';
import { createSearchFilter } from './search-tools.ts';
import { type CurrentMode, ProcessMode } from '../toolsets/mode.ts';
import { type Equipping, SharedEquipping } from '../toolsets/equipping.ts';
import type { SessionToolsets } from '../toolsets/session-toolsets.ts';
import { select, type Selection } from '../toolsets/selection.ts';
import { getToolIndex, getEntryName } from '../toolsets/tool-index.ts';
import type { ToolsetChange } from '../toolsets/toolsets.ts';

export interface ToolsetViewsOptions extends Omit<
  ConfigurationContext,
  'mode' | 'equipping' | 'isEquippingShared'
> {
  /** What single clients have equipped. Undefined: all clients share mode and equipped toolset. */
  readonly sessions: SessionToolsets | undefined;
  /** What is kept of sessions beyond this process. */
  readonly states?: SessionStates | undefined;
}

/** Whose mode and equipped toolset a view follows. */
interface Followed {
  readonly mode: CurrentMode;
  readonly equipping: Pick<Equipping, 'current' | 'isRecalled' | 'isKnown' | 'ready'>;
}

/** One view of the equipped toolset or the configuration tools, depending on the mode, and one of each toolset. */
export class ToolsetViews {
  /** The equipped toolset or the configuration tools, depending on the mode. */
  readonly current: View;
  /** Always the configuration tools. */
  readonly configuration: View;
  /** Three tools that find, describe and call all others. */
  readonly search: View;
  readonly #mode: ProcessMode;
  readonly #states: SessionStates | undefined;
  readonly #context: ConfigurationContext;
  readonly #ofToolsets = new Map<string, View>();
  /** Tools of the endpoint /mcp/configuration, which has no modes. */
  readonly #configurationTools: ReadonlyMap<string, ConfigurationTool>;
  /** The same tools, refused in normal mode, plus those that switch modes. */
  readonly #ownTools: ReadonlyMap<string, ConfigurationTool>;
  /** Undefined if all clients share mode and equipped toolset. */
  readonly #clients: ClientViews | undefined;
  /** Attached clients, which have a mode of their own in any case. */
  readonly #attached: ClientViews;
  /** The same for the endpoint /mcp/configuration. */
  readonly #configuringClients: ClientViews | undefined;
  /** What clients of their own mode and toolset see, by both. Clients that see the same share the lists. */
  readonly #lists = new Map<string, View>();
  readonly #endListening: () => void;

  constructor({ sessions, states, ...given }: ToolsetViewsOptions) {
    this.#states = states;
    const mode = given.toolsets.equipped === undefined ? 'configuration' : 'normal';
    this.#mode = new ProcessMode(given.settings, mode, () => this.current.refresh());
    const { catalog, toolsets } = given;
    this.#context = {
      ...given,
      mode: this.#mode,
      equipping: new SharedEquipping(toolsets),
      isEquippingShared: sessions === undefined,
    };
    this.#configurationTools = createConfigurationTools(this.#context);
    this.#ownTools = createModeTools(this.#context);
    this.#clients = sessions && this.#openClients(sessions);
    this.#attached = this.#clients ?? this.#openClients(undefined);
    this.#configuringClients = sessions && this.#openConfiguringClients(sessions);
    this.current = catalog.open('equipped', {
      ...this.#filterIn(this.#context, () => ({ tools: this.#ownTools, view: this.current })),
      sharesMode: this.#mode.names !== undefined && this.#clients === undefined,
      ...(this.#clients && { forClient: (client) => this.#clients?.of(client) ?? this.current }),
    });
    this.configuration = catalog.open('configuration', {
      ...this.#configurationFilter(() => this.#configurationTools),
      ...(sessions && { forClient: (client) => this.#configuringClients?.of(client) ?? this.configuration }),
    });
    this.search = catalog.open('search', createSearchFilter(this.#context));
    this.#endListening = toolsets.onChange((change) => this.#follow(change));
  }

  /** Names of all toolsets. */
  get names(): readonly string[] {
    return this.#context.toolsets.all.map(({ name }) => name);
  }

  /** What an attached client sees: `current` in its own mode. */
  ofAttached(client: string): View {
    return this.#attached.of(client);
  }

  /** Undefined if there is no such toolset, or the store was not read yet. */
  of(name: string): View | undefined {
    const { toolsets, catalog } = this.#context;
    if (toolsets.find(name) === undefined) return undefined;
    const known = this.#ofToolsets.get(name);
    if (known !== undefined) return known;
    const view = catalog.open(
      `toolsets/${name}`,
      this.#filterOf(() => toolsets.find(name)),
    );
    this.#ofToolsets.set(name, view);
    return view;
  }

  close(): void {
    this.#endListening();
  }

  #follow({ names, isEquipping, isFirst }: ToolsetChange): void {
    const { toolsets, catalog } = this.#context;
    for (const [name, view] of [...this.#ofToolsets]) {
      if (!names.has(name)) continue;
      view.refresh();
      // The process of a client with a fixed toolset has started the servers of that toolset alone.
      for (const server of view.servers) server.startToList('tools');
      // Keeps a view with listeners: they see the tools again if the toolset is recreated.
      if (toolsets.find(name) !== undefined || view.hasListeners) continue;
      this.#ofToolsets.delete(name);
      catalog.forget(`toolsets/${name}`);
    }
    const equipped = toolsets.equipped;
    const mode = isEquipping ? (equipped === undefined ? 'configuration' : 'normal') : this.#mode.current;
    if (isFirst) {
      this.#mode.begin(mode);
      this.current.invalidate();
    } else if (mode !== this.#mode.current) this.#mode.set(mode);
    else if (isEquipping || (equipped !== undefined && names.has(equipped.name))) this.current.refresh();
    for (const [key, view] of [...this.#lists]) {
      view.invalidate();
      if (![...names].some((name) => key.endsWith(` ${name}`) && toolsets.find(name) === undefined)) continue;
      this.#lists.delete(key);
      catalog.forget(`equipped, ${key}`);
    }
    this.#attached.refresh(isEquipping);
  }

  /** The filter of one toolset. `toolset` returns undefined once it is gone. */
  #filterOf(toolset: () => Toolset | undefined): OpenFilter {
    const { catalog, toolsets } = this.#context;
    const servers = (): readonly Server[] => this.#selected(toolset())?.servers ?? [];
    return {
      servers,
      settled: this.#settled(servers),
      candidates: () => catalog.servers,
      pending: () => (toolsets.isKnown ? undefined : toolsets.ready()),
      listing: (kind) => this.#listing(kind, this.#selected(toolset())),
      absence: (name, hidden) => this.#absence(name, toolset(), hidden),
      toolset: () => toolset()?.name,
    };
  }

  #openClients(sessions: SessionToolsets | undefined): ClientViews {
    const { catalog, toolsets } = this.#context;
    return new ClientViews({
      ...{ catalog, toolsets, sessions },
      states: sessions && this.#states,
      endpoint: 'equipped',
      names: this.#mode.names,
      filterIn: (choice, view) => {
        let tools: ReadonlyMap<string, ConfigurationTool> | undefined;
        // Most clients never call one.
        const own = (): Own => ({
          tools: (tools ??= createModeTools({ ...this.#context, ...choice })),
          view: view(),
        });
        return { ...this.#filterIn(choice, own), listing: (kind) => this.#listOf(choice).listing(kind) };
      },
    });
  }

  /** At this endpoint there is no mode, and the list is the same for all. */
  #openConfiguringClients(sessions: SessionToolsets): ClientViews {
    const { catalog, toolsets } = this.#context;
    const { names } = this.#mode;
    const mode: CurrentMode = { names, current: 'configuration', set: () => undefined };
    return new ClientViews({
      ...{ catalog, toolsets, sessions, names },
      endpoint: 'configuration',
      filterIn: ({ equipping }) => {
        let tools: ReadonlyMap<string, ConfigurationTool> | undefined;
        return this.#configurationFilter(
          () => (tools ??= createConfigurationTools({ ...this.#context, mode, equipping })),
        );
      },
    });
  }

  /** A view with the lists of all clients of this mode and toolset. */
  #listOf({ mode, equipping }: ClientChoice): View {
    const { catalog, toolsets } = this.#context;
    const { names, current } = mode;
    const { own } = equipping;
    // Configuration mode shows no toolset.
    const isOwn = own !== undefined && (names === undefined || current === 'normal');
    const name = isOwn ? (equipping.current?.name ?? '') : undefined;
    const key = name === undefined ? current : `${current} ${name}`;
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const followed: Followed = {
      mode: { names, current, set: () => undefined },
      equipping: {
        get current() {
          return name === undefined ? toolsets.equipped : toolsets.find(name);
        },
        get isRecalled() {
          return toolsets.isRecalled;
        },
        get isKnown() {
          return toolsets.isKnown;
        },
        ready: () => toolsets.ready(),
      },
    };
    const filter = this.#filterIn(followed, () => ({ tools: this.#ownTools, view }));
    const view: View = catalog.open('equipped', filter, `equipped, ${key}`);
    this.#lists.set(key, view);
    return view;
  }

  #filterIn({ mode, equipping }: Followed, own: () => Own): OpenFilter {
    const { toolsets, catalog } = this.#context;
    const hasModes = mode.names !== undefined;
    const isConfiguring = (): boolean => hasModes && mode.current === 'configuration';
    const ofToolset = this.#filterOf(() => equipping.current);
    const isAll = (): boolean => !hasModes && toolsets.isRecalled && equipping.current === undefined;
    const servers = (): readonly Server[] =>
      isConfiguring() ? [] : isAll() ? catalog.servers : ofToolset.servers();
    return {
      ...ofToolset,
      servers,
      settled: async (kind) => {
        if (!equipping.isRecalled) await equipping.ready();
        await this.#settled(servers)(kind);
      },
      pending: () => (equipping.isKnown ? undefined : equipping.ready()),
      listing: (kind) => {
        const chosen = isConfiguring()
          ? undefined
          : isAll()
            ? catalog.all.listing(kind)
            : ofToolset.listing(kind);
        const visible = kind === 'tools' ? selectVisibleTools(mode, this.#ownTools) : [];
        const ownNames = new Set(visible.map(({ key }) => key));
        const entries = chosen?.entries.filter(({ key }) => !ownNames.has(key)) ?? [];
        return new Listing({ kind, entries, own: visible });
      },
      configurationTool: (name) => (this.#ownTools.has(name) ? findOwnTool(own(), name) : undefined),
      instructions: () => (isConfiguring() ? CONFIGURATION_INSTRUCTIONS : undefined),
      absence: (name, hidden) =>
        isConfiguring() ? this.#offMode(name, hidden) : isAll() ? undefined : ofToolset.absence(name, hidden),
    };
  }

  #configurationFilter(tools: () => ReadonlyMap<string, ConfigurationTool>): OpenFilter {
    return {
      servers: () => [],
      settled: () => Promise.resolve(),
      candidates: () => [],
      listing: (kind) =>
        new Listing({
          kind,
          entries: [],
          own: kind === 'tools' ? [...this.#configurationTools.values()] : [],
        }),
      configurationTool: (name) => tools().get(name),
      instructions: () => CONFIGURATION_INSTRUCTIONS,
      absence: () => undefined,
    };
  }

  /** Resolves when the servers and their lists are known. */
  #settled(servers: () => readonly Server[]): (kind: ListKind) => Promise<void> {
    const { catalog, toolsets } = this.#context;
    return async (kind) => {
      if (!toolsets.isRecalled) await toolsets.ready();
      await catalog.listed(servers(), kind);
    };
  }

  #listing(kind: ListKind, selection: Selection | undefined): Listing {
    if (selection === undefined) return new Listing({ kind, entries: [] });
    if (kind === 'tools') return new Listing({ kind, entries: selection.entries });
    const chosen = new Set(selection.servers);
    const entries = this.#context.catalog.all
      .listing(kind)
      .entries.filter(({ server }) => chosen.has(server));
    return new Listing({ kind, entries });
  }

  #selected(toolset: Toolset | undefined): Selection | undefined {
    const { catalog, settings } = this.#context;
    if (toolset === undefined) return undefined;
    const index = getToolIndex(catalog.all.listing('tools'));
    const showsChanged = settings['toolsets.changed'] === 'show';
    return select(toolset, { index, servers: catalog.servers, showsChanged });
  }

  /** A toolset is a boundary: tools outside it do not exist for its clients. */
  #absence(name: string, toolset: Toolset | undefined, hidden: HiddenTools | undefined): Refusal | undefined {
    if (this.#known(hidden).isDisabled(name)) return { code: 'TOOL_DISABLED', tool: name };
    if (toolset === undefined) return { code: 'TOOLSET_NOT_EQUIPPED' };
    const entry = this.#known(hidden).find(name);
    if (entry === undefined) return undefined;
    const selection = this.#selected(toolset);
    if (selection?.changed.includes(entry) === true)
      return { code: 'TOOL_CHANGED', tool: name, toolset: toolset.name };
    if (selection?.drifted.includes(entry) === true) return { code: 'TOOL_DRIFTED', tool: name };
    const ref = getEntryName(entry);
    if (selection?.contested.includes(ref) !== true)
      return { code: 'TOOL_NOT_IN_TOOLSET', tool: name, toolset: toolset.name };
    const named = getToolIndex(this.#known(hidden)).named(ref);
    return { code: 'REF_AMBIGUOUS', ref, servers: named.map(({ server }) => server.spec.name) };
  }

  #offMode(name: string, hidden: HiddenTools | undefined): Refusal | undefined {
    const { names } = this.#mode;
    return names === undefined || this.#known(hidden).find(name) === undefined
      ? undefined
      : { code: 'MODE_DIFFERS', tool: name, mode: 'configuration', switch: names.exit };
  }

  /** All tools that a caller may know of. */
  #known(hidden: HiddenTools | undefined): Listing {
    return visibleListing(this.#context.catalog.all.listing('tools'), hidden);
  }
}
