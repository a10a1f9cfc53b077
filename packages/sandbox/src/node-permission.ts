import { basename, dirname } from 'node:path';
import process, { execPath } from 'node:process';
import { pathToFileURL } from 'node:url';
import { realpath } from 'node:fs/promises';
import type { TwinRights } from './rights.ts';
import type { Command } from './rights.ts';
import { Child, type ChildOptions } from '@assay-mcp/kit/platform/child';
import { findCommand, readStart } from '@assay-mcp/kit/platform/machine';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

/** What a process under Node's permission model may do. All paths are absolute. */
export interface NodeFacts {
  readonly rights: TwinRights;
  readonly reads: readonly string[];
  /** Files and folders of Assay that no server may read. */
  readonly hidden: readonly string[];
  /** The built `confined-server.js`, which is loaded first. */
  readonly preload: string;
  /** The PATH to search for the command. */
  readonly path: string;
}

/** SQLite writes files regardless of Node's permissions, and so does V8 with some of its flags. */
const FLAGS: readonly string[] = ['--permission', '--no-experimental-sqlite', '--freeze-flags-after-init'];
/** Exits with 0 if the permission model is in force. */
const TRY_TO_WRITE = `try { require('node:fs').writeFileSync('/assay/absent', '') } catch ({ code }) { process.exit(code === 'ERR_ACCESS_DENIED' ? 0 : 1) } process.exit(1)`;

let probed: Promise<boolean> | undefined;

/** Tests once per process whether the Node that runs Assay can confine a server. */
export function canConfineNode(preload: string): Promise<boolean> {
  return (probed ??= tryNode(preload));
}

async function tryNode(preload: string): Promise<boolean> {
  // A Node without this flag may have a SQLite that ignores permissions.
  if (!process.allowedNodeEnvironmentFlags.has('--no-experimental-sqlite')) return false;
  const args = [
    ...FLAGS,
    ...readArgs([dirname(preload)]),
    `--import=${preloadUrl(preload, 'read')}`,
    '-e',
    TRY_TO_WRITE,
  ];
  const end = await new Child({ command: execPath, args, cwd: '/', env: {}, inherits: 'language' }).ended;
  return end.code === 'PROCESS_EXITED' && end.exitCode === 0;
}

/**
 * The command under Node's permission model, run by the Node that runs Assay. Undefined if it runs no script with Node,
 * if its options could widen the permissions, or if access to files or hosts cannot be denied as required.
 */
export async function wrapWithNodePermission(
  { command, args, cwd, env, network }: Command,
  facts: NodeFacts,
): Promise<ChildOptions | undefined> {
  const { rights, hidden, preload, path } = facts;
  const reads = [...facts.reads, dirname(preload)];
  const script = await scriptOf({ command, args, cwd }, path);
  const isListed = rights === 'read_network' && network !== undefined;
  if (script === undefined || env['NODE_OPTIONS'] !== undefined || isListed) return undefined;
  const isHidden = (one: string): boolean =>
    hidden.some((secret) => isInside(secret, one) || isInside(one, secret));
  // A "*" would also match other paths.
  if (reads.some((one) => one.includes('*') || isHidden(one))) return undefined;
  return {
    command: execPath,
    args: [
      ...[...FLAGS, ...readArgs(reads), ...networkArgs(rights)],
      ...[`--import=${preloadUrl(preload, rights)}`, '--disable-warning=ExperimentalWarning', ...script],
    ],
    cwd,
    env: { PATH: path, ...env },
    inherits: 'language',
  };
}

const NODE = /^node(?:js)?(?:\.exe)?$/i;
const NODE_SHEBANG = /^#!\s*(?:\S*\/env\s+)?(?:\S*\/)?node\s*\n/;

/** The script with its arguments. */
async function scriptOf(
  { command, args, cwd }: Pick<Command, 'command' | 'args' | 'cwd'>,
  path: string,
): Promise<readonly string[] | undefined> {
  const found = await findCommand(command, { cwd, path });
  if (found.kind !== 'found') return undefined;
  const real = await realpath(found.path).catch(() => found.path);
  if (NODE.test(basename(real))) return args[0]?.startsWith('-') === false ? args : undefined;
  return NODE_SHEBANG.test(await readStart(real, 256)) ? [real, ...args] : undefined;
}

function readArgs(paths: readonly string[]): readonly string[] {
  return paths.map((path) => `--allow-fs-read=${path}`);
}

/** Node 25 and later deny network access. */
function networkArgs(rights: TwinRights): readonly string[] {
  return rights === 'read_network' && process.allowedNodeEnvironmentFlags.has('--allow-net')
    ? ['--allow-net']
    : [];
}

function preloadUrl(preload: string, rights: TwinRights): string {
  return `${pathToFileURL(preload).href}${rights === 'read_network' ? '?network' : ''}`;
}
