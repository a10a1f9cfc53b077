// `mode.scope: session`, and tokens: what a client configures or equips changes nothing that others see.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { endLater, sleep, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';
import { MENU, type Era } from '../support/toolsets.ts';

interface Seen {
  tools(): Promise<readonly string[]>;
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Number of notifications that the list of tools has changed. */
  changes(): number;
}

async function meetAs(name: string, url: string, era: Era, token?: string): Promise<Seen> {
  let changes = 0;
  const pin = era === 'modern' ? { mode: { pin: '2026-07-28' } } : { mode: 'legacy' as const };
  const client = new Client({ name, version: '1' }, { versionNegotiation: pin });
  endLater(() => client.close());
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes += 1;
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: token === undefined ? {} : bearer(token) },
    }),
  );
  if (era === 'modern') await client.listen({ toolsListChanged: true });
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (tool, args = {}) => JSON.stringify(await client.callTool({ name: tool, arguments: args })),
    changes: () => changes,
  };
}

const NORMAL = ['enter-configuration-mode', 'plain_echo'];

it.each(['legacy', 'modern'] as const)('each HTTP client has its own mode, %s', async (era) => {
  const assay = await startGateway({
    servers: { plain: fixture('plain') },
    env: { ASSAY_MODE_SCOPE: 'session' },
  });
  const url = `http://127.0.0.1:${assay.port}/mcp`;
  const [one, other] = [await meetAs('one', url, era), await meetAs('other', url, era)];
  expect([await one.tools(), await other.tools()]).toEqual([MENU, MENU]);

  // What one equips is its own.
  await one.call('build-toolset', {
    name: 'dev',
    tools: [{ namespacedName: 'plain.echo' }],
    autoEquip: true,
  });
  expect([await one.tools(), await other.tools()]).toEqual([NORMAL, MENU]);
  expect(await other.call('get-active-toolset')).toContain('No toolset is equipped');
  await other.call('equip-toolset', { name: 'dev' });
  expect([await one.tools(), await other.tools()]).toEqual([NORMAL, NORMAL]);
  await until('each is told of its own', () =>
    one.changes() === 1 && other.changes() === 1 ? true : undefined,
  );

  await one.call('enter-configuration-mode');
  expect([await one.tools(), await other.tools()]).toEqual([MENU, NORMAL]);
  expect(await other.call('plain_echo', { a: 1 })).toContain('{\\"a\\":1}');
  await expect(one.call('plain_echo', {})).rejects.toThrow(/configuration mode/);
  expect(await other.call('list-saved-toolsets')).toContain('normal mode');
  await until('the one that switched is told', () => (one.changes() === 2 ? true : undefined));

  // Another client that equips does not end the configuration of this one.
  await other.call('enter-configuration-mode');
  await other.call('equip-toolset', { name: 'dev' });
  expect([await one.tools(), await other.tools()]).toEqual([MENU, NORMAL]);
  await one.call('equip-toolset', { name: 'dev' });
  expect(await one.tools()).toEqual(NORMAL);
  await until('each is told of its own switches', () =>
    one.changes() === 3 && other.changes() === 3 ? true : undefined,
  );
  await sleep(100);
  expect([one.changes(), other.changes()]).toEqual([3, 3]);
});

it('a modern client is identified by its name, so its other connections have the same mode', async () => {
  const assay = await startGateway({
    servers: { plain: fixture('plain') },
    env: { ASSAY_MODE_SCOPE: 'session' },
  });
  const url = `http://127.0.0.1:${assay.port}/mcp`;
  const first = await meetAs('one', url, 'modern');
  await first.call('build-toolset', {
    name: 'dev',
    tools: [{ namespacedName: 'plain.echo' }],
    autoEquip: true,
  });
  await first.call('enter-configuration-mode');
  const again = await meetAs('one', url, 'modern');
  const other = await meetAs('two', url, 'modern');
  await other.call('equip-toolset', { name: 'dev' });
  expect([await again.tools(), await other.tools()]).toEqual([MENU, NORMAL]);
});

const ECHO = { name: 'dev', tools: [{ namespacedName: 'plain.echo' }], autoEquip: true };

interface Pair {
  readonly home: string;
  readonly url: string;
  readonly ada: Seen;
  readonly ben: Seen;
}

/** Two clients of the same name, which only their tokens tell apart. */
async function withTokens(era: Era, settings: Readonly<Record<string, unknown>> = {}): Promise<Pair> {
  const home = tempDir();
  const tokens = [await keepToken(home, 'ada'), await keepToken(home, 'ben')] as const;
  const assay = await startGateway({
    servers: { plain: fixture('plain') },
    settings: { settings: { 'mcp.access': 'token', ...settings } },
    home,
  });
  const url = `http://127.0.0.1:${assay.port}/mcp`;
  const ada = await meetAs('client', url, era, tokens[0]);
  return { home, url, ada, ben: await meetAs('client', url, era, tokens[1]) };
}

it.each([
  ['legacy', {}],
  ['modern', {}],
  ['modern', { 'mode.scope': 'process' }],
] as const)('with tokens, a client changes nothing that others see, %s, %o', async (era, settings) => {
  const { ada, ben } = await withTokens(era, settings);
  await ada.call('build-toolset', ECHO);
  expect([await ada.tools(), await ben.tools()]).toEqual([NORMAL, MENU]);
  expect(await ben.call('list-saved-toolsets')).not.toContain('(equipped)');
  await ben.call('exit-configuration-mode');
  expect([await ada.tools(), await ben.tools()]).toEqual([NORMAL, ['enter-configuration-mode']]);
  await expect(ben.call('plain_echo', { a: 1 })).rejects.toThrow(/No toolset is equipped/);
  expect(await ada.call('plain_echo', { a: 1 })).toContain('{\\"a\\":1}');

  // What others have equipped cannot be deleted, and the refusal says by how many.
  await ben.call('enter-configuration-mode');
  expect(await ben.call('delete-toolset', { name: 'dev', confirm: true })).toContain('in 1 other session');
  await ada.call('enter-configuration-mode');
  expect(await ada.call('unequip-toolset')).toContain('not equipped any more');
  expect(await ben.call('delete-toolset', { name: 'dev', confirm: true })).toContain('are deleted');
});
