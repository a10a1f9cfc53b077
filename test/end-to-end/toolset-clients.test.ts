// What clients receive and keep when the equipped toolset or the mode changes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/endings.ts';
import { at, parseJson, textAt, type Json, type JsonObject } from '../support/json.ts';
import { initializeOf, openSession } from '../support/legacy.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, MAIN, openEventLog, tempDir, writeConfig, writeText } from '../support/paths.ts';
import { openPipe, type Pipe } from '../support/stdio.ts';
import { begin, modernTasksClient, statusOf, TASKS_EXTENSION, type Asker } from '../support/tasks.ts';
import { equip, meet } from '../support/toolsets.ts';

interface Connected<T extends Asker> {
  readonly client: T;
  readonly initialized: Json;
}

/** Starts `assay stdio` with a client that supports elicitation. */
async function connectStdio(config: string): Promise<Connected<Pipe>> {
  const client = openPipe([MAIN, 'stdio', '--config', config, '--home', tempDir()]);
  client.write(`${initializeOf('2025-11-25', { elicitation: {} }, 'init')}\n`);
  const initialized = await client.next('the handshake', (message) => at(message, 'id') === 'init');
  client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { client, initialized };
}

/** The URL of `/mcp` when all servers are ready. */
async function endpointOf(config: string): Promise<string> {
  const assay = await startGateway({ config });
  await assay.settled();
  return `http://127.0.0.1:${assay.port}/mcp`;
}

/** Calls one of Assay's configuration tools. */
async function callOwn(client: Asker, name: string, args: JsonObject = {}): Promise<void> {
  const answer = await client.ask('tools/call', { name, arguments: args });
  if (at(answer, 'result', 'isError') !== undefined || at(answer, 'error') !== undefined)
    throw new Error(JSON.stringify(answer));
}

/** Builds a toolset of one tool, and equips it. */
function equipOne(client: Asker, name: string, tool: string): Promise<void> {
  return callOwn(client, 'build-toolset', { name, tools: [{ namespacedName: tool }], autoEquip: true });
}

it('a server sends a stdio client no messages or requests until one of its tools is visible', async () => {
  const eventLog = openEventLog();
  const restless = fixture('restless', [], { env: eventLog.env });
  const { client } = await connectStdio(writeConfig({ plain: fixture('plain'), restless }));
  const methods = (): ReadonlySet<unknown> =>
    new Set(
      client
        .lines()
        .map((line) => at(parseJson(line), 'method'))
        .filter((method) => method !== undefined && !String(method).endsWith('/list_changed')),
    );
  const refusals = (): number =>
    eventLog.read('message').filter(({ detail }) => /"id":"ask-.*"code":-32601/.test(detail)).length;
  const untilRefused = async (): Promise<void> => {
    const before = refusals();
    await until('its questions are refused', () => (refusals() >= before + 3 ? true : undefined));
  };
  await untilRefused();
  await equipOne(client, 'without', 'plain.echo');
  await untilRefused();
  expect(methods()).toEqual(new Set());
  await callOwn(client, 'enter-configuration-mode');
  await equipOne(client, 'with', 'restless.rest');
  const all = new Set(['notifications/message', 'elicitation/create']);
  await expect.poll(methods, { timeout: scaledMs(5_000) }).toEqual(all);
});

describe('tasks', () => {
  const OFFERED = { cancel: {}, requests: { tools: { call: {} } } };

  /** A client, the task capability offered to it, and how it starts a task of the named tool. */
  interface Endpoint {
    readonly client: Asker;
    readonly offered: Json | undefined;
    readonly begin: (name: string) => Promise<string>;
  }

  const legacyEndpoint = ({ client, initialized }: Connected<Asker>): Endpoint => ({
    client,
    offered: at(initialized, 'result', 'capabilities', 'tasks'),
    begin: (name) => begin(client, name),
  });

  async function modernEndpoint(config: string): Promise<Endpoint> {
    const client = modernTasksClient(await endpointOf(config));
    const call = { arguments: { seconds: 60 } };
    return {
      client,
      offered: at(await client.ask('server/discover'), 'result', 'capabilities', 'extensions'),
      begin: async (name) => textAt(await client.ask('tools/call', { ...call, name }), 'result', 'taskId'),
    };
  }

  const cases: readonly {
    readonly way: string;
    readonly server: string;
    readonly tool: string;
    readonly open: (config: string) => Promise<Endpoint>;
    readonly offered: JsonObject;
  }[] = [
    {
      way: 'HTTP, legacy',
      server: 'tasks',
      tool: 'job',
      open: async (config) => {
        const client = await openSession(await endpointOf(config));
        return legacyEndpoint({ client, initialized: client.initialized });
      },
      offered: OFFERED,
    },
    {
      way: 'stdio, legacy',
      server: 'tasks',
      tool: 'job',
      open: async (config) => legacyEndpoint(await connectStdio(config)),
      offered: { list: {}, ...OFFERED },
    },
    {
      way: 'HTTP, modern',
      server: 'tasks-modern',
      tool: 'slow_compute',
      open: modernEndpoint,
      offered: { [TASKS_EXTENSION]: {} },
    },
  ];

  it.each(cases)(
    'over $way are offered in configuration mode, and existing ones can be polled in either mode',
    async ({ server, tool, open, offered }) => {
      const endpoint = await open(writeConfig({ t: fixture(server) }));
      expect(endpoint.offered).toEqual(offered);
      await equipOne(endpoint.client, 'one', `t.${tool}`);
      const taskId = await endpoint.begin(`t_${tool}`);
      await callOwn(endpoint.client, 'enter-configuration-mode');
      const hidden = await endpoint.client.ask('tools/call', { name: `t_${tool}`, arguments: {} });
      expect(at(hidden, 'error', 'data', 'code')).toBe('MODE_DIFFERS');
      expect(await statusOf(endpoint.client, taskId)).toBe('working');
      await callOwn(endpoint.client, 'exit-configuration-mode');
      expect(await statusOf(endpoint.client, taskId)).toBe('working');
    },
  );
});

it('a modern client with a subscription is notified once of a toolset equipped right after a restart', async () => {
  const home = tempDir();
  const file = writeText('{"tools":["a","b"]}', 'told.json');
  const config = writeConfig({ told: fixture('told', [`--file=${file}`]) });
  const first = await startGateway({ config, home });
  await first.settled();
  const before = await meet({ url: `http://127.0.0.1:${first.port}/mcp` }, 'modern');
  await equip(before, 'later', ['told.b']);
  await before.call('enter-configuration-mode');
  await equip(before, 'now', ['told.a']);
  expect(await before.tools()).toEqual(['enter-configuration-mode', 'told_a']);
  await before.client.close();
  await first.stop();
  // The server becomes ready only later, so that only the equipped toolset changes.
  const readyFile = join(tempDir(), 'ready');
  writeFileSync(file, JSON.stringify({ tools: ['a', 'b'], readyFile }));
  const second = await startGateway({ config, home });
  const after = await meet({ url: `http://127.0.0.1:${second.port}/mcp` }, 'modern');
  expect(after.changes()).toBe(0);
  expect((await runAssay(['toolset', 'equip', 'later', '--home', home])).code).toBe(0);
  await expect.poll(after.changes, { timeout: scaledMs(2_000) }).toBe(1);
  expect(await after.tools()).toEqual(['enter-configuration-mode', 'told_b']);
  writeFileSync(readyFile, '');
  await second.settled();
  expect(after.changes()).toBe(1);
});
