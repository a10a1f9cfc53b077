import { expect, it } from 'vitest';
import { ProblemCollector } from '../../../src/adapters/config/problem-collector.ts';
import { parseJsonTree } from '../../../src/adapters/config/json-tree.ts';
import { readSettings } from '../../../src/adapters/config/load-config.ts';

function read(text: string): {
  settings: unknown;
  problems: readonly string[];
  warnings: readonly string[];
} {
  const tree = parseJsonTree(text);
  if (!tree.ok) throw new Error(tree.error.reason);
  const collector = new ProblemCollector('mcp.json', text);
  const settings = Object.fromEntries(readSettings(tree.value, collector));
  const lines = (list: typeof collector.problems): string[] =>
    list.map(({ line, column, key, reason, remedy }) => `${line}:${column} ${key}: ${reason}. ${remedy}`);
  return { settings, problems: lines(collector.problems), warnings: lines(collector.warnings) };
}

it('settings are flat keys with values', () => {
  expect(read('{"limits.sessions": 100, "mcp.access": "token"}')).toEqual({
    settings: { 'limits.sessions': 100, 'mcp.access': 'token' },
    problems: [],
    warnings: [],
  });
});

it('an invalid value affects only that setting, and is reported with its position', () => {
  const many = 'it must be a whole number from 1 to 1000000. It is ignored until then.';
  expect(
    read(
      '{"limits.sessions": "many",\n "limits.connections": 7, "mcp.access": ["open"],\n"limits.questionMs": null}',
    ),
  ).toEqual({
    settings: { 'limits.connections': 7 },
    problems: [
      `1:21 settings["limits.sessions"]: ${many}`,
      '2:41 settings["mcp.access"]: it must be one of open, token. It is ignored until then.',
      '3:22 settings["limits.questionMs"]: it must be a whole number from 1 to 2147483647. It is ignored until then.',
    ],
    warnings: [],
  });
});

it('an unknown key is a warning that suggests the nearest known one', () => {
  const warnings = (text: string): readonly string[] => read(text).warnings;
  const unknown = 'this setting is unknown and has no effect';
  expect(warnings('{"limits.session": 1}')).toEqual([
    `1:2 settings["limits.session"]: ${unknown}. Did you mean "limits.sessions"?`,
  ]);
  expect(warnings('{"limits": {"sessions": 1}, "__proto__": 1}')).toEqual(
    ['1:2 settings.limits', '1:29 settings.__proto__'].map(
      (at) =>
        `${at}: ${unknown}. \`assay settings\` shows all; each is one key with a dot in it, such as "limits.sessions".`,
    ),
  );
});

it('a setting that became a fixed limit is a warning', () => {
  expect(read('{"limits.unreadMs": 9}')).toEqual({
    settings: {},
    problems: [],
    warnings: [
      '1:2 settings["limits.unreadMs"]: this is no longer a setting and has no effect. Remove it: the limit is fixed, see `assay docs limits`.',
    ],
  });
});

it('the first occurrence of a duplicate key is used', () => {
  expect(read('{"limits.sessions": 1,\n"limits.sessions": 2}')).toEqual({
    settings: { 'limits.sessions': 1 },
    problems: ['2:1 settings["limits.sessions"]: this key appears twice. The first one is used.'],
    warnings: [],
  });
});
