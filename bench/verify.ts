// What a verification costs: time for each tool, and memory of all its processes together.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rssMbOf, treeOf } from './proc.ts';
import { median } from './statistics.ts';
import { builtMain, type Place, ROOT } from './targets.ts';

const SERVER = join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-filesystem', 'dist', 'index.js');
const ROUNDS = 3;
const POLL_MS = 100;

export interface VerifyCost {
  readonly tools: number;
  readonly calls: number;
  /** Of the whole run, in each round. */
  readonly tookMs: readonly number[];
  /** The most resident memory that its processes had together, those in sandboxes included. */
  readonly peakMb: number;
}

export function verifyMsPerTool({ tookMs, tools }: VerifyCost): number | undefined {
  const whole = median(tookMs);
  return whole === undefined ? undefined : whole / tools;
}

/** Verifies the file system server as `assay verify` does by default. Rejects where no sandbox can start. */
export async function measureVerify(place: Place): Promise<VerifyCost> {
  const runs: (Omit<VerifyCost, 'tookMs'> & { readonly tookMs: number })[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) runs.push(await oneRun(place));
  const [{ tools, calls }] = runs as [(typeof runs)[number]];
  return {
    ...{ tools, calls },
    tookMs: runs.map(({ tookMs }) => tookMs),
    peakMb: Math.max(...runs.map(({ peakMb }) => peakMb)),
  };
}

async function oneRun(place: Place): Promise<Omit<VerifyCost, 'tookMs'> & { readonly tookMs: number }> {
  const running = place.node([builtMain(), 'verify', '--', process.execPath, SERVER, '{seed}'], ROOT);
  let peakMb = 0;
  let isOver = false;
  const ending = running.saying(/ of (\d+) tools made a successful call; (\d+) calls, .* ([\d.]+) s\./s);
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const sum = treeOf(running.pid).reduce((mb, pid) => mb + (rssMbOf(pid) ?? 0), 0);
      peakMb = Math.max(peakMb, sum);
      await sleep(POLL_MS);
    }
  };
  const watching = watch();
  try {
    const [, tools, calls, seconds] = await ending;
    return { tools: Number(tools), calls: Number(calls), tookMs: Number(seconds) * 1_000, peakMb };
  } finally {
    isOver = true;
    await watching;
  }
}
