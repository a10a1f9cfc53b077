import type { Refusal } from '../core/refusal.ts';
import { textOf } from '../protocol/spans.ts';
import { declaresTasks, taskIdOf, TASKS_EXTENSION } from '../protocol/tasks.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { TaskIds } from './ports/task-ids.ts';
import type { Server } from './server.ts';
import { listTasks } from './task-list.ts';
import { relayOwn, wrapping } from './task-relay.ts';
import { offersTasks } from './task-support.ts';

export const TASK_METHODS: readonly string[] = [
  'tasks/get',
  'tasks/result',
  'tasks/cancel',
  'tasks/update',
  'tasks/list',
];

/** Hands an exchange to a server under the name that the server has for what it is about. */
export type RelayNamed = (exchange: Exchange, server: Server, name: string | undefined) => Promise<Answer>;

/** What a client must declare to ask for tasks in the modern era. */
export const TASKS_MISSING: Refusal = {
  code: 'CAPABILITY_MISSING',
  requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
};

/** Answers a request about tasks by asking the server that the task id names; nothing is kept of tasks in between. */
export async function answerTask(exchange: Exchange, relay: RelayNamed): Promise<Answer> {
  const { view, message, era, subject } = exchange;
  const { method } = message;
  const isList = method === 'tasks/list';
  if (view.tasks === undefined || !offersTasks(view, exchange) || (isList && !view.tasks.isAlone))
    return refused({ code: 'METHOD_UNKNOWN', method });
  if (era === 'modern' && !declaresTasks(message)) return refused(TASKS_MISSING);
  const ids = await view.tasks.ids();
  if (isList) return listTasks(exchange, { ids, relay: (asked, server) => relay(asked, server, undefined) });
  const taskId = textOf(message.bytes, taskIdOf(message));
  if (taskId === undefined)
    return refused({ code: 'PARAMS_INVALID', field: 'params.taskId', reason: 'it must be a string' });
  const found = find(exchange, taskId, ids);
  if (found === undefined) return refused({ code: 'TASK_UNKNOWN', taskId });
  const { server, inner } = found;
  // The parameter is the source of truth (2025-11-25, basic/utilities/tasks#associating-task-related-messages).
  return relayOwn({ ...exchange, task: { related: inner } }, server, {
    relay: (asked) => relay(asked, server, inner),
    own: [inner],
    wrap: wrapping(ids, server, subject),
  });
}

function find(
  { view, subject, era }: Exchange,
  taskId: string,
  ids: TaskIds,
): { readonly server: Server; readonly inner: string } | undefined {
  const task = ids.unwrap(taskId, subject);
  // What was begun goes on, whatever the view shows by now.
  const server = view.capable.find(({ spec }) => spec.name === task?.server);
  // A server that has come back in the other era has lost the tasks of this one.
  return task === undefined || server === undefined || (server.era ?? era) !== era
    ? undefined
    : { server, inner: task.inner };
}

function refused(refusal: Refusal): Answer {
  return { kind: 'refused', refusal };
}
