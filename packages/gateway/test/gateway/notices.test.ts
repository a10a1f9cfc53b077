import { describe, expect, it } from 'vitest';
import { err, ok } from '@assay-mcp/kit/result';
import type { ServerStateName } from '@assay-mcp/kit/server-states';
import type { Notice, NoticeItem } from '../../src/core/notices.ts';
import type { StoredApproval } from '../../src/gateway/ports/approvals.ts';
import { NOTICE_INTERVAL_MS, Notices, SERVER_DOWN_MS } from '../../src/gateway/services/notices.ts';
import { memoryCache, MemoryRecords, replicaOf } from '../../../../test/support/memory-records.ts';
import { approval } from '../../../../test/support/store-values.ts';
import { SILENT } from './listed-server.ts';

const WEBHOOK = { kind: 'webhook', url: 'https://chat.example/hook' } as const;

/** Several processes on one store, whose clocks are moved by hand. */
function openProcesses(count: number) {
  const store = new MemoryRecords();
  const world = {
    nowMs: 1_000_000_000,
    pending: [] as StoredApproval[],
    suspended: [] as NoticeItem[],
    sent: [] as Notice[],
    refusals: 0,
  };
  const processes = Array.from({ length: count }, () => {
    const servers = new Map<string, ServerStateName>();
    const notices = new Notices({
      targets: new Map([
        ['approvals', WEBHOOK],
        ['overrides', WEBHOOK],
        ['servers', WEBHOOK],
      ]),
      records: replicaOf(store, memoryCache()),
      store: { approvals: () => Promise.resolve(ok(world.pending)), onChange: () => () => undefined },
      listServers: () => [...servers].map(([name, state]) => ({ name, state })),
      listSuspended: () => world.suspended,
      send: (_, notice) => {
        if (world.refusals > 0) {
          world.refusals -= 1;
          return Promise.resolve(err('it is away'));
        }
        world.sent.push(notice);
        return Promise.resolve(ok(undefined));
      },
      pagesUrl: () => 'https://assay.example',
      mask: (text) => text,
      log: SILENT,
      nowMs: () => world.nowMs,
      retryMs: [0, 0],
    });
    return { notices, servers };
  });
  const check = (topic: 'approvals' | 'overrides' | 'servers'): Promise<unknown> =>
    Promise.all(processes.map(({ notices }) => notices.check(topic)));
  const wait = (id: string): void => {
    const made = approval(id);
    world.pending.push({ ...made, state: 'pending', expiresMs: Infinity } as unknown as StoredApproval);
  };
  return { world, processes, check, wait };
}

describe('calls that wait', () => {
  it('are told once by one of several processes, at most once a minute, collected', async () => {
    const { world, check, wait } = openProcesses(3);
    await check('approvals');
    expect(world.sent).toEqual([]);
    wait('a');
    await check('approvals');
    await check('approvals');
    expect(world.sent.map(({ count }) => count)).toEqual([1]);
    wait('b');
    wait('c');
    world.nowMs += NOTICE_INTERVAL_MS - 1;
    await check('approvals');
    expect(world.sent).toHaveLength(1);
    world.nowMs += 1;
    await check('approvals');
    await check('approvals');
    expect(world.sent.map(({ count }) => count)).toEqual([1, 3]);
    world.nowMs += NOTICE_INTERVAL_MS;
    await check('approvals');
    expect(world.sent).toHaveLength(2);
  });

  it('are told although the clock of another machine was ahead', async () => {
    const { world, check, wait } = openProcesses(1);
    wait('a');
    world.nowMs += 3_600_000;
    await check('approvals');
    world.nowMs -= 3_600_000;
    wait('b');
    await check('approvals');
    expect(world.sent).toHaveLength(2);
  });

  it('are told again a few times if that fails, and then no more', async () => {
    const { world, check, wait } = openProcesses(1);
    world.refusals = 2;
    wait('a');
    await check('approvals');
    expect(world.sent).toHaveLength(1);
    world.refusals = 5;
    wait('b');
    world.nowMs += NOTICE_INTERVAL_MS;
    await check('approvals');
    expect([world.sent.length, world.refusals]).toEqual([1, 2]);
  });
});

it('a suspended override is told once, and again if the definition changes again', async () => {
  const { world, check } = openProcesses(2);
  world.suspended = [{ id: 'tool one', server: 's', tool: 's.t' }];
  await check('overrides');
  world.nowMs += NOTICE_INTERVAL_MS;
  await check('overrides');
  expect(world.sent).toMatchObject([{ kind: 'overrides_suspended', tools: ['s.t'] }]);
  world.suspended = [{ id: 'tool two', server: 's', tool: 's.t' }];
  await check('overrides');
  expect(world.sent).toHaveLength(2);
});

describe('a server', () => {
  it('is told once it has been down for five minutes, once, and once when it is up again', async () => {
    const { world, processes, check } = openProcesses(2);
    const [one, two] = processes;
    two?.servers.set('s', 'up');
    one?.servers.set('s', 'backoff');
    await check('servers');
    one?.servers.set('s', 'restarting');
    world.nowMs += SERVER_DOWN_MS - 1;
    await check('servers');
    expect(world.sent).toEqual([]);
    world.nowMs += 1;
    await check('servers');
    world.nowMs += SERVER_DOWN_MS;
    await check('servers');
    expect(world.sent).toMatchObject([{ kind: 'servers_down', servers: ['s'] }]);
    one?.servers.set('s', 'up');
    await check('servers');
    await check('servers');
    expect(world.sent.slice(1)).toMatchObject([{ kind: 'servers_recovered', recovered: ['s'] }]);
  });

  it('that recovers in time is not told', async () => {
    const { world, processes, check } = openProcesses(1);
    processes[0]?.servers.set('s', 'backoff');
    await check('servers');
    world.nowMs += SERVER_DOWN_MS - 1;
    processes[0]?.servers.set('s', 'up');
    await check('servers');
    world.nowMs += SERVER_DOWN_MS;
    await check('servers');
    expect(world.sent).toEqual([]);
  });
});
