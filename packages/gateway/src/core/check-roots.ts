import type { Finding } from './finding.ts';
import { type UnsafePath, formatUnsafePath } from '@assay-mcp/sandbox/support';
import { getRemedy } from './cause.ts';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';

/** What the roots of a server in a sandbox contain and lead to. */
export interface RootFacts {
  readonly name: string;
  /** What cannot be protected, so that the server does not start. */
  readonly unsafe: UnsafePath | undefined;
  /** Paths in folders that it may change, which it sees only to read because others run or read them. */
  readonly readOnly: readonly string[];
  /** Those that it can change after all, once another program has replaced a file or created one. */
  readonly exposed: readonly string[];
  /** Declared paths that lead elsewhere than when its entry was first read, and so are not used. */
  readonly ignored: readonly string[];
  /** Whether it may change the user's home folder. */
  readonly ownsHome: boolean;
  /** A folder that a server without a sandbox is given and that contains Assay's home, in which there is a token. */
  readonly seesToken?: string | undefined;
}

/** Checks what servers with a sandbox may change and read. */
export function checkRoots(facts: readonly RootFacts[]): readonly Finding[] {
  return facts.flatMap(findingsOf);
}

const NARROW = 'Give it narrower roots, or move those files.';

function findingsOf({ name: about, ...facts }: RootFacts): readonly Finding[] {
  const { unsafe, readOnly, exposed, ignored, ownsHome, seesToken } = facts;
  const base = { check: 'sandbox', about } as const;
  const found: Finding[] = [];
  if (unsafe !== undefined)
    found.push({
      ...{ ...base, level: 'problem', code: 'SANDBOX_UNSAFE', remedy: getRemedy('SANDBOX_UNSAFE') },
      message: `It does not start, because ${formatUnsafePath(unsafe)}.`,
    });
  if (readOnly.length > 0)
    found.push({
      ...{ ...base, level: 'note', remedy: NARROW },
      message: `Its roots contain what other servers or programs run or read, so it can only read ${listed(readOnly)}.`,
    });
  if (exposed.length > 0)
    found.push({
      ...{ ...base, level: 'warning', remedy: NARROW },
      message: `Its roots contain what other servers or programs run or read, and it could change what they find at ${listed(exposed)}.`,
    });
  if (ownsHome)
    found.push({
      ...{ ...base, level: 'warning', remedy: 'Give it narrower roots.' },
      message:
        'It may change your home folder, where shells, npm, git and others find programs to run. The sandbox protects only what Assay and its entries run or read.',
    });
  if (seesToken !== undefined)
    found.push({
      ...{
        ...base,
        level: 'warning',
        remedy: 'Give it narrower folders, or a sandbox (`assay docs sandbox`).',
      },
      message: `Its argument ${listed([seesToken])} contains the data folder of Assay, so its tools may read admin-token there, with which a client may do everything but run programs.`,
    });
  if (ignored.length > 0)
    found.push({
      ...{ ...base, level: 'warning' },
      message: `${listed(ignored)} led elsewhere, or did not exist, when its entry was first read, so it cannot use that.`,
      remedy: `Run \`assay review --roots ${quoteShellArgument(about)}\` to compare and accept, or edit its entry.`,
    });
  return found;
}

const MAX_LISTED = 5;

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_LISTED).map((path) => JSON.stringify(path));
  const rest = paths.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}
