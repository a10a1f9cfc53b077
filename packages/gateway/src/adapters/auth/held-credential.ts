import { randomUUID } from 'node:crypto';
import { type Cause, toCauseJson } from '../../core/cause.ts';
import type { ReachRules } from '../../core/reach-rules.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { TokenBucket } from '@assay-mcp/kit/token-bucket';
import type { Log } from '../../gateway/ports/log.ts';
import type { Authorizer, Challenge } from '../../gateway/ports/credentials.ts';
import { pause } from '@assay-mcp/kit/platform/pause';
import { mergeScopes } from '@assay-mcp/protocol/challenge';
import type { RenewalFault } from './authorization-server.ts';
import type { ServerUrl } from './server-url.ts';
import { isSendable, type CredentialContent, type HeldTokens } from './credential-content.ts';
import type { StoredCredential } from '../../gateway/ports/store.ts';
import { toRemembered, type RememberedChallenge } from './remembered-challenge.ts';
import {
  judgeCredential,
  type EncryptedCredentials,
  type FoundCredential,
  type OpenedCredential,
} from './encrypted-credentials.ts';

export interface HeldOptions {
  readonly server: string;
  readonly asked: ServerUrl;
  readonly rules: ReachRules;
  readonly subject: string;
  readonly log: Log;
  /** Opens the store on first use. */
  readonly credentials: () => Promise<Result<EncryptedCredentials, Refusal>>;
  /** Reads the store again and passes the result to `adopt`. */
  readonly read: () => Promise<void>;
  /** Stores a challenge for the next sign-in. Returns whether it is stored. */
  readonly saveChallenge: (challenge: RememberedChallenge) => Promise<boolean>;
}

/** A token is renewed when this fraction of its lifetime is left, or this many ms if that is less. */
const LEFT_PART = 0.2;
const LEFT_MS = 300_000;
/** How long in ms one process has exclusive use of a refresh token; longer than a request to the issuer can take. */
const LEASE_MS = 30_000;
const LEASE_POLL_MS = 100;
/** Delay in ms after a failed early renewal. */
const RETRY_MS = 10_000;
/** Limits renewals when new tokens keep being refused: the largest burst, and the rate per minute. */
const MAX_RENEWALS = 10;
/** Limits writes when a server sends another challenge with each refusal: the largest burst, and the rate per minute. */
const MAX_CHALLENGES = 10;
/** Maximum number of scopes named in a cause. */
export const MAX_NAMED_SCOPES = 10;

/** What one renewal replaces, and the header that was refused or is about to expire. */
interface LeasedCredential {
  readonly stored: StoredCredential;
  readonly content: CredentialContent;
  readonly old: string | undefined;
  readonly holder: string;
}

const AGAIN: Result<'again', never> = ok('again');

/** One subject's sign-in at one server, held in memory and renewed as needed. */
export class HeldCredential implements Authorizer {
  readonly subject: string;
  readonly #options: HeldOptions;
  #asked: ServerUrl;
  #shelved: OpenedCredential | undefined;
  #isElsewhere = false;
  #header: string | undefined;
  #renewMs = Infinity;
  #retryAtMs = 0;
  #renewing: Promise<Result<'again', Refusal>> | undefined;
  /** Renewals caused by a refused token. */
  readonly #renewals = new TokenBucket({
    perSecond: MAX_RENEWALS / 60,
    capacity: MAX_RENEWALS,
    nowMs: performance.now(),
  });

  /** The challenge that was stored last, as JSON. */
  #savedChallenge: string | undefined;
  readonly #challenges = new TokenBucket({
    perSecond: MAX_CHALLENGES / 60,
    capacity: MAX_CHALLENGES,
    nowMs: performance.now(),
  });

  constructor(options: HeldOptions) {
    this.#options = options;
    this.#asked = options.asked;
    this.subject = options.subject;
  }

  /** Its entry may have changed without changing whose sign-in this is. */
  updateServerUrl(asked: ServerUrl): void {
    this.#asked = asked;
  }

  /** Whether requests can be sent with it. */
  isUsable(): boolean {
    return this.#header !== undefined;
  }

  header(): string | undefined {
    // Renewed early and in the background: calls continue with the old token.
    if (Date.now() >= this.#renewMs && performance.now() >= this.#retryAtMs) void this.#renewOnce();
    return this.#header;
  }

  /** Takes over the state of the store. */
  adopt(found: FoundCredential | undefined): void {
    this.#isElsewhere = found?.kind === 'elsewhere';
    this.#shelved = found?.kind === 'usable' ? found.opened : undefined;
    const tokens = this.#shelved?.content?.tokens;
    this.#header = tokens && isSendable(tokens.access) ? `Bearer ${tokens.access}` : undefined;
    this.#renewMs = tokens === undefined ? Infinity : renewalOf(tokens);
  }

  /** Resolves when an expired token was renewed or could not be. */
  async freshen(): Promise<void> {
    const endsMs = this.#shelved?.content?.tokens?.expiresMs ?? Infinity;
    if (Date.now() >= endsMs) await this.#renewOnce();
  }

  async refused(challenge: Challenge, sent: string | undefined): Promise<Result<'again', Refusal>> {
    if (this.#header === sent) await this.#options.read();
    if (this.#header !== undefined && this.#header !== sent) return AGAIN;
    if (this.#header === undefined) {
      await this.#rememberChallenge(challenge);
      return err(this.#needed());
    }
    if (challenge.kind === 'too_little') return this.#wantMore(challenge.scope);
    if (this.#renewing === undefined && !this.#renewals.take(performance.now()))
      return err(this.#needed({ code: 'TOKEN_REFUSED' }));
    return this.#renewOnce();
  }

  async #rememberChallenge(challenge: Challenge): Promise<void> {
    const remembered = toRemembered(challenge);
    const text = JSON.stringify(remembered);
    if (remembered === undefined || this.#savedChallenge === text) return;
    if (!this.#challenges.take(performance.now())) return;
    this.#savedChallenge = text;
    if (!(await this.#options.saveChallenge(remembered))) this.#savedChallenge = undefined;
  }

  /** Resolves when no renewal is under way. */
  async settled(): Promise<void> {
    await this.#renewing;
  }

  #needed(cause: Cause | undefined = this.#causeOfNone()): Refusal {
    const { server, subject } = this.#options;
    return { code: 'AUTHORIZATION_NEEDED', server, subject, ...(cause !== undefined && { cause }) };
  }

  #causeOfNone(): Cause | undefined {
    if (this.#isElsewhere) return { code: 'SIGN_IN_ELSEWHERE' };
    if (this.#shelved === undefined) return undefined;
    return { code: this.#shelved.content === undefined ? 'SIGN_IN_UNREADABLE' : 'SIGN_IN_EXPIRED' };
  }

  /** Only a new sign-in grants more scopes (RFC 6749, section 6); the wanted ones are stored for it. */
  async #wantMore(scope: string | undefined): Promise<Result<never, Refusal>> {
    const { stored, content } = this.#shelved ?? {};
    const scopes = mergeScopes(scope)
      .slice(0, MAX_NAMED_SCOPES)
      .map((one) => one.slice(0, 100));
    const union = mergeScopes(content?.wantedScope, scope).slice(0, 50).join(' ');
    if (stored !== undefined && content !== undefined && union !== (content.wantedScope ?? ''))
      await this.#save(stored, { ...content, wantedScope: union });
    return err(this.#needed({ code: 'SCOPE_INSUFFICIENT', scopes }));
  }

  #renewOnce(): Promise<Result<'again', Refusal>> {
    return (this.#renewing ??= this.#renewInTurn(this.#header)
      .catch((error: unknown) => {
        const { log, server } = this.#options;
        const shown = error instanceof Error ? error.stack : String(error);
        log.error('a sign-in could not be renewed', { server, error: shown });
        return err({ code: 'INTERNAL' } as const);
      })
      .finally(() => {
        this.#renewing = undefined;
      }));
  }

  /** A refresh token may be single-use, so only one of the processes on the store uses it while the others wait. */
  async #renewInTurn(old: string | undefined): Promise<Result<'again', Refusal>> {
    const credentials = await this.#options.credentials();
    if (!credentials.ok) return credentials;
    const holder = randomUUID();
    for (const giveUpMs = performance.now() + LEASE_MS; performance.now() < giveUpMs;) {
      const opened = this.#shelved;
      if (this.#header !== old) return this.#header === undefined ? err(this.#needed()) : AGAIN;
      if (opened?.content === undefined) return err(this.#needed());
      const { stored, content } = opened;
      const request = { holder, revision: stored.revision, forMs: LEASE_MS };
      const leased = await credentials.value.store.leaseCredential(stored, request);
      if (!leased.ok) return leased;
      if (leased.value.kind === 'leased')
        return this.#renewAlone({ stored, content, old, holder }, credentials.value);
      if (leased.value.kind === 'held') await pause(LEASE_POLL_MS);
      await this.#options.read();
    }
    return this.#unavailable({ code: 'RENEWAL_LOCKED' });
  }

  /** While it waits, somebody may sign in again, so only what was leased is replaced. */
  async #renewAlone(
    { stored, content, old, holder }: LeasedCredential,
    { store }: EncryptedCredentials,
  ): Promise<Result<'again', Refusal>> {
    const { server, rules, log } = this.#options;
    const asked = this.#asked;
    // Loaded on demand: the import takes longer than the rest of the startup.
    const { renew } = await import('./authorization-server.ts');
    const renewal = await renew(content, { asked, rules }, Date.now);
    if (renewal.kind === 'renewed') {
      const { resource, scope } = renewal.request;
      if (resource !== content.resource || (scope === undefined && content.scope !== undefined))
        log.info('a sign-in was renewed with other parameters than it was made with', { server });
      // What the issuer refuses is not sent again.
      const kept = scope === undefined ? scope : content.scope;
      await this.#save(stored, { ...content, tokens: renewal.tokens, resource, scope: kept });
      log.debug('a sign-in was renewed', { server });
      return AGAIN;
    }
    if (renewal.kind === 'ended') {
      await this.#save(stored, { ...content, tokens: undefined });
      // Somebody signed in again meanwhile.
      if (this.#header !== undefined && this.#header !== old) return AGAIN;
      log.warn('a sign-in has ended', { server, ...toCauseJson(renewal.cause) });
      return err(this.#needed(renewal.cause));
    }
    this.#retryAtMs = performance.now() + RETRY_MS;
    await store.leaseCredential(stored, { holder, revision: stored.revision, forMs: 0 });
    return this.#unavailable(renewal.fault);
  }

  /**
   * Stores it before it is used: a process that ends in between would leave a refresh token behind that was used. If
   * someone signed in meanwhile, the new sign-in wins.
   */
  async #save(stored: StoredCredential, content: CredentialContent): Promise<void> {
    const { log, server, credentials, read } = this.#options;
    const opened = await credentials();
    const saved = opened.ok ? await opened.value.save(stored, content, stored.revision) : opened;
    if (saved.ok) {
      if (saved.value) this.#adoptOwn({ stored, content });
      await read();
      return;
    }
    // The old token may be invalid by now.
    this.#adoptOwn({ stored, content });
    log.error('a sign-in could not be stored: after the next start it may be needed again', {
      server,
      code: saved.error.code,
    });
  }

  /** The entry may have changed during the renewal. */
  #adoptOwn(opened: OpenedCredential): void {
    this.adopt(judgeCredential(opened, this.#asked.auth));
  }

  #unavailable(fault: RenewalFault): Result<never, Refusal> {
    const { server, subject } = this.#options;
    return err({ code: 'SERVER_UNAVAILABLE', server, cause: { ...fault, server, subject } });
  }
}

function renewalOf(tokens: HeldTokens): number {
  return tokens.refresh === undefined ? Infinity : computeRenewalMs(tokens);
}

/** When to renew a token, well before it expires. */
export function computeRenewalMs({
  expiresMs,
  obtainedMs,
}: Pick<HeldTokens, 'expiresMs' | 'obtainedMs'>): number {
  if (expiresMs === undefined) return Infinity;
  return expiresMs - Math.min((expiresMs - obtainedMs) * LEFT_PART, LEFT_MS);
}
