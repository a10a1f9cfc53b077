/** Pieces smaller than this many bytes are joined in batches, because each Buffer has a fixed overhead. */
const SMALL = 4_096;
const MAX_SMALL_BYTES = 1_024;

/** Collects bytes that arrive in pieces, with little overhead even if the pieces are tiny or there is only one. */
export class CollectedBytes {
  /** Set while it is the only piece. */
  #only: Buffer | undefined;
  #parts: Buffer[] | undefined;
  #small: Buffer[] | undefined;
  length = 0;

  add(piece: Buffer): void {
    const isFirst = this.length === 0;
    this.length += piece.length;
    const only = this.#only;
    this.#only = isFirst ? piece : undefined;
    if (isFirst) return;
    if (only !== undefined) this.#append(only);
    this.#append(piece);
  }

  /** Returns all bytes as one buffer and clears the collection. A single piece is returned without copying. */
  take(): Buffer {
    const all = this.#only ?? Buffer.concat([...(this.#parts ?? []), ...(this.#small ?? [])]);
    this.clear();
    return all;
  }

  clear(): void {
    this.#only = undefined;
    this.#parts = undefined;
    this.#small = undefined;
    this.length = 0;
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
