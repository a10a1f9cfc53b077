import { execFileSync } from 'node:child_process';

export interface ProcessLine {
  readonly pid: number;
  /** As printed by `ps`: an initial `Z` is a zombie. */
  readonly state: string;
  readonly command: string;
}

/** The direct children of a process, except this `ps`. */
export function childrenOf(parent: number): readonly ProcessLine[] {
  const all = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return all
    .split('\n')
    .map((line) => /^ *(\d+) +(\d+) +(\S+) (.*)$/.exec(line))
    .filter((found) => Number(found?.[2]) === parent)
    .map((found) => ({ pid: Number(found?.[1]), state: found?.[3] ?? '', command: found?.[4] ?? '' }))
    .filter(({ command }) => !command.startsWith('ps -A'));
}

/** The processes that stop what Assay leaves running; at most one. */
export function reapersOf(assay: number): readonly number[] {
  return childrenOf(assay)
    .filter(({ command }) => command.endsWith(' reaper'))
    .map(({ pid }) => pid);
}
