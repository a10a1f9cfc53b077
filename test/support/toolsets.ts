import type { Client } from '@modelcontextprotocol/client';
import { startGateway } from './gateway.ts';
import { connectClient } from './clients.ts';
import { sleep, until } from './endings.ts';
import { at, listAt, type Json, type JsonObject } from './json.ts';
import { tempDir } from './paths.ts';
import { newDatabase } from './postgres.ts';
import type { StdioGatewayOptions } from './stdio-gateway.ts';

/** The nine tools of configuration mode, in the order of the document that requires them. */
export const MENU: readonly string[] = [
  'list-available-tools',
  'build-toolset',
  'list-saved-toolsets',
  'equip-toolset',
  'delete-toolset',
  'unequip-toolset',
  'get-active-toolset',
  'add-tool-annotation',
  'exit-configuration-mode',
];

export interface Start {
  readonly servers: JsonObject;
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Other top-level members of the config. */
  readonly config?: JsonObject;
  /** Path after `/mcp`. */
  readonly path?: string;
  /** A client's view over stdio. */
  readonly view?: Pick<StdioGatewayOptions, 'all' | 'toolset' | 'search' | 'attach'>;
}

/** A tool's result: its text, its data, and whether it is an error. */
export interface Told {
  readonly text: string;
  readonly data: Json;
  readonly isError: boolean;
}

/** A model behind an official client. */
export interface Model {
  readonly client: Client;
  /** Its URL over HTTP. */
  readonly url: string;
  readonly home: string;
  /** Number of tool list change notifications received. */
  readonly changes: () => number;
  tools(): Promise<readonly string[]>;
  describe(name: string): Promise<string | undefined>;
  /** Rejects with the error if the answer is a protocol error. */
  call(name: string, args?: JsonObject): Promise<Told>;
}

export type Era = 'legacy' | 'modern';

/** All ways for an official client to use the equipped toolset, and one with the store in PostgreSQL. */
export const WAYS: readonly (readonly [label: string, open: (start: Start) => Promise<Model>])[] = [
  ...(['legacy', 'modern'] as const).flatMap((era) => [
    [`HTTP, ${era}`, (start: Start) => overHttp(start, era)] as const,
    [`stdio, ${era}`, (start: Start) => overStdio(start, era)] as const,
  ]),
  ['HTTP, modern, PostgreSQL', onPostgres],
];

/** The database of each home folder. */
const databases = new Map<string, string>();

async function onPostgres(start: Start): Promise<Model> {
  const { home = tempDir(), env } = start;
  const url = databases.get(home) ?? (await newDatabase());
  databases.set(home, url);
  return overHttp({ ...start, home, env: { ...env, ASSAY_DATABASE_URL: url } }, 'modern');
}

export async function overHttp(start: Start, era: Era): Promise<Model> {
  const { servers, home = tempDir(), env, config, path = '' } = start;
  const assay = await startGateway({
    servers,
    home,
    ...(env && { env }),
    ...(config && { settings: config }),
  });
  await assay.settled();
  return { ...(await meet({ url: `http://127.0.0.1:${assay.port}/mcp${path}` }, era)), home };
}

export async function overStdio(start: Start, era: Era): Promise<Model> {
  const { servers, home = tempDir(), env, config, view = {} } = start;
  const stdio = { servers, home, ...view, ...(env && { env }), ...(config && { settings: config }) };
  return { ...(await meet({ stdio }, era)), home };
}

/**
 * One model for all tests of a group. Each call of the returned function resets it: no toolsets, configuration mode on,
 * as after the first start, and no changes counted.
 */
export function shared(start: () => Promise<Model>): () => Promise<Model> {
  let opened: Promise<Model> | undefined;
  return async () => {
    const model = await (opened ??= start());
    await model.call('enter-configuration-mode');
    const saved = listAt((await model.call('list-saved-toolsets')).data, 'toolsets');
    for (const toolset of saved)
      await model.call('delete-toolset', { name: at(toolset, 'name') ?? '', confirm: true });
    let before = model.changes();
    // Notifications of these calls may still be in transit.
    await until('no change is told any more', async () => {
      const last = before;
      await sleep(100);
      before = model.changes();
      return before === last ? true : undefined;
    });
    return { ...model, changes: () => model.changes() - before };
  };
}

export async function meet(
  endpoint: Parameters<typeof connectClient>[0],
  era: Era,
): Promise<Omit<Model, 'home'>> {
  let changes = 0;
  const client = await connectClient(endpoint, era, {}, (one) => {
    one.setNotificationHandler('notifications/tools/list_changed', () => {
      changes += 1;
    });
  });
  if (era === 'modern') await client.listen({ toolsListChanged: true });
  return {
    client,
    url: 'url' in endpoint ? endpoint.url : '',
    changes: () => changes,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    describe: async (name) =>
      (await client.listTools()).tools.find((tool) => tool.name === name)?.description,
    call: async (name, args = {}) => {
      const result = (await client.callTool({ name, arguments: args })) as unknown as JsonObject;
      return {
        text: String(at(result, 'content', 0, 'text')),
        data: at(result, 'structuredContent') ?? null,
        isError: at(result, 'isError') === true,
      };
    },
  };
}

/** Builds a toolset of these tools and equips it. */
export async function equip(
  model: Pick<Model, 'call'>,
  name: string,
  tools: readonly string[],
): Promise<void> {
  const refs = tools.map((namespacedName) => ({ namespacedName }));
  // Over stdio, nothing else announces a server that takes more than 5 s to start.
  await until(
    'the toolset is built',
    async () => {
      const built = await model.call('build-toolset', { name, tools: refs, autoEquip: true });
      if (!built.isError) return true;
      if (at(built.data, 'error', 'code') !== 'REF_UNKNOWN') throw new Error(built.text);
      return undefined;
    },
    60_000,
  );
}
