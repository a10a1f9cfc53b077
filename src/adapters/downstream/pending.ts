import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Ask, Reply } from '../../gateway/ports.ts';
import type { Era } from '../../protocol/eras.ts';
import type { NotificationMessage, ResponseMessage } from '../../protocol/message.ts';
import { progressTokenOf, withProgressToken } from '../../protocol/translate.ts';

export interface PendingOptions {
  readonly server: string;
  readonly ask: Ask;
  readonly settle: (result: Result<Reply, Refusal>) => void;
  /** Called when nobody waits for the answer any more, so that the server can be told; before `settle`. */
  readonly giveUp: (reason: string | undefined) => void;
}

/** Refuses a request that cannot even be begun. */
export function tooMany(server: string): Result<never, Refusal> {
  return err({ code: 'SERVER_UNAVAILABLE', server, cause: 'too many requests wait for it already' });
}

/** One request that its server has not answered yet: its time limit, its progress, its end. Only the first end counts. */
export class Pending {
  readonly #options: PendingOptions;
  readonly #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: PendingOptions) {
    this.#options = options;
    const { timeoutMs, cancellation } = options.ask;
    if (Number.isFinite(timeoutMs)) this.#timer = setTimeout(() => this.#late(timeoutMs), timeoutMs);
    cancellation?.listen(() => this.#cancelled());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** A notification that belongs to this request. Progress starts the time limit anew. */
  note(note: NotificationMessage): void {
    if (this.#isOver) return;
    const { onNotification, message } = this.#options.ask;
    if (note.method !== 'notifications/progress') {
      onNotification?.(note, note.bytes);
      return;
    }
    this.#timer?.refresh();
    const token = progressTokenOf(message);
    if (token !== undefined) onNotification?.(note, withProgressToken(note, token));
  }

  answer(message: ResponseMessage, era: Era): void {
    this.#end(ok({ message, era }));
  }

  fail(refusal: Refusal): void {
    this.#end(err(refusal));
  }

  #cancelled(): void {
    if (this.#isOver) return;
    this.#options.giveUp(this.#options.ask.cancellation?.reason);
    this.fail({ code: 'CANCELLED' });
  }

  #late(limitMs: number): void {
    this.#options.giveUp('the time limit has passed');
    this.fail({ code: 'SERVER_TIMEOUT', server: this.#options.server, limitMs });
  }

  #end(result: Result<Reply, Refusal>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#options.ask.cancellation?.listen(undefined);
    this.#options.settle(result);
  }
}
