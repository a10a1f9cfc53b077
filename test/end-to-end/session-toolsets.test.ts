// What a client equips for itself, on two replicas of one store.
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { connectClient } from '../support/clients.ts';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { rawRows } from '../support/stores.ts';
import type { StorePlace } from '../support/store-values.ts';
import { bearer, keepToken } from '../support/tokens.ts';
import { MENU, overStdio } from '../support/toolsets.ts';

const NORMAL = ['enter-configuration-mode', 'plain_echo'];

interface Replicas {
  readonly place: StorePlace;
  readonly urls: readonly [string, string];
  readonly admin: AdminClient;
  readonly tokens: { readonly ada: string; readonly ben: string };
}

async function twoReplicas(kind: 'SQLite' | 'PostgreSQL'): Promise<Replicas> {
  const home = tempDir();
  const databaseUrl = kind === 'PostgreSQL' ? await newDatabase() : undefined;
  const env: Record<string, string> = databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: databaseUrl };
  const [ada, ben, boss] = [
    await keepToken(home, 'ada', { databaseUrl }),
    await keepToken(home, 'ben', { databaseUrl }),
    await keepToken(home, 'boss', { scopes: ['admin'], databaseUrl }),
  ];
  const settings = { settings: { 'mcp.access': 'token' } };
  const start = (own: string) =>
    startGateway({ servers: { plain: fixture('plain') }, home: own, env, settings });
  const [one, two] = [await start(home), await start(databaseUrl === undefined ? home : tempDir())];
  const urls = [`http://127.0.0.1:${one.port}/mcp`, `http://127.0.0.1:${two.port}/mcp`] as const;
  return { place: { home, databaseUrl }, urls, admin: adminClient(one, boss), tokens: { ada, ben } };
}

interface Seen {
  tools(): Promise<readonly string[]>;
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Ends the session of a legacy client. */
  end(): Promise<void>;
}

async function meet(url: string, token: string, era: 'legacy' | 'modern' = 'modern'): Promise<Seen> {
  const client = await connectClient({ url, headers: bearer(token) }, era);
  endLater(() => client.close());
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => JSON.stringify(await client.callTool({ name, arguments: args })),
    end: async () => {
      const { transport } = client;
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
    },
  };
}

function rows(place: StorePlace): Promise<readonly unknown[]> {
  return rawRows(place, 'select subject_json, toolset from assay_session_toolsets order by subject_json');
}

describe.each(['SQLite', 'PostgreSQL'] as const)('what a client equips, on two replicas in %s', (kind) => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await twoReplicas(kind);
  });

  it('holds for that client alone, at each replica', async () => {
    const { urls, tokens, place, admin } = replicas;
    const [ada, ben] = [await meet(urls[0], tokens.ada), await meet(urls[0], tokens.ben)];
    await ada.call('build-toolset', {
      name: 'dev',
      tools: [{ namespacedName: 'plain.echo' }],
      autoEquip: true,
    });
    expect([await ada.tools(), await ben.tools()]).toEqual([NORMAL, MENU]);
    expect(await rows(place)).toEqual([{ subject_json: '"ada"', toolset: 'dev' }]);

    // The other replica has never seen this client: its first request waits for what the store says.
    const elsewhere = await meet(urls[1], tokens.ada);
    expect(await elsewhere.call('plain_echo', { a: 1 })).toContain('{\\"a\\":1}');
    expect(await elsewhere.tools()).toEqual(NORMAL);
    const benElsewhere = await meet(urls[1], tokens.ben);
    expect(await benElsewhere.tools()).toEqual(MENU);

    // From then on it follows the store.
    await ada.call('enter-configuration-mode');
    await ada.call('unequip-toolset');
    await until('it has heard of it', async () =>
      (await elsewhere.tools()).length === MENU.length ? true : undefined,
    );

    // What operators equip is seen by those who have not chosen themselves. Unequipping is a choice, too.
    expect((await admin.post('/toolsets/dev/equip')).status).toBe(200);
    await until('Ben sees it', async () =>
      (await benElsewhere.tools()).includes('plain_echo') ? true : undefined,
    );
    expect([await ada.tools(), await elsewhere.tools()]).toEqual([MENU, MENU]);
    expect(await ben.call('enter-configuration-mode')).toContain('configuration mode');
    expect(await ben.call('delete-toolset', { name: 'dev', confirm: true })).toContain('for all clients');
  });

  it('is renamed and deleted with its toolset, and an operator learns how many sessions had it', async () => {
    const { urls, tokens, place } = replicas;
    const legacy = await meet(urls[0], tokens.ben, 'legacy');
    await legacy.call('enter-configuration-mode');
    await legacy.call('build-toolset', {
      name: 'mine',
      tools: [{ namespacedName: 'plain.echo' }],
      autoEquip: true,
    });
    const at = (home: StorePlace): readonly string[] => ['--home', home.home];
    const env = place.databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: place.databaseUrl };
    const renamed = await runAssay(['toolset', 'rename', 'mine', 'ours', ...at(place)], { env });
    expect(renamed.code).toBe(0);
    expect(await rows(place)).toContainEqual({ subject_json: '"ben"', toolset: 'ours' });
    await until('it is followed', async () =>
      (await legacy.tools()).includes('plain_echo') ? true : undefined,
    );
    const deleted = await runAssay(['toolset', 'delete', 'ours', '--yes', ...at(place)], { env });
    expect(deleted.stdout).toContain('1 session had equipped it, and has none now.');
    await until('its tools are gone', async () =>
      (await legacy.tools()).includes('plain_echo') ? undefined : true,
    );
    expect(await rows(place)).toContainEqual({ subject_json: '"ben"', toolset: null });
  });

  it('is removed when the session of that client ends', async () => {
    const { urls, tokens, place } = replicas;
    const legacy = await meet(urls[1], tokens.ada, 'legacy');
    await legacy.call('enter-configuration-mode');
    await legacy.call('build-toolset', {
      name: 'brief',
      tools: [{ namespacedName: 'plain.echo' }],
      autoEquip: true,
    });
    expect(await rows(place)).toContainEqual({ subject_json: '"ada"', toolset: 'brief' });
    await legacy.end();
    await until('the row is gone', async () =>
      (await rows(place)).some((row) => JSON.stringify(row).includes('brief')) ? undefined : true,
    );
  });
});

describe('each assay stdio', () => {
  const servers = { plain: fixture('plain') };
  const dev = { name: 'dev', tools: [{ namespacedName: 'plain.echo' }], autoEquip: true };

  it.each([
    ['legacy', { 'mode.scope': 'session' }],
    ['modern', { 'mode.scope': 'session' }],
    ['legacy', { 'mcp.access': 'token' }],
  ] as const)('equips for itself until it ends, %s, %o', async (era, settings) => {
    const home = tempDir();
    const start = { servers, home, config: { settings } };
    const [one, other] = [await overStdio(start, era), await overStdio(start, era)];
    await one.call('build-toolset', dev);
    expect([await one.tools(), await other.tools()]).toEqual([NORMAL, MENU]);
    expect((await other.call('get-active-toolset')).text).toContain('No toolset is equipped');
    const place = { home, databaseUrl: undefined };
    expect(await rows(place)).toEqual([{ subject_json: '"local"', toolset: 'dev' }]);
    expect((await other.call('delete-toolset', { name: 'dev', confirm: true })).text).toContain(
      'in 1 other session',
    );
    await one.client.close();
    expect(await rows(place)).toEqual([]);
  });

  it('equips for all clients of the home if these need no tokens', async () => {
    const start = { servers, home: tempDir() };
    const [one, other] = [await overStdio(start, 'modern'), await overStdio(start, 'modern')];
    await one.call('build-toolset', dev);
    await until('the other sees it', async () =>
      (await other.tools()).includes('plain_echo') ? true : undefined,
    );
  });
});
