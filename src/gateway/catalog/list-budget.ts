import type { Settings } from '../../core/settings.ts';

/** How much of one list of one server is kept. */
export type ListLimits = Pick<Settings, 'limits.listEntries' | 'limits.listBytes'>;

/** Each definition is checked in one step; a larger one would block all calls. */
const MAX_BYTES = 1024 * 1024;
/** The same limit for the values in its objects and arrays. */
const MAX_VALUES = 20_000;

/** What was left out of a list. */
export interface ListCut {
  /** Number of entries kept. */
  readonly kept: number;
  /** The limit that stopped the reading. Undefined if the list was read to its end. */
  readonly limit?: { readonly setting: keyof ListLimits; readonly value: number } | undefined;
  /** Number of entries too large to check. */
  readonly oversized: number;
}

export interface EntrySize {
  readonly bytes: number;
  /** Number of values in its objects and arrays, at any depth. */
  readonly values: number;
}

/** Enforces the limits while a list is read. */
export class ListBudget {
  readonly #limits: ListLimits;
  #kept = 0;
  #bytes = 0;
  #oversized = 0;
  #limit: ListCut['limit'];

  constructor(limits: ListLimits) {
    this.#limits = limits;
  }

  /** Whether a limit was exceeded, so reading stops. */
  get isSpent(): boolean {
    return this.#limit !== undefined;
  }

  get cut(): ListCut | undefined {
    if (this.#limit === undefined && this.#oversized === 0) return undefined;
    return { kept: this.#kept, limit: this.#limit, oversized: this.#oversized };
  }

  /** Whether to keep or skip the next entry. `full`: reject it and all that follow. */
  take({ bytes, values }: EntrySize): 'keep' | 'skip' | 'full' {
    if (this.#limit !== undefined) return 'full';
    if (this.#kept + this.#oversized >= this.#limits['limits.listEntries'])
      return this.#exceeded('limits.listEntries');
    if (bytes > MAX_BYTES || values > MAX_VALUES) {
      this.#oversized += 1;
      return 'skip';
    }
    if (this.#bytes + bytes > this.#limits['limits.listBytes']) return this.#exceeded('limits.listBytes');
    this.#kept += 1;
    this.#bytes += bytes;
    return 'keep';
  }

  #exceeded(setting: keyof ListLimits): 'full' {
    this.#limit = { setting, value: this.#limits[setting] };
    return 'full';
  }
}

export function isSameCut(one: ListCut | undefined, other: ListCut | undefined): boolean {
  return (
    one?.kept === other?.kept &&
    one?.oversized === other?.oversized &&
    one?.limit?.setting === other?.limit?.setting &&
    one?.limit?.value === other?.limit?.value
  );
}

/** Explanations for people, to follow the server's name. */
export function cutPhrases(what: string, { kept, limit, oversized }: ListCut): readonly string[] {
  return [
    ...(limit === undefined
      ? []
      : [
          `only the first ${kept} of its ${what} are listed: there are more than ${limit.setting} (${limit.value}) allows`,
        ]),
    ...(oversized === 0
      ? []
      : [
          `${oversized} of its ${what} are left out: their definitions have more than ${MAX_BYTES} bytes or ${MAX_VALUES} values`,
        ]),
  ];
}
