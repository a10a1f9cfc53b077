import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/endings.ts';
import { at, listAt, textAt } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { fixture, openEventLog, tempDir, writeConfig } from '../support/paths.ts';
import type { LinePeer } from '../support/stdio.ts';
import { openStdio } from '../support/stdio-gateway.ts';
import { lockStore } from '../support/stores.ts';
import { begin, codeOf, RELATED_TASK, resultOf, statusOf, type Asker } from '../support/tasks.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const OFFERED = { cancel: {}, requests: { tools: { call: {} } } };
const two = { a: fixture('tasks', ['--label=a']), b: fixture('tasks', ['--label=b']) };
const servers = { ...two, plain: fixture('plain') };

async function openPipe(options: Parameters<typeof openStdio>[0]): Promise<LinePeer> {
  const pipe = openStdio(options);
  await pipe.initialize();
  await pipe.ask('tools/list');
  return pipe;
}

describe('tasks of 2025-11-25 without a token', () => {
  let assay: Gateway;
  let session: LegacySession;
  let pipe: LinePeer;
  beforeAll(async () => {
    assay = await startGateway({ servers });
    await assay.settled();
    session = await openSession(assay.url);
    pipe = await openPipe({ servers });
  });
  const endpoints: readonly (readonly [string, () => Asker])[] = [
    ['HTTP', () => session],
    ['stdio', () => pipe],
  ];

  describe.each(endpoints)('over %s', (_name, endpoint) => {
    it('are created, polled, awaited and cancelled by one id', async () => {
      const taskId = await begin(endpoint(), 'a_job');
      expect(at(await endpoint().ask('tasks/get', { taskId }), 'result', 'taskId')).toBe(taskId);
      expect(await statusOf(endpoint(), taskId)).toBe('working');
      expect(await resultOf(endpoint(), taskId)).toMatch(/^a did task-\d+$/);
      expect(await statusOf(endpoint(), taskId)).toBe('completed');
      const other = await begin(endpoint(), 'a_must');
      const cancelled = await endpoint().ask('tasks/cancel', { taskId: other });
      expect(at(cancelled, 'result', 'taskId')).toBe(other);
      expect(at(cancelled, 'result', 'status')).toBe('cancelled');
      expect(await statusOf(endpoint(), taskId)).toBe('completed');
    });

    it('reach the right server even if two servers assigned the same id', async () => {
      const ids = await Promise.all(['a_job', 'b_job', 'b_job'].map((name) => begin(endpoint(), name)));
      expect(new Set(ids).size).toBe(3);
      const results = await Promise.all(ids.map((id) => resultOf(endpoint(), id)));
      expect(results.map((text) => text.replace(/\d+$/, 'n'))).toEqual([
        'a did task-n',
        'b did task-n',
        'b did task-n',
      ]);
    });

    it('carry the client’s id in _meta too; other values that look like ids are unchanged', async () => {
      const taskId = await begin(endpoint(), 'b_job');
      const shown = await endpoint().ask('tasks/get', { taskId });
      expect(textAt(shown, 'result', 'x', 'taskId')).toMatch(/^task-\d+$/);
      // The parameter wins over _meta; the server gets the same id in both places.
      const _meta = { [RELATED_TASK]: { taskId: 'task-1' } };
      const done = await endpoint().ask('tasks/result', { taskId, _meta });
      expect(at(done, 'result', '_meta', RELATED_TASK)).toEqual({ taskId });
      expect(at(done, 'result', '_meta', 'heard')).toEqual({
        taskId: textAt(shown, 'result', 'x', 'taskId'),
      });
    });

    it('are unknown under any id except the assigned one', async () => {
      const taskId = await begin(endpoint(), 'a_job');
      const last = taskId.endsWith('A') ? 'B' : 'A';
      for (const wrong of [
        'task-1',
        '',
        taskId.slice(0, -1),
        `${taskId}A`,
        taskId.slice(0, -2) + last + last,
      ])
        for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
          const answer = await endpoint().ask(method, { taskId: wrong });
          expect([at(answer, 'error', 'code'), codeOf(answer)]).toEqual([-32602, 'TASK_UNKNOWN']);
        }
      for (const params of [{}, { taskId: 1 }, { taskId: null }])
        expect(codeOf(await endpoint().ask('tasks/get', params))).toBe('PARAMS_INVALID');
      expect(await statusOf(endpoint(), taskId)).toBe('working');
    });

    it('are refused for a server without tasks; a server’s own refusal is relayed', async () => {
      const task = { task: {} };
      const none = await endpoint().ask('tools/call', { name: 'plain_label', ...task });
      expect([at(none, 'error', 'code'), codeOf(none)]).toEqual([-32601, 'TASK_UNSUPPORTED']);
      const own = await endpoint().ask('tools/call', { name: 'a_plain', ...task });
      expect(at(own, 'error', 'message')).toBe('plain cannot be called so');
      const required = await endpoint().ask('tools/call', { name: 'a_must' });
      expect(at(required, 'error', 'message')).toBe('must cannot be called so');
      expect(textOf(await endpoint().ask('tools/call', { name: 'a_job' }))).toBe('a ran job');
    });

    it('can be referenced by another request only to their own server', async () => {
      const taskId = await begin(endpoint(), 'a_job');
      const inner = textAt(await endpoint().ask('tasks/get', { taskId }), 'result', 'x', 'taskId');
      const call = (name: string, id: string): ReturnType<Asker['ask']> =>
        endpoint().ask('tools/call', { name, _meta: { [RELATED_TASK]: { taskId: id } } });
      expect(textOf(await call('a_raw', taskId))).toContain(`{"taskId":"${inner}"}`);
      for (const [name, id] of [
        ['b_raw', taskId],
        ['a_raw', inner],
        ['plain_label', taskId],
      ] as const)
        expect(codeOf(await call(name, id))).toBe('TASK_UNKNOWN');
    });
  });

  it('are offered; listing them only over stdio, which has a single client', async () => {
    expect(at(session.initialized, 'result', 'capabilities', 'tasks')).toEqual(OFFERED);
    const initialized = await openPipe({ servers }).then((one) => one.initialize());
    expect(at(initialized, 'result', 'capabilities', 'tasks')).toEqual({ list: {}, ...OFFERED });
    expect(at(await session.ask('tasks/list'), 'error', 'code')).toBe(-32601);
  });

  it('are listed for all servers under their ids, and an invalid cursor is refused', async () => {
    const made = new Set<string>();
    const alone = await openPipe({ servers });
    for (const name of ['b_job', 'a_job', 'a_job']) made.add(await begin(alone, name));
    const answer = await alone.ask('tasks/list');
    expect(new Set(listAt(answer, 'result', 'tasks').map((one) => textAt(one, 'taskId')))).toEqual(made);
    expect(at(answer, 'result', 'nextCursor')).toBeUndefined();
    for (const cursor of ['x', 1, Buffer.from('["nobody"]').toString('base64url')])
      expect(codeOf(await alone.ask('tasks/list', { cursor }))).toBe('CURSOR_INVALID');
  });

  it('are listed completely across several pages', async () => {
    const alone = await openPipe({ servers: two });
    for (let count = 0; count < 55; count += 1) await begin(alone, count % 2 === 0 ? 'a_job' : 'b_job');
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await alone.ask('tasks/list', cursor === undefined ? {} : { cursor });
      seen.push(...listAt(answer, 'result', 'tasks').map((one) => textAt(one, 'taskId')));
      const next = at(answer, 'result', 'nextCursor');
      cursor = typeof next === 'string' ? next : undefined;
    } while (cursor !== undefined);
    expect([seen.length, new Set(seen).size]).toEqual([55, 55]);
  });

  it('are known only at endpoints that include their server', async () => {
    const at1 = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/a`);
    const at2 = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/b`);
    const taskId = await begin(at1, 'job');
    expect(await statusOf(at1, taskId)).toBe('working');
    expect(await statusOf(session, taskId)).toBe('working');
    expect(codeOf(await at2.ask('tasks/get', { taskId }))).toBe('TASK_UNKNOWN');
    const none = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/plain`);
    expect(at(none.initialized, 'result', 'capabilities', 'tasks')).toBeUndefined();
    expect(codeOf(await none.ask('tasks/get', { taskId }))).toBe('METHOD_UNKNOWN');
  });

  it.each(['2025-06-18', '2025-03-26', '2024-11-05'])(
    'are not available to a client of %s',
    async (version) => {
      const old = await openSession(assay.url, { version });
      expect(at(old.initialized, 'result', 'capabilities', 'tasks')).toBeUndefined();
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/list', 'tasks/update'])
        expect(codeOf(await old.ask(method, { taskId: 'x' }))).toBe('METHOD_UNKNOWN');
      // A `task` parameter that was not offered is removed before it reaches the server.
      const asked = await old.ask('tools/call', { name: 'a_job', task: { ttl: 1 } });
      expect(textOf(asked)).toBe('a ran job');
      expect(textOf(await old.ask('tools/call', { name: 'a_raw', task: {}, x: 1 }))).toMatch(
        /"params":\{"_meta":\{"traceparent":"[^"]*","progressToken":\d+\},"name":"raw","x":1\}\}/,
      );
    },
  );
});

describe('a task', () => {
  it('is still known after its server and Assay itself have restarted', async () => {
    const home = tempDir();
    const config = writeConfig({
      a: fixture('tasks', ['--label=a', `--file=${join(tempDir(), 'tasks.json')}`]),
      b: fixture('tasks', ['--label=b']),
    });
    const first = await startGateway({ config, home });
    await first.settled();
    const session = await openSession(first.url);
    const kept = await begin(session, 'a_job');
    const lost = await begin(session, 'b_job');
    await session.ask('tools/call', { name: 'a_crash' });
    expect(await statusOf(session, kept)).toBe('working');
    await session.ask('tools/call', { name: 'b_crash' });
    const gone = await until('b is back', async () => {
      const answer = await session.ask('tasks/get', { taskId: lost });
      return at(answer, 'error', 'code') === -32602 ? answer : undefined;
    });
    expect(at(gone, 'error', 'message')).toBe('Failed to retrieve task: task-1 not found');
    await first.stop();
    const second = await startGateway({ config, home });
    await second.settled();
    expect(await statusOf(await openSession(second.url), kept)).toBe('working');
    await second.stop();
  });

  it('is still known to the next `assay stdio` with the same home', async () => {
    const home = tempDir();
    const config = writeConfig({ a: fixture('tasks', [`--file=${join(tempDir(), 'tasks.json')}`]) });
    const first = await openPipe({ config, home });
    const taskId = await begin(first, 'a_job');
    first.closeStdin();
    await first.ended;
    const second = await openPipe({ config, home });
    expect(await statusOf(second, taskId)).toBe('working');
  });

  it('works if its key cannot be created, with one warning that its id will not outlast the process', async () => {
    const home = tempDir();
    mkdirSync(join(home, 'encryption.key'));
    const pipe = await openPipe({ servers: two, home });
    const ids = [await begin(pipe, 'a_job'), await begin(pipe, 'b_job')];
    for (const taskId of ids) expect(await statusOf(pipe, taskId)).toBe('working');
    expect(pipe.stderr().match(/ids of tasks will not outlast this process/g)).toHaveLength(1);
  });

  it('works while the store cannot be written, and its id outlasts the process', async () => {
    const home = tempDir();
    const config = writeConfig({
      a: fixture('tasks', [`--file=${join(tempDir(), 'tasks.json')}`]),
      plain: fixture('plain'),
    });
    const pipe = await openPipe({ config, home });
    // The first call reads the store; from then on it cannot be written.
    await pipe.ask('tools/call', { name: 'plain_label', arguments: {} });
    await until('the store is there', () => (existsSync(join(home, 'assay.db')) ? true : undefined));
    const release = lockStore(home);
    const taskId = await begin(pipe, 'a_job');
    expect(await statusOf(pipe, taskId)).toBe('working');
    expect(pipe.stderr()).not.toContain('will not outlast this process');
    release();
    pipe.closeStdin();
    await pipe.ended;
    expect(await statusOf(await openPipe({ config, home }), taskId)).toBe('working');
  });

  it('belongs to its creator only, even if others know its id', async () => {
    const home = tempDir();
    const [mine, yours] = [await keepToken(home, 'me'), await keepToken(home, 'you')];
    const eventLog = openEventLog();
    const assay = await startGateway({ servers: { a: fixture('tasks', [], { env: eventLog.env }) }, home });
    await assay.settled();
    const me = await openSession(assay.url, { headers: bearer(mine) });
    const you = await openSession(assay.url, { headers: bearer(yours) });
    const [my, your] = [await begin(me, 'a_job'), await begin(you, 'a_job')];
    expect(await statusOf(me, my)).toBe('working');
    const before = eventLog.read('message').length;
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect(codeOf(await you.ask(method, { taskId: my }))).toBe('TASK_UNKNOWN');
      expect(codeOf(await me.ask(method, { taskId: your }))).toBe('TASK_UNKNOWN');
    }
    const call = await you.ask('tools/call', { name: 'a_raw', _meta: { [RELATED_TASK]: { taskId: my } } });
    expect(codeOf(call)).toBe('TASK_UNKNOWN');
    expect(eventLog.read('message').length).toBe(before);
    expect(await statusOf(you, your)).toBe('working');
    const again = await openSession(assay.url, { headers: bearer(mine) });
    expect(await resultOf(again, my)).toBe('tasks did task-1');
  });
});
