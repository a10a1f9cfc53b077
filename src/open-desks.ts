import { lintLevelsOf } from './core/hints/lint-levels.ts';
import type { Refusal } from './core/refusal.ts';
import { ok, type Result } from './core/result.ts';
import type { EntryFault } from './core/sources/entry-fault.ts';
import type { RestToolSpec } from './core/sources/rest-tool.ts';
import type { CommonOptions, OpenDesks } from './edges/cli/runtime.ts';
import { GatewayDesk } from './gateway/gateways/gateway-desk.ts';
import { importDocument } from './gateway/gateways/import-document.ts';
import { ToolDesk } from './gateway/hints/tool-desk.ts';
import { LocalDesk } from './gateway/local/local-desk.ts';
import { ModuleDesk } from './gateway/local/module-desk.ts';
import { openGround, openHomeStore } from './ground.ts';
import { openBundles } from './open-bundles.ts';
import { openConfigured, type OpenedConfig } from './opening.ts';

export type Desks = Pick<OpenDesks, 'tools' | 'gateways' | 'local' | 'modules'>;

/** What operators see and change of sources and tools. */
export function desksOf({ catalog, settings, said, ground }: OpenedConfig): Desks {
  const { mask } = ground.telemetry;
  const nowMs = (): number => Date.now();
  const tools = new ToolDesk({ catalog, ...said, levels: lintLevelsOf(settings), mask, nowMs });
  return {
    tools,
    gateways: new GatewayDesk({ catalog, ...said, mask, nowMs }),
    local: new LocalDesk({ catalog, ...said, tools, faultsOf, definitionOf, mask, nowMs }),
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
  const opened = await openConfigured(given, ground.value, { store: store.value, isForDesks: true });
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
      importDocument({ ...said, gateways: desks.gateways, nowMs: () => Date.now() }, wish, subject),
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
