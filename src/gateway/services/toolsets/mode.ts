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

/** The mode of this process, shared by all its clients and not persisted. */
export class ProcessMode {
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
