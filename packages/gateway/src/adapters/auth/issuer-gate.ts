import type { Grant } from '../../core/jwt-claims.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { allows, type Holder, type Identity, type Scope } from '../../core/subject.ts';
import { parseBearer, looksLikeJwt, looksLikeToken } from '../../core/token.ts';
import type { Gate } from '../../gateway/ports/gate.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { Failures } from './failures.ts';
import { RETRY_MS } from './issuer-keys.ts';
import type { CheckJwt, JwtVerdict } from './jwt-check.ts';
import { hashSecret } from './mint-token.ts';

export interface IssuerGateOptions {
  readonly issuer: string;
  readonly check: CheckJwt;
  /** Handles all tokens that are not the issuer's. Closed by whoever opened it. */
  readonly own: Gate;
  /** ASSAY_TOKEN, which may be any text. */
  readonly operatorToken: string | undefined;
  /** Uses of one signed but invalid token within a minute after which it is refused unchecked. */
  readonly maxFailures: number;
  /** Clock for lockouts. */
  readonly monotonicMs?: () => number;
  readonly log: Log;
}

type Admission = Result<Identity, Refusal>;

/** A verified token, with its result for as long as that is cached. */
interface Checked {
  readonly admission: Admission;
  readonly untilMs: number;
}

/** How long in ms a verification is cached; afterwards a withdrawn key takes effect. */
const TRUSTED_MS = 120_000;
const MAX_CHECKED = 10_000;
const MAX_HOLDERS = 10_000;

/** When to retry if too many checks were waiting. */
const BUSY_SECONDS = 1;

/**
 * Accepts an issuer's tokens in addition to Assay's own. Cached results are returned synchronously, others as a
 * promise.
 */
export class IssuerGate implements Gate {
  readonly #options: IssuerGateOptions;
  readonly #failures: Failures;
  readonly #operator: Buffer | undefined;
  /** By digest, oldest first. */
  readonly #checked = new Map<string, Checked>();
  /** By digest, so that concurrent requests with one token share a verification. */
  readonly #underWay = new Map<string, Promise<Admission>>();
  /** The grants of each subject, from the tokens seen so far. */
  readonly #holders = new Map<string, readonly Grant[]>();
  #isAway = false;

  constructor(options: IssuerGateOptions) {
    const { operatorToken, maxFailures: max, monotonicMs } = options;
    this.#options = options;
    this.#failures = new Failures({ max, monotonicMs });
    this.#operator =
      operatorToken !== undefined && looksLikeJwt(operatorToken) ? hashSecret(operatorToken) : undefined;
  }

  admit(authorization: string | undefined, address: string, nowMs: number): Admission | Promise<Admission> {
    const given = parseBearer(authorization);
    if (given === undefined || looksLikeToken(given) || !looksLikeJwt(given))
      return this.#options.own.admit(authorization, address, nowMs);
    const digest = hashSecret(given);
    // Comparing digests leaks nothing useful through timing.
    if (this.#operator?.equals(digest) === true)
      return this.#options.own.admit(authorization, address, nowMs);
    const key = digest.toString('base64url');
    const checked = this.#checked.get(key);
    if (checked !== undefined && checked.untilMs > nowMs) return checked.admission;
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const waitMs = this.#failures.waitMs({ address, id: key });
    if (waitMs !== undefined)
      return err({ code: 'TOO_MANY_FAILURES', waitSeconds: Math.ceil(waitMs / 1_000) });
    const admission = this.#check(given, { key, address, nowMs });
    this.#underWay.set(key, admission);
    return admission;
  }

  /** Anything opened with an issuer's token lasts as long as any token of its subject: clients renew them often. */
  isHolder(holder: Holder, scope: Scope | undefined, nowMs: number): boolean {
    const grants = holder.tokenId === undefined ? this.#holders.get(holder.subject) : undefined;
    if (grants === undefined) return this.#options.own.isHolder(holder, scope, nowMs);
    return grants.some(
      ({ identity, expiresMs }) => expiresMs > nowMs && (scope === undefined || allows(identity, scope)),
    );
  }

  onTokens(listener: () => void): () => void {
    return this.#options.own.onTokens(listener);
  }

  refresh(): Promise<void> {
    return this.#options.own.refresh();
  }

  revoke(id: string, nowMs: number): boolean {
    return this.#options.own.revoke(id, nowMs);
  }

  /** An issuer's tokens cannot be guessed; a short ASSAY_TOKEN can. */
  isFitForNetwork(nowMs: number): boolean {
    return this.#options.operatorToken === undefined || this.#options.own.isFitForNetwork(nowMs);
  }

  async #check(
    given: string,
    { key, address, nowMs }: { readonly key: string; readonly address: string; readonly nowMs: number },
  ): Promise<Admission> {
    try {
      const verdict = await this.#options.check(given, nowMs);
      this.#logOutage(verdict);
      if (verdict.kind === 'granted') return this.#grant(key, verdict.grant, nowMs);
      if (verdict.kind === 'unknown') return this.#unknown();
      if (verdict.kind === 'busy') return err({ code: 'TOO_MANY_FAILURES', waitSeconds: BUSY_SECONDS });
      // Only a token with a valid signature is counted, and locks out only itself: forged ones would lock out others.
      if (verdict.isSigned) this.#failures.note({ address, id: key });
      this.#options.log.debug('a token of the issuer was refused', { reason: verdict.reason });
      return err({ code: 'TOKEN_REQUIRED', reason: verdict.reason });
    } finally {
      this.#underWay.delete(key);
    }
  }

  #grant(key: string, grant: Grant, nowMs: number): Admission {
    const admission = ok(grant.identity);
    this.#checked.delete(key);
    this.#checked.set(key, { admission, untilMs: Math.min(grant.expiresMs, nowMs + TRUSTED_MS) });
    this.#hold(grant, nowMs);
    for (const [oldest] of this.#checked) {
      if (this.#checked.size <= MAX_CHECKED) break;
      this.#checked.delete(oldest);
    }
    return admission;
  }

  #hold(grant: Grant, nowMs: number): void {
    const { subject } = grant.identity;
    const same = (one: Grant): boolean => one.identity.scopes.join() === grant.identity.scopes.join();
    // One grant for each set of scopes is enough.
    const others = (this.#holders.get(subject) ?? []).filter(
      (one) => one.expiresMs > nowMs && !(same(one) && one.expiresMs <= grant.expiresMs),
    );
    const isKnown = others.some((one) => same(one));
    this.#holders.delete(subject);
    this.#holders.set(subject, isKnown ? others : [...others, grant]);
    for (const [oldest] of this.#holders) {
      if (this.#holders.size <= MAX_HOLDERS) break;
      this.#holders.delete(oldest);
    }
  }

  #unknown(): Admission {
    const { issuer } = this.#options;
    return err({ code: 'ISSUER_UNAVAILABLE', issuer, waitSeconds: Math.ceil(RETRY_MS / 1_000) });
  }

  /** Logs the start and the end of an outage once each. */
  #logOutage(verdict: JwtVerdict): void {
    const { issuer, log } = this.#options;
    if (verdict.kind === 'unknown' && !this.#isAway)
      log.warn('the keys of the issuer cannot be had, so its tokens are refused', {
        issuer,
        cause: verdict.cause,
      });
    if (verdict.kind === 'granted' && this.#isAway)
      log.info('the keys of the issuer could be had again', { issuer });
    if (verdict.kind === 'granted' || verdict.kind === 'unknown') this.#isAway = verdict.kind === 'unknown';
  }
}
