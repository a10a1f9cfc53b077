import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { cleanEnv } from '../support/assay.ts';
import { isAlive, killLater, sleep, until } from '../support/endings.ts';
import { at, parseJson } from '../support/json.ts';
import { initializeOf } from '../support/legacy.ts';
import { fixture, MAIN, openEventLog, tempDir, writeConfig, type EventLog } from '../support/paths.ts';
import { openPipe, spawnStdio } from '../support/stdio.ts';

async function childOf(eventLog: EventLog): Promise<number> {
  const start = await until('the server was started', () => eventLog.read('start')[0]);
  killLater(start.pid);
  expect(isAlive(start.pid)).toBe(true);
  return start.pid;
}

describe.concurrent.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  it('during `assay tools` stops the servers too', async () => {
    const eventLog = openEventLog();
    const config = writeConfig({ hanger: fixture('hanger', ['--mode=all'], { env: eventLog.env }) });
    const pipe = openPipe([MAIN, 'tools', '--config', config, '--home', tempDir()]);
    const child = await childOf(eventLog);
    await sleep(100);
    process.kill(pipe.pid, signal);
    expect(await pipe.ended).toBe(130);
    await until('the server is gone', () => (isAlive(child) ? undefined : true), 3_000);
  });

  it.each([[[]], [['--stubborn']]])('during `assay call` stops the servers too (%j)', async (args) => {
    const eventLog = openEventLog();
    const config = writeConfig({ plain: fixture('plain', args, { env: eventLog.env }) });
    const pipe = openPipe([
      MAIN,
      'call',
      'plain_sleep',
      '{"ms":60000}',
      '--config',
      config,
      '--home',
      tempDir(),
    ]);
    const child = await childOf(eventLog);
    await until('the call runs', () => (eventLog.countOf('tools/call') > 0 ? true : undefined));
    process.kill(pipe.pid, signal);
    expect(await pipe.ended).toBe(130);
    await until('the server is gone', () => (isAlive(child) ? undefined : true), 3_000);
  });
});

describe.concurrent('assay stdio', () => {
  /** Fills a stdout that is never read, closes stdin, and returns how long the exit takes. */
  async function unreadExitMs(bytes: number, after: readonly string[]): Promise<number> {
    const eventLog = openEventLog();
    const config = writeConfig({ plain: fixture('plain', [], { env: eventLog.env }) });
    const child = spawn(process.execPath, [MAIN, 'stdio', '--all', '--config', config, '--home', tempDir()], {
      env: cleanEnv(),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    killLater(child.pid);
    child.stdout.pause();
    child.stdin.on('error', () => undefined);
    child.stdin.write(`${initializeOf('2025-11-25')}\n`);
    for (let id = 10; id < 14; id++) {
      child.stdin.write(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"plain_big","arguments":{"bytes":${bytes}}}}\n`,
      );
    }
    const server = await childOf(eventLog);
    await until('the calls are there', () => (eventLog.countOf('tools/call') === 4 ? true : undefined));
    await sleep(1_000);
    for (const line of after) {
      child.stdin.write(`${line}\n`);
      await sleep(200);
    }
    const startMs = Date.now();
    child.stdin.end();
    const exited = once(child, 'exit');
    const ended = await Promise.race([exited.then(() => true), sleep(18_000).then(() => false)]);
    expect(ended).toBe(true);
    await until('the server is gone', () => (isAlive(server) ? undefined : true), 5_000);
    return Date.now() - startMs;
  }

  it('exits when stdin closes even if the client has read nothing', async () => {
    expect(await unreadExitMs(2_000_000, [])).toBeLessThan(16_000);
  });

  it('exits when stdin closes even if the client reads nothing and keeps sending requests', async () => {
    const ping = '{"jsonrpc":"2.0","id":99,"method":"ping"}';
    expect(await unreadExitMs(2_000_000, [ping, ping.replace('99', '100')])).toBeLessThan(16_000);
  });

  it('responds to requests sent before stdin closed', async () => {
    const pipe = spawnStdio({ servers: { plain: fixture('plain') } });
    await pipe.initialize();
    await pipe.ask('tools/list');
    pipe.send({
      jsonrpc: '2.0',
      id: 'late',
      method: 'tools/call',
      params: { name: 'plain_sleep', arguments: { ms: 700 } },
    });
    pipe.closeStdin();
    expect(await pipe.ended).toBe(0);
    const last = pipe
      .lines()
      .map(parseJson)
      .find((one) => at(one, 'id') === 'late');
    expect(at(last, 'result', 'content', 0, 'text')).toBe('slept 700');
  });
});
