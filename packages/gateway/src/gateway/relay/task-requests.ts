import type { Refusal } from '../../core/refusal.ts';
import { buildOwnRequest, findCursor } from '@assay-mcp/protocol/message';
import { readJsonString } from '@assay-mcp/protocol/spans';
import {
  declaresTasks,
  renameTask,
  findTaskId,
  TASKS_EXTENSION,
  readTaskPage,
} from '@assay-mcp/protocol/tasks';
import { type Answer, type Call, toRefusedAnswer } from './call.ts';
import { recordRefusal } from './record.ts';
import type { TaskIds } from '../ports/sealing.ts';
import type { Server } from '../catalog/server.ts';
import { type ExecuteCall, relayOwn, createIdWrapper, listsTasks, offersTasks } from './task-relay.ts';

export const TASK_METHODS: readonly string[] = [
  'tasks/get',
  'tasks/result',
  'tasks/cancel',
  'tasks/update',
  'tasks/list',
];

/** Refusal for a modern client that did not declare tasks. */
export const TASKS_MISSING: Refusal = {
  code: 'CAPABILITY_MISSING',
  requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
};

/** Answers a task request by asking the server named in the task id; no task state is kept in between. */
export async function answerTask(call: Call, execute: ExecuteCall): Promise<Answer> {
  const { view, message, era, method } = call;
  const { tasks } = call.deps;
  const isList = method === 'tasks/list';
  if (tasks === undefined || !offersTasks({ view, tasks }, call) || (isList && !tasks.isAlone))
    return toRefusedAnswer({ code: 'METHOD_UNKNOWN', method });
  if (era === 'modern' && !declaresTasks(message)) return toRefusedAnswer(TASKS_MISSING);
  const ids = await tasks.ids();
  if (isList) return listTasks(call, ids, execute);
  const taskId = readJsonString(message.bytes, findTaskId(message));
  if (taskId === undefined)
    return toRefusedAnswer({ code: 'PARAMS_INVALID', field: 'params.taskId', reason: 'it must be a string' });
  const found = find(call, taskId, ids);
  if (found === undefined) return recordRefusal(call, { code: 'TASK_UNKNOWN', taskId }, undefined);
  const { server, inner } = found;
  // The parameter is the source of truth (2025-11-25, basic/utilities/tasks#associating-task-related-messages).
  call.task = { related: inner };
  const wrap = createIdWrapper(ids, server, call.subject);
  return relayOwn(call, { server, name: inner }, { execute, own: [inner], wrap });
}

function find(
  { view, subject, era }: Call,
  taskId: string,
  ids: TaskIds,
): { readonly server: Server; readonly inner: string } | undefined {
  const task = ids.unwrap(taskId, subject);
  // An existing task stays reachable, even if the view no longer shows its server.
  const server = view.capable.find(({ spec }) => spec.name === task?.server);
  // A server that restarted in the other era has lost its tasks.
  return task === undefined || server === undefined || (server.era ?? era) !== era
    ? undefined
    : { server, inner: task.inner };
}

/** A page ends after this many tasks, or after `MAX_POLLED` requests to servers. */
const PAGE_SIZE = 1_000;
const MAX_POLLED = 50;

/** Where a page begins: a server and that server's cursor. */
interface Start {
  readonly server: string;
  readonly cursor: string | undefined;
}

/**
 * Lists the tasks of all servers that support it, one server after the other. Call only if all listed tasks belong to
 * the client. A server that cannot be reached is skipped; it is an error only if it is the only one.
 */
async function listTasks(call: Call, ids: TaskIds, execute: ExecuteCall): Promise<Answer> {
  const { view, message, subject } = call;
  const servers = view.servers.filter(listsTasks);
  const given = findCursor(message);
  let start = given === undefined ? undefined : startOf(readJsonString(message.bytes, given));
  let at = given === undefined ? 0 : servers.findIndex(({ spec }) => spec.name === start?.server);
  if (at < 0) return toRefusedAnswer({ code: 'CURSOR_INVALID' });
  const tasks: Buffer[] = [];
  for (let asked = 0; asked < MAX_POLLED && tasks.length < PAGE_SIZE; asked += 1) {
    const server = servers[at];
    if (server === undefined) break;
    const cursor = start?.cursor;
    call.message = buildOwnRequest('tasks/list', cursor === undefined ? {} : { cursor });
    const answered = await execute(call, { server, name: undefined });
    const page = answered.kind === 'relayed' ? readTaskPage(answered.reply.message) : undefined;
    if (page === undefined && servers.length === 1) return answered;
    const wrap = createIdWrapper(ids, server, subject);
    for (const task of page?.tasks ?? []) {
      const renamed = renameTask(task, wrap);
      if (renamed !== undefined) tasks.push(renamed);
    }
    start =
      page?.nextCursor === undefined ? undefined : { server: server.spec.name, cursor: page.nextCursor };
    if (start === undefined) at += 1;
  }
  return { kind: 'own', result: pageText(tasks, start ?? nextStart(servers[at])) };
}

function nextStart(server: Server | undefined): Start | undefined {
  return server === undefined ? undefined : { server: server.spec.name, cursor: undefined };
}

function pageText(tasks: readonly Buffer[], next: Start | undefined): Buffer {
  const pieces = tasks.flatMap((task, index) => (index === 0 ? [task] : [COMMA, task]));
  const cursor = next && Buffer.from(JSON.stringify([next.server, next.cursor])).toString('base64url');
  const tail = cursor === undefined ? ']}' : `],"nextCursor":"${cursor}"}`;
  return Buffer.concat([Buffer.from('{"tasks":['), ...pieces, Buffer.from(tail)]);
}

const COMMA: Buffer = Buffer.from(',');

/** Cursors need no protection: they name only what the client could request anyway. */
function startOf(cursor: string | undefined): Start | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor ?? '', 'base64url').toString());
    if (!Array.isArray(value)) return undefined;
    const [server, inner] = value as readonly unknown[];
    if (typeof server !== 'string') return undefined;
    return { server, cursor: typeof inner === 'string' ? inner : undefined };
  } catch {
    return undefined;
  }
}
