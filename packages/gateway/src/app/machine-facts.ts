import { join } from 'node:path';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import type { CommandFacts } from '../core/check-commands.ts';
import type { HomeFacts } from '../core/check-machine.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import { getSourceKind } from '../core/sources/source-kinds.ts';
import { readText } from '@assay-mcp/kit/platform/files';
import {
  findCommand,
  measureFreeBytes,
  isWritable,
  findNearestExisting,
  inspectPath,
} from '@assay-mcp/kit/platform/machine';

/** Whether the commands of servers and their folders are there. */
export function inspectCommands(
  servers: readonly ServerSpec[],
  configEnvironment: ConfigEnvironment,
): Promise<readonly CommandFacts[]> {
  return Promise.all(
    servers.flatMap(({ name, transport }) => {
      const started = getSourceKind(transport).command(transport);
      if (started === undefined) return [];
      const { command, cwd, env } = started;
      const path = env['PATH'] ?? configEnvironment.env['PATH'] ?? '';
      return [
        Promise.all([findCommand(command, { cwd, path }), inspectPath(cwd)]).then(([location, folder]) => ({
          server: name,
          command,
          location,
          cwd,
          cwdIs: isFolder(folder?.is),
        })),
      ];
    }),
  );
}

function isFolder(is: string | undefined): 'folder' | 'absent' | 'not_a_folder' {
  if (is === undefined) return 'absent';
  return is === 'folder' ? 'folder' : 'not_a_folder';
}

export async function inspectHome(path: string): Promise<HomeFacts> {
  const nearest = await findNearestExisting(path);
  const [found, catalog] = [await inspectPath(nearest), join(path, 'catalog.json')];
  const text = (await inspectPath(catalog)) === undefined ? undefined : await readText(catalog);
  return {
    path,
    is: found?.is !== 'folder' ? 'not_a_folder' : nearest === path ? 'folder' : 'absent',
    isWritable: await isWritable(nearest),
    mode: nearest === path ? found?.mode : undefined,
    freeBytes: await measureFreeBytes(nearest),
    catalogFault: text?.ok === false ? text.error.reason : undefined,
  };
}
