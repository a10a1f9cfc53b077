import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHttp } from '../fixtures/http.ts';
import { serverIn, type Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater } from '../support/endings.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, openEventLog, ROOT, tempDir, writeConfig, writeText } from '../support/paths.ts';

describe('the era of a server', () => {
  it('is detected without a second spawn, for both eras and for a server that ignores unknown messages', async () => {
    const [plain, modern, silent] = [openEventLog(), openEventLog(), openEventLog()];
    const assay = await startGateway({
      servers: {
        plain: fixture('plain', [], { env: plain.env }),
        modern: fixture('modern', [], { env: modern.env }),
        silent: fixture('plain', ['--label=silent', '--silent-on-unknown'], { env: silent.env }),
      },
    });
    await assay.settled();
    const health = await assay.health();
    expect(['plain', 'modern', 'silent'].map((name) => at(serverIn(health, name), 'era'))).toEqual([
      'legacy',
      'modern',
      'legacy',
    ]);
    const session = await openSession(assay.url);
    expect(await session.call('plain_label')).toBe('plain');
    expect(await session.call('modern_echo', {})).toBe('{}');
    expect(await session.call('silent_label')).toBe('silent');
    for (const eventLog of [plain, modern, silent]) expect(eventLog.read('start')).toHaveLength(1);
    expect([plain.countOf('initialize'), silent.countOf('initialize')]).toEqual([1, 1]);
  });

  it('is modern if a server of both eras starts slowly and accepts `initialize`: it is restarted', async () => {
    const state = join(tempDir(), 'starts');
    const assay = await startGateway({ servers: { dual: fixture('slow-dual', [`--state=${state}`]) } });
    await assay.settled();
    expect(at(serverIn(await assay.health(), 'dual'), 'era')).toBe('modern');
    const called = await modernAsk(assay.url, 'tools/call', { params: { name: 'dual_starts' } });
    expect(at(called, 'result')).toMatchObject({ content: [{ text: '2' }], resultType: 'complete' });
  });

  it('is detected also if a server exits at the first message it does not know, and is cached then', async () => {
    const [eventLog, home] = [openEventLog(), tempDir()];
    const servers = { strict: fixture('plain', ['--exit-on-unknown'], { env: eventLog.env }) };
    const first = await startGateway({ servers, home });
    expect(await (await openSession(first.url)).call('strict_label')).toBe('plain');
    await first.stop();
    const spawns = eventLog.read('start').length;
    expect(spawns).toBeLessThanOrEqual(2);
    const second = await startGateway({ servers, home });
    expect(await (await openSession(second.url)).call('strict_label')).toBe('plain');
    expect(eventLog.read('start')).toHaveLength(spawns + 1);
  });

  it("is cached in the home: the next start uses each server's era at once", async () => {
    const home = tempDir();
    const web = await startHttp('legacy');
    endLater(() => web.close());
    const [plain, modern] = [openEventLog(), openEventLog()];
    const config = writeConfig({
      plain: fixture('plain', [], { env: plain.env }),
      modern: fixture('modern', [], { env: modern.env }),
      web: { type: 'http', url: web.url },
    });
    const first = await startGateway({ config, home });
    await first.settled();
    await first.stop();
    const [discovers, initializes] = [plain.countOf('server/discover'), modern.countOf('initialize')];
    const posted = web.seen.length;
    const second = await startGateway({ config, home });
    await second.settled();
    expect(plain.countOf('server/discover')).toBe(discovers);
    expect(modern.countOf('initialize')).toBe(initializes);
    expect(web.seen.slice(posted).filter((one) => one.body.includes('server/discover'))).toEqual([]);
    expect([plain.read('start').length, modern.read('start').length]).toEqual([2, 2]);
  });

  it.each([
    ['plain', 'modern'],
    ['modern', 'plain'],
  ])('is detected again if the cached one is outdated: from %s to %s', async (before, after) => {
    const home = tempDir();
    const script = (name: string): string =>
      `import ${JSON.stringify(join(ROOT, 'test', 'fixtures', `${name}.ts`))};`;
    const file = writeText(script(before), 'server.ts');
    const servers = { x: { command: process.execPath, args: [file] } };
    const eraOf = async (assay: Gateway): Promise<unknown> => at(serverIn(await assay.settled(), 'x'), 'era');
    const assay = await startGateway({ servers, home });
    const first = await eraOf(assay);
    await assay.stop();
    writeFileSync(file, script(after));
    const again = await startGateway({ servers, home });
    expect([first, await eraOf(again)]).toEqual(
      [before, after].map((name) => (name === 'plain' ? 'legacy' : 'modern')),
    );
  });

  it.each(['', '{', '[]', '{"x":7}', '\u0000'])('survives a damaged cache: %j', async (spoilt) => {
    const home = tempDir();
    const config = writeConfig({ plain: fixture('plain') });
    await runAssay(['tools', '--config', config, '--home', home]);
    for (const name of readdirSync(home, { recursive: true })) {
      const path = join(home, String(name));
      if (statSync(path).isFile()) writeFileSync(path, spoilt);
    }
    const run = await runAssay(['tools', '--json', '--config', config, '--home', home]);
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('plain_echo');
  });

  it('is detected with a read-only home', async () => {
    const run = await runAssay([
      'tools',
      '--json',
      '--config',
      writeConfig({ plain: fixture('plain') }),
      '--home',
      '/dev/null/nowhere',
    ]);
    expect(run.stdout).toContain('plain_echo');
    expect(run.code).toBe(0);
  });
});
