import { describe, expect, it } from 'vitest';
import { checkConfig, type ConfigFacts } from '../../src/core/check-config.ts';

type Read = Extract<ConfigFacts['reading'], { kind: 'read' }>;

const GOOD: Read = {
  kind: 'read',
  servers: 2,
  faults: [],
  mode: 0o600,
  clearSecrets: [],
  secretArguments: [],
};

function check(
  reading: ConfigFacts['reading'],
  expected: readonly (readonly [string, string, string])[],
): void {
  const found = checkConfig({ path: '/c/mcp.json', origin: 'ASSAY_CONFIG', settingFaults: [], reading });
  expect(found.map(({ level, about, message }) => [level, about, message])).toEqual(expected);
}

const OK = ['ok', '/c/mcp.json', 'It has 2 usable servers. It is named by ASSAY_CONFIG.'] as const;

describe('the config', () => {
  it('is fine if it lists servers and has no errors', () => {
    check(GOOD, [OK]);
  });

  it('is reported with its location and what determined it', () => {
    const phrases = (['--config', 'ASSAY_CONFIG', 'ASSAY_HOME', 'default'] as const).map((origin) => {
      const [found] = checkConfig({ path: '/x', origin, settingFaults: [], reading: GOOD });
      return found?.message.replace(/.* It is /, '');
    });
    expect(phrases).toEqual([
      'named by --config.',
      'named by ASSAY_CONFIG.',
      'mcp.json in the folder set by --home or ASSAY_HOME.',
      'the default config file.',
    ]);
  });

  it('is a problem if it cannot be read', () => {
    check({ kind: 'refused', sentence: 'It cannot be read.', isAbsent: true }, [
      ['problem', '/c/mcp.json', 'It cannot be read. It is named by ASSAY_CONFIG.'],
    ]);
  });

  it('is a problem if it has no servers', () => {
    check({ ...GOOD, servers: 0 }, [
      [
        'problem',
        '/c/mcp.json',
        'It does not contain a usable server, so there is nothing to serve. It is named by ASSAY_CONFIG.',
      ],
    ]);
  });

  it('has each problem reported with its line, column and remedy', () => {
    const where = {
      line: 3,
      column: 7,
      key: 'mcpServers.a.url',
      reason: 'this is not a URL',
      remedy: 'Mend it.',
    };
    const reading: Read = {
      ...GOOD,
      faults: [
        { level: 'problem', ...where },
        { level: 'warning', ...where, reason: 'this has no effect' },
      ],
    };
    check(reading, [
      OK,
      ['problem', '/c/mcp.json:3:7', 'mcpServers.a.url: this is not a URL; it is left out.'],
      ['warning', '/c/mcp.json:3:7', 'mcpServers.a.url: this has no effect.'],
    ]);
  });

  it('is a warning if others can access its plaintext secrets', () => {
    const warned = (reading: Partial<Read>): boolean =>
      checkConfig({
        path: '/c',
        origin: 'default',
        settingFaults: [],
        reading: { ...GOOD, clearSecrets: ['mcpServers.a.env.KEY'], ...reading },
      }).some(({ level }) => level === 'warning');
    expect(
      [0o644, 0o640, 0o604, 0o666, 0o600, 0o400, undefined].map((mode) => [mode, warned({ mode })]),
    ).toEqual([
      [0o644, true],
      [0o640, true],
      [0o604, true],
      [0o666, true],
      [0o600, false],
      [0o400, false],
      [undefined, false],
    ]);
    expect(warned({ mode: 0o644, clearSecrets: [], secretArguments: [] })).toBe(false);
  });

  it('is reported together with invalid settings in the environment', () => {
    const [fault] = checkConfig({ path: '/c', origin: 'default', settingFaults: ['So.'], reading: GOOD });
    expect([fault?.level, fault?.about, fault?.message]).toEqual(['problem', 'environment', 'So.']);
  });
});
