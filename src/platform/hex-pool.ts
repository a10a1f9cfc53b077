import { randomFillSync } from 'node:crypto';

/** Bytes that are drawn at a time: a draw costs more than all that is made of it. */
const BYTES = 4_096;

/** Random hexadecimal digits that nobody can guess, a few at a time, for almost nothing. */
export class HexPool {
  readonly #bytes: Buffer = Buffer.allocUnsafeSlow(BYTES);
  #digits = '';
  #at = 0;

  take(count: number): string {
    if (this.#at + count > this.#digits.length) {
      this.#digits = randomFillSync(this.#bytes).toString('hex');
      this.#at = 0;
    }
    const from = this.#at;
    this.#at += count;
    return this.#digits.slice(from, this.#at);
  }
}
