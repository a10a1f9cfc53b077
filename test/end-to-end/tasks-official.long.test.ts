import { spawn } from 'node:child_process';
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  type RawClientDispatch,
} from '@modelcontextprotocol/ext-tasks/client';
import type { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanEnv, freePort, watch, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, connectFirst, textIn, type Endpoint } from '../support/clients.ts';
import { endLater, until } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at, isObject, type Json, type JsonObject } from '../support/json.ts';
import { MODERN } from '../support/modern.ts';
import { fixture, installed, MAIN, tempDir, writeConfig } from '../support/paths.ts';
import { modernTasksClient, TASKS_EXTENSION } from '../support/tasks.ts';

const QUERY = { topic: 'tasks' };

/** Runs the tool to completion with the official client 1.x; returns the task's ids and the text of the result. */
async function research(client: FirstClient, name: string): Promise<{ ids: Set<string>; text: string }> {
  await client.listTools();
  const ids = new Set<string>();
  let text = '';
  for await (const one of client.experimental.tasks.callToolStream({ name, arguments: QUERY })) {
    if (one.type === 'taskCreated' || one.type === 'taskStatus') ids.add(one.task.taskId);
    else if (one.type === 'result') text = textIn(one.result);
    else throw one.error;
  }
  return { ids, text };
}

describe('the tasks of server-everything', () => {
  let assay: Gateway;
  let web: string;
  const home = tempDir();
  const config = (): string =>
    writeConfig({ everything: installed('everything'), web: { type: 'http', url: web } });
  beforeAll(async () => {
    const port = await freePort();
    web = `http://127.0.0.1:${port}/mcp`;
    const { command, args } = installed('everything', ['streamableHttp']) as {
      command: string;
      args: readonly string[];
    };
    const watched = watch(spawn(command, args, { env: cleanEnv({ PORT: String(port) }), stdio: 'pipe' }));
    endLater(async () => {
      await watched.stop();
    });
    await until('the server listens', () =>
      send(`http://127.0.0.1:${port}/nothing`, { method: 'GET' }).catch(() => undefined),
    );
    assay = await startGateway({ config: config() });
    await assay.settled();
  });
  const endpoints: readonly (readonly [string, () => Endpoint])[] = [
    ['HTTP', () => ({ url: assay.url })],
    [
      'stdio',
      () => ({ command: [process.execPath, MAIN, 'stdio', '--all', '--config', config(), '--home', home] }),
    ],
  ];

  describe.each(endpoints)('through %s', (_name, endpoint) => {
    it.each(['everything', 'web'])('work with the official client 1.x (server %s)', async (server) => {
      const client = await connectFirst(endpoint());
      const { ids, text } = await research(client, `${server}_simulate-research-query`);
      expect(ids.size).toBe(1);
      expect(text).toContain('tasks');
      const [taskId = ''] = ids;
      expect((await client.experimental.tasks.getTask(taskId)).status).toBe('completed');
      await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toThrow('terminal');
    });

    it('work, including cancellation, with the official tasks client over client 2.x', async () => {
      const client = await connectClient(endpoint(), 'legacy');
      const session = createTaskSessionFromClient(client, { endpointId: 'assay' });
      const name = 'everything_simulate-research-query';
      const execution = await session.callTool(name, QUERY, { task: { preference: 'require' } });
      expect(execution.kind).toBe('task');
      const { outcome } = await execution.settle();
      expect(textIn(resultFromTaskOutcome(outcome))).toContain('tasks');
      const other = await session.callTool(name, QUERY, { task: { preference: 'require' } });
      await other.cancel();
      expect((await other.settle()).outcome.status).toBe('cancelled');
      await session.close();
    });
  });

  it('are not offered to modern clients', async () => {
    const client = await connectClient({ url: assay.url }, 'modern');
    expect(client.getServerCapabilities()).not.toHaveProperty('extensions');
    await expect(
      client.callTool({ name: 'everything_simulate-research-query', arguments: QUERY }),
    ).rejects.toThrow('2025-11-25');
  });
});

describe('the tasks of a modern server', () => {
  it('work with the official tasks client, including input and cancellation', async () => {
    const assay = await startGateway({ servers: { a: fixture('tasks-modern', ['--label=a']) } });
    await assay.settled();
    const client = await connectClient({ url: assay.url }, 'modern');
    const session = createTaskSessionFromClient(client, {
      endpointId: 'assay',
      rawDispatch: dispatchTo(assay.url),
      v2RequestFraming: {
        protocolVersion: MODERN,
        clientInfo: { name: 'official', version: '2' },
        clientCapabilities: { elicitation: {}, extensions: { [TASKS_EXTENSION]: {} } },
      },
      onInputRequest: () => Promise.resolve({ action: 'accept', content: { name: 'Ada' } } as never),
    });
    const asked = await session.callTool('a_multi_input', {});
    expect(asked.kind).toBe('task');
    const { outcome } = await asked.settle();
    expect(textIn(resultFromTaskOutcome(outcome))).toContain('Ada');
    const slow = await session.callTool('a_slow_compute', { seconds: 60 });
    await slow.cancel();
    expect((await slow.settle()).outcome.status).toBe('cancelled');
    await session.close();
  });
});

/** Bypasses the codecs of client 2.x, which reject task results. */
function dispatchTo(url: string): RawClientDispatch {
  return async (request) => {
    const { method, params } = request as { readonly method: string; readonly params: JsonObject };
    const answer: Json = await modernTasksClient(url).ask(method, params);
    const error = at(answer, 'error');
    return isObject(error)
      ? { kind: 'error', error: error as never }
      : { kind: 'result', result: (at(answer, 'result') ?? null) as never };
  };
}
