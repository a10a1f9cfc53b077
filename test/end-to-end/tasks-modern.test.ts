import { beforeAll, describe, expect, it } from 'vitest';
import { startHttp, type HttpFixture } from '../fixtures/http.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, until } from '../support/endings.ts';
import { at, isObject, listAt, parseJson, textAt, type Json, type JsonObject } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { envelope, META, modernAsk, modernSend } from '../support/modern.ts';
import { fixture, openEventLog, tempDir } from '../support/paths.ts';
import type { LinePeer } from '../support/stdio.ts';
import { openStdio } from '../support/stdio-gateway.ts';
import { codeOf, modernTasksClient, TASKS_EXTENSION, type Asker } from '../support/tasks.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const DECLARED = { [`${META}clientCapabilities`]: { extensions: { [TASKS_EXTENSION]: {} } } };

/** A modern client of `assay stdio`. */
function pipeClient(pipe: LinePeer): Asker {
  return {
    ask: (method, params = {}) => pipe.ask(method, { ...params, _meta: envelope(DECLARED) }),
  };
}

async function begin(client: Asker, name: string, args: JsonObject = {}): Promise<string> {
  const answer = await client.ask('tools/call', { name, arguments: args });
  expect(at(answer, 'result', 'resultType')).toBe('task');
  return textAt(answer, 'result', 'taskId');
}

function ended(client: Asker, taskId: string): Promise<Json> {
  return until('the task has ended', async () => {
    const answer = await client.ask('tasks/get', { taskId });
    return ['working', 'input_required'].includes(textAt(answer, 'result', 'status')) ? undefined : answer;
  });
}

describe('tasks of the modern era', () => {
  let web: HttpFixture;
  let assay: Gateway;
  let http: Asker;
  let stdio: Asker;
  beforeAll(async () => {
    web = await startHttp('tasks');
    endLater(() => web.close());
    const servers = { a: fixture('tasks-modern', ['--label=a']), web: { type: 'http', url: web.url } };
    assay = await startGateway({ servers });
    await assay.settled();
    http = modernTasksClient(assay.url);
    const pipe = openStdio({ servers });
    await pipe.ask('tools/list', { _meta: envelope() });
    stdio = pipeClient(pipe);
  });
  const ways: readonly (readonly [string, () => Asker, string])[] = [
    ['HTTP and a stdio server', () => http, 'a'],
    ['HTTP and an HTTP server', () => http, 'web'],
    ['stdio and a stdio server', () => stdio, 'a'],
    ['stdio and an HTTP server', () => stdio, 'web'],
  ];

  describe.each(ways)('through %s', (_name, endpoint, server) => {
    it('complete with their result, under their original id', async () => {
      const taskId = await begin(endpoint(), `${server}_slow_compute`, { seconds: 0.1 });
      const done = await ended(endpoint(), taskId);
      expect(at(done, 'result', 'taskId')).toBe(taskId);
      expect(textOf({ result: at(done, 'result', 'result') ?? null })).toMatch(/ computed$/);
    });

    it('request input, receive it, and continue', async () => {
      const taskId = await begin(endpoint(), `${server}_multi_input`);
      const first = await endpoint().ask('tasks/get', { taskId });
      expect(Object.keys(at(first, 'result', 'inputRequests') as JsonObject)).toEqual(['first', 'second']);
      for (const key of ['first', 'second']) {
        const inputResponses = { [key]: { action: 'accept', content: { taskId: key } } };
        const taken = await endpoint().ask('tasks/update', { taskId, inputResponses });
        expect(at(taken, 'result')).toEqual({ resultType: 'complete' });
      }
      const done = await ended(endpoint(), taskId);
      expect(textOf({ result: at(done, 'result', 'result') ?? null })).toContain(
        '"content":{"taskId":"second"}',
      );
    });

    it('can be cancelled', async () => {
      const taskId = await begin(endpoint(), `${server}_slow_compute`, { seconds: 60 });
      expect(at(await endpoint().ask('tasks/cancel', { taskId }), 'result')).toEqual({
        resultType: 'complete',
      });
      expect(at(await ended(endpoint(), taskId), 'result', 'status')).toBe('cancelled');
    });

    it('are unknown under any id except the assigned one', async () => {
      const taskId = await begin(endpoint(), `${server}_slow_compute`, { seconds: 60 });
      for (const wrong of ['task-1', taskId.slice(1), taskId.slice(0, -1)])
        for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
          const answer = await endpoint().ask(method, { taskId: wrong, inputResponses: {} });
          expect([at(answer, 'error', 'code'), codeOf(answer)]).toEqual([-32602, 'TASK_UNKNOWN']);
        }
    });

    it('have neither tasks/result nor tasks/list', async () => {
      for (const method of ['tasks/result', 'tasks/list'])
        expect(codeOf(await endpoint().ask(method, {}))).toBe('METHOD_UNKNOWN');
    });
  });

  it('are offered as an extension, without `capabilities.tasks`', async () => {
    const { capabilities } = at(await http.ask('server/discover'), 'result') as JsonObject;
    expect(isObject(capabilities) && capabilities['extensions']).toEqual({ [TASKS_EXTENSION]: {} });
    expect(isObject(capabilities) && 'tasks' in capabilities).toBe(false);
  });

  it('are identified to an HTTP server by its own id, in the Mcp-Name header and in the body', async () => {
    const taskId = await begin(http, 'web_slow_compute', { seconds: 60 });
    await http.ask('tasks/get', { taskId });
    const seen = web.seen.filter(({ headers }) => headers['mcp-method'] === 'tasks/get').at(-1);
    const inner = textAt(parseJson(seen?.body ?? ''), 'params', 'taskId');
    expect([inner, seen?.headers['mcp-name']]).toEqual([expect.stringMatching(/^task-\d+$/), inner]);
  });

  it('must be named in the Mcp-Name header of requests to Assay', async () => {
    const taskId = await begin(http, 'a_slow_compute', { seconds: 60 });
    for (const headers of [{}, { 'mcp-name': 'another' }]) {
      const answer = await modernSend(assay.url, 'tasks/get', {
        params: { taskId },
        meta: DECLARED,
        headers,
      });
      expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32020]);
    }
  });

  it('are available only to requests that declare the extension', async () => {
    const params = { taskId: 'any', inputResponses: {} };
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answer = await modernSend(assay.url, method, { params, headers: { 'mcp-name': 'any' } });
      expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32021]);
      expect(at(answer.json(), 'error', 'data', 'requiredCapabilities')).toEqual({
        extensions: { [TASKS_EXTENSION]: {} },
      });
    }
    const sync = await modernAsk(assay.url, 'tools/call', {
      params: { name: 'a_slow_compute', arguments: { seconds: 1 } },
    });
    expect(textOf(sync)).toBe('a computed');
  });

  it('cannot be subscribed to by a request that does not declare the extension', async () => {
    const params = { notifications: { taskIds: ['x'] } };
    const answer = await modernSend(assay.url, 'subscriptions/listen', { params });
    expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32021]);
  });

  it("are unknown at another server's endpoint", async () => {
    const endpoint = (name: string): Asker =>
      modernTasksClient(`http://127.0.0.1:${assay.port}/mcp/servers/${name}`);
    const taskId = await begin(endpoint('a'), 'slow_compute', { seconds: 60 });
    expect(codeOf(await endpoint('web').ask('tasks/get', { taskId }))).toBe('TASK_UNKNOWN');
    expect(at(await endpoint('a').ask('tasks/get', { taskId }), 'result', 'status')).toBe('working');
  });
});

it('a task of the modern era belongs to its creator only', async () => {
  const home = tempDir();
  const [mine, yours] = [await keepToken(home, 'me'), await keepToken(home, 'you')];
  const eventLog = openEventLog();
  const assay = await startGateway({
    servers: { a: fixture('tasks-modern', [], { env: eventLog.env }) },
    home,
  });
  await assay.settled();
  const me = modernTasksClient(assay.url, { headers: bearer(mine) });
  const you = modernTasksClient(assay.url, { headers: bearer(yours) });
  const taskId = await begin(me, 'a_slow_compute', { seconds: 60 });
  const before = eventLog.read('message').length;
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
    expect(codeOf(await you.ask(method, { taskId, inputResponses: {} }))).toBe('TASK_UNKNOWN');
  expect(eventLog.read('message').length).toBe(before);
  expect(at(await me.ask('tasks/get', { taskId }), 'result', 'status')).toBe('working');
});

describe('between eras', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({
      servers: { old: fixture('tasks', ['--label=old']), young: fixture('tasks-modern', ['--label=young']) },
    });
    await assay.settled();
  });
  const at1 = (name: string): string => `http://127.0.0.1:${assay.port}/mcp/servers/${name}`;

  it('no tasks are offered', async () => {
    const legacy = await openSession(at1('young'));
    expect(at(legacy.initialized, 'result', 'capabilities')).toEqual({ tools: { listChanged: true } });
    const modern = at(await modernAsk(at1('old'), 'server/discover'), 'result', 'capabilities');
    expect(modern).toEqual({ tools: { listChanged: true } });
    expect(codeOf(await legacy.ask('tasks/get', { taskId: 'x' }))).toBe('METHOD_UNKNOWN');
    const get = await modernSend(at1('old'), 'tasks/get', {
      params: { taskId: 'x' },
      meta: DECLARED,
      headers: { 'mcp-name': 'x' },
    });
    expect([get.status, codeOf(get.json())]).toEqual([404, 'METHOD_UNKNOWN']);
  });

  it('a task of one era is unknown to the same subject in the other', async () => {
    const session = await openSession(assay.url);
    const made = await session.ask('tools/call', { name: 'old_job', task: {} });
    const taskId = textAt(made, 'result', 'task', 'taskId');
    expect(codeOf(await modernTasksClient(assay.url).ask('tasks/get', { taskId }))).toBe('TASK_UNKNOWN');
    const young = await begin(modernTasksClient(assay.url), 'young_slow_compute', { seconds: 60 });
    expect(codeOf(await session.ask('tasks/get', { taskId: young }))).toBe('TASK_UNKNOWN');
  });

  it('a tool that runs only as a legacy task tells a modern client which clients can call it', async () => {
    const client = modernTasksClient(assay.url);
    const answer = await client.ask('tools/call', { name: 'old_must', arguments: {} });
    expect([at(answer, 'error', 'code'), codeOf(answer)]).toEqual([-32602, 'TASK_REQUIRED']);
    expect(at(answer, 'error', 'message')).toContain('2025-11-25');
    const tools = listAt(await client.ask('tools/list'), 'result', 'tools');
    const listed = tools.find((one) => at(one, 'name') === 'old_must');
    expect(at(listed, 'execution')).toEqual({ taskSupport: 'required' });
  });

  it('the task parameter of a modern client is not sent to a legacy server', async () => {
    const client = modernTasksClient(assay.url);
    const params = { name: 'old_raw', task: { ttl: 1 }, x: 1 };
    expect(textOf(await client.ask('tools/call', params))).toMatch(/"params":\{"name":"raw","x":1\b/);
    expect(textOf(await client.ask('tools/call', { name: 'old_job', task: {} }))).toBe('old ran job');
  });

  it('a legacy client cannot run a modern server’s tool as a task, even if other tools support that', async () => {
    const session = await openSession(assay.url);
    const answer = await session.ask('tools/call', { name: 'young_greet', task: {} });
    expect([at(answer, 'error', 'code'), codeOf(answer)]).toEqual([-32601, 'TASK_UNSUPPORTED']);
    const alone = await openSession(at1('young'));
    const plain = await alone.ask('tools/call', { name: 'greet', arguments: { name: 'you' }, task: {} });
    expect(textOf(plain)).toBe('Hello, you!');
    const required = await session.ask('tools/call', { name: 'young_failing_job' });
    expect(at(required, 'error', 'code')).toBe(-32021);
  });
});
