// However Assay ends, even by an uncatchable signal, everything that it started ends too.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startAssay, type AssayOptions } from '../support/assay.ts';
import { isAlive, kill, killLater, until } from '../support/endings.ts';
import type { JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, openEventLog, tempDir, type EventLog } from '../support/paths.ts';
import { childrenOf, reapersOf } from '../support/processes.ts';
import { spawnStdio } from '../support/stdio.ts';

interface Running {
  readonly pid: number;
  readonly stop: () => Promise<number | null>;
}

const ENDPOINTS = {
  'assay serve': async (options: AssayOptions): Promise<Running> => {
    const assay = await startAssay(options);
    await assay.settled();
    return assay;
  },
  'assay stdio': async (options: AssayOptions): Promise<Running> => {
    const pipe = spawnStdio(options);
    await pipe.initialize();
    await pipe.ask('tools/list');
    const stop = (): Promise<number | null> => {
      pipe.closeStdin();
      return pipe.ended;
    };
    return { pid: pipe.pid, stop };
  },
} as const;
const ENDPOINT_NAMES = ['assay serve', 'assay stdio'] as const;

/** One that exits with its stdin, one that ignores that and SIGTERM, and two with a child of their own. */
function allKinds(eventLog: EventLog): JsonObject {
  const more = { env: eventLog.env };
  return {
    obedient: fixture('plain', [], more),
    deaf: fixture('plain', ['--stubborn'], more),
    parent: fixture('grandchild', [], more),
    deafParent: fixture('grandchild', ['--stubborn'], more),
  };
}
const ALL_KINDS_PIDS = 6;

/** Starts it with these servers and waits until so many processes of theirs run. */
async function opened(
  endpoint: keyof typeof ENDPOINTS,
  { servers, eventLog, count }: { servers: JsonObject; eventLog: EventLog; count: number },
): Promise<Running & { readonly pids: readonly number[]; readonly reaper: number }> {
  // A crash may leave a core file in its folder.
  const running = await ENDPOINTS[endpoint]({ servers, place: { cwd: tempDir(), detached: true } });
  const pids = await until(`${count} processes run`, () => {
    const started = eventLog.read('start').map(({ pid }) => pid);
    const grandchildren = eventLog.read('grandchild').map(({ detail }) => Number(detail));
    const all = [...started, ...grandchildren];
    return all.length >= count ? all : undefined;
  });
  pids.forEach(killLater);
  expect(pids.filter(isAlive)).toEqual(pids);
  return { ...running, pids, reaper: await reaperOf(running.pid) };
}

function reaperOf(assay: number): Promise<number> {
  return until('there is a reaper', () => {
    const [pid] = reapersOf(assay);
    killLater(pid);
    return pid;
  });
}

async function expectGone(pids: readonly number[], limitMs = 10_000): Promise<void> {
  await until(
    () => `none of ${pids.join()} lives, but ${pids.filter(isAlive).join()}`,
    () => (pids.some(isAlive) ? undefined : true),
    limitMs,
  );
}

describe.concurrent.each(ENDPOINT_NAMES)('%s', (endpoint) => {
  it.each(['SIGKILL', 'SIGABRT', 'SIGSEGV'] as const)('ended by %s leaves no process', async (signal) => {
    const eventLog = openEventLog();
    const { pid, pids, reaper } = await opened(endpoint, {
      servers: allKinds(eventLog),
      eventLog,
      count: ALL_KINDS_PIDS,
    });
    expect(reapersOf(pid)).toEqual([reaper]);
    process.kill(pid, signal);
    await expectGone([pid, ...pids, reaper]);
  });

  it('ended by `pkill -9 -f assay` still has its reaper, whose name does not match', async () => {
    const eventLog = openEventLog();
    const servers = { plain: fixture('plain', [], { env: eventLog.env }) };
    const { pid, reaper } = await opened(endpoint, { servers, eventLog, count: 1 });
    const commands = childrenOf(pid).filter((child) => child.pid === reaper);
    expect(commands.map(({ command }) => /assay/i.test(command))).toEqual([false]);
  });

  it('that ends normally leaves no reaper either', async () => {
    const eventLog = openEventLog();
    const { stop, pids, reaper } = await opened(endpoint, {
      servers: allKinds(eventLog),
      eventLog,
      count: ALL_KINDS_PIDS,
    });
    expect(await stop()).toBe(0);
    await expectGone([...pids, reaper]);
  });

  it('that is interrupted in its terminal ends everything properly', async () => {
    const eventLog = openEventLog();
    const running = await opened(endpoint, { servers: allKinds(eventLog), eventLog, count: ALL_KINDS_PIDS });
    const { pid, stop, pids, reaper } = running;
    process.kill(-pid, 'SIGINT');
    await expectGone([pid, ...pids, reaper]);
    // It was not the signal that ended it.
    expect(await stop()).toBe(0);
  });

  it('gets a new reaper if its own was killed, and leaves no process', async () => {
    const eventLog = openEventLog();
    const servers = { deaf: fixture('plain', ['--stubborn'], { env: eventLog.env }) };
    const { pid, pids, reaper } = await opened(endpoint, { servers, eventLog, count: 1 });
    kill(reaper, 'SIGKILL');
    await expectGone([reaper]);
    const next = await reaperOf(pid);
    expect(new Set(childrenOf(pid).map((child) => child.pid))).toEqual(new Set([...pids, next]));
    process.kill(pid, 'SIGKILL');
    await expectGone([pid, ...pids, next]);
  });
});

describe.concurrent('a killed assay serve', () => {
  it('leaves no process while a server starts', async () => {
    const eventLog = openEventLog();
    const servers = {
      hanger: fixture('hanger', ['--mode=all', '--stubborn'], { env: eventLog.env }),
    };
    const assay = await startAssay({ servers });
    const start = await until('the server runs', () => eventLog.read('start')[0]);
    killLater(start.pid);
    const reaper = await reaperOf(assay.pid);
    process.kill(assay.pid, 'SIGKILL');
    await expectGone([assay.pid, start.pid, reaper]);
  });

  it('leaves no process after a server was restarted, and had one reaper all the time', async () => {
    const eventLog = openEventLog();
    const servers = { deafParent: fixture('grandchild', ['--stubborn'], { env: eventLog.env }) };
    const { pid, pids, reaper } = await opened('assay serve', { servers, eventLog, count: 2 });
    kill(pids[0]!, 'SIGKILL');
    await until('it runs again', () => (eventLog.read('start').length === 2 ? true : undefined));
    const again = [eventLog.read('start')[1]!.pid, Number(eventLog.read('grandchild')[1]!.detail)];
    again.forEach(killLater);
    await expectGone(pids);
    expect(reapersOf(pid)).toEqual([reaper]);
    process.kill(pid, 'SIGKILL');
    await expectGone([pid, ...again, reaper]);
  });

  it('lets a server that watches its stdin end by itself', async () => {
    const file = join(tempDir(), 'saved');
    const script = `cat >/dev/null; sleep 0.3; echo saved >${file}`;
    const { pid } = await startAssay({ servers: { saver: { command: 'sh', args: ['-c', script] } } });
    const reaper = await reaperOf(pid);
    const pids = childrenOf(pid).map((child) => child.pid);
    pids.forEach(killLater);
    expect(pids).toHaveLength(2);
    process.kill(pid, 'SIGKILL');
    await expectGone([pid, ...pids, reaper]);
    expect(existsSync(file)).toBe(true);
  });
});

describe('assay serve without a stdio server', () => {
  it('has no reaper', async () => {
    const assay = await startAssay({ servers: {} });
    await assay.settled();
    expect(childrenOf(assay.pid)).toEqual([]);
  });
});

describe("a client's session", () => {
  it('continues when the reaper is killed', async () => {
    const assay = await startAssay({ servers: { plain: fixture('plain') } });
    const session = await openSession(assay.url);
    expect(await session.call('plain_label')).toBe('plain');
    kill(await reaperOf(assay.pid), 'SIGKILL');
    expect(await session.call('plain_label')).toBe('plain');
    expect(await assay.stop()).toBe(0);
  });
});
