// `mode.scope: session`: a client that configures does not take tools away from the others.
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

  // Equipping is shared: both leave their mode, which they had because nothing was equipped, and each is notified.
  await one.call('build-toolset', {
    name: 'dev',
    tools: [{ namespacedName: 'plain.echo' }],
    autoEquip: true,
  });
  expect([await one.tools(), await other.tools()]).toEqual([NORMAL, NORMAL]);
  await until('both are told', () => (one.changes() === 1 && other.changes() === 1 ? true : undefined));

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
  expect([await again.tools(), await other.tools()]).toEqual([MENU, NORMAL]);
});

it.each(['legacy', 'modern'] as const)(
  'with tokens, a client that configures takes no tools away from others, without any setting, %s',
  async (era) => {
    const home = tempDir();
    const tokens = [await keepToken(home, 'ada'), await keepToken(home, 'ben')] as const;
    const assay = await startGateway({
      servers: { plain: fixture('plain') },
      settings: { settings: { 'mcp.access': 'token' } },
      home,
    });
    const url = `http://127.0.0.1:${assay.port}/mcp`;
    // Both use the same client, so only their tokens tell them apart.
    const [ada, ben] = [
      await meetAs('client', url, era, tokens[0]),
      await meetAs('client', url, era, tokens[1]),
    ];
    await ada.call('build-toolset', {
      name: 'dev',
      tools: [{ namespacedName: 'plain.echo' }],
      autoEquip: true,
    });
    await until('both see it', async () => ((await ben.tools()).includes('plain_echo') ? true : undefined));
    await ada.call('enter-configuration-mode');
    expect([await ada.tools(), await ben.tools()]).toEqual([MENU, NORMAL]);
  },
);
