import { join } from 'node:path';
import { mintToken } from './adapters/auth/mint-token.ts';
import { lintLevelsOf } from './core/hints/lint-levels.ts';
import { VERSION } from './core/identity.ts';
import type { AdminDeps } from './edges/admin/admin-deps.ts';
import type { Admin } from './edges/admin/open-admin.ts';
import type { OtherPaths } from './edges/mcp/http-door.ts';
import { GatewayDesk } from './gateway/gateways/gateway-desk.ts';
import { ToolDesk } from './gateway/hints/tool-desk.ts';
import type { Store } from './gateway/ports/store.ts';
import type { Toolsets } from './gateway/toolsets/toolsets.ts';
import type { Opened } from './opening.ts';
import type { OpenWords } from './open-words.ts';
import { readText } from './platform/files.ts';

export interface RestSurroundings extends Pick<Opened, 'catalog' | 'settings' | 'ground'> {
  readonly said: OpenWords;
  readonly store: Store;
  readonly toolsets: Toolsets;
  /** Whether commands may be added by it. */
  readonly mayExecute: boolean;
}

/** The REST API. It is loaded when somebody first asks for it: clients of MCP neither wait for it nor keep it in memory. */
export function openRest(around: RestSurroundings): OtherPaths {
  let opening: Promise<Admin> | undefined;
  const deps = depsOf(around);
  const open = async (): Promise<Admin> => {
    const { openAdmin } = await import('./edges/admin/open-admin.ts');
    return openAdmin(deps);
  };
  return {
    answer: async (request, response, admitted) => {
      opening ??= open();
      await (await opening).answer(request, response, admitted);
    },
  };
}

function depsOf({
  catalog,
  settings,
  said,
  ground,
  store,
  toolsets,
  mayExecute,
}: RestSurroundings): AdminDeps {
  const { log, telemetry } = ground;
  const nowMs = (): number => Date.now();
  const levels = lintLevelsOf(settings);
  return {
    version: VERSION,
    log,
    store,
    mint: mintToken,
    nowMs,
    tools: new ToolDesk({ catalog, ...said, levels, nowMs }),
    gateways: new GatewayDesk({ catalog, ...said, mask: telemetry.mask, nowMs }),
    toolsets,
    mayExecute,
    asset,
  };
}

/** The build puts them beside the program. */
const ASSETS = join(import.meta.dirname, 'swagger-ui');

async function asset(name: string): Promise<string | undefined> {
  const text = await readText(join(ASSETS, name));
  return text.ok ? text.value : undefined;
}
