import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessUse {
  readonly processes: number;
  /** Proportional set size: shared memory counts in parts. */
  readonly mebibytes: number;
}

/** The processes whose HOME is this folder, from /proc. */
export function measureProcesses(home: string): ProcessUse {
  const sizes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isOurs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`);
        const [, kibibytes] = isOurs
          ? (/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [])
          : [];
        return kibibytes === undefined ? [] : [Number(kibibytes)];
      } catch {
        // It has ended, or belongs to another user.
        return [];
      }
    });
  return {
    processes: sizes.length,
    mebibytes: Math.round(sizes.reduce((sum, one) => sum + one, 0) / 1024),
  };
}
