import { beforeAll, describe, expect, it } from 'vitest';
import { startOfficialModern, type OfficialModern } from '../fixtures/official-modern.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, connectFirst, type Endpoint } from '../support/clients.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { installed, writeConfig } from '../support/paths.ts';

/** The notifications of one official client, as `method uri`. */
interface Listener {
  readonly heard: string[];
  want(uri: string): Promise<void>;
  call(name: string): Promise<unknown>;
  prompts(): Promise<readonly string[]>;
  resources(): Promise<readonly string[]>;
}

const noted =
  (heard: string[]) =>
  (note: { method: string; params?: unknown }): Promise<void> => {
    const { uri } = (note.params ?? {}) as { uri?: unknown };
    heard.push(typeof uri === 'string' ? `${note.method} ${uri}` : note.method);
    return Promise.resolve();
  };

/** The official clients, each subscribed to all lists and some resources. */
const CLIENTS: readonly { label: string; connect: (endpoint: Endpoint) => Promise<Listener> }[] = [
  {
    label: '1.x',
    connect: async (endpoint) => {
      const heard: string[] = [];
      const client = await connectFirst(endpoint);
      client.fallbackNotificationHandler = noted(heard);
      return {
        heard,
        want: async (uri) => {
          await client.subscribeResource({ uri });
        },
        call: (name) => client.callTool({ name }),
        prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
        resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      };
    },
  },
  ...(['legacy', 'modern'] as const).map((mode) => ({
    label: `2.x ${mode}`,
    connect: async (endpoint: Endpoint): Promise<Listener> => {
      const heard: string[] = [];
      const client = await connectClient(endpoint, mode);
      client.fallbackNotificationHandler = noted(heard);
      if (mode === 'modern') await client.listen({ promptsListChanged: true, resourcesListChanged: true });
      return {
        heard,
        want: async (uri) => {
          if (mode === 'legacy') await client.subscribeResource({ uri });
          else
            expect((await client.listen({ resourceSubscriptions: [uri] })).honoredFilter).toEqual({
              resourceSubscriptions: [uri],
            });
        },
        call: (name) => client.callTool({ name }),
        prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
        resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      };
    },
  })),
];

const UPDATED = 'notifications/resources/updated';
const EVERYTHING_URI = 'demo://resource/dynamic/text/1';

describe('official servers', () => {
  let modern: OfficialModern;
  let config: string;
  let assay: Gateway;
  beforeAll(async () => {
    modern = await startOfficialModern();
    endLater(() => modern.close());
    config = writeConfig({ everything: installed('everything'), modern: { type: 'http', url: modern.url } });
    assay = await startGateway({ config });
    await assay.settled();
  });

  const ENDPOINTS: readonly (readonly [string, () => Endpoint])[] = [
    ['HTTP', () => ({ url: assay.url })],
    [
      'stdio',
      () => ({
        stdio: { all: true, config },
      }),
    ],
  ];

  describe.each(ENDPOINTS)('through %s', (_, endpoint) => {
    it.each(CLIENTS)('notify the official client $label of updates', async ({ connect }) => {
      const client = await connect(endpoint());
      // The servers of a client on stdio start with it.
      await until('the resources of both servers are listed', async () => {
        const listed = await client.resources();
        return ['demo:', 'official:'].every((scheme) => listed.some((uri) => uri.startsWith(scheme)))
          ? true
          : undefined;
      });
      await client.want(EVERYTHING_URI);
      await client.want('official://one');
      await client.call('everything_toggle-subscriber-updates');
      modern.notify.resourceUpdated('official://one');
      modern.notify.resourceUpdated('official://two');
      for (const uri of [EVERYTHING_URI, 'official://one'])
        await until(
          () => `an update of ${uri}; heard: ${client.heard.join()}`,
          () => (client.heard.includes(`${UPDATED} ${uri}`) ? true : undefined),
        );
      await sleep(100);
      expect(client.heard).not.toContain(`${UPDATED} official://two`);
      await client.call('everything_toggle-subscriber-updates');
    });

    it.each(CLIENTS)(
      'notify the official client $label of new prompts and resources',
      async ({ connect, label }) => {
        const client = await connect(endpoint());
        await client.prompts();
        await client.resources();
        // A legacy client opens its stream a moment after it has connected.
        await sleep(200);
        const name = `p${modern.prompts.length}`;
        modern.prompts.push(name);
        modern.resources.push(`official://${name}`);
        modern.notify.promptsChanged();
        modern.notify.resourcesChanged();
        for (const kind of ['prompts', 'resources'])
          await until(
            () => `a change of ${kind} for ${label}; heard: ${client.heard.join()}`,
            () => (client.heard.includes(`notifications/${kind}/list_changed`) ? true : undefined),
          );
        // A server that came up late has its lists announced too.
        await until('both are listed', async () => {
          const listed = [...(await client.prompts()), ...(await client.resources())];
          return listed.includes(`modern_${name}`) && listed.includes(`official://${name}`)
            ? true
            : undefined;
        });
      },
    );
  });
});
