import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';

/** How much of one list of one server is kept. */
export type ListLimits = Partial<Pick<FixedLimits, 'listEntries' | 'listBytes'>>;

/** Each definition is checked in one step; a larger one would block all calls. */
const MAX_BYTES = 1024 * 1024;
/** The same limit for the values in its objects and arrays. */
const MAX_VALUES = 20_000;

/** What was left out of a list. */
export interface ListCut {
  /** Number of entries kept. */
  readonly kept: number;
  /** The limit that stopped the reading. Undefined if the list was read to its end. */
  readonly limit?: { readonly name: keyof ListLimits; readonly value: number } | undefined;
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
  readonly #limits: Required<ListLimits>;
  #kept = 0;
  #bytes = 0;
  #oversized = 0;
  #limit: ListCut['limit'];

  constructor(limits?: ListLimits) {
    this.#limits = { ...FIXED_LIMITS, ...limits };
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
    if (this.#kept + this.#oversized >= this.#limits.listEntries) return this.#exceeded('listEntries');
    if (bytes > MAX_BYTES || values > MAX_VALUES) {
      this.#oversized += 1;
      return 'skip';
    }
    if (this.#bytes + bytes > this.#limits.listBytes) return this.#exceeded('listBytes');
    this.#kept += 1;
    this.#bytes += bytes;
    return 'keep';
  }

  #exceeded(name: keyof ListLimits): 'full' {
    this.#limit = { name, value: this.#limits[name] };
    return 'full';
  }
}

export function isSameCut(one: ListCut | undefined, other: ListCut | undefined): boolean {
  return (
    one?.kept === other?.kept &&
    one?.oversized === other?.oversized &&
    one?.limit?.name === other?.limit?.name &&
    one?.limit?.value === other?.limit?.value
  );
}

const UNITS: Readonly<Record<keyof ListLimits, string>> = {
  listEntries: 'of them',
  listBytes: 'bytes of them',
};

/** Explanations for people, to follow the server's name. */
export function cutPhrases(what: string, { kept, limit, oversized }: ListCut): readonly string[] {
  return [
    ...(limit === undefined
      ? []
      : [
          `only the first ${kept} of its ${what} are listed: Assay accepts at most ${limit.value} ${UNITS[limit.name]} from one server`,
        ]),
    ...(oversized === 0
      ? []
      : [
          `${oversized} of its ${what} are left out: their definitions have more than ${MAX_BYTES} bytes or ${MAX_VALUES} values`,
        ]),
  ];
}
