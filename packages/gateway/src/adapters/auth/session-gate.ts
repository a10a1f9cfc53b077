import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Freshness, STALE } from '../../core/freshness.ts';
import {
  getSessionMs,
  IDLE_MS,
  isExecuteLinked,
  MAX_SESSIONS,
  parseSessionText,
} from '../../core/page-session.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { allows, OPERATOR, type Holder, type Identity, type Scope } from '../../core/subject.ts';
import type { Gate } from '../../gateway/ports/gate.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type {
  OpenedPageSession,
  PageSession,
  PageSessions,
  SignInProof,
} from '../../gateway/ports/page-sessions.ts';
import type { Store, StoredSession } from '../../gateway/ports/store.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { Failures } from './failures.ts';
import { LookUps } from './look-ups.ts';
import { mintSession, hashSecret } from './mint-token.ts';
import { Listeners } from '../../core/listeners.ts';

export interface SessionGateOptions {
  readonly store: Pick<
    Store,
    'sessions' | 'addSession' | 'useSession' | 'removeSessions' | 'onChange' | 'heardMs'
  >;
  /** The gate for tokens; a session lasts no longer than the token that opened it. */
  readonly tokens: Gate;
  /** ASSAY_TOKEN. */
  readonly operatorToken: string | undefined;
  /** Invalid codes of one address within a minute after which further ones are refused unchecked. */
  readonly maxFailures: number;
  readonly nowMs: () => number;
  readonly log: Log;
  /** Whether it listens on loopback only and has no public URL. */
  readonly isLocalOnly: boolean;
}

const MAX_LOOK_UP_MS = 2_000;
/** Precision in ms with which the last use is stored. */
const USE_MS = 10 * 60_000;
/** Compared with if the id is unknown, so that timing does not reveal whether an id exists. */
const NOBODY: Buffer = randomBytes(32);

const ENDED: Result<never, Refusal> = err({ code: 'TOKEN_REQUIRED', reason: 'the session has ended' });
const UNUSABLE: Result<never, Refusal> = err({ code: 'LINK_UNUSABLE' });

/**
 * The sessions of browsers, for all replicas on one store. Reads nothing before the first browser connects. While the
 * store is unreadable, the sessions last read remain valid for as long as tokens do. Whoever opens it closes it, before
 * the store.
 */
export class SessionGate implements PageSessions {
  readonly #options: SessionGateOptions;
  readonly #operatorMark: string | undefined;
  readonly #failures: Failures;
  readonly #lookUps = new LookUps(async () => {
    await this.#read();
  });
  readonly #listeners = new Listeners();
  #known: ReadonlyMap<string, StoredSession> = new Map();
  #unsubscribe: (() => void) | undefined;
  #reading: Promise<Refusal | undefined> | undefined;
  #isStale = false;
  readonly #freshness: Freshness;
  #isClosed = false;

  constructor(options: SessionGateOptions) {
    this.#options = options;
    const { operatorToken, maxFailures: max } = options;
    this.#operatorMark = operatorToken === undefined ? undefined : markOf(operatorToken);
    this.#failures = new Failures({ max });
    this.#freshness = new Freshness(options.store.heardMs);
  }

  async admit(text: string): Promise<Result<Identity, Refusal>> {
    const session = await this.#find(text, 'session');
    const nowMs = this.#options.nowMs();
    if (session !== undefined && !this.#freshness.isFresh) return err(STALE);
    if (session === undefined || !this.#isOpen(session, nowMs)) return ENDED;
    this.#use(session, nowMs);
    return ok(identityOf(session));
  }

  async open(proof: SignInProof, address: string): Promise<Result<OpenedPageSession, Refusal>> {
    return 'code' in proof ? this.#openByLink(proof.code, address) : this.#openByToken(proof.token, address);
  }

  async list(): Promise<readonly PageSession[]> {
    await this.#read();
    const nowMs = this.#options.nowMs();
    return [...this.#known.values()]
      .filter((session) => session.kind === 'session' && this.#isOpen(session, nowMs))
      .map(({ id, subject, scopes, credential, createdMs, usedMs }): PageSession => {
        const openedBy = credential === 'link' ? 'link' : 'token';
        return { id, subject, scopes, openedBy, createdMs, usedMs };
      })
      .sort((one, other) => other.usedMs - one.usedMs);
  }

  async end(
    { sessionId = '', subject }: Identity,
    which: 'this' | 'all' | { readonly id: string },
  ): Promise<Result<undefined, Refusal>> {
    const id = typeof which === 'object' ? which.id : sessionId;
    const fault = this.#known.has(id) ? undefined : await this.#read();
    if (fault !== undefined) return err(fault);
    const session = this.#known.get(id);
    if (session?.kind !== 'session') return ok(undefined);
    const { credential } = session;
    const ended = await this.#options.store.removeSessions(which === 'all' ? { credential } : { id }, {
      atMs: this.#options.nowMs(),
      subject,
      action: which === 'all' ? 'session.close_all' : 'session.close',
      ...(!allows(session, 'admin') && { peer: 'client' }),
      target: { kind: 'session', id, name: session.subject },
    });
    if (ended.ok) await this.#read();
    return ended;
  }

  /** Whether what this session opened may stay open. */
  isHolder({ sessionId = '' }: Holder, scope: Scope | undefined): boolean {
    const session = this.#known.get(sessionId);
    if (session === undefined || !this.#freshness.isFresh) return false;
    if (!this.#isOpen(session, this.#options.nowMs())) return false;
    return scope === undefined || allows(session, scope);
  }

  onSessions(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
  }

  async #openByLink(code: string, address: string): Promise<Result<OpenedPageSession, Refusal>> {
    const { nowMs } = this.#options;
    const id = this.#known.has(parseSessionText(code)?.id ?? '') ? parseSessionText(code)?.id : undefined;
    const failing = { address, id };
    const waitMs = this.#failures.waitMs(failing);
    if (waitMs !== undefined)
      return err({ code: 'TOO_MANY_FAILURES', waitSeconds: Math.ceil(waitMs / 1_000) });
    const link = await this.#find(code, 'link');
    if (link === undefined || link.expiresMs <= nowMs() || !this.#isPermitted(link)) {
      this.#failures.note(failing);
      return UNUSABLE;
    }
    return this.#add({ subject: link.subject, scopes: link.scopes, credential: 'link' }, link.id);
  }

  async #openByToken(token: string, address: string): Promise<Result<OpenedPageSession, Refusal>> {
    const admitted = await this.#options.tokens.admit(`Bearer ${token}`, address, this.#options.nowMs());
    if (!admitted.ok) return admitted;
    const { subject, scopes, tokenId } = admitted.value;
    if (!allows(admitted.value, 'read')) return err({ code: 'SCOPE_MISSING', scope: 'read' });
    const isOperator = tokenId === undefined && subject === OPERATOR.subject;
    if (tokenId === undefined && !isOperator) return err({ code: 'TOKEN_REQUIRED', reason: NOT_OURS });
    const credential = tokenId === undefined ? `operator ${this.#operatorMark ?? ''}` : `token ${tokenId}`;
    return this.#add({ subject, scopes, credential });
  }

  async #add(
    holder: Pick<StoredSession, 'subject' | 'scopes' | 'credential'>,
    link?: string,
  ): Promise<Result<OpenedPageSession, Refusal>> {
    const nowMs = this.#options.nowMs();
    const { text, id, hash } = mintSession();
    const times = { createdMs: nowMs, usedMs: nowMs, expiresMs: nowMs + getSessionMs(holder) };
    const session = { id, kind: 'session', hash, ...holder, ...times } as const;
    const added = await this.#options.store.addSession(
      { session, link, nowMs, idleSinceMs: nowMs - IDLE_MS, keep: MAX_SESSIONS },
      {
        atMs: nowMs,
        subject: holder.subject,
        action: 'session.open',
        ...(!allows(holder, 'admin') && { peer: 'client' }),
        target: { kind: 'session', id, name: holder.subject },
        after: { scopes: holder.scopes, by: holder.credential.split(' ')[0] },
      },
    );
    if (!added.ok) return added;
    if (!added.value) return UNUSABLE;
    await this.#read();
    return ok({ text, identity: identityOf(session) });
  }

  /** An unknown one is first looked up in the store: another process may just have added it. */
  async #find(text: string, kind: StoredSession['kind']): Promise<StoredSession | undefined> {
    const parts = parseSessionText(text);
    if (parts === undefined) return undefined;
    const isKnown = this.#known.has(parts.id) && this.#freshness.isFresh;
    if (!isKnown && !this.#isClosed) await waitAtMost(this.#lookUps.next(), MAX_LOOK_UP_MS);
    const found = this.#known.get(parts.id);
    const digest = Buffer.from(found?.hash ?? '', 'hex');
    const isRight = timingSafeEqual(hashSecret(parts.secret), digest.length === 32 ? digest : NOBODY);
    return isRight && found?.kind === kind ? found : undefined;
  }

  /** Another replica, or this one at its next start, may listen on another interface. */
  #isPermitted(session: StoredSession): boolean {
    return this.#options.isLocalOnly || !isExecuteLinked(session);
  }

  #isOpen(session: StoredSession, nowMs: number): boolean {
    const { expiresMs, usedMs, credential, subject } = session;
    if (expiresMs <= nowMs || usedMs + IDLE_MS <= nowMs || !this.#isPermitted(session)) return false;
    const [kind, of] = credential.split(' ');
    if (kind === 'link') return true;
    if (kind === 'operator') return of !== undefined && of === this.#operatorMark;
    return of !== undefined && this.#options.tokens.isHolder({ subject, tokenId: of }, 'read', nowMs);
  }

  #use(session: StoredSession, nowMs: number): void {
    if (nowMs - session.usedMs < USE_MS) return;
    this.#known = new Map([...this.#known, [session.id, { ...session, usedMs: nowMs }]]);
    void this.#options.store.useSession(session.id, nowMs);
  }

  /** Reads the sessions, and again if they changed meanwhile. Returns why they could not be read. */
  #read(): Promise<Refusal | undefined> {
    this.#isStale = true;
    this.#reading ??= this.#readUntilFresh().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readUntilFresh(): Promise<Refusal | undefined> {
    const { store, log } = this.#options;
    this.#unsubscribe ??= store.onChange((parts) => {
      if (!parts.includes('sessions')) return;
      this.#freshness.announced();
      void this.#read();
    });
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      const sessions = await this.#freshness.during(() => store.sessions());
      if (!sessions.ok) {
        log.warn('browser sessions cannot be read; those last read remain valid');
        return sessions.error;
      }
      this.#known = new Map(sessions.value.map((one) => [one.id, one]));
      this.#listeners.notify();
    }
    return undefined;
  }
}

/**
 * Changes if ASSAY_TOKEN is replaced. Shortened, so that a stored mark fits many tokens and does not confirm a guess.
 */
function markOf(operatorToken: string): string {
  return hashSecret(`session of ${operatorToken}`).toString('hex').slice(0, MARK_DIGITS);
}

/** 2^24 values: a replaced token keeps its sessions only by chance. */
const MARK_DIGITS = 6;

const NOT_OURS = 'the admin pages take only tokens that Assay made';

/** A session opened with a token acts under the name of the token. */
function identityOf({ id, subject, scopes, credential }: StoredSession): Identity {
  const [kind, of] = credential.split(' ');
  return { subject, scopes, sessionId: id, ...(kind === 'token' && of !== undefined && { tokenId: of }) };
}
