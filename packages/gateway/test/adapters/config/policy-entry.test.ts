import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfigText } from '../../../src/adapters/config/load-config.ts';
import { ROOT } from '../../../../../test/support/paths.ts';

const AROUND = { env: {}, cwd: '/', home: '/' };

/** The rules, or the reason why the file is refused. */
function read(policy: string): unknown {
  const config = readConfigText('/mcp.json', `{\n  "mcpServers": {},\n  "policy": ${policy}\n}`, AROUND);
  if (config.ok) return config.value.rules;
  return config.error.code === 'CONFIG_INVALID' ? config.error.reason : config.error;
}

const rule = (members: object): string => JSON.stringify({ rules: [members] });

describe('"policy" of a config', () => {
  it('has rules with one pattern or several', () => {
    const whole = {
      ...{
        effect: 'ask',
        name: 'sends',
        because: 'it leaves the house',
        server: 'g*',
        tag: 'mail',
        token: ['ci', 'd*'],
      },
      ...{ tool: ['*.send_*', '*'], toolset: 'triage', hints: { readOnlyHint: false, openWorldHint: true } },
    };
    expect(read(JSON.stringify({ rules: [whole, { effect: 'allow' }] }))).toEqual([
      { ...whole, server: ['g*'], tag: ['mail'], toolset: ['triage'] },
      { effect: 'allow' },
    ]);
    expect([read('{}'), read('{ "rules": [] }')]).toEqual([[], []]);
  });

  it('accepts the example of docs/POLICY.md', () => {
    const page = readFileSync(join(ROOT, 'docs', 'POLICY.md'), 'utf8');
    const [, example = ''] = /```json\n((?:(?!```).)*?"rules".+?)```/s.exec(page) ?? [];
    const config = readConfigText('/mcp.json', example, AROUND);
    expect(config.ok && config.value.rules.map(({ effect }) => effect)).toEqual(['refuse', 'ask', 'allow']);
  });

  it.each([
    ['[]', '3:13: policy: it must be an object'],
    ['{ "rules": {} }', '3:24: policy.rules: it must be a list'],
    ['{ "rule": [] }', '3:23: policy.rule: there is no such member; did you mean "rules"?'],
    ['{ "rules": [5] }', '3:25: policy.rules[0]: it must be an object'],
    [rule({}), '3:23: policy.rules[0].effect: it is missing'],
    [rule({ effect: 'deny' }), '3:33: policy.rules[0].effect: it must be one of allow, ask, refuse'],
    [
      rule({ effect: 'ask', servers: 'x' }),
      '3:49: policy.rules[0].servers: there is no such member; did you mean "server"?',
    ],
    [
      rule({ effect: 'refuse', tool: 'delete_*' }),
      '3:49: policy.rules[0].tool: it must be a pattern of SERVER.TOOL, such as "linear.create_*" or "*.delete_*"',
    ],
    [rule({ effect: 'ask', server: [] }), '3:48: policy.rules[0].server: it must have 1 to 50 patterns'],
    [
      rule({ effect: 'ask', server: ['a', 'x'.repeat(201)] }),
      '3:53: policy.rules[0].server[1]: it must have 1 to 200 characters',
    ],
    [
      rule({ effect: 'ask', token: 7 }),
      '3:47: policy.rules[0].token: it must be a pattern, or a list of patterns',
    ],
    [rule({ effect: 'ask', because: '' }), '3:49: policy.rules[0].because: it must have 1 to 500 characters'],
    [
      rule({ effect: 'ask', hints: { readonly: true } }),
      '3:59: policy.rules[0].hints.readonly: there is no such hint; did you mean "readOnlyHint"?',
    ],
    [
      rule({ effect: 'ask', hints: { readOnlyHint: 'yes' } }),
      '3:63: policy.rules[0].hints.readOnlyHint: it must be true or false',
    ],
    [
      rule({ effect: 'ask', hints: {} }),
      '3:47: policy.rules[0].hints: it must name one of readOnlyHint, destructiveHint, idempotentHint, openWorldHint',
    ],
    ['{ "rules": [{ "effect": "refuse", "effect": "allow" }] }', '3:47: the key "effect" appears twice'],
    ['{}, "policy": {}', '3:17: the key "policy" appears twice'],
    [
      JSON.stringify({ rules: Array(501).fill({ effect: 'ask' }) }),
      '3:22: policy.rules: it may have at most 500 rules',
    ],
  ])(
    'is refused together with the whole file, since the calls that it denies would be allowed: %s',
    (text, reason) => {
      const [place, ...words] = reason.split(': ');
      const [line, column] = (place ?? '').split(':');
      expect(read(text)).toBe(`line ${line ?? ''}, column ${column ?? ''}: ${words.join(': ')}`);
    },
  );
});
