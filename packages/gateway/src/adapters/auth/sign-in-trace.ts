import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import type { CarefulFetch } from '@assay-mcp/kit/platform/careful-fetch';
import { truncateText } from '@assay-mcp/kit/shorten';
import { isCredentialName } from '@assay-mcp/kit/credential-names';
import { isOfKnownShape, MASKED } from '@assay-mcp/kit/secret-shapes';
import type { SignInStep } from '../../gateway/ports/credentials.ts';

/** Secrets of a sign-in whose names mean no credential elsewhere. */
const SIGN_IN_SECRETS: ReadonlySet<string> = new Set([
  ...['assertion', 'client_assertion', 'code', 'code_verifier', 'state'],
]);

const MAX_TEXT = 2_000;
const MAX_OTHER_TEXT = 120;
const MAX_DEPTH = 5;
/** Shorter values are too common to be replaced in other texts. */
const MIN_SECRET = 6;

type OnStep = (step: SignInStep) => void;

/** Reports the requests of a sign-in and their responses, without secrets. */
export class SignInTrace {
  readonly #onStep: OnStep;
  /** Values seen under a secret name: a peer may repeat them elsewhere. */
  readonly #secrets = new Set<string>();

  constructor(onStep: OnStep) {
    this.#onStep = onStep;
  }

  /** The same fetch, of which each request is reported. */
  wrap(fetching: CarefulFetch): CarefulFetch {
    return {
      fetch: async (url, init = {}) => {
        const asked = this.#describe(new URL(url), init);
        try {
          const response = await fetching.fetch(url, init);
          const text = await response.clone().text();
          this.#onStep({ ...asked, ...this.#outcome(response, text) });
          return response;
        } catch (error) {
          this.#onStep({
            ...asked,
            fault: this.#hide(error instanceof Error ? error.message : String(error)),
          });
          throw error;
        }
      },
      close: () => fetching.close(),
    };
  }

  /** Where the browser is sent. */
  sendBrowser(address: string): void {
    this.#onStep({ ...this.#describe(new URL(address), {}), method: 'BROWSER' });
  }

  /** What the browser brought back. */
  receiveBrowser(redirectUrl: string, answer: URLSearchParams): void {
    this.#onStep({ method: 'CALLBACK', url: redirectUrl, sent: this.#parameters(answer) });
  }

  #describe(url: URL, { method = 'GET', body }: RequestInit): SignInStep {
    const inBody =
      typeof body === 'string'
        ? this.#members(body)
        : body instanceof URLSearchParams
          ? this.#parameters(body)
          : {};
    return {
      method,
      url: this.#hide(`${url.origin}${url.pathname}`),
      sent: { ...this.#parameters(url.searchParams), ...inBody },
    };
  }

  #outcome({ status, headers }: Response, text: string): Partial<SignInStep> {
    const type = headers.get('content-type');
    const challenge = headers.get('www-authenticate');
    const location = headers.get('location');
    return {
      status,
      ...(type !== null && { type: truncateText(type, MAX_OTHER_TEXT) }),
      ...(challenge !== null && { challenge: this.#hide(truncateText(challenge, MAX_TEXT)) }),
      ...(location !== null && {
        location: this.#hide(truncateText(location.replace(/[?#].*/s, ''), MAX_TEXT)),
      }),
      ...(text !== '' && { received: this.#body(text) }),
    };
  }

  /** Some issuers answer a token request with a form. */
  #body(text: string): string {
    const value = parseJson(text);
    if (value !== undefined)
      return truncateText(this.#hide(JSON.stringify(this.#mask(value, MAX_DEPTH))), MAX_TEXT);
    if (/^[\w.-]+=/.test(text)) {
      const form = new URLSearchParams(this.#parameters(new URLSearchParams(text))).toString();
      return truncateText(form, MAX_TEXT);
    }
    return this.#hide(truncateText(text, MAX_OTHER_TEXT));
  }

  #members(body: string): Readonly<Record<string, string>> {
    const value = parseJson(body);
    const masked = this.#mask(value, MAX_DEPTH);
    if (!isJsonObject(masked)) return {};
    const texts = Object.entries(masked).map(([name, one]) => [
      name,
      typeof one === 'string' ? one : JSON.stringify(one),
    ]);
    return Object.fromEntries(texts) as Readonly<Record<string, string>>;
  }

  #parameters(parameters: URLSearchParams): Readonly<Record<string, string>> {
    return Object.fromEntries(
      [...parameters].map(([name, value]) => [name, this.#value(name, truncateText(value, MAX_TEXT))]),
    );
  }

  #mask(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (depth === 0) return '…';
    if (Array.isArray(value)) return value.slice(0, 100).map((one) => this.#mask(one, depth - 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        typeof one === 'string' ? this.#value(name, one) : this.#mask(one, depth - 1),
      ]),
    );
  }

  #value(name: string, value: string): string {
    const isSecret =
      SIGN_IN_SECRETS.has(name.toLowerCase()) || isCredentialName(name) || isOfKnownShape(value);
    if (!isSecret) return this.#hide(value);
    if (value.length >= MIN_SECRET) this.#secrets.add(value);
    return MASKED;
  }

  #hide(text: string): string {
    let shown = text;
    for (const secret of this.#secrets) shown = shown.replaceAll(secret, MASKED);
    return shown;
  }
}
