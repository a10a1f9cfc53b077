import { join } from 'node:path';
import type { Transport } from '../../core/server-spec.ts';
import type { Entry, EntryMembers } from './entry-fields.ts';
import { readRoots, readVariables, STDIO_MEMBERS } from './stdio-entry.ts';

const SHARED: readonly string[] = ['env', 'envFile', 'roots'];

export const CODEBASE_MEMBERS: EntryMembers = Object.fromEntries(
  Object.entries(STDIO_MEMBERS).filter(([name]) => SHARED.includes(name)),
);

/** The build places all modules next to the program. */
const PROGRAM = join(import.meta.dirname, 'main.js');
const SETTINGS = 'ASSAY_CODEBASE_';

/** Reads Assay's own code-search server: `{"type": "codebase"}`. Its settings are variables, as for `assay codebase`. */
export function readCodebase(entry: Entry): Transport | undefined {
  const roots = readRoots(entry);
  if (roots === undefined) return undefined;
  const { env: environment, assayHome, cwd } = entry.here;
  const settings = Object.entries(environment).filter(
    (pair): pair is [string, string] => pair[0].startsWith(SETTINGS) && pair[1] !== undefined,
  );
  return {
    kind: 'codebase',
    command: process.execPath,
    args: [PROGRAM, 'codebase', '--home', assayHome, ...roots.flatMap((root) => ['--root', root])],
    env: { ...Object.fromEntries(settings), ...readVariables(entry) },
    cwd,
    ...(roots.length > 0 && { roots }),
  };
}
