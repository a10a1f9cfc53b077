import { randomFillSync } from 'node:crypto';

/** Number of bytes drawn at once, since a draw costs more than everything made from it. */
const BYTES = 4_096;

/** Cheap, unguessable random hexadecimal digits, drawn in batches. */
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
