import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { readJsonString } from '../../protocol/spans.ts';
import {
  asksForTask,
  declaresTasks,
  isRelatedToTask,
  findRelatedTask,
  runsOnlyAsTask,
  findTaskIdsInReply,
} from '../../protocol/tasks.ts';
import { findNameMember } from '../../protocol/translate.ts';
import type { Answer, Call, Target } from './call.ts';
import { recordRefusal } from './record.ts';
import { TaskNotifications } from './task-notifications.ts';
import type { TaskIds } from '../ports/sealing.ts';
import type { Server } from '../catalog/server.ts';
import { knowsTasks, makesTasks, offersTasks } from './task-support.ts';

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
  for (const { id } of findTaskIdsInReply(message, { method, from })) notifications.own(id);
  return { ...answered, wrapTask: wrap };
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
