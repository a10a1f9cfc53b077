import { type NotificationMessage, readServerMessage } from '../../protocol/message.ts';
import { splice } from '../../protocol/splice.ts';
import { taskEdits, taskIdsInNote } from '../../protocol/tasks.ts';

export interface TaskNotificationsOptions {
  /** Hands a notification on to the client of the request. */
  readonly pass: (note: NotificationMessage, bytes: Buffer) => void;
  readonly wrap: (inner: string) => string;
  /** Whether no other client uses the link. */
  readonly isAlone: boolean;
}

/** Most notifications of one request that wait for its task to be known. */
const MOST_HELD = 100;

/**
 * Notifications on the stream of a request that name tasks. A server may say there what is about any task of its
 * connection (2025-11-25, basic/utilities/tasks#input-required-status), which clients may share: so only what is about a
 * task of this request goes on, and what comes before the task has its id waits for it.
 */
export class TaskNotifications {
  readonly #options: TaskNotificationsOptions;
  readonly #own = new Set<string>();
  #held: (readonly [NotificationMessage, Buffer])[] = [];

  constructor(options: TaskNotificationsOptions) {
    this.#options = options;
  }

  /** The request is about this task, or has made it. */
  own(inner: string): void {
    this.#own.add(inner);
    const held = this.#held;
    this.#held = [];
    for (const [note, bytes] of held) this.notify(note, bytes);
  }

  notify(note: NotificationMessage, bytes: Buffer): void {
    const ids = taskIdsInNote(note);
    if (ids.length === 0) this.#options.pass(note, bytes);
    else if (this.#options.isAlone || ids.every(({ id }) => this.#own.has(id)))
      this.#options.pass(note, this.#renamed(note, bytes));
    else if (this.#held.length < MOST_HELD) this.#held.push([note, bytes]);
  }

  /** The bytes may be those of the notification after an edit. */
  #renamed(note: NotificationMessage, bytes: Buffer): Buffer {
    const now = bytes === note.bytes ? note : readServerMessage(bytes);
    return now.kind === 'notification'
      ? splice(bytes, taskEdits(taskIdsInNote(now), this.#options.wrap))
      : bytes;
  }
}
