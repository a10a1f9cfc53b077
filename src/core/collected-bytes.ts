/** Pieces smaller than this many bytes are joined in batches, because each Buffer has a fixed overhead. */
const SMALL = 4_096;
const MAX_SMALL_BYTES = 1_024;

/** Collects bytes that arrive in pieces, with little overhead even if the pieces are tiny. */
export class CollectedBytes {
  #parts: Buffer[] = [];
  #small: Buffer[] = [];
  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    if (piece.length >= SMALL) {
      this.#joinSmall();
      this.#parts.push(piece);
    } else if (this.#small.push(piece) === MAX_SMALL_BYTES) this.#joinSmall();
  }

  /** Returns all bytes as one buffer and clears the collection. A single piece is returned without copying. */
  take(): Buffer {
    const all = [...this.#parts, ...this.#small];
    const [first] = all;
    this.clear();
    return all.length === 1 && first !== undefined ? first : Buffer.concat(all);
  }

  clear(): void {
    this.#parts = [];
    this.#small = [];
    this.length = 0;
  }

  #joinSmall(): void {
    if (this.#small.length === 0) return;
    this.#parts.push(Buffer.concat(this.#small));
    this.#small = [];
  }
}
