import type { Era } from './eras.ts';
import {
  isParsable,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
} from './message.ts';
import { scanArray, scanObject } from './scan.ts';
import { MAX_SERVER_DEPTH } from './scanner.ts';
import {
  findMember,
  buildPlan,
  readJsonString,
  readRawValue,
  type JsonObject,
  type Member,
  type Span,
} from './spans.ts';
import { splice, type Edit } from './splice.ts';

/** The name of the extension that defines modern tasks; in the legacy era they are part of 2025-11-25. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const RELATED_TASK = 'io.modelcontextprotocol/related-task';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Where a task id is, as a path of keys from the params or the result. */
type MemberPath = readonly string[];

/** Any message may name its task in `_meta` (2025-11-25, basic/utilities/tasks#associating-task-related-messages). */
const RELATED: MemberPath = ['_meta', RELATED_TASK, 'taskId'];

/** Requests that name their task in `params.taskId`. */
const ABOUT_ONE: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update']);

/** In results, except for `tasks/list`, whose tasks are handled one by one, see `readTaskPage`. */
const IN_RESULTS: Readonly<Record<Era, ReadonlyMap<string, MemberPath>>> = {
  legacy: new Map([
    ['tools/call', ['task', 'taskId']],
    ['tasks/get', ['taskId']],
    ['tasks/cancel', ['taskId']],
  ]),
  modern: new Map([
    ['tools/call', ['taskId']],
    ['tasks/get', ['taskId']],
  ]),
};
const IN_NOTIFICATIONS: ReadonlyMap<string, MemberPath> = new Map([
  ['notifications/tasks/status', ['taskId']],
  ['notifications/tasks', ['taskId']],
]);

/** What a request says about tasks that differs for its server. */
export interface TaskChange {
  /** The server's own id of the task that the request names in `_meta`. */
  readonly related?: string | undefined;
  /** Whether to leave out `params.task`: a client without tasks means nothing by it, but the server would act on it. */
  readonly isDropped?: boolean;
}

/** A task id and the span of its string. */
export interface FoundTaskId extends Span {
  readonly id: string;
}

/** The member that names the task a request is about. */
export function findTaskId({ method, params }: RequestMessage): Member | undefined {
  return ABOUT_ONE.has(method) ? findMember(params, 'taskId') : undefined;
}

/** Whether a request names a related task in `_meta`. */
export function isRelatedToTask({ params }: RequestMessage): boolean {
  return findMember(findMember(params, '_meta')?.object, RELATED_TASK) !== undefined;
}

/** Where a request, of either side, names its related task. */
export function findRelatedTask({ bytes, params }: RequestMessage): readonly FoundTaskId[] {
  return findTaskIds(bytes, params, RELATED);
}

export function findTaskIdsInNote({ bytes, method, params }: NotificationMessage): readonly FoundTaskId[] {
  const path = IN_NOTIFICATIONS.get(method);
  return [
    ...(path === undefined ? [] : findTaskIds(bytes, params, path)),
    ...findTaskIds(bytes, params, RELATED),
  ];
}

/** All task ids in a response in the form of `from`, including a client's answer to a server request. */
export function findTaskIdsInReply(
  message: ResponseMessage,
  { method, from }: { readonly method: string; readonly from: Era },
): readonly FoundTaskId[] {
  const { bytes } = message;
  const result = findMember(message.root, 'result')?.object;
  const path = IN_RESULTS[from].get(method);
  const isNone = from === 'modern' && method === 'tools/call' && !makesTask(message);
  return [
    ...(path === undefined || isNone ? [] : findTaskIds(bytes, result, path)),
    ...findTaskIds(bytes, result, RELATED),
  ];
}

/** Whether a modern result stands for a running task (2026-07-28 Tasks, #polymorphic-results). */
function makesTask({ bytes, root }: ResponseMessage): boolean {
  return readJsonString(bytes, findMember(findMember(root, 'result')?.object, 'resultType')) === 'task';
}

/** What a response says about its task. Both are undefined if it says nothing readable. */
export interface TaskStatus {
  readonly status: string | undefined;
  /** How long the server keeps the task after its creation. Undefined: without a limit. */
  readonly ttlMs: number | undefined;
}

/** The status of the task that a response stands for or reports. */
export function readTaskStatus({ bytes, root }: ResponseMessage): TaskStatus {
  const result = findMember(root, 'result');
  const scan =
    result &&
    scanObject(bytes.subarray(result.start, result.end), {
      plan: STATUS,
      strict: false,
      refusesTwice: true,
      maxDepth: MAX_SERVER_DEPTH,
    });
  if (result === undefined || scan?.ok !== true) return { status: undefined, ttlMs: undefined };
  const text = bytes.subarray(result.start, result.end);
  const task = findMember(scan.value, 'task')?.object ?? scan.value;
  const ttl = findMember(task, 'ttlMs') ?? findMember(task, 'ttl');
  const ttlMs = ttl && Number(readRawValue(text, ttl));
  return {
    status: readJsonString(text, findMember(task, 'status')),
    ttlMs: ttlMs !== undefined && ttlMs > 0 ? ttlMs : undefined,
  };
}

const STATUS = buildPlan({
  status: {},
  ttl: {},
  ttlMs: {},
  task: { status: {}, ttl: {}, ttlMs: {} },
});

/** Whether a task in this state has ended. */
export function isTerminal(status: string | undefined): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Edits that replace these ids. */
export function buildTaskEdits(ids: readonly FoundTaskId[], rename: (id: string) => string): readonly Edit[] {
  return ids.map(({ id, start, end }) => ({ start, end, text: JSON.stringify(rename(id)) }));
}

/** Whether a call asks to be run as a task (2025-11-25, basic/utilities/tasks#creating-tasks). */
export function asksForTask({ method, params }: RequestMessage): boolean {
  return method === 'tools/call' && findMember(params, 'task') !== undefined;
}

/** Whether a tool's definition requires it to be called as a task (2025-11-25, #tool-level-negotiation). */
export function runsOnlyAsTask(definition: Buffer): boolean {
  const scan = scanObject(definition, { plan: EXECUTION, strict: false, maxDepth: MAX_SERVER_DEPTH });
  const execution = scan.ok ? findMember(scan.value, 'execution')?.object : undefined;
  return readJsonString(definition, findMember(execution, 'taskSupport')) === 'required';
}

const EXECUTION = buildPlan({ execution: { taskSupport: {} } });

/** Whether a modern request declares that its client supports tasks (2026-07-28 Tasks, #capability-negotiation). */
export function declaresTasks({ params }: RequestMessage): boolean {
  const capabilities = findMember(findMember(params, '_meta')?.object, CAPABILITIES)?.object;
  return findMember(findMember(capabilities, 'extensions')?.object, TASKS_EXTENSION) !== undefined;
}

/** One page of a server's own `tasks/list`, with each task as written. */
export interface TaskPage {
  readonly tasks: readonly Buffer[];
  readonly nextCursor: string | undefined;
}

export function readTaskPage(message: ResponseMessage): TaskPage | undefined {
  if (!isParsable(message)) return undefined;
  const { bytes, root } = message;
  const result = findMember(root, 'result')?.object;
  const list = findMember(result, 'tasks');
  const spans = list && scanArray(bytes, list.start, false);
  if (spans === undefined) return undefined;
  const tasks = spans.map(({ start, end }) => bytes.subarray(start, end));
  return { tasks, nextCursor: readJsonString(bytes, findMember(result, 'nextCursor')) };
}

/** A listed task under another id; undefined if it has none. */
export function renameTask(task: Buffer, rename: (id: string) => string): Buffer | undefined {
  const scan = scanObject(task, {
    plan: TASK,
    strict: false,
    refusesTwice: true,
    maxDepth: MAX_SERVER_DEPTH,
  });
  const ids = scan.ok ? findTaskIds(task, scan.value, ['taskId']) : [];
  return ids.length === 0 ? undefined : splice(task, buildTaskEdits(ids, rename));
}

const TASK = buildPlan({ taskId: {} });

function findTaskIds(
  bytes: Buffer,
  object: JsonObject | undefined,
  [key, ...deeper]: MemberPath,
): readonly FoundTaskId[] {
  const member = key === undefined ? undefined : findMember(object, key);
  if (deeper.length > 0) return findTaskIds(bytes, member?.object, deeper);
  const id = readJsonString(bytes, member);
  return member === undefined || id === undefined ? [] : [{ id, start: member.start, end: member.end }];
}
