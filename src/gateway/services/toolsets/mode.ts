import type { Settings } from '../../../core/settings.ts';

export type Mode = 'configuration' | 'normal';

/** What the tools that switch modes are called. */
export interface SwitchNames {
  readonly enter: string;
  readonly exit: string;
}

const NAMES: Readonly<Record<Settings['modes.names'], SwitchNames>> = {
  'configuration-mode': { enter: 'enter-configuration-mode', exit: 'exit-configuration-mode' },
  'toolset-menu': { enter: 'open-toolset-menu', exit: 'close-toolset-menu' },
};

/** The mode of this process, which all its clients share. It lasts as long as the process does. */
export class ProcessMode {
  /** Undefined: there are no modes. */
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

  /** The mode that was not known so far; nobody has seen another one. */
  begin(mode: Mode): void {
    this.#current = mode;
  }

  set(mode: Mode): void {
    if (mode === this.#current) return;
    this.#current = mode;
    this.#changed();
  }
}
