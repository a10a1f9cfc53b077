import type { Catalog, OpenFilter } from '../../catalog/catalog.ts';
import type { SessionStates } from '../../catalog/session-states.ts';
import type { View } from '../../catalog/view.ts';
import { SessionEquipping, SharedEquipping } from '../toolsets/equipping.ts';
import { ClientMode, type KeptMode, type Mode, type SwitchNames } from '../toolsets/mode.ts';
import type { SessionFollower, SessionToolsets } from '../toolsets/session-toolsets.ts';
import type { Toolsets } from '../toolsets/toolsets.ts';

/** What a client has chosen for itself. */
export interface ClientChoice {
  readonly mode: ClientMode;
  readonly equipping: SessionEquipping | SharedEquipping;
}

interface ClientViewsOptions {
  readonly catalog: Catalog;
  readonly endpoint: string;
  readonly names: SwitchNames | undefined;
  readonly toolsets: Toolsets;
  /** What single clients have equipped. Undefined: only the mode is a client's own. */
  readonly sessions: SessionToolsets | undefined;
  /** What is kept of sessions beyond this process. */
  readonly states?: Pick<SessionStates, 'of' | 'change' | 'follow'> | undefined;
  readonly filterIn: (choice: ClientChoice, view: () => View) => OpenFilter;
}

interface Client extends ClientChoice {
  readonly view: View;
  readonly follower: SessionFollower;
  /** Id in the store. Undefined if nothing is stored for it. */
  readonly id: string | undefined;
}

/** Maximum number of clients whose mode is remembered, apart from those that listen for changes. */
const MOST_CLIENTS = 1_000;

/** The views of clients that each have a mode and an equipped toolset of their own. */
export class ClientViews {
  readonly #options: ClientViewsOptions;
  /** Least recently used first. */
  readonly #clients = new Map<string, Client>();

  constructor(options: ClientViewsOptions) {
    this.#options = options;
  }

  of(client: string): View {
    const known = this.#clients.get(client) ?? this.#open(client);
    this.#clients.delete(client);
    this.#clients.set(client, known);
    if (this.#clients.size > MOST_CLIENTS) this.#evict(client);
    if (known.id !== undefined) this.#options.sessions?.use(known.id);
    return known.view;
  }

  /** Notifies clients whose lists have changed. `isEquipping`: a toolset was equipped or unequipped for all. */
  refresh(isEquipping: boolean): void {
    for (const { mode, equipping, view } of [...this.#clients.values()]) {
      if (isEquipping && equipping.own === undefined) mode.followOthers();
      view.refresh();
    }
  }

  #open(client: string): Client {
    const { catalog, endpoint, names, toolsets, sessions, states, filterIn } = this.#options;
    const follower: SessionFollower = {
      isListening: () => view.hasListeners,
      changed: (isFirst) => {
        if (isFirst !== true) mode.restart();
        view.refresh();
      },
    };
    const id = sessions?.follow(client, follower);
    const equipping =
      sessions === undefined || id === undefined
        ? new SharedEquipping(toolsets, follower.changed)
        : new SessionEquipping(toolsets, sessions, id);
    const mode = new ClientMode(
      names,
      () => (equipping.current === undefined ? 'configuration' : 'normal'),
      () => view.refresh(),
      states && createKeptMode(states, client),
    );
    const unfollow = states?.follow(client, () => mode.takeKept());
    const left = (isOver: boolean): void => {
      if (id !== undefined && isOver) sessions?.end(id);
      unfollow?.();
      this.#drop(client);
    };
    const filter = { ...filterIn({ mode, equipping }, () => view), left };
    const view: View = catalog.open(endpoint, filter, this.#keyOf(client));
    return { mode, equipping, view, id, follower };
  }

  #evict(except: string): void {
    for (const [client, { view }] of this.#clients) {
      if (this.#clients.size <= MOST_CLIENTS) return;
      if (!view.hasListeners && client !== except) this.#drop(client);
    }
  }

  #drop(client: string): void {
    const known = this.#clients.get(client);
    if (known === undefined) return;
    this.#clients.delete(client);
    if (known.id !== undefined) this.#options.sessions?.unfollow(known.id, known.follower);
    this.#options.catalog.forget(this.#keyOf(client));
  }

  #keyOf(client: string): string {
    return `${this.#options.endpoint}, client ${client}`;
  }
}

/** At most one write is under way for a client; the latest mode is written after it. */
export function createKeptMode(states: Pick<SessionStates, 'of' | 'change'>, client: string): KeptMode {
  let isWriting = false;
  /** The latest switch, until it is saved. */
  let saving: { readonly mode: Mode | undefined } | undefined;
  const write = async (): Promise<void> => {
    isWriting = true;
    while (saving !== undefined) {
      const own = saving;
      await states.change(client, { kind: 'mode', mode: own.mode });
      if (saving === own) saving = undefined;
    }
    isWriting = false;
  };
  return {
    get current() {
      const { mode } = saving ?? states.of(client);
      return mode === 'configuration' || mode === 'normal' ? mode : undefined;
    },
    save(mode) {
      saving = { mode };
      if (!isWriting) void write();
    },
  };
}
