import type { Settings } from '../../../core/settings.ts';

export type Mode = 'configuration' | 'normal';

/** Names of the tools that switch modes. */
export interface SwitchNames {
  readonly enter: string;
  readonly exit: string;
}

const NAMES: Readonly<Record<Settings['modes.names'], SwitchNames>> = {
  'configuration-mode': { enter: 'enter-configuration-mode', exit: 'exit-configuration-mode' },
  'toolset-menu': { enter: 'open-toolset-menu', exit: 'close-toolset-menu' },
};

/** The mode of the process, or of one client. */
export interface CurrentMode {
  /** Undefined if modes are disabled. */
  readonly names: SwitchNames | undefined;
  readonly current: Mode;
  set(mode: Mode): void;
}

/** Where the mode of a client is kept, if it can outlast this process. */
export interface KeptMode {
  /** Undefined if the client has not switched. */
  readonly current: Mode | undefined;
  save(mode: Mode | undefined): void;
}

/** The mode of one client. It follows the others until the client switches. */
export class ClientMode implements CurrentMode {
  readonly names: SwitchNames | undefined;
  readonly #otherwise: () => Mode;
  readonly #changed: () => void;
  readonly #kept: KeptMode | undefined;
  #own: Mode | undefined;

  /** `otherwise` is the mode of clients that have not switched. `changed` is called after each change. */
  constructor(names: SwitchNames | undefined, otherwise: () => Mode, changed: () => void, kept?: KeptMode) {
    this.names = names;
    this.#otherwise = otherwise;
    this.#changed = changed;
    this.#kept = kept;
    this.#own = kept?.current;
  }

  get current(): Mode {
    return this.#own ?? this.#otherwise();
  }

  set(mode: Mode): void {
    const before = this.current;
    this.#own = mode === this.#otherwise() ? undefined : mode;
    this.#kept?.save(this.#own);
    if (before !== mode) this.#changed();
  }

  /** Takes over what is kept: the client has switched at another replica. */
  takeKept(): void {
    const before = this.current;
    this.#own = this.#kept?.current;
    if (before !== this.current) this.#changed();
  }

  /** Forgets the client's switch: it has equipped or unequipped a toolset. Does not call `changed`. */
  restart(): void {
    this.#own = undefined;
    this.#kept?.save(undefined);
  }

  /** Follows the others again after a toolset was equipped or unequipped, unless the client is configuring. */
  followOthers(): void {
    if (this.#own !== 'normal') return;
    this.#own = undefined;
    this.#kept?.save(undefined);
  }
}

/** The mode of this process, shared by all its clients and not persisted. */
export class ProcessMode implements CurrentMode {
  /** Undefined if modes are disabled. */
  readonly names: SwitchNames | undefined;
  readonly #changed: () => void;
  #current: Mode;

  /** `changed` is called after each change. */
  constructor(settings: Settings, first: Mode, changed: () => void) {
    this.#current = first;
    this.names = settings.enableConfigToolsMenu ? NAMES[settings['modes.names']] : undefined;
    this.#changed = changed;
  }

  get current(): Mode {
    return this.#current;
  }

  /** Sets the initial mode without notifying: no client has seen another one. */
  begin(mode: Mode): void {
    this.#current = mode;
  }

  set(mode: Mode): void {
    if (mode === this.#current) return;
    this.#current = mode;
    this.#changed();
  }
}
