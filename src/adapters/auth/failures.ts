interface FailuresOptions {
  /** Failures within a window after which no more tokens are looked at. */
  readonly most: number;
  readonly windowMs: number;
  /** Never goes back: a change of the machine's clock neither lengthens nor shortens a lockout. */
  readonly monotonicMs?: () => number;
}

/** Who failed. */
export interface Failing {
  readonly address: string;
  /** Id of the token that was claimed, where there is such a token; all other guesses from an address count as one. */
  readonly id: string | undefined;
}

interface Window {
  readonly endsMs: number;
  readonly count: number;
}

/** Most keys that are counted apart. Beyond that the addresses which are new share one count for each token. */
const MOST_KEYS = 10_000;

/** Counts invalid tokens in windows that begin with the first failure of a key. */
export class Failures {
  readonly #most: number;
  readonly #windowMs: number;
  readonly #monotonicMs: () => number;
  /** In the order in which they end, as all are of one length. */
  readonly #windows = new Map<string, Window>();

  constructor({ most, windowMs, monotonicMs = () => performance.now() }: FailuresOptions) {
    this.#most = most;
    this.#windowMs = windowMs;
    this.#monotonicMs = monotonicMs;
  }

  /** How long in ms no token is looked at; undefined: it is looked at. */
  waitMs(failing: Failing): number | undefined {
    if (this.#windows.size === 0) return undefined;
    const window = this.#windows.get(this.#keyOf(failing));
    if (window === undefined || window.count < this.#most) return undefined;
    const waitMs = window.endsMs - this.#monotonicMs();
    return waitMs > 0 ? waitMs : undefined;
  }

  note(failing: Failing): void {
    const nowMs = this.#monotonicMs();
    this.#forget(nowMs);
    const key = this.#keyOf(failing);
    const { endsMs, count } = this.#windows.get(key) ?? { endsMs: nowMs + this.#windowMs, count: 0 };
    this.#windows.set(key, { endsMs, count: count + 1 });
  }

  #keyOf({ address, id = '' }: Failing): string {
    const key = `${id} ${addressBlock(address)}`;
    return this.#windows.size < MOST_KEYS || this.#windows.has(key) ? key : `${id} elsewhere`;
  }

  #forget(nowMs: number): void {
    for (const [key, { endsMs }] of this.#windows) {
      if (endsMs > nowMs) return;
      this.#windows.delete(key);
    }
  }
}

/**
 * Whom an address stands for when failures are counted: itself, or of IPv6 its first 64 bits, as whoever has one such
 * address has all of them.
 */
export function addressBlock(address: string): string {
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

/** An address in IPv4's form at the end stands for two groups, neither of which is among the first four. */
function groupsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
