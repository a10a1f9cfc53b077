import { BACKSLASH, isAt } from './tokens.ts';

/** Which members of an object a scan lists, and whose values it lists in turn. */
export interface Plan {
  /** Whether every member is listed, planned or not. */
  readonly listsAll: boolean;
  /** The planned key that is exactly the text between `from` and `to`. */
  find(bytes: Buffer, from: number, to: number): PlannedKey | undefined;
  /** The planned key that differs from the text only in case; the text must be plain ASCII. */
  findFolded(bytes: Buffer, from: number, to: number): PlannedKey | undefined;
  /** The same for a well-formed text with escapes or non-ASCII characters. */
  findDecoded(bytes: Buffer, from: number, to: number): PlannedKey | undefined;
}

export interface PlannedKey {
  readonly key: string;
  /** Undefined if the value is skipped. */
  readonly inner: Plan | undefined;
}

export interface Keys {
  readonly [key: string]: Keys;
}

/** Builds a plan from nested keys; `{}` stands for a value that is skipped. */
export function buildPlan(keys: Keys): Plan {
  return new KeyPlan(
    Object.entries(keys).map(([key, inner]) => ({
      key,
      folded: foldText(key),
      inner: Object.keys(inner).length === 0 ? undefined : buildPlan(inner),
    })),
  );
}

/** Lists all members of an object and skips their values. */
export const ALL_MEMBERS: Plan = {
  listsAll: true,
  find: () => undefined,
  findFolded: () => undefined,
  findDecoded: () => undefined,
};

interface Candidate extends PlannedKey {
  readonly folded: string;
}

class KeyPlan implements Plan {
  readonly listsAll = false;
  readonly #byLength: readonly (readonly Candidate[])[];
  readonly #maxLength: number;

  constructor(all: readonly Candidate[]) {
    this.#maxLength = Math.max(0, ...all.map(({ key }) => key.length));
    const byLength = Array.from({ length: this.#maxLength + 1 }, (): Candidate[] => []);
    for (const one of all) byLength[one.key.length]?.push(one);
    this.#byLength = byLength;
  }

  find(bytes: Buffer, from: number, to: number): PlannedKey | undefined {
    const candidates = this.#byLength[to - from];
    if (candidates === undefined) return undefined;
    for (const one of candidates) if (isAt(bytes, from, one.key)) return one;
    return undefined;
  }

  findFolded(bytes: Buffer, from: number, to: number): PlannedKey | undefined {
    const candidates = this.#byLength[to - from];
    if (candidates === undefined) return undefined;
    for (const one of candidates) if (isFoldedAt(bytes, from, one.folded)) return one;
    return undefined;
  }

  findDecoded(bytes: Buffer, from: number, to: number): PlannedKey | undefined {
    const length = decode(bytes, { from, to, max: Math.min(this.#maxLength, UNITS.length) });
    for (const one of this.#byLength[length] ?? []) if (isDecoded(one.folded)) return one;
    return undefined;
  }
}

/**
 * Readers that ignore case, such as Go's encoding/json, use Unicode's simple case folding. Of the non-ASCII letters,
 * only these two fold to ASCII ones. A planned key beyond ASCII is found only in its own spelling.
 */
const LONG_S = 0x17f;
const KELVIN = 0x212a;

function fold(unit: number): number {
  if (unit >= 0x41 && unit <= 0x5a) return unit + 0x20;
  if (unit === LONG_S) return 0x73;
  return unit === KELVIN ? 0x6b : unit;
}

const FOLDED_BYTES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => fold(byte));

function foldText(key: string): string {
  let folded = '';
  for (let at = 0; at < key.length; at += 1) folded += String.fromCharCode(fold(key.charCodeAt(at)));
  return folded;
}

function isFoldedAt(bytes: Buffer, from: number, text: string): boolean {
  for (let at = 0; at < text.length; at += 1)
    if (FOLDED_BYTES[bytes[from + at] ?? 0] !== text.charCodeAt(at)) return false;
  return true;
}

/** UTF-16 units of the last decoded key. Keys are compared right after decoding, so one buffer suffices. */
const UNITS = new Uint16Array(512);

function isDecoded(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (fold(UNITS[at] ?? 0) !== text.charCodeAt(at)) return false;
  return true;
}

const LETTER_U = 0x75;
const ESCAPED: ReadonlyMap<number, number> = new Map([
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);

/** Decodes a key into `UNITS` without creating a string; returns -1 if it is longer than `max` units. */
function decode(bytes: Buffer, { from, to, max }: { from: number; to: number; max: number }): number {
  let length = 0;
  let at = from;
  while (at < to) {
    if (length >= max) return -1;
    const byte = bytes[at] ?? 0;
    let unit = byte;
    if (byte === BACKSLASH) {
      const escape = bytes[at + 1] ?? 0;
      if (escape === LETTER_U) {
        unit = hexAt(bytes, at + 2);
        at += 6;
      } else {
        unit = ESCAPED.get(escape) ?? escape;
        at += 2;
      }
    } else if (byte < 0x80) at += 1;
    else if (byte < 0xe0) {
      unit = ((byte & 0x1f) << 6) | low(bytes[at + 1]);
      at += 2;
    } else if (byte < 0xf0) {
      unit = ((byte & 0x0f) << 12) | (low(bytes[at + 1]) << 6) | low(bytes[at + 2]);
      at += 3;
    } else {
      const point =
        ((byte & 0x07) << 18) | (low(bytes[at + 1]) << 12) | (low(bytes[at + 2]) << 6) | low(bytes[at + 3]);
      if (length + 1 >= max) return -1;
      UNITS[length] = 0xd800 + ((point - 0x10000) >> 10);
      length += 1;
      unit = 0xdc00 + (point & 0x3ff);
      at += 4;
    }
    UNITS[length] = unit;
    length += 1;
  }
  return length;
}

function low(byte: number | undefined): number {
  return (byte ?? 0) & 0x3f;
}

function hexAt(bytes: Buffer, from: number): number {
  let value = 0;
  for (let at = from; at < from + 4; at += 1) {
    const byte = bytes[at] ?? 0;
    value = value * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
  return value;
}
