// Process information from Linux; `undefined` on other systems.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 1000 / ticksPerSecond();

/** User and system time of a process with all its threads. */
export function cpuMsOf(pid: number): number | undefined {
  const stat = read(`/proc/${String(pid)}/stat`);
  if (stat === undefined) return undefined;
  // The command name may contain blanks and brackets; the fields after its last bracket are fixed.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The same for several processes and all their descendants. */
export function cpuMsOfTrees(pids: readonly number[]): number | undefined {
  let totalMs = 0;
  for (const pid of pids.flatMap(treeOf)) {
    const cpuMs = cpuMsOf(pid);
    if (cpuMs === undefined) return undefined;
    totalMs += cpuMs;
  }
  return totalMs;
}

export function rssMbOf(pid: number): number | undefined {
  const status = read(`/proc/${String(pid)}/status`);
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

/** The processes whose command line contains this text. */
export function pidsNaming(text: string): readonly number[] {
  return list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => (read(`/proc/${name}/cmdline`) ?? '').includes(text))
    .map(Number);
}

export function commandLineOf(pid: number): string {
  return (read(`/proc/${String(pid)}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
}

/** The process and all its descendants. */
export function treeOf(pid: number): number[] {
  const children = read(`/proc/${String(pid)}/task/${String(pid)}/children`) ?? '';
  const pids = children.split(' ').filter((child) => child !== '');
  return [pid, ...pids.flatMap((child) => treeOf(Number(child)))];
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function list(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function ticksPerSecond(): number {
  try {
    return Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) || 100;
  } catch {
    return 100;
  }
}
