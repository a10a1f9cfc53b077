import process from 'node:process';
import type { SandboxGap } from '../../core/sandbox.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { Child } from '../../platform/child.ts';
import { findCommand } from '../../platform/machine.ts';
import { confinementArgs, type ConfinedFacts } from './confined-view.ts';
import { confinementFilter } from './confinement-filter.ts';
import { topLevel } from './top-level.ts';

/** How this machine confines a process. */
export interface Enforcement {
  /** Absolute path of bubblewrap. */
  readonly bwrap: string;
  readonly filter: Buffer;
  readonly needsUserNamespace: boolean;
  readonly canLimitSize: boolean;
}

export const SEARCHED: string = process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';

export interface MachineFacts {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** Where programs are searched for. */
  readonly path: string;
}

let probed: Promise<Result<Enforcement, SandboxGap>> | undefined;

/** Tries out once per process whether this machine can confine a process. */
export function probeEnforcement(): Promise<Result<Enforcement, SandboxGap>> {
  const { platform, arch } = process;
  return (probed ??= tryEnforcement({ platform, architecture: arch, path: SEARCHED }));
}

export async function tryEnforcement({
  platform,
  architecture,
  path,
}: MachineFacts): Promise<Result<Enforcement, SandboxGap>> {
  if (platform !== 'linux') return err('linux');
  const filter = confinementFilter(architecture);
  if (filter === undefined) return err('architecture');
  const found = await findCommand('bwrap', { cwd: '/', path });
  if (found.kind !== 'found') return err('bubblewrap');
  for (const needsUserNamespace of process.getuid?.() === 0 ? [false, true] : [true])
    for (const canLimitSize of [true, false]) {
      const enforcement = { bwrap: found.path, filter, needsUserNamespace, canLimitSize };
      if (await works(enforcement)) return ok(enforcement);
    }
  return err('namespaces');
}

/** Runs `true` with the fewest rights. */
async function works({ bwrap, filter, ...means }: Enforcement): Promise<boolean> {
  const { folders, links } = await topLevel();
  const facts: ConfinedFacts = {
    ...means,
    rights: 'read',
    hasNetwork: false,
    realHome: '/home/user',
    cwd: '/',
    roots: [],
    readable: [],
    hidden: [],
    systemFolders: folders,
    systemLinks: links,
    configFiles: [],
    kernelFiles: ['/proc/sys'],
  };
  const child = new Child({
    command: bwrap,
    args: [...confinementArgs(facts), '--', 'true'],
    cwd: '/',
    env: { PATH: SEARCHED },
    inherits: 'language',
    input3: filter,
  });
  const end = await child.ended;
  return end.code === 'PROCESS_EXITED' && end.exitCode === 0;
}
