import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getIndexPath } from '../store/index-file.ts';
import { type ProjectId, parseProjectId } from './project-id.ts';

/** The folders of the projects, each with one index. */
export class ProjectFolders {
  readonly #folder: string;

  /** `home`: the absolute folder of Assay's data. */
  constructor(home: string) {
    this.#folder = join(home, 'codebase');
  }

  /** The folder of a project's index, whether it exists or not. */
  folder(project: ProjectId): string {
    return join(this.#folder, project);
  }

  async exists(project: ProjectId): Promise<boolean> {
    return isFile(getIndexPath(this.folder(project)));
  }

  /** All projects that have an index, by name. */
  async all(): Promise<readonly ProjectId[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const ids = names.map(parseProjectId).filter((id) => id !== undefined);
    const present = await Promise.all(ids.map((id) => this.exists(id)));
    return ids.filter((_, index) => present[index]).toSorted();
  }
}

/** The name of a project's index in results: its path below the folder of all indexes. */
export function getDatabaseName(project: ProjectId): string {
  return `${project}/index.db`;
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
