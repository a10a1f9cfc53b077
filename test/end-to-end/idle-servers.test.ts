// With the default of servers.idleMs: which server processes run, and what starts them.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { serverIn } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, namesAt, parseJson } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, MAIN, tempDir, writeConfig, writeText } from '../support/paths.ts';
import { childrenOf } from '../support/processes.ts';
import { openPipe, type Pipe } from '../support/stdio.ts';

const ENV = { ASSAY_SERVERS_IDLE_MS: '300000' };

let home: string;
let config: string;
let file: string;

/** A home with four servers, the toolset `some` of two of them, and the lists of these two. */
beforeEach(async () => {
  home = tempDir();
  file = writeText(JSON.stringify({ tools: ['one'] }), 'told.json');
  const server = fixture('told', [`--file=${file}`]);
  config = writeConfig({ a: server, b: server, c: server, d: server });
  const args = ['toolset', 'create', 'some', 'a.one', 'b.one', '--config', config, '--home', home];
  expect(await runAssay(args)).toMatchObject({ code: 0 });
});

function open(env: Readonly<Record<string, string>> = ENV): Pipe {
  return openPipe([MAIN, 'stdio', '--toolset', 'some', '--config', config, '--home', home], env);
}

/** Number of server processes of a client's `assay stdio`. */
function countServers({ pid }: Pipe): number {
  return childrenOf(pid).filter(({ command }) => command.includes('told')).length;
}

async function listTools(pipe: Pipe): Promise<readonly string[]> {
  return namesAt(await pipe.ask('tools/list'), 'result', 'tools');
}

it('a client with a toolset starts no server until it calls one, and then that one alone', async () => {
  const pipe = open();
  await pipe.initialize();
  expect([await listTools(pipe), countServers(pipe)]).toEqual([['a_one', 'b_one'], 0]);
  expect(await pipe.call('a_one')).toMatch(/^one of /);
  expect(countServers(pipe)).toBe(1);
});

it('a client with a toolset starts the servers of the toolset alone if nothing is known of any', async () => {
  rmSync(join(home, 'catalog.json'));
  const pipe = open();
  await pipe.initialize();
  await expect.poll(() => listTools(pipe)).toEqual(['a_one', 'b_one']);
  expect(await pipe.call('b_one')).toMatch(/^one of /);
  expect(countServers(pipe)).toBe(2);
});

it('a server that was never read starts when a toolset with a client gets a tool of it', async () => {
  const pipe = open();
  await pipe.initialize();
  expect(await listTools(pipe)).toEqual(['a_one', 'b_one']);
  const args = ['toolset', 'add', 'some', 'c.one', '--config', config, '--home', home];
  expect(await runAssay(args)).toMatchObject({ code: 0 });
  await pipe.next('the change', (message) => at(message, 'method') === 'notifications/tools/list_changed');
  expect([await listTools(pipe), countServers(pipe)]).toEqual([['a_one', 'b_one', 'c_one'], 1]);
});

it('serve leaves the servers that it knows idle, and says so', async () => {
  const assay = await startGateway({ config, home, env: ENV });
  const health = await assay.settled();
  expect(at(health, 'status')).toBe('ok');
  expect(['a', 'b', 'c', 'd'].map((name) => at(serverIn(health, name), 'state'))).toEqual([
    'idle',
    'idle',
    'up',
    'up',
  ]);
  expect(serverIn(health, 'a')).toEqual({ name: 'a', state: 'idle', tools: 1 });
  const listed = await runAssay(['tools', 'a', '--json', '--config', config, '--home', home]);
  expect([listed.code, listAt(parseJson(listed.stdout), 'down')]).toEqual([0, []]);
});

it('a call that wakes a server is not sent to a tool that the server has no longer', async () => {
  writeFileSync(file, JSON.stringify({ tools: ['two'] }));
  const assay = await startGateway({ config, home, env: ENV });
  const session = await openSession(assay.url);
  const list = async (): Promise<readonly string[]> =>
    namesAt(await session.ask('tools/list'), 'result', 'tools');
  expect(await list()).toContain('a_one');
  const answer = await session.ask('tools/call', { name: 'a_one' });
  expect(at(answer, 'error', 'data', 'code')).toBe('TOOL_UNKNOWN');
  expect(await list()).toEqual(expect.arrayContaining(['a_two', 'b_one']));
  expect(await session.call('a_two')).toMatch(/^two of /);
});

it('a server process ends when it was not used for the idle time, and the next call starts another', async () => {
  const assay = await startGateway({ config, home, env: { ASSAY_SERVERS_IDLE_MS: '1000' } });
  const state = async (): Promise<unknown> => at(serverIn(await assay.health(), 'c'), 'state');
  // Nothing is known of it, so it has been up.
  await expect.poll(state, { timeout: 20_000 }).toBe('idle');
  expect(assay.stderr()).toContain(
    'server is idle: its process was stopped, as it was not used, and the next call starts it',
  );
  expect(await (await openSession(assay.url)).call('c_one')).toMatch(/^one of /);
  expect(await state()).toBe('up');
});
