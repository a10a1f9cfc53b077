import type { Settings } from '../../core/settings.ts';
import type { Mode, ModeSwitch } from '../own-tools/desk.ts';

const NAMES = {
  'configuration-mode': { enter: 'enter-configuration-mode', exit: 'exit-configuration-mode' },
  'toolset-menu': { enter: 'open-toolset-menu', exit: 'close-toolset-menu' },
} as const;

/** The mode of this process. It lasts as long as the process does. */
export class ProcessMode implements ModeSwitch {
  readonly names: ModeSwitch['names'];
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
