import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Access, isInRoots, isProtected } from '../access/folder-access.ts';
import { resolveOpenedPath } from '../files/read-source.ts';
import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { PROJECT_ID_RULE, type ProjectId, parseProjectId, computeProjectId } from './project-id.ts';

/** The `.codebase-mcp/config.json` that applies to a folder. */
export interface ProjectConfig {
  readonly path: string;
  /** The project, or why the file is invalid, as the end of a sentence. */
  readonly project: Result<ConfiguredProject, string>;
}

export interface ConfiguredProject {
  readonly name: string;
  /** The id in the file, if any. */
  readonly id: ProjectId | null;
  /** The given id, or one derived from the name and the folder. */
  readonly projectId: ProjectId;
}

const FILE = join('.codebase-mcp', 'config.json');
/** Maximum number of folders searched, including the first. */
const MAX_LEVELS = 20;
const MAX_BYTES = 65_536;
const MAX_CACHED = 100;
const ANYWHERE: Access = { roots: undefined, protectedPaths: [] };
const O_READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Finds and reads config files. A file is read again after an edit. One that a link leads to counts as absent unless it is
 * in the roots and not protected: a project must not choose what else is read.
 */
export class ProjectConfigs {
  readonly #read = new Map<string, { readonly stamp: string; readonly config: ProjectConfig }>();

  /** The config file of the nearest folder that has one, from `directory` upwards, but not above the roots. */
  async find(directory: string, access: Access = ANYWHERE): Promise<ProjectConfig | undefined> {
    let folder = await realpath(directory).catch(() => undefined);
    for (let level = 0; level < MAX_LEVELS && folder !== undefined; level += 1) {
      if (!isInRoots(folder, access)) return undefined;
      const config = await this.#at(folder, access);
      if (config !== undefined) return config;
      const above = dirname(folder);
      folder = above === folder ? undefined : above;
    }
    return undefined;
  }

  async #at(folder: string, access: Access): Promise<ProjectConfig | undefined> {
    const path = join(folder, FILE);
    // Opened once, so that the size belongs to the file that is read. Without O_NONBLOCK, opening a FIFO would block.
    const file = await open(path, O_READ_AT_ONCE).catch((error: unknown) => codeOf(error));
    if (typeof file === 'string') {
      if (ABSENT.has(file)) return undefined;
      return { path, project: err(`it cannot be read (${file})`) };
    }
    try {
      const opened = resolveOpenedPath(file.fd, path);
      if (opened !== path && (!isInRoots(opened, access) || isProtected(opened, access))) return undefined;
      const facts = await file.stat({ bigint: true });
      if (!facts.isFile()) return { path, project: err('it is not a file') };
      if (facts.size > MAX_BYTES) return { path, project: err(`it is larger than ${MAX_BYTES} bytes`) };
      const stamp = `${facts.ino} ${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}`;
      const known = this.#read.get(path);
      if (known?.stamp === stamp) return known.config;
      const config = { path, project: projectIn(await file.readFile('utf8'), folder) };
      this.#remember(path, { stamp, config });
      return config;
    } catch (error) {
      return { path, project: err(`it cannot be read (${codeOf(error)})`) };
    } finally {
      await file.close();
    }
  }

  #remember(path: string, read: { readonly stamp: string; readonly config: ProjectConfig }): void {
    this.#read.delete(path);
    this.#read.set(path, read);
    const [oldest] = this.#read.keys();
    if (this.#read.size > MAX_CACHED && oldest !== undefined) this.#read.delete(oldest);
  }
}

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

const VERSION = /^\d{1,9}\.\d{1,9}$/;
const MAX_NAME_LENGTH = 200;

function projectIn(text: string, folder: string): Result<ConfiguredProject, string> {
  const config = parseJson(text.replace(/^\uFEFF/, ''));
  if (!isJsonObject(config)) return err('it is not a JSON object');
  const { version, project } = config;
  if (typeof version !== 'string' || !VERSION.test(version))
    return err('"version" must be a string such as "1.0"');
  if (!isJsonObject(project)) return err('"project" must be an object');
  const { name, id = null } = project;
  if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_NAME_LENGTH)
    return err(`"project.name" must be a string of 1 to ${MAX_NAME_LENGTH} characters`);
  if (id === null) return ok({ name, id: null, projectId: computeProjectId(name, folder) });
  const given = typeof id === 'string' ? parseProjectId(id) : undefined;
  return given === undefined
    ? err(`"project.id" must be ${PROJECT_ID_RULE}`)
    : ok({ name, id: given, projectId: given });
}
