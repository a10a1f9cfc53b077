import { describe, expect, it } from 'vitest';
import { startMade, type Exchange, type MadeHttp } from '../fixtures/http-made.ts';
import { legacyTasks, taskOf } from '../fixtures/legacy-tasks.ts';
import { peerOf, type Peer } from '../fixtures/peer.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater } from '../support/endings.ts';
import type { Stream } from '../support/http.ts';
import { at, textAt, type JsonObject } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { RELATED_TASK } from '../support/tasks.ts';

/** Answers requests on streams; `onRequest` runs before the response, and can send anything on the stream. */
async function startTalking(onRequest: (peer: Peer, method: string) => void): Promise<MadeHttp> {
  const tasks = legacyTasks('web');
  const serverInfo = { name: 'talking', version: '1' };
  const own = ({ incoming, response }: Exchange): boolean => {
    if (incoming.id === undefined || incoming.method === undefined) return false;
    const handler =
      incoming.method === 'initialize'
        ? () => ({ protocolVersion: '2025-11-25', capabilities: tasks.capabilities, serverInfo })
        : tasks.answers[incoming.method];
    if (handler === undefined) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const peer = peerOf((line) => response.write(`data: ${line}\n\n`));
    onRequest(peer, incoming.method);
    const result = handler(incoming, peer);
    if (result !== undefined && !(result instanceof Promise)) peer.answer(incoming.id, result);
    response.end();
    return true;
  };
  const made = await startMade({ era: 'legacy', own });
  endLater(() => made.close());
  return made;
}

async function sessionAt(made: MadeHttp): Promise<LegacySession> {
  const assay = await startGateway({
    servers: { web: { type: 'http', url: made.url, isolation: 'shared' } },
  });
  await assay.settled();
  return openSession(assay.url);
}

/** The messages on a stream before the response: each method, with the task that it names. */
async function readStream(
  stream: Stream,
): Promise<{ readonly notes: readonly string[]; readonly answer: JsonObject }> {
  await stream.ended;
  const messages = stream.messages();
  const notes = messages.flatMap((message) => {
    const method = at(message, 'method');
    const id = at(message, 'params', 'taskId') ?? at(message, 'params', '_meta', RELATED_TASK, 'taskId');
    return typeof method === 'string' ? [`${method} ${String(id)}`] : [];
  });
  return { notes, answer: messages.at(-1) as JsonObject };
}

const STATUS = 'notifications/tasks/status';
const LOG = 'notifications/message';
const log = (taskId: string): JsonObject => ({
  level: 'info',
  data: 'x',
  _meta: { [RELATED_TASK]: { taskId } },
});

describe("a server's task messages on the stream of a call", () => {
  it("reach the client under the client's id if they concern the call's task, and are dropped otherwise", async () => {
    const made = await startTalking((peer, method) => {
      if (!['tools/call', 'tasks/result'].includes(method)) return;
      for (const id of ['task-2', 'task-1']) {
        peer.notify(STATUS, taskOf(id, 'working'));
        peer.notify(LOG, log(id));
      }
    });
    const session = await sessionAt(made);
    const call = await readStream(await session.stream('tools/call', { name: 'web_job', task: {} }));
    const taskId = textAt(call.answer, 'result', 'task', 'taskId');
    expect(call.notes).toEqual([`${STATUS} ${taskId}`, `${LOG} ${taskId}`]);
    const second = await readStream(await session.stream('tools/call', { name: 'web_job', task: {} }));
    const other = textAt(second.answer, 'result', 'task', 'taskId');
    expect(second.notes).toEqual([`${STATUS} ${other}`, `${LOG} ${other}`]);
    const result = await readStream(await session.stream('tasks/result', { taskId }));
    expect(result.notes).toEqual([`${STATUS} ${taskId}`, `${LOG} ${taskId}`]);
  });

  it('are dropped if the call is not a task, while other messages are relayed', async () => {
    const made = await startTalking((peer, method) => {
      if (method !== 'tools/call') return;
      peer.notify(STATUS, taskOf('task-1', 'working'));
      peer.notify(LOG, log('task-1'));
      peer.notify(LOG, { level: 'info', data: 'mine' });
    });
    const session = await sessionAt(made);
    const call = await readStream(await session.stream('tools/call', { name: 'web_plain' }));
    expect(call.notes).toEqual([`${LOG} undefined`]);
  });
});
