import type { FolderAccess } from '../access/folder-access.ts';
import type { Codebase } from '../codebase.ts';
import type { Counters } from '../counters.ts';
import type { ProjectConfigs } from '../projects/project-config.ts';
import type { ProjectFolders } from '../projects/project-folders.ts';
import type { ProjectSources } from '../projects/resolve-project.ts';
import type { Session } from '../session.ts';
import type { WatchService } from '../watch/watch-service.ts';

/** Dependencies of the tools and resources. */
export interface ToolDeps {
  readonly codebase: Codebase;
  readonly folders: ProjectFolders;
  readonly configs: ProjectConfigs;
  readonly access: FolderAccess;
  readonly session: Session;
  readonly counters: Counters;
  /** Undefined if this process does not watch. */
  readonly watch?: WatchService | undefined;
}

export function toProjectSources({ folders, configs, access, session }: ToolDeps): ProjectSources {
  return { folders, configs, access, directory: session.directory };
}
