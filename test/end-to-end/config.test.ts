import { mkdirSync, realpathSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startAssay } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, namesAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, tempDir, writeConfig, writeText } from '../support/paths.ts';

describe('the config file', () => {
  it('with invalid entries starts the valid ones, and reports file, key and reason of each invalid one', async () => {
    const config = writeText(
      JSON.stringify({
        mcpServers: {
          good: fixture('plain'),
          pigeon: { type: 'carrier-pigeon', command: 'x' },
          nothing: {},
          number: 7,
          'args-text': { command: 'x', args: 'y' },
          'url-bad': { type: 'http', url: 'not a url' },
          'url-ftp': { type: 'http', url: 'ftp://x/y' },
          'env-number': { command: 'x', env: { A: 1 } },
          'both-ways': { command: 'x', url: 'http://127.0.0.1:9/mcp' },
          'time-text': { command: 'x', timeoutMs: 'soon' },
          'no-var': { command: '${NO_SUCH_VARIABLE_HERE}' },
          also: fixture('plain', ['--label=also']),
        },
      }),
    );
    const assay = await startGateway({ config });
    const session = await openSession(assay.url);
    expect(await session.call('good_label')).toBe('plain');
    expect(await session.call('also_label')).toBe('also');
    const names = listAt(await assay.settled(), 'servers').map((one) => at(one, 'name'));
    expect(names).toEqual(expect.arrayContaining(['good', 'also']));
    const log = assay.stderr();
    expect(log).toContain(config);
    for (const key of [
      'pigeon',
      'nothing',
      'number',
      'args-text',
      'url-bad',
      'url-ftp',
      'env-number',
      'time-text',
      'no-var',
    ]) {
      expect(log).toContain(key);
    }
    expect(log).toContain('mcpServers.pigeon.type');
    expect(log).toContain('NO_SUCH_VARIABLE_HERE');
  });

  it('may contain comments, trailing commas, a BOM and keys of other programs', async () => {
    const config = writeText(
      `\ufeff// of mine\n{ "mcpServers": { /* one */ "plain": ${JSON.stringify({ ...fixture('plain'), alwaysAllow: ['x'], autoApprove: [] })}, }, "inputs": [], "theme": "dark" }`,
    );
    const run = await runAssay(['tools', '--json', '--config', config, '--home', tempDir()]);
    expect([run.code, run.stdout.includes('plain_echo')]).toEqual([0, true]);
  });

  it('may call its servers "servers", as VS Code does', async () => {
    const config = writeText(JSON.stringify({ servers: { plain: { type: 'stdio', ...fixture('plain') } } }));
    const run = await runAssay(['tools', '--json', '--config', config, '--home', tempDir()]);
    expect([run.code, run.stdout.includes('plain_echo')]).toEqual([0, true]);
  });

  it('expands ${VAR} and ${VAR:-default} in env, args and command', async () => {
    const config = writeConfig({
      plain: {
        ...fixture('plain', ['--label=${LABEL:-unset}']),
        env: {
          GIVEN: '${FROM_OUTSIDE}',
          DEFAULTED: '${NOT_THERE:-else where}',
          TWICE: '${FROM_OUTSIDE}-${FROM_OUTSIDE}',
        },
      },
    });
    const assay = await startGateway({ config, env: { FROM_OUTSIDE: 'a b', LABEL: 'named' } });
    const session = await openSession(assay.url);
    expect(await session.call('plain_label')).toBe('named');
    expect(await session.call('plain_env', { name: 'GIVEN' })).toBe('a b');
    expect(await session.call('plain_env', { name: 'DEFAULTED' })).toBe('else where');
    expect(await session.call('plain_env', { name: 'TWICE' })).toBe('a b-a b');
  });

  it('gives a server its cwd and its env, in addition to a usable environment', async () => {
    const cwd = realpathSync(tempDir());
    mkdirSync(`${cwd}/sub`);
    const assay = await startGateway({
      servers: { plain: fixture('plain', [], { cwd: `${cwd}/sub`, env: { MINE: '1' } }) },
    });
    const session = await openSession(assay.url);
    expect(await session.call('plain_env', { name: 'MINE' })).toBe('1');
    expect(await session.call('plain_env', { name: 'PATH' })).not.toBe('');
    expect(await session.call('plain_env', { name: 'HOME' })).toBe(process.env['HOME']);
  });

  it('skips a disabled server', async () => {
    const assay = await startGateway({
      servers: { off: fixture('plain', ['--label=off'], { disabled: true }), plain: fixture('plain') },
    });
    const session = await openSession(assay.url);
    const names = namesAt(await session.ask('tools/list'), 'result', 'tools');
    expect(names.some((name) => name.startsWith('off_'))).toBe(false);
    expect(names).toContain('plain_echo');
  });

  it.each([
    ['is not there', undefined],
    ['is no JSON', '{"mcpServers": '],
    ['is a list', '[]'],
    ['has a list for its servers', '{"mcpServers": []}'],
    ['has no servers', '{}'],
    ['has no good server', '{"mcpServers": {"a": 7}}'],
  ])('that %s makes a command exit with code 3 and a message', async (_what, text) => {
    const config = text === undefined ? '/no/such/place/mcp.json' : writeText(text);
    const run = await runAssay(['tools', '--config', config, '--home', tempDir()]);
    expect(run.code).toBe(3);
    expect(run.stdout).toBe('');
    expect(run.stderr).toContain(config);
    expect(run.stderr).not.toMatch(/at .*\.js:\d+/);
  });

  it('may come from ASSAY_CONFIG, over which --config takes precedence', async () => {
    const one = writeConfig({ one: fixture('plain') });
    const two = writeConfig({ two: fixture('plain') });
    const byEnv = await runAssay(['tools', '--json', '--home', tempDir()], { env: { ASSAY_CONFIG: one } });
    expect(byEnv.stdout).toContain('one_echo');
    const byFlag = await runAssay(['tools', '--json', '--config', two, '--home', tempDir()], {
      env: { ASSAY_CONFIG: one },
    });
    expect(byFlag.stdout).toContain('two_echo');
    expect(byFlag.stdout).not.toContain('one_echo');
  });

  it('never writes a secret to the log, even if its server cannot start', async () => {
    const assay = await startAssay({
      servers: {
        dead: {
          command: 'no-such-command-anywhere',
          args: ['--key', 'hidden-arg'],
          env: { KEY: 'hidden-env' },
        },
        web: {
          type: 'http',
          url: 'http://user:hidden-pass@127.0.0.1:9/mcp?key=hidden-query',
          headers: { 'X-Key': 'hidden-head' },
        },
        plain: fixture('plain'),
      },
      env: { ASSAY_LOG_LEVEL: 'trace' },
    });
    const session = await openSession(assay.url);
    await session.ask('tools/list');
    const told = assay.stderr() + assay.stdout() + JSON.stringify(await assay.health());
    for (const secret of ['hidden-env', 'hidden-pass', 'hidden-query', 'hidden-head'])
      expect(told).not.toContain(secret);
  });
});
