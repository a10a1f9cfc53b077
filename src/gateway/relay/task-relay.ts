import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { type NotificationMessage, readServerMessage } from '../../protocol/message.ts';
import { textOf } from '../../protocol/spans.ts';
import { splice } from '../../protocol/splice.ts';
import {
  asksForTask,
  declaresTasks,
  isRelatedToTask,
  relatedTaskIn,
  runsOnlyAsTask,
  type TaskChange,
  taskEdits,
  taskIdsInNote,
  taskIdsInReply,
} from '../../protocol/tasks.ts';
import { nameOf } from '../../protocol/translate.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { TaskIds } from '../ports/task-ids.ts';
import type { Server } from '../catalog/server.ts';
import { knowsTasks, makesTasks, offersTasks } from './task-support.ts';

/** Hands an exchange to a server that is known. */
export type Relay = (exchange: Exchange, server: Server) => Promise<Answer>;

/** Whether a request has to do with tasks; asked of every one that goes to a server. */
export function concernsTasks(exchange: Exchange, server: Server): boolean {
  const { view, era, message } = exchange;
  if (view.tasks === undefined) return false;
  if (asksForTask(message) || isRelatedToTask(message)) return true;
  const isModernCall = era === 'modern' && message.method === 'tools/call';
  return isModernCall && (makesTasks(server, 'legacy') || mayMakeTask(exchange, server));
}

/** Whether the answer to a request may be a task. */
function mayMakeTask(exchange: Exchange, server: Server): boolean {
  const { era, message } = exchange;
  if (message.method !== 'tools/call' || !makesTasks(server, era)) return false;
  return era === 'modern' ? declaresTasks(message) : asksForTask(message) && knowsTasks(exchange);
}

/** Relays a request that may make a task, or says that it belongs to one. */
export async function relayTasks(exchange: Exchange, server: Server, relay: Relay): Promise<Answer> {
  const { view, message, subject } = exchange;
  const refusal = whyNot(exchange, server);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const isDropped = asksForTask(message) && makesTasks(server, 'legacy') && !isLegacyTasks(exchange);
  const isSettled = !mayMakeTask(exchange, server) && !isRelatedToTask(message);
  const ids = isSettled ? undefined : await view.tasks?.ids();
  if (ids === undefined) return relay(isDropped ? { ...exchange, task: { isDropped } } : exchange, server);
  const related = relatedTo(exchange, server, ids);
  if (!related.ok) return { kind: 'refused', refusal: related.error };
  const task: TaskChange = { related: related.value, isDropped };
  const own = related.value === undefined ? [] : [related.value];
  return relayOwn({ ...exchange, task }, server, { relay, own, wrap: wrapping(ids, server, subject) });
}

export function wrapping(ids: TaskIds, { spec }: Server, subject: string): (inner: string) => string {
  return (inner) => ids.wrap(spec.name, subject, inner);
}

interface OwnTasks {
  readonly relay: Relay;
  /** Ids, as the server gave them, of the tasks that the request is about. */
  readonly own: readonly string[];
  readonly wrap: (inner: string) => string;
}

/** Relays a request so that the task ids in all that comes back are the client's. */
export async function relayOwn(
  exchange: Exchange,
  server: Server,
  { relay, own, wrap }: OwnTasks,
): Promise<Answer> {
  const notes = new TaskNotifications({
    pass: (note, bytes) => exchange.notify(note, bytes),
    wrap,
    isAlone: exchange.view.tasks?.isAlone === true || hasOwnLink(exchange, server),
  });
  for (const inner of own) notes.own(inner);
  const notify = (note: NotificationMessage, bytes: Buffer): void => notes.hear(note, bytes);
  // Task ids may stand anywhere in the answer, so it is read whole.
  const answered = await relay({ ...exchange, notify }, server);
  if (answered.kind !== 'relayed') return answered;
  const { message, era: from } = answered.reply;
  for (const { id } of taskIdsInReply(message, { method: exchange.message.method, from })) notes.own(id);
  return { ...answered, wrapTask: wrap };
}

/** Whether nobody else's tasks can be meant. */
function hasOwnLink({ session }: Exchange, { spec }: Server): boolean {
  return session !== undefined && spec.isolation === 'session';
}

/** Whether a notification on the stream of a request that has to do with no task is about one: it is somebody else's. */
export function isOfOthersTask({ task }: Exchange, note: NotificationMessage): boolean {
  return task === undefined && taskIdsInNote(note).length > 0;
}

function isLegacyTasks(exchange: Exchange): boolean {
  return exchange.era === 'legacy' && knowsTasks(exchange);
}

/** A tool is listed to all clients as its server defined it, also to those that cannot call it so. */
function whyNot(exchange: Exchange, server: Server): Refusal | undefined {
  const { view, message } = exchange;
  if (message.method !== 'tools/call' || server.capabilities === undefined) return undefined;
  const name = textOf(message.bytes, nameOf(message)) ?? '';
  if (exchange.era === 'modern' && makesTasks(server, 'legacy')) {
    const definition = view.listing('tools').find(name)?.definition;
    return definition !== undefined && runsOnlyAsTask(definition.bytes)
      ? { code: 'TASK_REQUIRED', name }
      : undefined;
  }
  // 2025-11-25, basic/utilities/tasks#tool-level-negotiation
  const isVain = asksForTask(message) && isLegacyTasks(exchange) && !makesTasks(server, 'legacy');
  return isVain && offersTasks(view, exchange) ? { code: 'TASK_UNSUPPORTED', name } : undefined;
}

function relatedTo(
  { message, subject }: Exchange,
  { spec }: Server,
  ids: TaskIds,
): Result<string | undefined, Refusal> {
  const [related] = relatedTaskIn(message);
  if (related === undefined) return ok(undefined);
  const task = ids.unwrap(related.id, subject);
  return task?.server === spec.name ? ok(task.inner) : err({ code: 'TASK_UNKNOWN', taskId: related.id });
}

type Pass = (note: NotificationMessage, bytes: Buffer) => void;

interface TaskNotesOptions {
  /** Hands a notification on to the client of the request. */
  readonly pass: Pass;
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
  readonly #options: TaskNotesOptions;
  readonly #own = new Set<string>();
  #held: (readonly [NotificationMessage, Buffer])[] = [];

  constructor(options: TaskNotesOptions) {
    this.#options = options;
  }

  /** The request is about this task, or has made it. */
  own(inner: string): void {
    this.#own.add(inner);
    const held = this.#held;
    this.#held = [];
    for (const [note, bytes] of held) this.hear(note, bytes);
  }

  hear(note: NotificationMessage, bytes: Buffer): void {
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
