import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatGap, formatUnsafePath } from './support.ts';
import type { Child, ChildOptions } from '@assay-mcp/kit/platform/child';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { confineWith, type ConfineOptions } from './confine.ts';
import type { Command } from './rights.ts';
import type { Confined } from './watched.ts';

/**
 * Starts a process of Assay's own code like a twin: it can change no file and has no network. `dataMiB`: maximum data
 * that it may have in memory. The error is a phrase.
 */
export async function startConfined(
  options: ChildOptions,
  { dataMiB }: { readonly dataMiB: number },
): Promise<Result<Child, string>> {
  const { command, args, cwd, env } = options;
  const confined = await confine(
    { command, args, cwd, env },
    { rights: 'read', dataMiB, namedReaches: new Set() },
  );
  return confined.ok ? ok(PLAIN_LAUNCHER.launch(confined.value)) : confined;
}

export interface FetchRights {
  /** Real path of the only folder that it may change. It can create no links there. */
  readonly folder: string;
  /** Further files that it may read. */
  readonly reads: readonly string[];
  /** The only hosts that it may connect to, such as `registry.example.com:443`. */
  readonly network: readonly string[];
}

export interface Fetcher {
  readonly child: Child;
  /** The hosts that it tried to reach beyond those. */
  readonly listRefused: () => readonly string[];
}

/**
 * Starts a program that downloads: of its command line, only the program and its first argument, a script, are readable
 * to it. The error is a phrase.
 */
export async function startFetcher(
  { command, args, cwd, env }: ChildOptions,
  { folder, reads, network }: FetchRights,
): Promise<Result<Fetcher, string>> {
  const rights = 'read_network';
  const writes = { path: folder, from: folder };
  const confinement = { rights, reads: [folder, ...reads], links: {}, writes, hidden: [] } as const;
  const confined = await confine(
    { command, args, cwd, env, network, confinement },
    { rights, namedReaches: new Set() },
  );
  if (!confined.ok) return confined;
  const { refused, onEnd, ...options } = confined.value;
  const child = PLAIN_LAUNCHER.launch(options);
  void child.ended.then(() => onEnd?.());
  return ok({ child, listRefused: () => (refused?.() ?? []).flatMap(({ target }) => target ?? []) });
}

async function confine(command: Command, options: ConfineOptions): Promise<Result<Confined, string>> {
  const confined = await confineWith([])(command, options);
  if (confined.ok) return confined;
  const gap = confined.error;
  return err(typeof gap === 'string' ? formatGap(gap) : formatUnsafePath(gap));
}
