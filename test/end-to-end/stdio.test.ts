import { describe, expect, it } from 'vitest';
import { OFFICIAL } from '../support/clients.ts';
import { isAlive, until } from '../support/endings.ts';
import { at, listAt, namesAt } from '../support/json.ts';
import { initializeOf } from '../support/legacy.ts';
import { listAfterChanges } from '../support/list-changes.ts';
import { META, envelope } from '../support/modern.ts';
import { fixture, MAIN, tempDir, writeConfig } from '../support/paths.ts';
import { spawnStdio } from '../support/stdio.ts';

describe('assay stdio', () => {
  it('serves a legacy client: initialize, lists, calls', async () => {
    const pipe = spawnStdio({ servers: { plain: fixture('plain') } });
    const initialized = await pipe.initialize('2025-06-18');
    expect(at(initialized, 'result', 'protocolVersion')).toBe('2025-06-18');
    expect(namesAt(await pipe.ask('tools/list'), 'result', 'tools')).toContain('plain_echo');
    expect(await pipe.call('plain_add', { a: 1, b: 1 })).toBe('2');
    expect(at(await pipe.ask('no/such'), 'error', 'code')).toBe(-32601);
  });

  it('serves a client of 2024-11-05', async () => {
    const pipe = spawnStdio({ servers: { plain: fixture('plain') } });
    expect(at(await pipe.initialize('2024-11-05'), 'result', 'protocolVersion')).toBe('2024-11-05');
    expect(await pipe.call('plain_label')).toBe('plain');
  });

  it('serves a modern client without initialize, and requires an envelope in each request', async () => {
    const pipe = spawnStdio({ servers: { plain: fixture('plain') } });
    const discovered = await pipe.ask('server/discover', { _meta: envelope() });
    expect(listAt(discovered, 'result', 'supportedVersions')).toContain('2026-07-28');
    const listed = await pipe.ask('tools/list', { _meta: envelope() });
    expect(at(listed, 'result')).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    const missing = await pipe.ask('server/discover', {
      _meta: { [`${META}protocolVersion`]: '2026-07-28' },
    });
    expect(at(missing, 'error', 'code')).toBe(-32602);
    const unsupported = await pipe.ask('tools/list', {
      _meta: envelope({ [`${META}protocolVersion`]: '2099-01-01' }),
    });
    expect(at(unsupported, 'error')).toMatchObject({ code: -32022, data: { requested: '2099-01-01' } });
  });

  it.each(OFFICIAL)('serves the official client $label', async ({ connect }) => {
    const config = writeConfig({ plain: fixture('plain'), c: fixture('cancellable') });
    const client = await connect({
      command: [process.execPath, MAIN, 'stdio', '--all', '--config', config, '--home', tempDir()],
    });
    expect(await client.tools()).toContain('plain_echo');
    expect(await client.call('plain_echo', { a: [1, { b: null }] })).toBe('{"a":[1,{"b":null}]}');
    const progress: number[] = [];
    await client.call('c_steps', { steps: 2, intervalMs: 200 }, (one) => progress.push(one));
    expect(progress).toEqual([1, 2]);
  });

  it('answers several requests in one write, and one split over three writes', async () => {
    const pipe = spawnStdio({ servers: { plain: fixture('plain') } });
    pipe.write(
      `${initializeOf('2025-11-25')}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\r\n\n{"jsonrpc":"2.0",`,
    );
    await pipe.next('the pong', (one) => at(one, 'id') === 2);
    pipe.write('"id":3,"meth');
    pipe.write('od":"ping"}\n');
    expect(await pipe.next('the late pong', (one) => at(one, 'id') === 3)).toEqual({
      jsonrpc: '2.0',
      id: 3,
      result: {},
    });
  });

  it('answers a slow call and a fast one in order of completion', async () => {
    const pipe = spawnStdio({ servers: { plain: fixture('plain') } });
    await pipe.initialize();
    const slow = pipe.call('plain_sleep', { ms: 500 });
    expect(await pipe.call('plain_label')).toBe('plain');
    expect(pipe.lines().some((line) => line.includes('slept'))).toBe(false);
    expect(await slow).toBe('slept 500');
  });

  it('notifies a legacy client of changed tools', async () => {
    const pipe = spawnStdio({ servers: { changer: fixture('changer') } });
    await pipe.initialize();
    await pipe.ask('tools/list');
    await pipe.call('changer_grow');
    await listAfterChanges({
      changes: () => pipe.lines().filter((line) => line.includes('notifications/tools/list_changed')).length,
      list: async () => namesAt(await pipe.ask('tools/list'), 'result', 'tools'),
      isComplete: (names) => names.includes('changer_extra_0'),
    });
  });

  it('exits with code 0 when stdin closes, after answering pending requests', async () => {
    const pipe = spawnStdio({ servers: { plain: fixture('plain') } });
    await pipe.initialize();
    await pipe.ask('tools/list');
    pipe.send({ jsonrpc: '2.0', id: 'last', method: 'ping' });
    pipe.closeStdin();
    const startMs = Date.now();
    expect(await pipe.ended).toBe(0);
    expect(Date.now() - startMs).toBeLessThan(20_000);
    expect(pipe.lines().some((line) => line.includes('"id":"last"'))).toBe(true);
  });

  it('exits and stops its servers on SIGHUP', async () => {
    const pipe = spawnStdio({ servers: { g: fixture('grandchild') } });
    await pipe.initialize();
    const pids = JSON.parse(await pipe.call('g_pids')) as { child: number; grandchild: number };
    process.kill(pipe.pid, 'SIGHUP');
    await pipe.ended;
    await until('both are gone', () => (isAlive(pids.child) || isAlive(pids.grandchild) ? undefined : true));
  });
});
