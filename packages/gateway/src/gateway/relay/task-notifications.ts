import { type NotificationMessage, readServerMessage } from '@assay-mcp/protocol/message';
import { splice } from '@assay-mcp/protocol/splice';
import { buildTaskEdits, findTaskIdsInNote } from '@assay-mcp/protocol/tasks';

export interface TaskNotificationsOptions {
  /** Passes a notification to the client of the request. */
  readonly pass: (note: NotificationMessage, bytes: Buffer) => void;
  readonly wrap: (inner: string) => string;
  /** Whether no other client uses the link. */
  readonly isAlone: boolean;
}

/** Maximum number of notifications held per request until its task is known. */
const MAX_HELD = 100;

/**
 * Filters notifications about tasks on the stream of a request. There a server may report on any task of its connection
 * (2025-11-25, basic/utilities/tasks#input-required-status), which clients may share. So only those about tasks of this
 * request pass; those that arrive before the task has its id are held.
 */
export class TaskNotifications {
  readonly #options: TaskNotificationsOptions;
  readonly #own = new Set<string>();
  #held: (readonly [NotificationMessage, Buffer])[] = [];

  constructor(options: TaskNotificationsOptions) {
    this.#options = options;
  }

  /** Marks a task as belonging to the request. */
  own(inner: string): void {
    this.#own.add(inner);
    const held = this.#held;
    this.#held = [];
    for (const [note, bytes] of held) this.notify(note, bytes);
  }

  notify(note: NotificationMessage, bytes: Buffer): void {
    const ids = findTaskIdsInNote(note);
    if (ids.length === 0) this.#options.pass(note, bytes);
    else if (this.#options.isAlone || ids.every(({ id }) => this.#own.has(id)))
      this.#options.pass(note, this.#renamed(note, bytes));
    else if (this.#held.length < MAX_HELD) this.#held.push([note, bytes]);
  }

  /** The bytes may have been edited since the notification was parsed. */
  #renamed(note: NotificationMessage, bytes: Buffer): Buffer {
    const now = bytes === note.bytes ? note : readServerMessage(bytes);
    return now.kind === 'notification'
      ? splice(bytes, buildTaskEdits(findTaskIdsInNote(now), this.#options.wrap))
      : bytes;
  }
}
