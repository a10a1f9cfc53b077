import { execFileSync } from 'node:child_process';

export interface ProcessLine {
  readonly pid: number;
  /** As `ps` writes it: `Z` at its start is a process that has ended and that nobody asked about. */
  readonly state: string;
  readonly command: string;
}

/** The processes that a process started itself, but for the `ps` that tells them. */
export function childrenOf(parent: number): readonly ProcessLine[] {
  const all = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return all
    .split('\n')
    .map((line) => /^ *(\d+) +(\d+) +(\S+) (.*)$/.exec(line))
    .filter((found) => Number(found?.[2]) === parent)
    .map((found) => ({ pid: Number(found?.[1]), state: found?.[3] ?? '', command: found?.[4] ?? '' }))
    .filter(({ command }) => !command.startsWith('ps -A'));
}

/** The processes that end what Assay leaves; there is one at most. */
export function reapersOf(assay: number): readonly number[] {
  return childrenOf(assay)
    .filter(({ command }) => command.endsWith(' reaper'))
    .map(({ pid }) => pid);
}
