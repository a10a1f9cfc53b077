/** Pieces smaller than this many bytes are joined in batches, because each Buffer has a fixed overhead. */
const SMALL = 4_096;
const MAX_SMALL_BYTES = 1_024;

/** At most this many times of what has arrived is allocated at once: whoever announces a length may send less. */
const AHEAD = 16;

/**
 * Collects bytes that arrive in pieces, with little overhead even if the pieces are tiny or there is only one. If the
 * length is known beforehand, pieces are copied into one buffer as they arrive, so that they are not kept until the end.
 */
export class CollectedBytes {
  readonly #expectedBytes: number;
  /** Its first `length` bytes are set. */
  #whole: Buffer | undefined;
  /** Set while it is the only piece. */
  #only: Buffer | undefined;
  #parts: Buffer[] | undefined;
  #small: Buffer[] | undefined;
  length = 0;

  /** @param expectedBytes Length that the sender announced. It may be wrong. */
  constructor(expectedBytes = 0) {
    this.#expectedBytes = expectedBytes;
  }

  add(piece: Buffer): void {
    const from = this.length;
    this.length += piece.length;
    const first = this.#only;
    this.#only = from === 0 ? piece : undefined;
    if (from === 0) return;
    const hasPieces = this.#parts !== undefined || this.#small !== undefined;
    if (this.length <= this.#expectedBytes && !hasPieces) {
      piece.copy(this.#withSpace(first, from), from);
      return;
    }
    const before = first ?? this.#whole?.subarray(0, from);
    this.#whole = undefined;
    if (before !== undefined) this.#append(before);
    this.#append(piece);
  }

  /** Returns all bytes as one buffer and clears the collection. A single piece is returned without copying. */
  take(): Buffer {
    const all =
      this.#only ??
      this.#whole?.subarray(0, this.length) ??
      Buffer.concat([...(this.#parts ?? []), ...(this.#small ?? [])]);
    this.clear();
    return all;
  }

  clear(): void {
    this.#only = undefined;
    this.#whole = undefined;
    this.#parts = undefined;
    this.#small = undefined;
    this.length = 0;
  }

  /** The buffer for all pieces so far. Its first `filled` bytes are set, from `first` if there was no buffer before. */
  #withSpace(first: Buffer | undefined, filled: number): Buffer {
    const before = this.#whole ?? first;
    if (this.#whole !== undefined && this.#whole.length >= this.length) return this.#whole;
    const whole = Buffer.allocUnsafeSlow(Math.min(this.#expectedBytes, AHEAD * this.length));
    before?.copy(whole, 0, 0, filled);
    return (this.#whole = whole);
  }

  #append(piece: Buffer): void {
    if (piece.length >= SMALL) {
      this.#joinSmall();
      (this.#parts ??= []).push(piece);
    } else if ((this.#small ??= []).push(piece) === MAX_SMALL_BYTES) this.#joinSmall();
  }

  #joinSmall(): void {
    if (this.#small === undefined) return;
    (this.#parts ??= []).push(Buffer.concat(this.#small));
    this.#small = undefined;
  }
}
