import { TokenBucket } from '@assay-mcp/kit/token-bucket';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { mergeScopes } from '@assay-mcp/protocol/challenge';
import type { ReachRules } from '../../core/reach-rules.ts';
import type { Refusal } from '../../core/refusal.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { Authorizer, Challenge } from '../../gateway/ports/credentials.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { ServerUrl } from './server-url.ts';
import { computeRenewalMs, MAX_NAMED_SCOPES } from './held-credential.ts';

export interface ClientCredentialsOptions {
  readonly server: string;
  readonly asked: ServerUrl;
  readonly rules: ReachRules;
  readonly log: Log;
  /** Masks these values everywhere, in place of earlier ones of their owner. */
  readonly learn: (secrets: readonly string[], owner: string) => void;
}

/** Delay in ms after a failed early renewal. */
const RETRY_MS = 10_000;
/** Limits token requests when tokens or the client are refused: the largest burst, and the rate per minute. */
const MAX_REQUESTS = 10;

/** A token of the gateway itself for one server, from client credentials. It is in memory only: another one is cheap. */
export class ClientCredentialsAuthorizer implements Authorizer {
  readonly subject: string = LOCAL_USER.subject;
  readonly #options: ClientCredentialsOptions;
  #header: string | undefined;
  #renewMs = Infinity;
  #endsMs = Infinity;
  #retryAtMs = 0;
  #challenge: Challenge | undefined;
  #requesting: Promise<Result<'again', Refusal>> | undefined;
  readonly #requests = new TokenBucket({
    perSecond: MAX_REQUESTS / 60,
    capacity: MAX_REQUESTS,
    nowMs: performance.now(),
  });

  constructor(options: ClientCredentialsOptions) {
    this.#options = options;
  }

  header(): string | undefined {
    if (Date.now() >= this.#renewMs && performance.now() >= this.#retryAtMs) void this.#requestOnce();
    return this.#header;
  }

  /** Resolves when there is a token that has not expired, or none could be had. */
  async freshen(): Promise<void> {
    if (this.#header === undefined || Date.now() >= this.#endsMs) await this.#requestOnce();
  }

  async refused(challenge: Challenge, sent: string | undefined): Promise<Result<'again', Refusal>> {
    if (this.#header !== undefined && this.#header !== sent) return ok('again');
    // The client decides by itself what it may do: nobody can be asked for more.
    if (challenge.kind === 'too_little') {
      const scopes = mergeScopes(challenge.scope).slice(0, MAX_NAMED_SCOPES).join(' ');
      return this.#fail(`the token lacks scopes that the server requires: ${scopes}`);
    }
    this.#challenge = challenge;
    return this.#requestOnce();
  }

  async settled(): Promise<void> {
    await this.#requesting;
  }

  #requestOnce(): Promise<Result<'again', Refusal>> {
    return (this.#requesting ??= this.#request()
      .catch((error: unknown) => {
        const { log, server } = this.#options;
        const shown = error instanceof Error ? error.stack : String(error);
        log.error('client credentials could not be used', { server, error: shown });
        return err({ code: 'INTERNAL' } as const);
      })
      .finally(() => {
        this.#requesting = undefined;
      }));
  }

  async #request(): Promise<Result<'again', Refusal>> {
    const { asked, rules, server, log, learn } = this.#options;
    this.#retryAtMs = performance.now() + RETRY_MS;
    if (!this.#requests.take(performance.now()))
      return this.#fail('Assay requests at most 10 tokens per minute');
    // Loaded on demand, like the rest of signing in.
    const [{ requestClientCredentialsToken }, { toFaultReason }] = await Promise.all([
      import('./client-credentials-grant.ts'),
      import('./sign-in-answer.ts'),
    ]);
    const { scope, resourceMetadata } = this.#challenge ?? {};
    const bearer = this.#challenge && { scope, resourceMetadata, error: undefined };
    try {
      const { access, expiresMs } = await requestClientCredentialsToken(asked, bearer, rules);
      learn([access], `client credentials of ${server}`);
      this.#header = `Bearer ${access}`;
      this.#endsMs = expiresMs ?? Infinity;
      this.#renewMs = computeRenewalMs({ obtainedMs: Date.now(), expiresMs });
      this.#retryAtMs = 0;
      log.debug('got a token with client credentials', { server });
      return ok('again');
    } catch (error) {
      const reason = await toFaultReason(error);
      log.warn('client credentials got no token', { server, reason });
      return this.#fail(reason);
    }
  }

  #fail(reason: string): Result<never, Refusal> {
    const { server } = this.#options;
    return err({ code: 'SERVER_UNAVAILABLE', server, cause: { code: 'CLIENT_CREDENTIALS_REFUSED', reason } });
  }
}
