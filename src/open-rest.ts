import type { Admin } from './edges/admin/open-admin.ts';
import type { AdminDeps } from './edges/admin/admin-deps.ts';
import type { OtherPaths } from './edges/mcp/http-door.ts';

/** The REST API. It is loaded when somebody first asks for it: clients of MCP neither wait for it nor keep it in memory. */
export function openRest(deps: AdminDeps): OtherPaths & { close(): Promise<void> } {
  let opening: Promise<Admin> | undefined;
  const open = async (): Promise<Admin> => {
    const { openAdmin } = await import('./edges/admin/open-admin.ts');
    return openAdmin(deps);
  };
  return {
    answer: async (request, response, admitted) => {
      opening ??= open();
      await (await opening).answer(request, response, admitted);
    },
    close: async () => (await opening)?.close(),
  };
}
