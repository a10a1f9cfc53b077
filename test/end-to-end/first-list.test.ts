import { describe, expect, it } from 'vitest';
import { serverIn } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { OFFICIAL } from '../support/clients.ts';
import { sleep, until } from '../support/endings.ts';
import { at, namesAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

describe.concurrent('the first list, while servers start', () => {
  it('waits for a server that is ready soon', async () => {
    const assay = await startGateway({ servers: { plain: fixture('plain'), pager: fixture('pager') } });
    const session = await openSession(assay.url);
    const names = namesAt(await session.ask('tools/list'), 'result', 'tools');
    expect(names).toContain('plain_echo');
    expect(names).toContain('pager_tool_5');
  });

  it('waits at most 5 s for one that hangs, then has the others', async () => {
    const assay = await startGateway({
      servers: {
        hanger: fixture('hanger'),
        lists: fixture('hanger', ['--mode=lists']),
        plain: fixture('plain'),
      },
    });
    const startMs = Date.now();
    const session = await openSession(assay.url);
    expect(Date.now() - startMs).toBeLessThan(scaledMs(1_000));
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toContain('plain_echo');
    expect(Date.now() - startMs).toBeLessThan(scaledMs(6_500));
    const againMs = Date.now();
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toContain('plain_echo');
    expect(Date.now() - againMs).toBeLessThan(scaledMs(500));
    expect(await session.call('plain_label')).toBe('plain');
  });

  it('does not wait at the next start for a server that was late at this one', async () => {
    const home = tempDir();
    const servers = {
      hanger: fixture('hanger'),
      lists: fixture('hanger', ['--mode=lists']),
      plain: fixture('plain'),
    };
    const first = await startGateway({ servers, home });
    const session = await openSession(first.url);
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toContain('plain_echo');
    await first.stop();
    const second = await startGateway({ servers, home });
    const startMs = Date.now();
    const again = await openSession(second.url);
    expect(namesAt(await again.ask('tools/list'), 'result', 'tools')).toContain('plain_echo');
    // Well below the 5 s of a first start.
    expect(Date.now() - startMs).toBeLessThan(scaledMs(4_000));
  });

  it('does not delay a call to a ready server because another one hangs', async () => {
    const assay = await startGateway({ servers: { hanger: fixture('hanger'), plain: fixture('plain') } });
    const session = await openSession(assay.url);
    await until('plain is up', async () =>
      at(serverIn(await assay.health(), 'plain'), 'state') === 'up' ? true : undefined,
    );
    const startMs = Date.now();
    expect(await session.call('plain_label')).toBe('plain');
    expect(Date.now() - startMs).toBeLessThan(scaledMs(1_000));
  });

  it('never delays initialize or server/discover', async () => {
    const assay = await startGateway({ servers: { hanger: fixture('hanger') } });
    const startMs = Date.now();
    await openSession(assay.url);
    await modernAsk(assay.url, 'server/discover');
    expect(Date.now() - startMs).toBeLessThan(scaledMs(1_500));
    const pipe = openStdio({ servers: { hanger: fixture('hanger') } });
    const pipeMs = Date.now();
    await pipe.initialize();
    expect(Date.now() - pipeMs).toBeLessThan(scaledMs(2_500));
  });

  it('is followed by a notification about later tools, and has them then', async () => {
    const state = `${tempDir()}/n`;
    const { writeFileSync } = await import('node:fs');
    writeFileSync(state, '1');
    const assay = await startGateway({
      servers: {
        slow: fixture('crasher', [`--state=${state}`, '--late-ms=7000']),
        plain: fixture('plain'),
      },
    });
    const session = await openSession(assay.url);
    const stream = await session.listen();
    const first = namesAt(await session.ask('tools/list'), 'result', 'tools');
    expect(first).toContain('plain_echo');
    expect(first).not.toContain('slow_echo');
    const before = stream.messages().length;
    await until('the announcement', () => (stream.messages().length > before ? true : undefined));
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toContain('slow_echo');
  });

  it('is not blocked by a server whose pages never end', async () => {
    const assay = await startGateway({
      servers: { endless: fixture('pager', ['--endless']), plain: fixture('plain') },
    });
    const session = await openSession(assay.url);
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toContain('plain_echo');
    await sleep(1_500);
    const startMs = Date.now();
    expect(await session.call('plain_label')).toBe('plain');
    // A list whose pages never end is given up after 5 s.
    expect(Date.now() - startMs).toBeLessThan(4_000);
  });

  it.each(OFFICIAL)(
    'reaches the official client $label next to a hanging and a dead server',
    async ({ connect }) => {
      const assay = await startGateway({
        servers: {
          hanger: fixture('hanger'),
          dead: { command: 'no-such-command-anywhere' },
          quits: fixture('crasher', [`--state=${tempDir()}/n`, '--fail-starts=99']),
          plain: fixture('plain'),
        },
      });
      const client = await connect({ url: assay.url });
      // On a slow machine, that server may need longer than the first list waits.
      await until('its tools are listed', async () =>
        (await client.tools()).includes('plain_echo') ? true : undefined,
      );
      expect(await client.call('plain_label')).toBe('plain');
    },
  );
});
