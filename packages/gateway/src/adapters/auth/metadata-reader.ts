import { parseJson } from '@assay-mcp/kit/json-object';
import type { CarefulFetch } from '@assay-mcp/kit/platform/careful-fetch';
import { quote } from '@assay-mcp/kit/printable';
import { truncateText } from '@assay-mcp/kit/shorten';
import { SignInFault } from './sign-in-answer.ts';

/** Maximum number of redirects within the origin that are followed. */
const MAX_REDIRECTS = 3;
/** Maximum number of addresses that are remembered. */
const MAX_MISSES = 20;

/** Reads metadata documents of peers, and remembers which addresses had none. */
export class MetadataReader {
  readonly #fetching: CarefulFetch;
  readonly #misses: string[] = [];

  constructor(fetching: CarefulFetch) {
    this.#fetching = fetching;
  }

  /** The addresses that had no usable document, each with the reason. */
  get misses(): readonly string[] {
    return this.#misses;
  }

  /**
   * `parse` returns why a JSON value is not the document. Undefined if the address has none: many servers answer
   * unknown addresses with a page. With `isStrict`, a failing server is a SignInFault, as the document may exist.
   */
  async read<T extends object>(
    address: string,
    parse: (value: unknown) => T | string,
    isStrict = false,
  ): Promise<T | undefined> {
    const response = await this.#get(address);
    const { status } = response;
    if (isStrict && status >= 500 && status !== 502)
      throw new SignInFault(`${quoteShort(address)} answered HTTP ${status}; try again later`);
    if (!response.ok) {
      this.#miss(address, `HTTP ${status}`);
      return undefined;
    }
    const value = parseJson(await response.text());
    if (value === undefined) {
      const type = response.headers.get('content-type') ?? 'no content type';
      this.#miss(address, `not JSON but ${quote(truncateText(type, 60))}`);
      return undefined;
    }
    const parsed = parse(value);
    if (typeof parsed !== 'string') return parsed;
    this.#miss(address, parsed);
    return undefined;
  }

  #miss(address: string, reason: string): void {
    if (this.#misses.length < MAX_MISSES) this.#misses.push(`${quoteShort(address)}: ${reason}`);
  }

  async #get(address: string): Promise<Response> {
    let url = new URL(address);
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#fetching.fetch(url, { headers: { accept: 'application/json' } });
      const location =
        response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
      const next = location === null ? null : URL.parse(location, url.href);
      if (next?.origin !== url.origin || redirects === MAX_REDIRECTS) return response;
      url = next;
    }
  }
}

/** A peer's text within a sentence. */
export function quoteShort(text: string): string {
  return quote(truncateText(text, 200));
}
