import { describe, expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { at, isObject, listAt, parseJson } from '../support/json.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';

describe('assay settings', () => {
  const config = writeConfig(
    { plain: fixture('plain') },
    { settings: { 'limits.sessions': 7, 'limits.connections': 0, 'limits.session': 1 } },
  );
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runAssay(['settings', '--config', config, '--home', tempDir(), ...args], { env });

  it('shows each setting with its value and source, and errors on stderr', async () => {
    const { code, stdout, stderr } = await run(['--json'], { ASSAY_LIMITS_QUESTION_MS: '9' });
    expect(code).toBe(0);
    const shown = (key: string) =>
      listAt(parseJson(stdout), 'settings')
        .filter((one) => at(one, 'key') === key)
        .map((one) => [at(one, 'value'), at(one, 'origin')]);
    expect(shown('limits.sessions')).toEqual([[7, 'config_file']]);
    expect(shown('limits.questionMs')).toEqual([[9, 'environment']]);
    expect(shown('limits.connections')).toEqual([[1_000, 'default']]);
    const [first] = listAt(parseJson(stdout), 'settings');
    expect(Object.keys(isObject(first) ? first : {})).toEqual(
      ['key', 'value', 'origin', 'default', 'env', 'changedBy', 'about'], // as in GET /preferences
    );
    expect(stderr).toContain('it must be a whole number from 1 to 100000');
    expect(stderr).toContain('this setting is unknown and has no effect');
  });

  it('prints a table that names the environment variable', async () => {
    const { stdout } = await run([], { ASSAY_LIMITS_QUESTION_MS: '9' });
    expect(stdout).toMatch(/^SETTING +VALUE +FROM +MEANING$/m);
    expect(stdout).toMatch(/^limits\.questionMs +9 +ASSAY_LIMITS_QUESTION_MS +\S/m);
    expect(stdout).toMatch(/^limits\.sessions +7 +config file +\S/m);
  });
});

it('an invalid setting in the environment makes every command exit with code 3 and report its range', async () => {
  const config = writeConfig({ plain: fixture('plain') });
  for (const command of ['serve', 'stdio', 'tools', 'settings']) {
    const run = await runAssay([command, '--config', config, '--home', tempDir()], {
      env: { ASSAY_LIMITS_SESSIONS: 'many' },
    });
    expect(run.code).toBe(3);
    expect(run.stdout).toBe('');
    expect(run.stderr).toContain(
      'The setting ASSAY_LIMITS_SESSIONS is not valid: it must be a whole number from 1 to 1000000.',
    );
  }
});
