import { expect, it } from 'vitest';
import type { Cause } from '../../src/core/cause.ts';
import { checkRunningServers, checkServers, type ServerFacts } from '../../src/core/check-servers.ts';

const NONE_REPORTED: ReadonlySet<string> = new Set();

const EXITED: Cause = { code: 'PROCESS_EXITED', exitCode: 3 };

function down(cause: Cause, more: Partial<ServerFacts> = {}): ServerFacts {
  return {
    name: 'a',
    isolation: 'shared',
    condition: { kind: 'down', cause, lastLines: [] },
    warnings: [],
    ...more,
  };
}

it('a ready server is reported with its revision and number of tools', () => {
  const facts: ServerFacts = {
    name: 'a',
    isolation: 'session',
    condition: {
      kind: 'up',
      era: 'modern',
      revision: '2026-07-28',
      readyAfterMs: 12,
      tools: [{ tool: 'x', readOnly: undefined, destructive: undefined }],
      listFaults: [],
      offered: undefined,
      twin: undefined,
    },
    warnings: [],
  };
  expect(checkServers([facts], NONE_REPORTED)).toEqual([
    {
      check: 'servers',
      level: 'ok',
      about: 'a',
      message: 'Up after 12 ms, with 2026-07-28 (modern): 1 tool.',
    },
  ]);
});

it('each tool that no client can list is a warning with its reason, beside the number of the others', () => {
  const withheld = Array.from({ length: 22 }, (_, n) => ({
    tool: `t${n}`,
    reason: 'inputSchema.type is absent',
  }));
  const condition = { kind: 'up', era: 'legacy', revision: '2025-11-25', readyAfterMs: 12 } as const;
  const facts = down(EXITED, {
    condition: { ...condition, tools: [], listFaults: [], withheld, offered: undefined, twin: undefined },
  });
  const [first, ...warnings] = checkServers([facts], NONE_REPORTED);
  expect(first?.level).toBe('ok');
  expect(warnings).toHaveLength(21);
  expect(warnings[0]).toEqual({
    check: 'servers',
    level: 'warning',
    about: 'a',
    message: 'Its tool "t0" is withheld: inputSchema.type is absent.',
    remedy: 'Report this to the author of the server; its other tools are listed.',
  });
  expect(warnings.at(-1)?.message).toBe('2 more of its tools are withheld.');
});

const REFUSED: Cause = { code: 'LIST_REFUSED', method: 'tools/list', error: '-32603', message: 'no' };
const INVALID: Cause = { code: 'LIST_INVALID', method: 'prompts/list', reason: 'it has no "prompts" array' };

it.each([
  [[REFUSED], 'tools/list failed: -32603 no'],
  [
    [REFUSED, INVALID],
    'tools/list failed: -32603 no; prompts/list returned a result that is not a list: it has no "prompts" array',
  ],
])('a ready server that could not list everything is a problem, with each cause', (listFaults, details) => {
  const condition = { kind: 'up', era: 'legacy', revision: '2025-11-25', readyAfterMs: 12 } as const;
  const facts = down(EXITED, {
    condition: { ...condition, tools: [], listFaults, offered: undefined, twin: undefined },
  });
  const [found] = checkServers([facts], NONE_REPORTED);
  expect([found?.level, found?.code, found?.message]).toEqual([
    'problem',
    'LIST_REFUSED',
    `Up, with 2025-11-25 (legacy), but some of its lists could not be read: ${details}.`,
  ]);
});

it('a server that is not ready is a problem, with its cause, code and last output', () => {
  const condition = { kind: 'down', cause: EXITED, lastLines: ['no disk', 'bye'] } as const;
  const [found] = checkServers([down(EXITED, { condition })], NONE_REPORTED);
  expect([found?.level, found?.code, found?.message]).toEqual([
    'problem',
    'PROCESS_EXITED',
    'Down, so its tools are missing: exited with code 3. Last output: no disk / bye',
  ]);
});

it('a problem is reported once: not if another check has explained why the server cannot start', () => {
  expect(checkServers([down({ code: 'COMMAND_NOT_FOUND', command: 'x' })], new Set(['a']))).toEqual([]);
});

it.each([
  ['MESSAGE_INVALID', 'Make it write its log to stderr: stdout is only for messages.'],
  ['LINE_TOO_LONG', 'Report this to the author of the server.'],
  [undefined, 'Report this to the author of the server.'],
])('skipped definitions are a warning, and the code %s selects the remedy', (code, remedy) => {
  const warnings = [{ code, text: 'it said something' }];
  const [found] = checkServers([down(EXITED, { warnings })], new Set(['a']));
  expect([found?.level, found?.code, found?.message]).toEqual([
    'warning',
    code,
    'At its start: it said something.',
  ]);
  expect(found?.level === 'warning' && found.remedy).toBe(remedy);
});

it('the remedy depends only on the code, whatever the texts of a cause say', () => {
  const misleading = 'there is no command, HTTP 401, ECONNREFUSED, in time';
  const remedies = [
    { code: 'PROCESS_NOT_STARTED', error: misleading } as const,
    { code: 'PROCESS_NOT_STARTED', error: 'x' } as const,
  ]
    .map((cause) => checkServers([down(cause)], NONE_REPORTED)[0])
    .map((found) => found?.level === 'problem' && found.remedy);
  expect(remedies[0]).toBe(remedies[1]);
});

it.each([
  [{ state: 'up', tools: 2 }, 'ok', 'Connected. Its tools can be called. 2 tools.'],
  [{ state: 'idle', tools: 1 }, 'ok', 'Not running, as nothing needs it. Its next call starts it. 1 tool.'],
  [
    { state: 'restarting', cause: 'exited with code 1', causeCode: 'PROCESS_EXITED' },
    'problem',
    'Down, so its tools are missing: exited with code 1.',
  ],
  [
    { state: 'backoff', cause: 'HTTP 500', causeCode: 'OF_ANOTHER_VERSION' },
    'problem',
    'Down, so its tools are missing: HTTP 500.',
  ],
  [
    { state: 'up', tools: 0, listFaults: [{ cause: 'no answer', causeCode: 'START_TIMEOUT' }] },
    'problem',
    'Some of its lists could not be read: no answer.',
  ],
] as const)('a server of the running gateway is reported as it sees it: %j', (facts, level, message) => {
  expect(checkRunningServers([{ name: 'a', ...facts }])).toEqual([
    expect.objectContaining({ check: 'servers', about: 'a', level, message }),
  ]);
});
