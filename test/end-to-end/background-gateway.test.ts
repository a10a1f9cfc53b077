// `assay stdio --attach` as clients start it: one gateway for all, started in the background and gone when idle.
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endLater, isAlive, kill, until, untilLogged } from '../support/endings.ts';
import { findGatewayPid } from '../support/gateway-pid.ts';
import { at, namesAt, textAt, type Json } from '../support/json.ts';
import { fixture, MAIN, openEventLog, tempDir, writeConfig } from '../support/paths.ts';
import { runAssay } from '../support/assay.ts';
import { openPipe, type Pipe } from '../support/stdio.ts';
import { equip, type Told } from '../support/toolsets.ts';

interface Place {
  readonly home: string;
  readonly config: string;
}

interface More {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

function attach({ home, config }: Place, { args = ['--all'], env, cwd }: More = {}): Pipe {
  const given = ['--home', home, '--config', config, ...args];
  endLater(async () => {
    await runAssay(['stop', '--home', home, '--config', config]);
  });
  return openPipe([MAIN, 'stdio', '--attach', ...given], env, cwd === undefined ? {} : { cwd });
}

function placeOf(
  servers: Parameters<typeof writeConfig>[0],
  settings: Readonly<Record<string, unknown>> = {},
): Place {
  return { home: tempDir(), config: writeConfig(servers, { settings } as never) };
}

function toTold(answer: Json): Told {
  return {
    text: JSON.stringify(at(answer, 'result', 'content')),
    data: at(answer, 'result', 'structuredContent') ?? null,
    isError: at(answer, 'result', 'isError') === true,
  };
}

describe('a gateway in the background', () => {
  it('is started by the first of two clients at once, serves both, and ends when idle', async () => {
    const events = openEventLog();
    const place = placeOf(
      { plain: fixture('plain', [], { env: events.env }) },
      { 'background.idleMs': 2_000 },
    );
    const pipes = [attach(place), attach(place)];
    await Promise.all(pipes.map((pipe) => pipe.initialize()));
    expect(await Promise.all(pipes.map((pipe) => pipe.call('plain_counter')))).toEqual(
      expect.arrayContaining(['1', '2']),
    );
    expect(events.read('start')).toHaveLength(1);
    const status = await runAssay(['status', '--home', place.home, '--config', place.config]);
    expect(status.stdout).toContain('endpoint  none: clients attach to it');
    expect(status.stdout).toContain(', in the background');
    const pid = findGatewayPid(place.home) ?? 0;
    await Promise.all(pipes.map((pipe) => pipe.stop()));
    await until('it has ended', () => (isAlive(pid) ? undefined : true), 20_000);
    expect(findGatewayPid(place.home)).toBeUndefined();
  });

  it('is started again when it was killed: the session goes on, and a lost call says so', async () => {
    const place = placeOf({ plain: fixture('plain') });
    const pipe = attach(place);
    await pipe.initialize();
    expect(await pipe.call('plain_counter')).toBe('1');
    const sleeping = pipe.ask('tools/call', { name: 'plain_sleep', arguments: { ms: 60_000 } });
    const pid = findGatewayPid(place.home) ?? 0;
    await until('the call has arrived', async () => {
      const { stdout } = await runAssay(['status', '--json', '--home', place.home, '--config', place.config]);
      return stdout.includes('"clients"') ? true : undefined;
    });
    kill(pid, 'SIGKILL');
    expect(textAt(await sleeping, 'error', 'message')).toContain('The call may have had its effect');
    expect(await pipe.call('plain_counter')).toBe('1');
    expect(findGatewayPid(place.home)).not.toBe(pid);
    expect(pipe.lines().some((line) => line.includes('notifications/tools/list_changed'))).toBe(true);
  });

  it('gives way to assay serve, to which its clients move on', async () => {
    const place = placeOf({ plain: fixture('plain') });
    const pipe = attach(place);
    await pipe.initialize();
    expect(await pipe.call('plain_label')).toBe('plain');
    const served = openPipe([MAIN, 'serve', '--port', '0', '--home', place.home, '--config', place.config]);
    await until(
      'it serves',
      () => (served.lines().some((line) => line.includes('endpoint')) ? true : undefined),
      30_000,
    );
    expect(await pipe.call('plain_label')).toBe('plain');
    expect(findGatewayPid(place.home)).toBe(served.pid);
  });

  it('opens a port when the pages are opened, and ends on assay stop', async () => {
    const place = placeOf({ plain: fixture('plain') });
    const pipe = attach(place);
    await pipe.initialize();
    const pid = findGatewayPid(place.home) ?? 0;
    const given = ['--home', place.home, '--config', place.config];
    const link = await runAssay(['token', 'link', '--home', place.home]);
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(link.stdout) ?? [];
    expect((await fetch(`${url}/health`)).status).toBe(200);
    pipe.closeStdin();
    await pipe.ended;
    const stopped = await runAssay(['stop', ...given]);
    expect([stopped.code, stopped.stdout]).toEqual([0, expect.stringContaining(`Stopped (pid ${pid})`)]);
    expect((await runAssay(['stop', ...given])).stdout).toContain('No gateway is running');
  });

  it('ends once its home is deleted', async () => {
    const place = placeOf({});
    const pipe = attach(place);
    await pipe.initialize();
    const pid = findGatewayPid(place.home);
    if (pid === undefined) throw new Error('no gateway was started');
    // The gateway may create a file while its home is deleted.
    rmSync(place.home, { recursive: true, maxRetries: 10 });
    await until('the gateway has ended', () => (isAlive(pid) ? undefined : true));
  });

  it('with --no-background none is started', async () => {
    const place = placeOf({ plain: fixture('plain') });
    const pipe = attach(place, { args: ['--all', '--no-background'] });
    await pipe.initialize();
    expect(await pipe.call('plain_label')).toBe('plain');
    expect(findGatewayPid(place.home)).toBeUndefined();
    await untilLogged(pipe, 'no gateway of this home is running, so the servers are started here');
  });

  it('starts in the home, without the folder and the variables of the client that started it', async () => {
    const place = placeOf({
      plain: fixture('plain', [], { env: { NAMED: '${NAMED}' } }),
    });
    const folder = join(realpathSync(tempDir()), 'project');
    mkdirSync(folder);
    const first = attach(place, { env: { NAMED: 'one', OTHER: 'secret' }, cwd: folder });
    await first.initialize();
    const environment = (pid: number): string => readFileSync(`/proc/${pid}/environ`, 'utf8');
    const pid = findGatewayPid(place.home) ?? 0;
    expect(environment(pid)).toContain('NAMED=one');
    expect(environment(pid)).not.toContain('secret');
    expect(realpathSync(`/proc/${pid}/cwd`)).toBe(realpathSync(place.home));
    // Another value of a variable that the config names is that client's own.
    const second = attach(place, { env: { NAMED: 'two' }, cwd: folder });
    await second.initialize();
    const named = (pipe: Pipe): Promise<string> => pipe.call('plain_env', { name: 'NAMED' });
    expect([await named(first), await named(second)]).toEqual(['one', 'two']);
    // One without a value does not get that of the first.
    const unset = attach(place, { cwd: folder });
    await unset.initialize();
    await untilLogged(unset, 'the server plain is another one in the folder of this client');
    await untilLogged(second, 'this client has its own connection to plain, because');
    await untilLogged(second, 'the running gateway has other values of NAMED');
    // Code in the folder of the client is another server.
    writeFileSync(
      place.config,
      JSON.stringify({ mcpServers: { code: { command: process.execPath, args: ['./x.js'] } } }),
    );
    const third = attach(place, { cwd: folder });
    await third.initialize();
    await untilLogged(third, 'the server code is another one in the folder of this client');
  });
});

describe('an attached client', () => {
  it('is asked by the server: the first in the shared process, the next in its own', async () => {
    const events = openEventLog();
    const place = placeOf({ asking: fixture('asking', [], { env: events.env }) });
    const capabilities = { elicitation: { form: {} }, roots: { listChanged: true }, sampling: {} };
    const ask = async (pipe: Pipe): Promise<string> => {
      pipe.send({
        jsonrpc: '2.0',
        id: 'init',
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'asked', version: '1' } },
      });
      await pipe.next('the handshake', (message) => at(message, 'id') === 'init');
      pipe.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      const question = {
        method: 'elicitation/create',
        params: { message: 'Who?', requestedSchema: { type: 'object' } },
      };
      const answer = pipe.ask('tools/call', { name: 'asking_ask', arguments: { rounds: [[question]] } });
      const request = await pipe.next(
        'the question',
        (message) => at(message, 'method') === 'elicitation/create',
      );
      pipe.send({
        jsonrpc: '2.0',
        id: at(request, 'id') ?? null,
        result: { action: 'accept', content: { name: 'Ann' } },
      });
      return JSON.stringify(at(await answer, 'result'));
    };
    const [first, second] = [attach(place), attach(place)];
    expect(await ask(first)).toContain('Ann');
    expect(await ask(second)).toContain('Ann');
  });

  it('has a mode of its own, and tools of the equipped toolset', async () => {
    const place = placeOf({ s: fixture('named', ['one', 'two']) });
    const [first, second] = [attach(place, { args: [] }), attach(place, { args: [] })];
    await Promise.all([first.initialize(), second.initialize()]);
    const tools = async (pipe: Pipe): Promise<readonly string[]> =>
      namesAt(await pipe.ask('tools/list'), 'result', 'tools');
    await equip(
      { call: async (name, args = {}) => toTold(await first.ask('tools/call', { name, arguments: args })) },
      'mine',
      ['s.one'],
    );
    await expect.poll(() => tools(first), { timeout: 10_000 }).toEqual(['enter-configuration-mode', 's_one']);
    await expect
      .poll(() => tools(second), { timeout: 10_000 })
      .toEqual(['enter-configuration-mode', 's_one']);
    await second.call('enter-configuration-mode');
    expect(await tools(second)).toContain('build-toolset');
    expect(await tools(first)).toEqual(['enter-configuration-mode', 's_one']);
  });

  it('is asked for an approval as a client on stdio is', async () => {
    const settings = { approvals: 'gateway' };
    const place = placeOf({ plain: fixture('plain') }, settings);
    const pipe = attach(place);
    pipe.send({
      jsonrpc: '2.0',
      id: 'init',
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation: { form: {} } },
        clientInfo: { name: 'asked', version: '1' },
      },
    });
    await pipe.next('the handshake', (message) => at(message, 'id') === 'init');
    pipe.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const answer = pipe.ask('tools/call', { name: 'plain_label', arguments: {} });
    const question = await pipe.next(
      'the question',
      (message) => at(message, 'method') === 'elicitation/create',
    );
    pipe.send({ jsonrpc: '2.0', id: at(question, 'id') ?? null, result: { action: 'decline' } });
    expect(JSON.stringify(await answer)).toContain('APPROVAL_DENIED');
  });

  it('shares the gateway with commands, which reach it without a port', async () => {
    const place = placeOf({ plain: fixture('plain') });
    const pipe = attach(place);
    await pipe.initialize();
    expect(await pipe.call('plain_counter')).toBe('1');
    const given = ['--home', place.home, '--config', place.config];
    expect((await runAssay(['call', 'plain_counter', ...given])).stdout.trim()).toBe('2');
  });

  it('of an unknown toolset is refused with the reason', async () => {
    const place = placeOf({ plain: fixture('plain') });
    const pipe = attach(place, { args: ['--toolset', 'none'] });
    expect(await pipe.ended).not.toBe(0);
    await untilLogged(pipe, 'none');
  });
});
