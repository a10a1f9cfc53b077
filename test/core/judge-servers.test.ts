import { expect, it } from 'vitest';
import { judgeServers, type ServerFacts } from '../../src/core/judge-servers.ts';

const NOBODY: ReadonlySet<string> = new Set();

function down(cause: string, more: Partial<ServerFacts> = {}): ServerFacts {
  return {
    name: 'a',
    way: 'stdio',
    isolation: 'shared',
    condition: { kind: 'down', cause, lastWords: [] },
    warnings: [],
    ...more,
  };
}

it('A server that stands is said to, with its revision and how many tools it lists', () => {
  const facts: ServerFacts = {
    name: 'a',
    way: 'http',
    isolation: 'session',
    condition: {
      kind: 'up',
      era: 'modern',
      revision: '2026-07-28',
      stoodAfterMs: 12,
      tools: [{ tool: 'x', readOnly: undefined, destructive: undefined }],
      listFaults: [],
      offered: undefined,
    },
    warnings: [],
  };
  expect(judgeServers([facts], NOBODY)).toEqual([
    {
      check: 'servers',
      level: 'ok',
      about: 'a',
      says: 'It stands after 12 ms, speaks 2026-07-28 (modern) and lists 1 tool.',
    },
  ]);
});

it.each([
  ['tools/list failed: -32603 fetch failed'],
  ['tools/list failed: -32603 fetch failed', 'prompts/list was answered without a list'],
])('One that stands but could not list what it has is a problem, with each cause: %s', (...listFaults) => {
  const condition = { kind: 'up', era: 'legacy', revision: '2025-11-25', stoodAfterMs: 12 } as const;
  const facts = down('', { condition: { ...condition, tools: [], listFaults, offered: undefined } });
  const [found] = judgeServers([facts], NOBODY);
  expect([found?.level, found?.says]).toEqual([
    'problem',
    `It stands and speaks 2025-11-25 (legacy), but not everything that it has could be listed: ${listFaults.join('; ')}.`,
  ]);
});

it('One that does not is a problem, with its cause and its last words', () => {
  const condition = { kind: 'down', cause: 'exited with code 3', lastWords: ['no disk', 'bye'] } as const;
  const [found] = judgeServers([down('', { condition })], NOBODY);
  expect([found?.level, found?.says]).toEqual([
    'problem',
    'It does not stand, so its tools are missing: exited with code 3. Its last words: no disk / bye',
  ]);
});

it('It is told once: not where another check has told why it cannot start', () => {
  expect(judgeServers([down('there is no command "x"')], new Set(['a']))).toEqual([]);
});

it('What had to be passed over is a warning', () => {
  const warnings = ['server sent what is no JSON-RPC message; it is ignored'];
  const [found] = judgeServers([down('x', { warnings })], new Set(['a']));
  expect([found?.level, found?.level === 'warning' && found.remedy]).toEqual([
    'warning',
    'Have it write its log to stderr: stdout of a server belongs to messages alone.',
  ]);
});

it.each<[ServerFacts['way'], string, RegExp]>([
  ['stdio', 'cannot be started: there is no command "x", or its cwd does not exist', /Install the command/],
  ['stdio', 'cannot be started: its cwd is no folder, or "x" lies in something that is none', /"cwd"/],
  ['stdio', 'cannot be started: "x" may not be executed', /chmod \+x/],
  ['stdio', 'cannot be started: its arguments or its environment are too long', /Shorten/],
  ['stdio', 'exited with code 7', /by hand.*"env"/],
  ['stdio', 'it did not answer "initialize" in time', /by hand.*npx/],
  ['stdio', 'it wants protocol version "1.0", which Assay does not speak', /version of the server/],
  ['http', 'it answers HTTP 401: it wants other credentials', /"headers"/],
  ['http', 'it answers HTTP 403: it wants other credentials', /"headers"/],
  ['http', 'it answers HTTP 308 and points to "https://x"', /points to/],
  ['http', 'it answers HTTP 404', /path of "url"/],
  ['http', 'it answers HTTP 503', /in trouble/],
  ['http', 'nothing listens at its address (ECONNREFUSED)', /Start the server/],
  ['http', 'its host name is not known (ENOTFOUND)', /host of "url"/],
  ['http', 'its host did not answer in time (connect time-out)', /network/],
  ['http', 'DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
  ['http', 'it closed the connection', /"url" and "headers"/],
])('Over %s the cause "%s" has its remedy', (way, cause, remedy) => {
  const [found] = judgeServers([down(cause, { way })], NOBODY);
  expect(found?.level === 'problem' && found.remedy).toMatch(remedy);
});
