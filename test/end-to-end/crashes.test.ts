import { beforeAll, describe, expect, it } from 'vitest';
import { serverIn, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { isAlive, kill, sleep, until, untilLogged } from '../support/endings.ts';
import { at, listAt, namesAt, type Json } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, openEventLog, tempDir } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

describe('a stdio server that crashes', () => {
  let assay: Gateway;
  let session: LegacySession;
  const eventLog = openEventLog();
  beforeAll(async () => {
    assay = await startGateway({
      servers: {
        crasher: fixture('crasher', [], { env: eventLog.env, timeoutMs: 8_000 }),
        plain: fixture('plain'),
      },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });

  const call = (name: string): Promise<Json> => session.ask('tools/call', { name, arguments: {} });
  const isUp = (): Promise<boolean> =>
    until('the crasher is up again', async () =>
      at(serverIn(await assay.health(), 'crasher'), 'state') === 'up' ? true : undefined,
    );

  it('during a call ends that call with an error that names the server and the cause', async () => {
    const error = at(await call('crasher_crash'), 'error');
    expect(error).toMatchObject({ code: -32603, data: { code: 'SERVER_ENDED' } });
    expect(at(error, 'message')).toContain('"crasher"');
    expect(at(error, 'message')).toMatch(/code 7/);
  });

  it('is restarted, and works', async () => {
    await isUp();
    expect(textOf(await call('crasher_echo'))).toBe('alive');
  });

  it('by kill -9 gives each of its calls an error that names the signal, and affects no other server', async () => {
    await isUp();
    const pid = Number(textOf(await call('crasher_pid')));
    const calls = [
      call('crasher_hang'),
      call('crasher_hang'),
      modernAsk(assay.url, 'tools/call', { params: { name: 'crasher_hang', arguments: {} } }),
    ];
    const bystander = session.call('plain_sleep', { ms: 600 });
    await until('all three are there', () =>
      eventLog.read('message').filter((one) => one.detail.includes('"name":"hang"')).length >= 3
        ? true
        : undefined,
    );
    kill(pid, 'SIGKILL');
    for (const answer of await Promise.all(calls)) {
      expect(at(answer, 'error')).toMatchObject({ code: -32603, data: { code: 'SERVER_ENDED' } });
      expect(at(answer, 'error', 'message')).toContain('SIGKILL');
    }
    expect(await bystander).toBe('slept 600');
    expect(isAlive(pid)).toBe(false);
  });

  it('delays a call during its restart until it is ready', async () => {
    await isUp();
    kill(Number(textOf(await call('crasher_pid'))), 'SIGKILL');
    await until('the end is noticed', async () =>
      at(serverIn(await assay.health(), 'crasher'), 'state') === 'up' ? undefined : true,
    ).catch(() => undefined);
    expect(textOf(await call('crasher_echo'))).toBe('alive');
  });

  it('stays in the list while it restarts, so that clients do not see its tools flicker', async () => {
    await isUp();
    const before = namesAt(await session.ask('tools/list'), 'result', 'tools');
    kill(Number(textOf(await call('crasher_pid'))), 'SIGKILL');
    for (let look = 0; look < 10; look++) {
      expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toEqual(before);
      await sleep(20);
    }
    await isUp();
  });

  it('has its last output in the log, under its name', async () => {
    await isUp();
    expect(at(await call('crasher_last-words'), 'error', 'data', 'code')).toBe('SERVER_ENDED');
    const line = await until('the line is in the log', () =>
      assay
        .stderr()
        .split('\n')
        .find((one) => one.includes('the disk is on fire')),
    );
    expect(JSON.parse(line)).toMatchObject({ server: 'crasher' });
    await isUp();
  });

  it('never received the same call twice', () => {
    const crashes = eventLog.read('message').filter((one) => one.detail.includes('"name":"crash"'));
    expect(crashes).toHaveLength(1);
  });
});

describe('a stdio server that exits at startup', () => {
  it('is restarted with growing pauses until it is ready', async () => {
    const eventLog = openEventLog();
    const state = `${tempDir()}/starts`;
    const assay = await startGateway({
      servers: {
        crasher: fixture('crasher', [`--state=${state}`, '--fail-starts=2'], { env: eventLog.env }),
        plain: fixture('plain'),
      },
    });
    const session = await openSession(assay.url);
    expect(await session.call('plain_label')).toBe('plain');
    await until(
      'it stands',
      async () => (at(serverIn(await assay.health(), 'crasher'), 'state') === 'up' ? true : undefined),
      15_000,
    );
    expect(await session.call('crasher_echo')).toBe('alive');
    const { readFileSync } = await import('node:fs');
    expect(Number(readFileSync(state, 'utf8'))).toBe(3);
  });

  it('repeatedly is not restarted in a hot loop, and the first cause stays visible', async () => {
    const state = `${tempDir()}/starts`;
    const assay = await startGateway({
      servers: {
        crasher: fixture('crasher', [`--state=${state}`, '--fail-starts=9999'], { timeoutMs: 1_500 }),
      },
    });
    await until('it has failed', async () =>
      at(serverIn(await assay.health(), 'crasher'), 'state') === 'restarting' ? true : undefined,
    );
    await sleep(2_500);
    const { readFileSync } = await import('node:fs');
    expect(Number(readFileSync(state, 'utf8'))).toBeLessThanOrEqual(6);
    const server = serverIn(await assay.health(), 'crasher');
    expect(at(server, 'state')).toBe('restarting');
    expect(String(at(server, 'cause'))).toMatch(/code 3/);
    await untilLogged(assay, 'start 1 fails');
    const session = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/crasher`);
    const startMs = Date.now();
    const answer = await session.ask('tools/call', { name: 'echo', arguments: {} });
    expect(Date.now() - startMs).toBeLessThan(scaledMs(7_500));
    expect(at(answer, 'error', 'message')).toMatch(/crasher/);
  });

  it('affects a stdio client only by the absence of that server', async () => {
    const pipe = openStdio({
      servers: { crasher: fixture('crasher'), plain: fixture('plain') },
    });
    await pipe.initialize();
    await pipe.ask('tools/list');
    const answer = await pipe.ask('tools/call', { name: 'crasher_crash', arguments: {} });
    expect(at(answer, 'error', 'data', 'code')).toBe('SERVER_ENDED');
    expect(await pipe.call('plain_label')).toBe('plain');
    expect(await pipe.call('crasher_echo')).toBe('alive');
  });

  it('because its command does not exist says so in /health and to the caller', async () => {
    const assay = await startGateway({ servers: { dead: { command: 'no-such-command-anywhere' } } });
    const health = await assay.settled();
    expect(listAt(health, 'servers').map((one) => at(one, 'state'))).toEqual(['refused']);
    expect(at(serverIn(health, 'dead'), 'cause')).toContain('no-such-command-anywhere');
    const session = await openSession(assay.url);
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toEqual([]);
  });
});

describe('a server that prints lines other than JSON-RPC', () => {
  it('is understood nevertheless, and those lines go to the log', async () => {
    const assay = await startGateway({
      servers: { babbler: fixture('babbler') },
      env: { ASSAY_LOG_LEVEL: 'debug' },
    });
    const session = await openSession(assay.url);
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toEqual([
      'babbler_echo',
      'babbler_flood',
    ]);
    for (let time = 0; time < 5; time++)
      expect(await session.call('babbler_echo', { time })).toBe(`{"time":${time}}`);
    expect(await session.call('babbler_flood')).toBe('flooded');
    expect(await session.call('babbler_echo', {})).toBe('{}');
    const log = await until('the noise is in the log', () =>
      assay.stderr().includes('some words') ? assay.stderr() : undefined,
    );
    expect(log.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
    expect(at(serverIn(await assay.health(), 'babbler'), 'state')).toBe('up');
  });
});
