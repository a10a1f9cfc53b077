import { formatCount } from '@assay-mcp/kit/counted';
import { MAX_WATCHED_FOLDERS } from '../indexing/index-report.ts';

/** Maximum number of repositories that one process watches. */
export const MAX_REPOSITORIES = 64;

/** Why a repository is not watched. */
export type UnwatchedReason =
  | 'DISABLED'
  | 'TOO_MANY_FOLDERS'
  | 'TOO_MANY_REPOSITORIES'
  /** The limit of inotify watches (ENOSPC), or of inotify instances or open files (EMFILE), is reached. */
  | 'SYSTEM_LIMIT'
  | 'UNAVAILABLE';

/** Whether changed files of a repository are reindexed in the background. */
export type WatchState =
  | {
      readonly state: 'on';
      readonly folders: number;
      /** Changes made by other machines are not seen. */
      readonly isRemote: boolean;
      /** Why the last update failed, as a sentence. */
      readonly failure?: string | undefined;
    }
  | { readonly state: 'starting' }
  /** Another process watches it. */
  | { readonly state: 'elsewhere' }
  /** `detail`: the code or reason of the system, if any. */
  | { readonly state: 'off'; readonly reason: UnwatchedReason; readonly detail?: string | undefined };

/** What a client should know, as sentences; undefined if there is nothing. */
export function formatWatchState(watch: WatchState): string | undefined {
  switch (watch.state) {
    case 'on':
      if (watch.failure !== undefined) return `The last update in the background failed. ${watch.failure}`;
      return watch.isRemote ? REMOTE : undefined;
    case 'starting':
    case 'elsewhere':
      return undefined;
    case 'off':
      return `Not watched: ${formatReason(watch)} ${NOT_UPDATED}`;
  }
}

const REMOTE =
  'On a network file system: changes made by other machines are not noticed, and results are only compared by size and modification time. Call index_repository after them.';
const NOT_UPDATED =
  'Results are only compared by size and modification time: one whose file has changed has the state "stale". Call index_repository to update the index.';

function formatReason({ reason, detail }: Extract<WatchState, { readonly state: 'off' }>): string {
  switch (reason) {
    case 'DISABLED':
      return 'watching is switched off for this process, and no other process watches this repository.';
    case 'TOO_MANY_FOLDERS':
      return `one process watches at most ${formatCount(MAX_WATCHED_FOLDERS, 'folder')}. A .mcpignore leaves out what need not be searched.`;
    case 'TOO_MANY_REPOSITORIES':
      return `one process watches at most ${MAX_REPOSITORIES} repositories.`;
    case 'SYSTEM_LIMIT':
      return detail === 'EMFILE'
        ? 'the limit of inotify instances or open files is reached (EMFILE). On Linux, raise fs.inotify.max_user_instances, such as with `sudo sysctl fs.inotify.max_user_instances=512`.'
        : 'the limit of inotify watches is reached (ENOSPC). On Linux, raise fs.inotify.max_user_watches, such as with `sudo sysctl fs.inotify.max_user_watches=524288`.';
    case 'UNAVAILABLE':
      return `${detail ?? 'the system reports an error'}.`;
  }
}
