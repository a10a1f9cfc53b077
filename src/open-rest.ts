import { join } from 'node:path';
import type { AdminDeps } from './edges/admin/admin-deps.ts';
import type { Admin } from './edges/admin/open-admin.ts';
import type { OtherPaths } from './edges/mcp/other-paths.ts';
import { readText } from './platform/files.ts';

/** The REST API. It is loaded when somebody first asks for it: clients of MCP neither wait for it nor keep it in memory. */
export function openRest(deps: Omit<AdminDeps, 'asset' | 'ending'>): OtherPaths {
  let opening: Promise<Admin> | undefined;
  const ending = new AbortController();
  const open = async (): Promise<Admin> => {
    const { openAdmin } = await import('./edges/admin/open-admin.ts');
    return openAdmin({ ...deps, asset, ending: ending.signal });
  };
  return {
    answer: async (request, response, admitted) => {
      opening ??= open();
      await (await opening).answer(request, response, admitted);
    },
    close: () => ending.abort(),
  };
}

/** The build puts them beside the program. */
const ASSETS = join(import.meta.dirname, 'swagger-ui');

async function asset(name: string): Promise<string | undefined> {
  const text = await readText(join(ASSETS, name));
  return text.ok ? text.value : undefined;
}
