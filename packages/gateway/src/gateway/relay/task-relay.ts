import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { type Era, LEGACY_TASKS_VERSION } from '@assay-mcp/protocol/eras';
import { readJsonString } from '@assay-mcp/protocol/spans';
import {
  asksForTask,
  declaresTasks,
  isRelatedToTask,
  findRelatedTask,
  runsOnlyAsTask,
  findTaskIdsInReply,
  isTerminal,
  readTaskStatus,
  TASKS_EXTENSION,
} from '@assay-mcp/protocol/tasks';
import { findNameMember } from '@assay-mcp/protocol/translate';
import type { Server } from '../catalog/server.ts';
import type { View } from '../catalog/view.ts';
import type { Capabilities, Reply } from '../ports/link.ts';
import type { TaskIds, TaskAccess } from '../ports/sealing.ts';
import type { Answer, Call, Target } from './call.ts';
import { recordRefusal } from './record.ts';
import { TaskNotifications } from './task-notifications.ts';

/** Decides on a call whose server is known, sends it and records its outcome. */
export type ExecuteCall = (call: Call, target: Target) => Promise<Answer>;

/** Whether a request involves tasks. Checked for every request to a server. */
export function concernsTasks(call: Call, server: Server): boolean {
  const { deps, era, message } = call;
  if (deps.tasks === undefined) return false;
  if (asksForTask(message) || isRelatedToTask(message)) return true;
  const isModernCall = era === 'modern' && message.method === 'tools/call';
  return isModernCall && (makesTasks(server, 'legacy') || mayMakeTask(call, server));
}

/** Whether the answer to a request may be a task. */
function mayMakeTask(call: Call, server: Server): boolean {
  const { era, message } = call;
  if (message.method !== 'tools/call' || !makesTasks(server, era)) return false;
  return era === 'modern' ? declaresTasks(message) : asksForTask(message) && knowsTasks(call);
}

/** Carries out a call that may create a task or belongs to one. */
export async function relayTasks(call: Call, target: Target, execute: ExecuteCall): Promise<Answer> {
  const { deps, message, subject } = call;
  const { server } = target;
  const refusal = whyNot(call, server);
  if (refusal !== undefined) return recordRefusal(call, refusal, server);
  const isDropped = asksForTask(message) && makesTasks(server, 'legacy') && !isLegacyTasks(call);
  const isSettled = !mayMakeTask(call, server) && !isRelatedToTask(message);
  const ids = isSettled ? undefined : await deps.tasks?.ids();
  if (ids === undefined) {
    if (isDropped) call.task = { isDropped };
    return execute(call, target);
  }
  const related = relatedTo(call, server, ids);
  if (!related.ok) return recordRefusal(call, related.error, server);
  call.task = { related: related.value, isDropped };
  const own = related.value === undefined ? [] : [related.value];
  return relayOwn(call, target, { execute, own, wrap: createIdWrapper(ids, server, subject) });
}

export function createIdWrapper(ids: TaskIds, { spec }: Server, subject: string): (inner: string) => string {
  return (inner) => ids.wrap(spec.name, subject, inner);
}

interface OwnTasks {
  readonly execute: ExecuteCall;
  /** The server's ids of the tasks that the request is about. */
  readonly own: readonly string[];
  readonly wrap: (inner: string) => string;
}

/** Carries out a call and replaces the server's task ids in everything that comes back. */
export async function relayOwn(
  call: Call,
  target: Target,
  { execute, own, wrap }: OwnTasks,
): Promise<Answer> {
  const notifications = new TaskNotifications({
    pass: (note, bytes) => call.client.notify(note, bytes),
    wrap,
    isAlone: call.deps.tasks?.isAlone === true || hasOwnLink(call, target.server),
  });
  for (const inner of own) notifications.own(inner);
  call.taskNotifications = notifications;
  const { method } = call;
  // Task ids may be anywhere in the answer, so all of it is parsed.
  const answered = await execute(call, target);
  if (answered.kind !== 'relayed') return answered;
  const { message, era: from } = answered.reply;
  const ids = findTaskIdsInReply(message, { method, from });
  for (const { id } of ids) notifications.own(id);
  const about = method === 'tools/call' ? ids.map(({ id }) => id) : own;
  followTasks(target.server, { method, reply: answered.reply, about });
  return { ...answered, wrapTask: wrap };
}

interface TaskReply {
  readonly method: string;
  readonly reply: Reply;
  /** The server's ids of the tasks that were created or asked about. */
  readonly about: readonly string[];
}

/** A server with an open task is not stopped for lack of use: the task, or its result, would be lost. */
function followTasks({ use }: Server, { method, reply, about }: TaskReply): void {
  const { message, era } = reply;
  if (about.length === 0) return;
  const { status, ttlMs } = readTaskStatus(message);
  for (const id of about)
    switch (method) {
      case 'tools/call':
        use.taskOpened(id, ttlMs);
        break;
      case 'tasks/get':
        // A modern server sends the result with the status (2026-07-28 Tasks, tasks/get).
        if (message.isError || (era === 'modern' && isTerminal(status))) use.taskEnded(id);
        else use.taskOpened(id, ttlMs);
        break;
      case 'tasks/cancel':
        if (!message.isError) use.taskEnded(id);
        break;
      case 'tasks/result':
        use.taskEnded(id);
    }
}

/** Whether no other client's tasks can be meant. */
function hasOwnLink({ session }: Call, { spec }: Server): boolean {
  return session !== undefined && spec.isolation === 'session';
}

function isLegacyTasks(call: Call): boolean {
  return call.era === 'legacy' && knowsTasks(call);
}

/** Why a tool cannot be called this way. Tools are listed to all clients, even those that cannot call them. */
function whyNot(call: Call, server: Server): Refusal | undefined {
  const { view, message } = call;
  const { tasks } = call.deps;
  if (message.method !== 'tools/call' || server.capabilities === undefined) return undefined;
  const name = readJsonString(message.bytes, findNameMember(message)) ?? '';
  if (call.era === 'modern' && makesTasks(server, 'legacy')) {
    const definition = view.listing('tools').find(name)?.definition;
    return definition !== undefined && runsOnlyAsTask(definition.bytes)
      ? { code: 'TASK_REQUIRED', name }
      : undefined;
  }
  // 2025-11-25, basic/utilities/tasks#tool-level-negotiation
  const isUnsupported = asksForTask(message) && isLegacyTasks(call) && !makesTasks(server, 'legacy');
  return isUnsupported && offersTasks({ view, tasks }, call) ? { code: 'TASK_UNSUPPORTED', name } : undefined;
}

function relatedTo(
  { message, subject }: Call,
  { spec }: Server,
  ids: TaskIds,
): Result<string | undefined, Refusal> {
  const [related] = findRelatedTask(message);
  if (related === undefined) return ok(undefined);
  const task = ids.unwrap(related.id, subject);
  return task?.server === spec.name ? ok(task.inner) : err({ code: 'TASK_UNKNOWN', taskId: related.id });
}

/** The servers of a view, and whether tasks are offered. */
export interface TaskOffer {
  readonly view: Pick<View, 'capable'>;
  readonly tasks: TaskAccess | undefined;
}

/** The era and revision of a client, which determine task support. */
export interface ClientForm {
  readonly era: Era;
  /** The revision that a legacy client negotiated. */
  readonly version?: string | undefined;
}

/** Whether the client's revision has tasks. */
function knowsTasks({ era, version }: ClientForm): boolean {
  return era === 'modern' || version === LEGACY_TASKS_VERSION;
}

/** Whether a server creates tasks of an era. The tasks of the two eras share only their name. */
function makesTasks({ era, capabilities }: Server, form: Era): boolean {
  return era === form && capabilities !== undefined && formOf(capabilities, form).makes;
}

export function listsTasks({ era, capabilities }: Server): boolean {
  return era === 'legacy' && capabilities !== undefined && formOf(capabilities, 'legacy').lists;
}

/** Whether tasks are offered to a client of this form. */
export function offersTasks(offer: TaskOffer, client: ClientForm): boolean {
  return Object.keys(computeTaskCapabilities(offer, client)).length > 0;
}

/** The capabilities that offer tasks to a client. Empty if no server could create one for it. */
export function computeTaskCapabilities({ view, tasks }: TaskOffer, client: ClientForm): JsonObject {
  if (tasks === undefined || !knowsTasks(client)) return {};
  const forms = view.capable.flatMap((server) => formsOf(server, client.era));
  if (!forms.some(({ makes }) => makes)) return {};
  if (client.era === 'modern') return { extensions: { [TASKS_EXTENSION]: {} } };
  return {
    tasks: {
      ...(tasks.isAlone && forms.some(({ lists }) => lists) ? { list: {} } : {}),
      ...(forms.some(({ cancels }) => cancels) ? { cancel: {} } : {}),
      requests: { tools: { call: {} } },
    },
  };
}

interface TaskForm {
  readonly makes: boolean;
  readonly cancels: boolean;
  readonly lists: boolean;
}

const ANY: TaskForm = { makes: true, cancels: true, lists: true };

/** A server that has never been ready may support any form. */
function formsOf({ era, capabilities }: Server, form: Era): readonly TaskForm[] {
  if (capabilities === undefined) return [ANY];
  return era === form ? [formOf(capabilities, form)] : [];
}

function formOf(capabilities: Capabilities, form: Era): TaskForm {
  if (form === 'modern') {
    const makes = memberOf(capabilities['extensions'], TASKS_EXTENSION) !== undefined;
    return { makes, cancels: makes, lists: false };
  }
  const tasks = capabilities['tasks'];
  const makes = memberOf(memberOf(memberOf(tasks, 'requests'), 'tools'), 'call') !== undefined;
  const has = (key: string): boolean => makes && memberOf(tasks, key) !== undefined;
  return { makes, cancels: has('cancel'), lists: has('list') };
}

/** Server capabilities are unvalidated. */
function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as JsonObject)[key] : undefined;
}
