import type { Catalog, OpenFilter } from '../../catalog/catalog.ts';
import type { View } from '../../catalog/view.ts';
import { ClientMode, type Mode, type SwitchNames } from '../toolsets/mode.ts';

interface ClientViewsOptions {
  readonly catalog: Catalog;
  readonly names: SwitchNames | undefined;
  /** The mode of clients that have not switched. */
  readonly otherwise: () => Mode;
  readonly filterIn: (mode: ClientMode, view: () => View) => OpenFilter;
}

interface Client {
  readonly mode: ClientMode;
  readonly view: View;
}

/** Maximum number of clients whose mode is remembered, apart from those that listen for changes. */
const MOST_CLIENTS = 1_000;

/** The views of clients that each have a mode of their own. */
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
    return known.view;
  }

  /** Notifies clients whose lists have changed. `isEquipping`: a toolset was equipped or unequipped. */
  refresh(isEquipping: boolean): void {
    for (const { mode, view } of [...this.#clients.values()]) {
      if (isEquipping) mode.follow();
      view.refresh();
    }
  }

  #open(client: string): Client {
    const { catalog, names, otherwise, filterIn } = this.#options;
    const mode = new ClientMode(names, otherwise, () => view.refresh());
    const left = (): void => this.#drop(client);
    const filter = { ...filterIn(mode, () => view), left };
    const view: View = catalog.open('equipped', filter, keyOf(client));
    return { mode, view };
  }

  #evict(except: string): void {
    for (const [client, { view }] of this.#clients) {
      if (this.#clients.size <= MOST_CLIENTS) return;
      if (!view.hasListeners && client !== except) this.#drop(client);
    }
  }

  #drop(client: string): void {
    if (this.#clients.delete(client)) this.#options.catalog.forget(keyOf(client));
  }
}

function keyOf(client: string): string {
  return `client ${client}`;
}
