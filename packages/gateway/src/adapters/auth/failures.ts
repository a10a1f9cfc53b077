interface FailuresOptions {
  /** Failures within a window after which further tokens are refused unchecked. */
  readonly max: number;
  /** Monotonic, so that changes of the system clock neither lengthen nor shorten a lockout. */
  readonly monotonicMs?: (() => number) | undefined;
}

/** The source of a failure. */
export interface FailureSource {
  readonly address: string;
  /** Id of the claimed token, if it exists; all other guesses from an address are counted together. */
  readonly id: string | undefined;
}

interface Window {
  readonly endsMs: number;
  readonly count: number;
}

const WINDOW_MS = 60_000;
/** Maximum number of separate counters. Beyond it, new addresses share one counter for each token. */
const MAX_KEYS = 10_000;

/** Counts invalid tokens in windows that start with a key's first failure. */
export class Failures {
  readonly #max: number;
  readonly #monotonicMs: () => number;
  /** In order of expiry, since all have the same length. */
  readonly #windows = new Map<string, Window>();

  constructor({ max, monotonicMs = () => performance.now() }: FailuresOptions) {
    this.#max = max;
    this.#monotonicMs = monotonicMs;
  }

  /** Remaining lockout in ms. Undefined if there is none. */
  waitMs(failing: FailureSource): number | undefined {
    if (this.#windows.size === 0) return undefined;
    const window = this.#windows.get(this.#keyOf(failing));
    if (window === undefined || window.count < this.#max) return undefined;
    const waitMs = window.endsMs - this.#monotonicMs();
    return waitMs > 0 ? waitMs : undefined;
  }

  note(failing: FailureSource): void {
    const nowMs = this.#monotonicMs();
    this.#forget(nowMs);
    const key = this.#keyOf(failing);
    const { endsMs, count } = this.#windows.get(key) ?? { endsMs: nowMs + WINDOW_MS, count: 0 };
    this.#windows.set(key, { endsMs, count: count + 1 });
  }

  #keyOf({ address, id = '' }: FailureSource): string {
    const key = `${id} ${toAddressBlock(address)}`;
    return this.#windows.size < MAX_KEYS || this.#windows.has(key) ? key : `${id} elsewhere`;
  }

  #forget(nowMs: number): void {
    for (const [key, { endsMs }] of this.#windows) {
      if (endsMs > nowMs) return;
      this.#windows.delete(key);
    }
  }
}

/**
 * The unit by which failures of an address are counted: the address itself, or the first 64 bits of an IPv6 address,
 * since anyone who has one such address has all of them.
 */
export function toAddressBlock(address: string): string {
  if (!address.includes(':')) return address;
  const [bare = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  const [front = '', back] = bare.split('::');
  const groups = groupsOf(front);
  const end = back === undefined ? [] : groupsOf(back);
  const zeros = Array<string>(Math.max(8 - groups.length - end.length, 0)).fill('0');
  return [...groups, ...zeros, ...end].slice(0, 4).join(':');
}

/** A trailing IPv4 form stands for two groups, neither of which is among the first four. */
function groupsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
