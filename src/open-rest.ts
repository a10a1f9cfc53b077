import { join } from 'node:path';
import { mintToken } from './adapters/auth/mint-token.ts';
import { VERSION } from './core/identity.ts';
import type { AdminDeps } from './edges/rest/admin-deps.ts';
import type { Admin } from './edges/rest/open-admin.ts';
import type { OtherPaths } from './edges/mcp/request-path.ts';
import { openBundles } from './open-bundles.ts';
import { desksOf } from './open-desks.ts';
import type { OpenedConfig } from './opening.ts';
import { readText } from './platform/files.ts';

export interface RestSurroundings extends Pick<
  AdminDeps,
  'store' | 'toolsets' | 'gate' | 'mayExecute' | 'resource' | 'nowMs'
> {
  readonly opened: OpenedConfig;
}

/** The REST API. It is loaded when somebody first asks for it: clients of MCP neither wait for it nor keep it in memory. */
export function openRest(around: RestSurroundings): OtherPaths {
  let opening: Promise<Admin> | undefined;
  const ending = new AbortController();
  const open = async (): Promise<Admin> => {
    const { openAdmin } = await import('./edges/rest/open-admin.ts');
    return openAdmin({ ...depsOf(around), ending: ending.signal });
  };
  return {
    answer: async (request, response, admitted) => {
      opening ??= open();
      await (await opening).answer(request, response, admitted);
    },
    close: () => ending.abort(),
  };
}

function depsOf({ opened, ...given }: RestSurroundings): Omit<AdminDeps, 'ending'> {
  const { catalog, settings, fileSettings, ground, said } = opened;
  const { log, around } = ground;
  const desks = desksOf(opened);
  return {
    ...given,
    version: VERSION,
    log,
    mint: mintToken,
    catalog,
    ...desks,
    instructions: said.instructions,
    bundles: openBundles(opened, { gateways: desks.gateways, toolsets: given.toolsets }),
    preferences: { env: around.env, file: fileSettings, running: settings },
    asset,
  };
}

/** The build puts them beside the program. */
const ASSETS = join(import.meta.dirname, 'swagger-ui');

async function asset(name: string): Promise<string | undefined> {
  const text = await readText(join(ASSETS, name));
  return text.ok ? text.value : undefined;
}
