import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { UpstreamRequest, Reply } from '../../gateway/ports/link.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import type { NotificationMessage, RequestMessage, ResponseMessage } from '@assay-mcp/protocol/message';
import { LOG_MESSAGE } from './incoming.ts';
import { findProgressToken, setProgressToken } from '@assay-mcp/protocol/translate';
import type { OpenServerRequests } from './open-server-requests.ts';

/** The request that is answered by a stream of notifications (2026-07-28, basic/patterns/subscriptions). */
export const LISTEN = 'subscriptions/listen';

/** Notifications that a server may send to a client during its call. */
const IS_OF_CALL: ReadonlySet<string> = new Set([
  LOG_MESSAGE,
  'notifications/tasks/status',
  'notifications/elicitation/complete',
]);

export interface PendingOptions {
  readonly server: string;
  readonly request: UpstreamRequest;
  readonly settle: (result: Result<Reply, Refusal>) => void;
  /** Whether the server may be waiting for an answer that is tied to no request, so that its silence does not count. */
  readonly isAsking?: () => boolean;
  /** Called before `settle` when the request is abandoned, so that the server can be told. */
  readonly giveUp: (reason: string | undefined) => void;
}

/**
 * How many times the time limit progress may extend a request whose client has not asked for progress, and so cannot see
 * that the server is at work.
 */
const MAX_EXTENSIONS = 10;

/** The refusal when no more requests can be started. */
export function refuseTooMany(server: string): Result<never, Refusal> {
  return err({ code: 'SERVER_UNAVAILABLE', server, cause: { code: 'REQUEST_LIMIT' } });
}

/** One unanswered request: its time limit, its progress, its end. Only the first end counts. */
export class Pending {
  readonly #options: PendingOptions;
  readonly #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** Number of open server requests that belong to this request. */
  #asking = 0;
  #withdrawals: (() => void)[] | undefined;
  /** When it was sent, by `performance.now`. */
  readonly #sentMs = performance.now();
  #hasProgress = false;
  readonly #onCancel = (): void => this.#cancelled();

  constructor(options: PendingOptions) {
    this.#options = options;
    const { timeoutMs, cancellation } = options.request;
    if (Number.isFinite(timeoutMs)) this.#timer = setTimeout(() => this.#late(timeoutMs), timeoutMs);
    cancellation?.addListener(this.#onCancel);
  }

  /** Whether this is a stream of change notifications. */
  get isStream(): boolean {
    return this.#options.request.message.method === LISTEN;
  }

  /** Whether a listener takes the log messages of this request. */
  get takesLogs(): boolean {
    return this.#options.request.onNotification !== undefined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** A notification that belongs to this request. Progress restarts the time limit. */
  note(note: NotificationMessage): void {
    if (this.#isOver) return;
    const { request } = this.#options;
    if (note.method !== 'notifications/progress') {
      // Forward only notifications that belong to calls, whatever else the server sends under the call's id.
      if (this.isStream || IS_OF_CALL.has(note.method)) request.onNotification?.(note, note.bytes);
      return;
    }
    const token = findProgressToken(request.message);
    if (token === undefined) this.#extend();
    else {
      this.#timer?.refresh();
      request.onNotification?.(note, setProgressToken(note, token));
    }
  }

  /** Progress that only Assay asked for restarts the time limit up to a bound. */
  #extend(): void {
    this.#hasProgress = true;
    const { timeoutMs } = this.#options.request;
    const endMs = this.#sentMs + MAX_EXTENSIONS * timeoutMs;
    if (performance.now() + timeoutMs <= endMs) this.#timer?.refresh();
  }

  answer(message: ResponseMessage, era: Era): void {
    this.#end(ok({ message, era }));
  }

  /** A server request during this request. It is withdrawn if still open when this request is over. */
  asked(message: RequestMessage, serverRequests: OpenServerRequests, send: (bytes: Buffer) => void): void {
    const withdraw = serverRequests.take(message, {
      // After the answer, server requests have no client to go to.
      to: this.#isOver ? undefined : this.#options.request.onServerRequest,
      send,
      onOpen: () => (this.#asking += 1),
      onOver: () => {
        this.#asking -= 1;
        this.refresh();
      },
    });
    (this.#withdrawals ??= []).push(withdraw);
  }

  /** The client has answered a server request, so the server's time limit restarts. */
  refresh(): void {
    if (!this.#isOver) this.#timer?.refresh();
  }

  fail(refusal: Refusal): void {
    this.#end(err(refusal));
  }

  #cancelled(): void {
    if (!this.#isOver) this.#giveUp(this.#options.request.cancellation?.reason, { code: 'CANCELLED' });
  }

  #late(limitMs: number): void {
    if (this.#asking > 0 || this.#options.isAsking?.() === true) {
      this.#timer?.refresh();
      return;
    }
    const { server } = this.#options;
    this.#giveUp('the time limit has passed', {
      code: 'SERVER_TIMEOUT',
      server,
      limitMs,
      ...(this.#hasProgress && { elapsedMs: Math.round(performance.now() - this.#sentMs) }),
    });
  }

  #giveUp(reason: string | undefined, refusal: Refusal): void {
    // Before the exchange is aborted, which may report its own failure at once.
    this.#isOver = true;
    this.#options.giveUp(reason);
    this.#settle(err(refusal));
  }

  #end(result: Result<Reply, Refusal>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settle(result);
  }

  #settle(result: Result<Reply, Refusal>): void {
    clearTimeout(this.#timer);
    this.#withdrawals?.forEach((withdraw) => withdraw());
    this.#options.request.cancellation?.removeListener(this.#onCancel);
    this.#options.settle(result);
  }
}
