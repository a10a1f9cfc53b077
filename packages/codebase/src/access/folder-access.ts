import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { isSecretFolder, SECRETS_IN_HOME, SECRETS_IN_SYSTEM } from '@assay-mcp/kit/secret-files';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Fault } from '../fault.ts';
import { REPOSITORY_DATA } from '../files/default-skips.ts';
import type { ToldRoots } from './told-roots.ts';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

export interface FolderAccessOptions {
  /** The folders that the operator declared. Undefined: the working folder, and those that a terminal was told. */
  readonly roots: readonly string[] | undefined;
  readonly cwd: string;
  readonly userHome: string;
  /** Assay's data folder and config file. */
  readonly own: readonly string[];
  /** In a sandbox, those of its start. */
  readonly told: ToldRoots | readonly string[];
  /** The operator's own commands may use every folder but the protected ones. */
  readonly isOperator?: boolean;
  /** The command that users know, such as `assay codebase`. */
  readonly calledAs: string;
}

/** The folders that the tools may use at one moment. */
export interface Access {
  /** Real paths. Undefined: all folders. */
  readonly roots: readonly string[] | undefined;
  /** Real paths of files and folders that are never indexed, whatever the roots are. */
  readonly protectedPaths: readonly string[];
}

const SYSTEM_FOLDERS: readonly string[] = ['/proc', '/sys', '/dev'];
const MAX_NAMED = 5;

/** Decides which folders may be indexed, searched and worked in. Compares real paths. */
export class FolderAccess {
  readonly #options: FolderAccessOptions;
  /** Resolved once, so that a link that is planted later widens nothing. */
  readonly #declared: Promise<readonly string[]>;

  /** The command that users know. */
  get calledAs(): string {
    return this.#options.calledAs;
  }

  constructor(options: FolderAccessOptions) {
    this.#options = options;
    const { roots, cwd, userHome } = options;
    this.#declared = Promise.all((roots ?? workingRoots(cwd, userHome)).map(resolveReal));
  }

  async current(): Promise<Access> {
    const { roots, told, isOperator = false, userHome, own } = this.#options;
    const inHome = SECRETS_IN_HOME.map((path) => join(userHome, path));
    const paths = [...SYSTEM_FOLDERS, ...SECRETS_IN_SYSTEM, ...inHome, ...own].map((path) => resolve(path));
    const protectedPaths = [...new Set([...paths, ...(await Promise.all(paths.map(resolveReal)))])];
    if (isOperator) return { roots: undefined, protectedPaths };
    const declared = await this.#declared;
    if (roots !== undefined) return { roots: declared, protectedPaths };
    return { roots: [...declared, ...('read' in told ? await told.read() : told)], protectedPaths };
  }

  /**
   * The real path of a folder, whether or not it exists. The same refusal for every path outside of the roots, so that it
   * reveals no file. VALIDATION_ERROR, ACCESS_DENIED
   */
  async allowed(field: string, path: string): Promise<Result<string, Fault>> {
    const invalid = (message: string): Result<string, Fault> =>
      err({
        code: 'VALIDATION_ERROR',
        field,
        message,
        remedy: 'Pass the absolute path of an existing directory.',
      });
    if (path.trim() === '') return invalid('The path is empty.');
    if (path.includes('\0')) return invalid('The path contains a NUL character.');
    if (!isAbsolute(path)) return invalid(`${JSON.stringify(path)} is not an absolute path.`);
    const [real, access] = await Promise.all([resolveReal(path), this.current()]);
    if (isProtected(real, access)) return err(protectedFault(field, path));
    return isInRoots(real, access) ? ok(real) : err(this.outsideFault(access, { field, path }));
  }

  outsideFault(
    { roots = [] }: Access,
    { field, path }: { readonly field?: string; readonly path?: string },
  ): Fault {
    const named = roots.slice(0, MAX_NAMED).map((root) => JSON.stringify(root));
    const more = roots.length > MAX_NAMED ? ` and ${roots.length - MAX_NAMED} more` : '';
    const which = roots.length === 0 ? 'none so far' : `${named.join(', ')}${more}`;
    const what = path === undefined ? 'What is indexed here' : JSON.stringify(path);
    const { roots: given, told, calledAs } = this.#options;
    const index = given === undefined ? `, or indexes it once with \`${calledAs} index\`` : '';
    const restart =
      given === undefined && !('read' in told)
        ? ' If that was done while this client was connected, connect it again.'
        : '';
    return {
      code: 'ACCESS_DENIED',
      ...(field !== undefined && { field }),
      message: `${what} is outside of the folders that this server may use (${which}).`,
      remedy: `To allow it, the operator adds it to "roots" of this server's entry${index}.${restart}`,
    };
  }
}

export function isInRoots(real: string, { roots }: Access): boolean {
  return roots === undefined || roots.some((root) => isInside(real, root));
}

/** Whether a folder is, or is in, one that is never indexed. */
export function isProtected(real: string, { protectedPaths }: Access): boolean {
  const names = real.split(sep);
  return (
    protectedPaths.some((path) => isInside(real, path)) ||
    names.some((name) => isSecretFolder(name) || REPOSITORY_DATA.has(name))
  );
}

/** A working folder such as `/` or the user's home was hardly chosen: services and desktop programs start there. */
function workingRoots(cwd: string, userHome: string): readonly string[] {
  return isInside(userHome, cwd) ? [] : [cwd];
}

function protectedFault(field: string, path: string): Fault {
  return {
    code: 'ACCESS_DENIED',
    field,
    message: `${JSON.stringify(path)} holds keys, credentials, or data of Assay, git or the system, which are never indexed.`,
    remedy: 'Pass another folder.',
  };
}

/** Of a path that does not exist, the parent that does is resolved. */
export async function resolveReal(path: string): Promise<string> {
  const full = resolve(path);
  const above = dirname(full);
  return realpath(full).catch(async () =>
    above === full ? full : join(await resolveReal(above), full.slice(above.length)),
  );
}
