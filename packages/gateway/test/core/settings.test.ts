import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  listIgnoredSettings,
  isStorable,
  resolveSettings,
  type SettingSources,
} from '../../src/core/resolve-settings.ts';
import type { SettingKind } from '../../src/core/setting-kind.ts';
import { SETTINGS, type SettingKey } from '../../src/core/settings.ts';
import { ROOT } from '../../../../test/support/paths.ts';

const NOTHING: SettingSources = { env: {}, file: new Map(), stored: new Map() };

function resolved(sources: Partial<SettingSources>): readonly unknown[] {
  const result = resolveSettings({ ...NOTHING, ...sources });
  if (!result.ok) return [result.error];
  const { settings, origins } = result.value;
  return [settings['limits.sessions'], origins['limits.sessions']];
}

describe('a setting', () => {
  const file = new Map([['limits.sessions', 2]]);
  const stored = new Map([['limits.sessions', 3]]);

  it('comes from the environment, else the config file, else the store, else its default; and reports its source', () => {
    const env = { ASSAY_LIMITS_SESSIONS: '1' };
    expect(resolved({ env, file, stored })).toEqual([1, 'environment']);
    expect(resolved({ file, stored })).toEqual([2, 'config_file']);
    expect(resolved({ stored })).toEqual([3, 'store']);
    expect(resolved({})).toEqual([10_000, 'default']);
  });

  it('treats an empty variable as unset', () => {
    expect(resolved({ env: { ASSAY_LIMITS_SESSIONS: '' }, stored })).toEqual([3, 'store']);
  });

  it('is refused if invalid, under the name that was used', () => {
    const reason = 'it must be a whole number from 1 to 1000000';
    const wrong = (name: string): unknown => ({ code: 'SETTING_INVALID', name, reason });
    for (const value of ['0', '1000001', '-1', '1.5', '1e3', 'many', ' 1'])
      expect(resolved({ env: { ASSAY_LIMITS_SESSIONS: value } })).toEqual([wrong('ASSAY_LIMITS_SESSIONS')]);
    for (const value of [0, 1.5, '7', null, true, {}])
      expect(resolved({ file: new Map([['limits.sessions', value]]) })).toEqual([
        wrong('settings["limits.sessions"]'),
      ]);
  });

  it.each([
    ['ASSAY_AUTH_ISSUER', 'issuer.example'],
    ['ASSAY_AUTH_ISSUER', 'http://issuer.example'],
    ['ASSAY_AUTH_ISSUER', 'https://issuer.example?x=1'],
    ['ASSAY_AUTH_ISSUER', 'https://me:secret@issuer.example'],
    ['ASSAY_AUTH_JWKS_URI', 'http://issuer.example/keys'],
    ['ASSAY_AUTH_PUBLIC_URL', 'ftp://gateway.example'],
    ['ASSAY_AUTH_PUBLIC_URL', 'https://gateway.example/#mcp'],
    ['ASSAY_AUTH_AUDIENCE', 'two words'],
  ])('%s is refused as %j', (name, value) => {
    expect(resolved({ env: { [name]: value } })).toEqual([
      { code: 'SETTING_INVALID', name, reason: expect.stringMatching(/^it must (?!.*secret)/) as string },
    ]);
  });

  it('accepts no value except its fixed choices, if it has any', () => {
    expect(resolved({ env: { ASSAY_MCP_ACCESS: 'closed' } })).toEqual([
      { code: 'SETTING_INVALID', name: 'ASSAY_MCP_ACCESS', reason: 'it must be one of open, token' },
    ]);
  });

  it.each(['ASSAY_LIMITS_UNREAD_MS', 'ASSAY_LIMITS_INSTRUCTIONS_TOTAL_BYTES'])(
    'that became a fixed limit is refused from the environment: %s',
    (name) => {
      const reason = 'it is no longer a setting but a fixed limit (`assay docs limits`). Unset the variable';
      expect(resolved({ env: { [name]: '9' } })).toEqual([{ code: 'SETTING_INVALID', name, reason }]);
      expect(resolved({ env: { [name]: '' } })).toEqual([10_000, 'default']);
    },
  );

  it('that became a fixed limit has no effect if an earlier version stored it', () => {
    expect(isStorable('limits.unreadMs', 9)).toBe(false);
    expect(resolved({ stored: new Map([['limits.unreadMs', 9]]) })).toEqual([10_000, 'default']);
  });

  it('has a valid default and its own variable', () => {
    const env = Object.fromEntries(
      Object.values(SETTINGS).map((facts) => [facts.env, String(facts.kind.defaultValue)]),
    );
    expect(Object.keys(env)).toHaveLength(Object.keys(SETTINGS).length);
    const result = resolveSettings({ ...NOTHING, env });
    expect(result).toMatchObject({ ok: true });
  });
});

/** Who may change each setting: reviewed from the view of an attacker who has only the scope `admin`. */
const CHANGED_BY: Readonly<Record<SettingKey, 'startup' | 'admin'>> = {
  'mcp.access': 'startup',
  'mcp.sse': 'startup',
  'mcp.allowedOrigins': 'startup',
  'auth.issuer': 'startup',
  'auth.audience': 'startup',
  'auth.jwksUri': 'startup',
  'auth.publicUrl': 'startup',
  'background.idleMs': 'startup',
  'log.events': 'startup',
  enableConfigToolsMenu: 'admin',
  'modes.names': 'admin',
  'mode.scope': 'admin',
  'toolsets.changed': 'admin',
  'toolsets.modelsMayChange': 'admin',
  'notes.review': 'admin',
  'servers.refreshMs': 'admin',
  'servers.idleMs': 'admin',
  'cache.ttlMs': 'admin',
  'cache.maxBytes': 'admin',
  'drift.prose': 'admin',
  'lint.contradiction': 'admin',
  'lint.notBoolean': 'admin',
  'lint.tellingWords': 'admin',
  'lint.missingHints': 'admin',
  'lint.hiddenText': 'admin',
  'http.allowLoopback': 'startup',
  'http.allowPrivate': 'startup',
  'approvals.notify': 'startup',
  'overrides.notify': 'startup',
  'servers.notify': 'startup',
  // The scope admin allows approving calls anyway.
  'activity.calls': 'admin',
  'activity.arguments': 'admin',
  'activity.maxCalls': 'admin',
  'activity.maxDays': 'admin',
  approvals: 'admin',
  'policy.approver': 'admin',
  'policy.autoApproveReadOnly': 'admin',
  'policy.alwaysConfirmDestructive': 'admin',
  'policy.showWarnings': 'admin',
  'policy.unannotated': 'admin',
  'policy.confirm': 'admin',
  'policy.outbound': 'admin',
  'policy.trustObservations': 'admin',
  'policy.labelIdleMs': 'admin',
  'limits.bodyBytes': 'admin',
  'limits.connections': 'admin',
  'limits.sessions': 'admin',
  'limits.sessionIdleMs': 'admin',
  'limits.requestsPerClient': 'admin',
  'limits.requestsPerServer': 'admin',
  'limits.queuePerServer': 'admin',
  'limits.retries': 'admin',
  'limits.questionMs': 'admin',
  'limits.approvalMs': 'admin',
  'limits.approvalWaitMs': 'admin',
  'limits.processesPerServer': 'admin',
  'limits.drainMs': 'admin',
  'limits.drainDelayMs': 'admin',
};

describe('permission to change a setting', () => {
  const keys = Object.keys(SETTINGS) as SettingKey[];
  const startup = keys.filter((key) => SETTINGS[key].changedBy === 'startup');

  it('is defined for every setting', () => {
    expect(Object.fromEntries(keys.map((key) => [key, SETTINGS[key].changedBy]))).toEqual(CHANGED_BY);
  });

  it.each(startup)('%s is read from environment and config file, and never from the store', (key) => {
    const { kind, env } = SETTINGS[key];
    const other = OTHER_VALUES[kind.type](kind.defaultValue);
    const of = (sources: Partial<SettingSources>): unknown => {
      const result = resolveSettings({ ...NOTHING, ...sources });
      return result.ok ? [result.value.settings[key], result.value.origins[key]] : result.error;
    };
    const value = key === 'mcp.access' ? 'token' : key === 'log.events' ? 'stderr' : other;
    expect(of({ env: { [env]: String(value) } })).toEqual([value, 'environment']);
    expect(of({ file: new Map([[key, value]]) })).toEqual([value, 'config_file']);
    expect(of({ stored: new Map([[key, value]]) })).toEqual([kind.defaultValue, 'default']);
    expect(isStorable(key, value)).toBe(false);
    expect(listIgnoredSettings(new Map([[key, value]]))).toEqual([key]);
  });

  it('is documented in docs/SETTINGS.md', () => {
    const text = readFileSync(join(ROOT, 'docs', 'SETTINGS.md'), 'utf8');
    const line = text.split('\n').find((one) => one.startsWith('Environment and config file only:')) ?? '';
    expect([...line.matchAll(/`([^`]+)`/g)].map(([, key]) => key)).toEqual(startup);
  });
});

/** A value that is not the default. */
const OTHER_VALUES: Readonly<Record<SettingKind['type'], (defaultValue: unknown) => unknown>> = {
  whole: (defaultValue) => Number(defaultValue) + 1,
  flag: (defaultValue) => defaultValue !== true,
  text: () => 'https://other.example',
  choice: (defaultValue) => defaultValue,
};

it('docs/SETTINGS.md documents every setting with its variable, default and range', () => {
  const written = readFileSync(join(ROOT, 'docs', 'SETTINGS.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| `[a-z]+(?:\.\w+|[A-Z]\w+)?` \| `ASSAY_/.test(line))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', ''))
        .slice(1, -1),
    );
  const rows = Object.entries(SETTINGS).map(([key, { env, kind, about }]) => {
    const range =
      kind.type === 'whole'
        ? `${kind.min} to ${kind.max}`
        : kind.type === 'text'
          ? kind.range
          : (kind.type === 'flag' ? ['true', 'false'] : kind.of).join(', ');
    return [key, env, String(kind.defaultValue) || 'none', range, about];
  });
  expect(written).toEqual(rows);
});
