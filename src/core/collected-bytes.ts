/** Pieces below this size in bytes are joined, so many at a time: each costs more than its bytes. */
const SMALL = 4_096;
const MOST_SMALL = 1_024;

/** Bytes that come in pieces. However small the pieces are, they take hardly more room than their bytes. */
export class CollectedBytes {
  #parts: Buffer[] = [];
  #small: Buffer[] = [];
  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    if (piece.length >= SMALL) {
      this.#joinSmall();
      this.#parts.push(piece);
    } else if (this.#small.push(piece) === MOST_SMALL) this.#joinSmall();
  }

  /** All of them, in one; none is left. A single piece is given as it came. */
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
