import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Freshness, STALE } from '../../core/freshness.ts';
import { formatRefusal } from '../../core/sentences.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  allows,
  isIssued,
  LOCAL_USER,
  OPERATOR,
  type Holder,
  type Identity,
  type Scope,
} from '../../core/subject.ts';
import {
  parseBearer,
  parseToken,
  getTokenState,
  type MintedToken,
  type TokenParts,
} from '../../core/token.ts';
import type { Gate } from '../../gateway/ports/gate.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Store, StoredToken } from '../../gateway/ports/store.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { Failures } from './failures.ts';
import { LookUps } from './look-ups.ts';
import { hashSecret } from './mint-token.ts';
import { Listeners } from '../../core/listeners.ts';

export interface TokenGateOptions {
  readonly store: Pick<Store, 'tokens' | 'onChange' | 'heardMs'>;
  /** ASSAY_TOKEN: allows everything, and is not stored. */
  readonly operatorToken: string | undefined;
  /** Token for processes of the user who runs Assay; not stored, and valid only as long as the gate. */
  readonly ownToken: MintedToken;
  /** Invalid tokens within a minute after which further ones are refused unchecked. */
  readonly maxFailures: number;
  /** Clock for lockouts. */
  readonly monotonicMs?: () => number;
  readonly log: Log;
}

/** A known token and the result for its holder. */
interface Known {
  readonly id: string | undefined;
  readonly digest: Buffer;
  readonly expiresMs: number | undefined;
  readonly revokedMs: number | undefined;
  readonly admission: { readonly ok: true; readonly value: Identity };
  /** Whether another process can revoke it. */
  readonly isStored: boolean;
}

/** Maximum wait in ms for the store before an unknown token is refused. */
const MAX_LOOK_UP_MS = 2_000;
/** A token from a request, and the address it came from. */
interface PresentedToken {
  readonly given: string;
  readonly parts: TokenParts | undefined;
  readonly address: string;
}

const RETRY_MS = 1_000;
/** Interval in ms of checking whether the tokens in memory are too old for what they opened. */
const CHECK_MS = 5_000;
const DIGEST_BYTES = 32;
const MIN_OPERATOR_TOKEN_LENGTH = 16;
const REQUIRED: Result<never, Refusal> = err({ code: 'TOKEN_REQUIRED' });

/** Compared with if the id is unknown, so that timing does not reveal whether an id exists. */
const NOBODY: Buffer = randomBytes(DIGEST_BYTES);

/**
 * Holds the store's tokens in memory, so that no request waits for a database, and follows changes. While the store is
 * unreadable, the last tokens remain valid: without limit if all processes share one file, otherwise until they are no
 * longer fresh. Whoever opens it closes it, before the store.
 */
export class TokenGate implements Gate {
  readonly #options: TokenGateOptions;
  /** The operator's token, if its format has no id. */
  readonly #unnamed: Known | undefined;
  readonly #named: Known | undefined;
  readonly #failures: Failures;
  readonly #unsubscribe: () => void;
  /** By id; includes revoked and expired tokens, so that failures of their holders are counted separately. */
  #known: ReadonlyMap<string, Known> = new Map();
  readonly #listeners = new Listeners();
  readonly #lookUps = new LookUps(() => this.#read());
  /** When this process revoked tokens, whether or not that could be stored. */
  readonly #revokedMs = new Map<string, number>();
  #reading: Promise<void> | undefined;
  #isStale = false;
  readonly #freshness: Freshness;
  readonly #checking: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Set while the tokens in memory may be outdated. */
  #retry: NodeJS.Timeout | undefined;

  private constructor(options: TokenGateOptions) {
    this.#options = options;
    const operator = options.operatorToken === undefined ? undefined : operatorOf(options.operatorToken);
    this.#unnamed = operator?.id === undefined ? operator : undefined;
    this.#named = operator?.id === undefined ? undefined : operator;
    this.#known = this.#index([]);
    const { maxFailures: max, monotonicMs } = options;
    this.#failures = new Failures({ max, monotonicMs });
    this.#freshness = new Freshness(options.store.heardMs);
    this.#unsubscribe = options.store.onChange((parts) => {
      if (!parts.includes('tokens')) return;
      this.#freshness.announced();
      void this.#read();
    });
    if (options.store.heardMs !== undefined)
      this.#checking = setInterval(() => void this.#endStale(), CHECK_MS).unref();
  }

  /** Resolves after the first attempt to read the tokens. */
  static async open(options: TokenGateOptions): Promise<TokenGate> {
    const gate = new TokenGate(options);
    await gate.#read();
    return gate;
  }

  /** A token with an unknown id is first looked up in the store, so the result is a promise. */
  admit(
    authorization: string | undefined,
    address: string,
    nowMs: number,
  ): Result<Identity, Refusal> | Promise<Result<Identity, Refusal>> {
    const given = parseBearer(authorization);
    if (given === undefined) return REQUIRED;
    const bringing = { given, parts: parseToken(given), address };
    const { parts } = bringing;
    const isKnown = parts === undefined || (this.#known.has(parts.id) && this.#freshness.isFresh);
    if (isKnown || this.#isClosed) return this.#judge(bringing, nowMs);
    const waitMs = this.#failures.waitMs({ address, id: undefined });
    if (waitMs !== undefined) return tooMany(waitMs);
    return waitAtMost(this.#lookUps.next(), MAX_LOOK_UP_MS).then(() => this.#judge(bringing, nowMs));
  }

  #judge({ given, parts, address }: PresentedToken, nowMs: number): Result<Identity, Refusal> {
    const named = parts === undefined ? undefined : this.#known.get(parts.id);
    const failing = { address, id: named?.id };
    const waitMs = this.#failures.waitMs(failing);
    if (waitMs !== undefined) return tooMany(waitMs);
    const known = parts === undefined ? this.#unnamed : named;
    const isRight = timingSafeEqual(hashSecret(parts?.secret ?? given), known?.digest ?? NOBODY);
    if (isRight && known !== undefined && getTokenState(known, nowMs) === 'valid')
      return known.isStored && !this.#freshness.isFresh ? err(STALE) : known.admission;
    this.#failures.note(failing);
    return REQUIRED;
  }

  isHolder({ subject, tokenId }: Holder, scope: Scope | undefined, nowMs: number): boolean {
    if (tokenId === undefined) return subject === LOCAL_USER.subject || subject === OPERATOR.subject;
    const known = this.#known.get(tokenId);
    if (known === undefined || getTokenState(known, nowMs) !== 'valid') return false;
    if (known.isStored && !this.#freshness.isFresh) return false;
    return scope === undefined || allows(known.admission.value, scope);
  }

  onTokens(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  refresh(): Promise<void> {
    return this.#read();
  }

  revoke(id: string, nowMs: number): boolean {
    const known = this.#known.get(id);
    if (known === undefined || id === this.#options.ownToken.id || known === this.#named) return false;
    // Called again because the first revocation could not be stored.
    if (this.#revokedMs.has(id)) return true;
    if (known.revokedMs !== undefined) return false;
    this.#revokedMs.set(id, nowMs);
    this.#known = new Map([...this.#known, [id, { ...known, revokedMs: nowMs }]]);
    this.#listeners.notify();
    return true;
  }

  isFitForNetwork(nowMs: number): boolean {
    const { operatorToken } = this.#options;
    if (operatorToken !== undefined) return operatorToken.length >= MIN_OPERATOR_TOKEN_LENGTH;
    return [...this.#known.values()].some(
      ({ id, ...known }) =>
        id !== this.#options.ownToken.id &&
        getTokenState(known, nowMs) === 'valid' &&
        allows(known.admission.value, 'mcp'),
    );
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    clearTimeout(this.#retry);
    clearInterval(this.#checking);
  }

  /** What stored tokens opened ends if their revocation could not be seen. */
  async #endStale(): Promise<void> {
    const freshness = this.#freshness;
    if (!freshness.isFresh) await this.#read();
    if (!freshness.isFresh) this.#listeners.notify();
  }

  /** Reads the tokens, and again if they changed meanwhile. */
  #read(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readUntilFresh().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readUntilFresh(): Promise<void> {
    clearTimeout(this.#retry);
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      const tokens = await this.#freshness.during(() => this.#options.store.tokens());
      if (tokens.ok) this.#take(tokens.value);
      else this.#retryLater(tokens.error);
    }
  }

  #take(tokens: readonly StoredToken[]): void {
    if (this.#retry !== undefined) this.#options.log.info('the tokens could be read again');
    this.#retry = undefined;
    this.#known = this.#index(tokens);
    this.#listeners.notify();
  }

  #retryLater(refusal: Refusal): void {
    const { log } = this.#options;
    if (this.#retry === undefined)
      log.warn('tokens cannot be read; those last read remain valid', { cause: formatRefusal(refusal) });
    if (!this.#isClosed) this.#retry = setTimeout(() => void this.#read(), RETRY_MS).unref();
  }

  #index(tokens: readonly StoredToken[]): ReadonlyMap<string, Known> {
    // Older versions accepted token names that look like an issuer's subject.
    const ours = tokens.filter(({ name }) => !isIssued(name));
    const asHere = ours.map((token) => ({
      ...token,
      revokedMs: token.revokedMs ?? this.#revokedMs.get(token.id),
    }));
    const known = asHere.map(knownOf).filter(({ digest }) => digest.length === DIGEST_BYTES);
    const own = ownOf(this.#options.ownToken);
    const all = this.#named === undefined ? [...known, own] : [...known, own, this.#named];
    return new Map(all.flatMap((one) => (one.id === undefined ? [] : [[one.id, one] as const])));
  }
}

function tooMany(waitMs: number): Result<never, Refusal> {
  return err({ code: 'TOO_MANY_FAILURES', waitSeconds: Math.ceil(waitMs / 1000) });
}

function knownOf({ id, name, scopes, hash, expiresMs, revokedMs }: StoredToken): Known {
  const admission = ok({ subject: name, scopes, tokenId: id });
  return { id, digest: Buffer.from(hash, 'hex'), expiresMs, revokedMs, admission, isStored: true };
}

function ownOf({ id, hash }: MintedToken): Known {
  const lasting = { expiresMs: undefined, revokedMs: undefined };
  return { id, digest: Buffer.from(hash, 'hex'), ...lasting, admission: ok(LOCAL_USER), isStored: false };
}

/** The operator's token may be any text; one in Assay's own format has an id, and so its own failure counter. */
function operatorOf(text: string): Known {
  const parts = parseToken(text);
  return {
    id: parts?.id,
    digest: hashSecret(parts?.secret ?? text),
    expiresMs: undefined,
    revokedMs: undefined,
    admission: ok(OPERATOR),
    isStored: false,
  };
}
