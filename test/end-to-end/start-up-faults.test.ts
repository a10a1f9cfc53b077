import { describe, expect, it } from 'vitest';
import { serverIn } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startAssay } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at, namesAt, textAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, tempDir, writeConfig, writeText } from '../support/paths.ts';

const FAULTS = {
  'cwd-is-a-file': fixture('plain', [], { cwd: writeText('no directory', 'file.txt') }),
  'cwd-is-absent': fixture('plain', [], { cwd: '/no/such/directory' }),
  'argument-too-long': fixture('plain', ['x'.repeat(200_000)]),
  'bad-escape': fixture('lister', ['--mode=bad-escape']),
};
const NAMES = Object.keys(FAULTS);
/** Permanent failures are refused; after an invalid response a restart may help. */
const STATES: Readonly<Record<string, string>> = {
  'cwd-is-a-file': 'refused',
  'cwd-is-absent': 'refused',
  'argument-too-long': 'refused',
  'bad-escape': 'restarting',
};

describe('a server that cannot start', () => {
  it('is listed in /health with a cause, and the other servers work', async () => {
    const assay = await startAssay({ servers: { ...FAULTS, plain: fixture('plain') } });
    const health = await assay.settled();
    for (const name of NAMES) {
      expect([name, STATES[name]]).toEqual([name, at(serverIn(health, name), 'state')]);
      expect(textAt(serverIn(health, name), 'cause').length).toBeGreaterThan(5);
    }
    expect(at(serverIn(health, 'plain'), 'state')).toBe('up');
    const session = await openSession(assay.url);
    expect(await session.call('plain_add', { a: 1, b: 2 })).toBe('3');
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toContain('plain_echo');
    for (const name of NAMES) {
      const answer = await modernAsk(assay.url, 'tools/call', { params: { name: `${name}_echo` } });
      expect(at(answer, 'error', 'message')).toContain(name);
    }
    expect(assay.stderr()).not.toMatch(/unhandled|uncaught/i);
    expect(await assay.stop()).toBe(0);
  });

  it('has a specific and short cause', async () => {
    const assay = await startGateway({ servers: FAULTS });
    const health = await assay.settled();
    const cause = (name: string): string => textAt(serverIn(health, name), 'cause');
    expect(cause('cwd-is-a-file')).toMatch(/directory|cwd/i);
    expect(cause('cwd-is-absent')).toMatch(/directory|cwd/i);
    expect(cause('argument-too-long')).toMatch(/E2BIG|too long/i);
    for (const name of NAMES) {
      expect(cause(name)).not.toMatch(/the log says why/);
      expect(cause(name).length).toBeLessThan(1_000);
    }
  });

  it('is named by `assay tools` on stderr, and the tools of other servers are listed on stdout', async () => {
    const config = writeConfig({ ...FAULTS, plain: fixture('plain') });
    const { code, stdout, stderr } = await runAssay(['tools', '--config', config, '--home', tempDir()]);
    expect(code).toBe(0);
    expect(stdout).toContain('plain_echo');
    for (const name of NAMES) expect(stderr).toContain(name);
  });
});
