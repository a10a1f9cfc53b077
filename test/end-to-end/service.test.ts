import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spawnAssay, startAssay } from '../support/assay.ts';
import { tempDir, writeConfig } from '../support/paths.ts';

/** A user with a program `systemctl` that records how it is called. */
function createUser(exit = 0) {
  const home = tempDir();
  const bin = tempDir();
  const calls = join(home, 'calls');
  writeFileSync(calls, '');
  const program = join(bin, 'systemctl');
  writeFileSync(
    program,
    `#!/bin/sh\necho "$@" >> ${calls}\n[ ${exit} = 0 ] || echo "no bus" >&2\nexit ${exit}\n`,
  );
  chmodSync(program, 0o700);
  const assayHome = join(home, 'data %h');
  const config = writeConfig({});
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`,
    GITHUB_TOKEN: 'secret-of-the-shell',
  };
  const units = join(home, 'config', 'systemd', 'user');
  return {
    assayHome,
    config,
    units,
    bin,
    list: () => (existsSync(units) ? readdirSync(units) : []),
    calls: () => readFileSync(calls, 'utf8').split('\n').filter(Boolean),
    run: (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      spawnAssay([...args, '--home', assayHome, '--config', config], { env: { ...env, ...more } }),
  };
}

describe.runIf(process.platform === 'linux')('assay service install', () => {
  it('shows, writes and starts a unit, which --undo takes back', async () => {
    const user = createUser();
    const asked = await user.run(['service', 'install', '--port', '4555']);
    expect([asked.code, user.list(), user.calls()]).toEqual([2, [], []]);
    expect(asked.stderr).toContain('Add --yes');

    const installed = await user.run(['service', 'install', '--port', '4555', '--yes']);
    expect(installed.code).toBe(0);
    const [unit = ''] = user.list();
    expect(unit).toMatch(/^assay-[0-9a-f]{8}\.service$/);
    const text = readFileSync(join(user.units, unit), 'utf8');
    expect(installed.stdout).toContain(text.trimEnd().replaceAll(/^/gm, '  '));
    expect(text).toContain(`"serve" "--home" "${user.assayHome.replace('%', '%%')}"`);
    expect(text).toContain('"--port" "4555"');
    expect(text).not.toContain('secret-of-the-shell');
    const started = ['--user daemon-reload', `--user enable ${unit}`, `--user restart ${unit}`];
    expect(user.calls()).toEqual(started);
    expect((await user.run(['stop'])).stdout).toContain('assay service install --undo');
    expect((await user.run(['status'])).stdout).toContain(`service   ${join(user.units, unit)}`);
    const status: unknown = JSON.parse((await user.run(['status', '--json'])).stdout);
    expect(status).toMatchObject({ service: { file: join(user.units, unit) } });

    const undone = await user.run(['service', 'install', '--undo', '--yes']);
    expect([undone.code, user.list()]).toEqual([0, []]);
    expect(user.calls().slice(3)).toEqual([`--user disable --now ${unit}`, '--user daemon-reload']);
    expect((await user.run(['service', 'install', '--undo', '--yes'])).stdout).toContain('no service');
  });

  it('is refused while assay serve runs with this home', async () => {
    const user = createUser();
    const { pid } = await startAssay({ home: user.assayHome, config: user.config });
    const refused = await user.run(['service', 'install', '--yes']);
    expect([refused.code, refused.stderr, user.list()]).toEqual([
      4,
      expect.stringContaining(`runs with this home already (pid ${pid}). End it first`),
      [],
    ]);
  });

  it('says what failed, and what to do without systemd', async () => {
    const user = createUser(1);
    const failed = await user.run(['service', 'install', '--yes']);
    expect([failed.code, failed.stderr]).toEqual([4, expect.stringContaining('no bus')]);
    const without = await createUser().run(['service', 'install', '--yes'], { PATH: tempDir() });
    expect([without.code, without.stderr]).toEqual([4, expect.stringContaining('has no `systemctl`')]);
  });

  it('keeps a file that it did not write', async () => {
    const user = createUser();
    await user.run(['service', 'install', '--yes']);
    const path = join(user.units, user.list()[0] ?? '');
    mkdirSync(user.units, { recursive: true });
    writeFileSync(path, '[Unit]\n');
    for (const args of [[], ['--undo']])
      expect((await user.run(['service', 'install', '--yes', ...args])).stderr).toContain(
        'not written by Assay',
      );
    expect(readFileSync(path, 'utf8')).toBe('[Unit]\n');
  });
});
