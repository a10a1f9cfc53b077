import { describe, expect, it } from 'vitest';
import { startAssay } from '../support/assay.ts';
import { isAlive, kill, killLater, sleep, until } from '../support/endings.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, openEventLog } from '../support/paths.ts';
import { spawnStdio } from '../support/stdio.ts';

interface Pids {
  readonly child: number;
  readonly grandchild: number;
}

function pidsIn(text: string): Pids {
  const pids = JSON.parse(text) as Pids;
  killLater(pids.child);
  killLater(pids.grandchild);
  expect([isAlive(pids.child), isAlive(pids.grandchild)]).toEqual([true, true]);
  return pids;
}

async function expectGone(pids: Pids): Promise<void> {
  await until(`both are gone: ${JSON.stringify(pids)}`, () =>
    isAlive(pids.child) || isAlive(pids.grandchild) ? undefined : true,
  );
}

describe.concurrent.each([
  ['well-behaved', []],
  ['stubborn', ['--stubborn']],
] as const)('a %s child and its own child', (kind, args) => {
  const servers = { g: fixture('grandchild', args) };

  it.each(['SIGTERM', 'SIGINT'] as const)('end with assay serve on %s', async (signal) => {
    const assay = await startAssay({ servers });
    const pids = pidsIn(await (await openSession(assay.url)).call('g_pids'));
    const startMs = Date.now();
    process.kill(assay.pid, signal);
    await expectGone(pids);
    await until('Assay is gone', () => (isAlive(assay.pid) ? undefined : true));
    expect(Date.now() - startMs).toBeLessThan(scaledMs(kind === 'stubborn' ? 20_000 : 10_000));
  });

  it('end with assay stdio when its stdin closes', async () => {
    const pipe = spawnStdio({ servers });
    await pipe.initialize();
    const pids = pidsIn(await pipe.call('g_pids'));
    pipe.closeStdin();
    expect(await pipe.ended).toBe(0);
    await expectGone(pids);
  });
});

describe('processes that a server leaves behind', () => {
  it('are gone before it is restarted', async () => {
    const eventLog = openEventLog();
    const assay = await startAssay({ servers: { g: fixture('grandchild', [], { env: eventLog.env }) } });
    const session = await openSession(assay.url);
    const pids = pidsIn(await session.call('g_pids'));
    kill(pids.child, 'SIGKILL');
    await expectGone(pids);
    await until('it runs again', () => (eventLog.read('start').length === 2 ? true : undefined));
    const again = pidsIn(await session.call('g_pids'));
    expect(again.child).not.toBe(pids.child);
    expect(await assay.stop()).toBe(0);
    await expectGone(again);
  });
});

describe('assay serve on SIGTERM', () => {
  it('answers pending calls, with their result or with an error that says why, and exits with code 0', async () => {
    const assay = await startAssay({ servers: { plain: fixture('plain') } });
    const session = await openSession(assay.url);
    await session.call('plain_label');
    const running = session.ask('tools/call', { name: 'plain_sleep', arguments: { ms: 500 } });
    await sleep(100);
    const stopped = assay.stop();
    const answer = await running;
    if (at(answer, 'result') === undefined) {
      expect(['SHUTTING_DOWN', 'SERVER_ENDED']).toContain(at(answer, 'error', 'data', 'code'));
    }
    expect(await stopped).toBe(0);
  });

  it('closes streams that would otherwise stay open', async () => {
    const assay = await startAssay({ servers: { plain: fixture('plain') } });
    const session = await openSession(assay.url);
    const stream = await session.listen();
    const startMs = Date.now();
    expect(await assay.stop()).toBe(0);
    await stream.ended;
    expect(Date.now() - startMs).toBeLessThan(scaledMs(4_000));
  });
});
