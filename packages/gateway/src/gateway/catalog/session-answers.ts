import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import { ANSWER_LIMITS, type LegacySessionStore, type StoredAnswer } from '../ports/legacy-sessions.ts';
import type { Log } from '../ports/log.ts';
import type { Sealer } from '../ports/sealing.ts';
import type { Store } from '../ports/store.ts';
import { STORE_RETRY, type StoreRetryOptions, StoreRetry } from './store-retry.ts';

export interface SessionAnswersOptions {
  /** Opens the store, or returns the open one. */
  readonly open: () => Promise<Result<LegacySessionStore & Pick<Store, 'onChange'>, Refusal>>;
  readonly sealer: Sealer;
  /** Names this process, for one run. */
  readonly replica: string;
  readonly nowMs: () => number;
  readonly createId: () => string;
  readonly log: Log;
  /** How long an answer waits for an absent store. */
  readonly storeRetry?: StoreRetryOptions;
}

/** A client's answer to a question that was asked at another replica. */
export interface SessionAnswer {
  /** Id of the session in which it arrived. */
  readonly session: string;
  readonly subject: string;
  readonly bytes: Buffer;
}

export interface AnswerReceiver {
  /** Whether a question is open, so that it is worth reading answers. */
  readonly isWaiting: () => boolean;
  readonly receive: (answer: Omit<SessionAnswer, 'subject'>) => void;
}

/** Replicas' clocks may differ by this much. How long an answer is kept is decided by the clock of the store. */
const MAX_SKEW_MS = 86_400_000;

/** Maximum number of answers that wait in memory for an absent store. */
const MAX_WAITING = 64;

/** Passes answers of clients to the replica that asked: as encrypted rows, removed when they are read. */
export class SessionAnswers {
  readonly #options: SessionAnswersOptions;
  readonly #storeRetry: StoreRetry;
  readonly #retryMs: number;
  #endListening: (() => void) | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  #receiver: AnswerReceiver | undefined;
  /** When answers may have expired that no replica has read. Undefined: none are known. */
  #expiresMs: number | undefined;

  constructor(options: SessionAnswersOptions) {
    this.#options = options;
    const { perSubject, total } = ANSWER_LIMITS;
    const storeRetry = options.storeRetry ?? STORE_RETRY;
    this.#retryMs = storeRetry.retryMs;
    this.#storeRetry = new StoreRetry({ ...storeRetry, perSubject, total: Math.min(total, MAX_WAITING) });
  }

  get replica(): string {
    return this.#options.replica;
  }

  /** Receives answers from now on. */
  async start(receiver: AnswerReceiver): Promise<void> {
    this.#receiver = receiver;
    this.#expiresMs = this.#options.nowMs() + ANSWER_LIMITS.keptMs;
    const store = await this.#options.open();
    if (!store.ok || this.#endListening !== undefined) return;
    this.#endListening = store.value.onChange((parts, key) => {
      const isOurs = parts.includes('session_answers') && (key === undefined || key === this.replica);
      if (isOurs && receiver.isWaiting()) void this.#take(store.value, receiver);
    });
  }

  /**
   * Waits for a while if the store is away. ANSWER_UNDELIVERED: it is too large, too many are on their way, or the store
   * was away for too long.
   */
  async pass(
    replica: string,
    { session, subject, bytes }: SessionAnswer,
  ): Promise<Result<undefined, Refusal>> {
    const { nowMs, sealer, createId } = this.#options;
    if (bytes.length > ANSWER_LIMITS.bytes)
      return undelivered(`it is larger than ${ANSWER_LIMITS.bytes} bytes`);
    const id = createId();
    const expiresMs = nowMs() + MAX_SKEW_MS;
    const text = JSON.stringify([session, bytes.toString('utf8')]);
    const sealed = await sealer.seal(text, { about: toContext(replica, id), expiresMs });
    const answer = { id, replica, subject, sealed: Buffer.from(sealed) };
    this.#expiresMs = nowMs() + ANSWER_LIMITS.keptMs;
    const added = await this.#storeRetry.run(
      subject,
      () => this.#add(answer),
      () => this.#isClosed,
    );
    if (!added.ok) return undelivered(formatRefusal(added.error));
    return added.value ? ok(undefined) : undelivered('too many answers are on their way');
  }

  async #add(answer: StoredAnswer): Promise<Result<boolean, Refusal>> {
    const store = await this.#options.open();
    return store.ok ? await store.value.addSessionAnswer(answer) : store;
  }

  /** Removes expired answers: those that this process passed, and those left by processes that ended before it began. */
  async sweep(): Promise<void> {
    if (this.#receiver === undefined || this.#expiresMs === undefined) return;
    if (this.#expiresMs > this.#options.nowMs()) return;
    this.#expiresMs = undefined;
    const store = await this.#options.open();
    if (store.ok) await this.#take(store.value, this.#receiver);
  }

  close(): void {
    this.#isClosed = true;
    this.#endListening?.();
    clearTimeout(this.#retry);
  }

  async #take(store: LegacySessionStore, receiver: AnswerReceiver): Promise<void> {
    const taken = await store.takeSessionAnswers(this.replica);
    if (!taken.ok) {
      if (this.#retry === undefined)
        this.#options.log.warn('answers of clients could not be read', { cause: formatRefusal(taken.error) });
      clearTimeout(this.#retry);
      const again = (): unknown => (receiver.isWaiting() ? this.#take(store, receiver) : undefined);
      this.#retry = setTimeout(again, this.#retryMs).unref();
      return;
    }
    clearTimeout(this.#retry);
    this.#retry = undefined;
    for (const answer of taken.value) {
      const opened = await this.#open(answer);
      if (opened !== undefined) receiver.receive(opened);
    }
  }

  async #open({ id, replica, sealed }: StoredAnswer): Promise<Omit<SessionAnswer, 'subject'> | undefined> {
    const { sealer, nowMs } = this.#options;
    const opening = { about: toContext(replica, id), nowMs: nowMs() };
    const opened = await sealer.open(sealed.toString(), opening);
    if (!opened.ok) return undefined;
    const [session, text] = JSON.parse(opened.value) as readonly [string, string]; // `pass` wrote it
    return { session, bytes: Buffer.from(text) };
  }
}

function toContext(replica: string, id: string): string {
  return JSON.stringify(['session-answer', replica, id]);
}

function undelivered(reason: string): Result<undefined, Refusal> {
  return err({ code: 'ANSWER_UNDELIVERED', reason });
}
