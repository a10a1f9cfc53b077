import { memberOf, textOf } from '../protocol/spans.ts';
import { ownRequest } from '../protocol/message.ts';
import { renamedTask, tasksIn } from '../protocol/tasks.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { TaskIds } from './ports/task-ids.ts';
import type { Server } from './server.ts';
import { wrapping, type Relay } from './task-relay.ts';
import { listsTasks } from './task-support.ts';

/** A page ends when it has so many tasks, or after so many questions to servers. */
const PAGE_SIZE = 1_000;
const MOST_ASKED = 50;

/** Where a page begins: at a server, and at a cursor of its own. */
interface Start {
  readonly server: string;
  readonly cursor: string | undefined;
}

/**
 * The tasks of all servers that list them, one server after the other. To be asked only where all that they list is the
 * client's own. A server that cannot be asked costs its own tasks alone, and is no error but where it is the only one.
 */
export async function listTasks(
  exchange: Exchange,
  { ids, relay }: { readonly ids: TaskIds; readonly relay: Relay },
): Promise<Answer> {
  const { view, message, subject } = exchange;
  const servers = view.servers.filter(listsTasks);
  const given = memberOf(message.params, 'cursor');
  let start = given === undefined ? undefined : startOf(textOf(message.bytes, given));
  let at = given === undefined ? 0 : servers.findIndex(({ spec }) => spec.name === start?.server);
  if (at < 0) return { kind: 'refused', refusal: { code: 'CURSOR_INVALID' } };
  const tasks: Buffer[] = [];
  for (let asked = 0; asked < MOST_ASKED && tasks.length < PAGE_SIZE; asked += 1) {
    const server = servers[at];
    if (server === undefined) break;
    const answered = await relay(asking(exchange, start?.cursor), server);
    const page = answered.kind === 'relayed' ? tasksIn(answered.reply.message) : undefined;
    if (page === undefined && servers.length === 1) return answered;
    const wrap = wrapping(ids, server, subject);
    for (const task of page?.tasks ?? []) {
      const renamed = renamedTask(task, wrap);
      if (renamed !== undefined) tasks.push(renamed);
    }
    start =
      page?.nextCursor === undefined ? undefined : { server: server.spec.name, cursor: page.nextCursor };
    if (start === undefined) at += 1;
  }
  return { kind: 'own', result: pageText(tasks, start ?? nextStart(servers[at])) };
}

function asking(exchange: Exchange, cursor: string | undefined): Exchange {
  const message = ownRequest('tasks/list', cursor === undefined ? {} : { cursor });
  return { ...exchange, message };
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

/** A cursor holds nothing that its client could not ask for without it. */
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
