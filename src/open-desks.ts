import { join } from 'node:path';
import { findServe, SERVE_FILE } from './adapters/store/running-serve.ts';
import { lintLevelsOf } from './core/hints/lint-levels.ts';
import type { Refusal } from './core/refusal.ts';
import { ok, type Result } from './core/result.ts';
import type { EntryFault } from './core/sources/entry-fault.ts';
import type { RestToolSpec } from './core/sources/rest-tool.ts';
import type { CommonOptions, OpenDesks } from './edges/cli/runtime.ts';
import { isLoopback } from './edges/mcp/guard.ts';
import { GatewayDesk } from './gateway/services/servers/gateway-desk.ts';
import { importDocument } from './gateway/services/servers/import-document.ts';
import { ToolDesk } from './gateway/services/tools/tool-desk.ts';
import { LocalDesk } from './gateway/services/sources/local-desk.ts';
import { ModuleDesk } from './gateway/services/sources/module-desk.ts';
import { openGround, openHomeStore } from './ground.ts';
import { openBundles } from './open-bundles.ts';
import { openConfigured, type OpenedConfig } from './opening.ts';
import { reachFaultsBy } from './reach-in.ts';

export type Desks = Pick<OpenDesks, 'tools' | 'gateways' | 'local' | 'modules'>;

/** What operators see and change of sources and tools. */
export function desksOf({ catalog, settings, said, ground, rules }: OpenedConfig): Desks {
  const { mask } = ground.telemetry;
  const reaches = { reachFaults: reachFaultsBy(rules) };
  const nowMs = (): number => Date.now();
  const tools = new ToolDesk({ catalog, ...said, levels: lintLevelsOf(settings), mask, nowMs });
  return {
    tools,
    gateways: new GatewayDesk({ catalog, ...said, ...reaches, mask, nowMs }),
    local: new LocalDesk({ catalog, ...said, ...reaches, tools, faultsOf, definitionOf, mask, nowMs }),
    modules: new ModuleDesk({ catalog, ...said, nowMs }),
  };
}

/** What reads filters and schemas is loaded when there is something to read. */
async function faultsOf(spec: RestToolSpec): Promise<readonly EntryFault[]> {
  const { faultsOfRest } = await import('./adapters/sources/made-faults.ts');
  return faultsOfRest(spec);
}

async function definitionOf(spec: RestToolSpec): Promise<string> {
  const { restDefinitionText } = await import('./adapters/sources/rest/rest-tool.ts');
  return restDefinitionText(spec);
}

/** The same for a command: no source is started but those that it asks about. */
export async function openDesksForCommand(options: CommonOptions): Promise<Result<OpenDesks, Refusal>> {
  const given = { ...options, isQuiet: true, transport: 'pipe' } as const;
  const ground = await openGround(given);
  if (!ground.ok) return ground;
  const store = await openHomeStore(ground.value);
  if (!store.ok) return store;
  const isOnNetwork = await isServedToOthers(ground.value.home);
  const before = { store: store.value, isForDesks: true, isOnNetwork };
  const opened = await openConfigured(given, ground.value, before);
  if (!opened.ok) {
    await store.value.close();
    return opened;
  }
  const { catalog, close, said } = opened.value;
  const desks = desksOf(opened.value);
  return ok({
    ...desks,
    bundles: openBundles(opened.value, { gateways: desks.gateways }),
    importDocument: (wish, subject) =>
      importDocument({ connect: catalog.connect, gateways: desks.gateways, nowMs: Date.now }, wish, subject),
    start: async (name) => {
      const server = catalog.servers.find(({ spec }) => spec.name === name);
      server?.start();
      await server?.settled();
    },
    instructions: said.instructions,
    servers: () => catalog.servers.map(({ spec }) => spec),
    startAll: async () => {
      catalog.start();
      await Promise.race([Promise.all(catalog.servers.map((server) => server.settled())), catalog.settled()]);
      for (const server of catalog.servers)
        if (server.lists.isKnown('tools')) said.drift.saw(server.spec, server.inventory.tools, server);
      // Of a server that is not up only what it said some time ago is known.
      const up = catalog.servers.filter(({ link }) => link !== undefined);
      await Promise.all([
        ...up.map(({ spec, instructions }) => said.instructions.saw(spec, instructions.said)),
        ...catalog.servers.map(({ spec }) => said.drift.settled(spec)),
      ]);
    },
    close: async () => {
      await close();
      await store.value.close();
    },
  });
}

/** Whether a `serve` of this home, which takes up what a command registers, listens beyond loopback. */
async function isServedToOthers(home: string): Promise<boolean> {
  const serve = await findServe(join(home, SERVE_FILE));
  return serve !== undefined && !isLoopback(new URL(serve.url).hostname);
}
