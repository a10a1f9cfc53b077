// Resources held by a running Assay, measured from outside.
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { rssMbOf, treeOf } from '../proc.ts';
import type { Gateway } from './gateway.ts';
import type { Tally } from './tally.ts';

export interface Sample {
  readonly atSeconds: number;
  readonly rssMb: number;
  readonly fds: number;
  readonly sockets: number;
  readonly threads: number;
  /** All its descendants that still run, zombies included. */
  readonly processes: number;
  readonly zombies: number;
  /** Of all files in the home. */
  readonly homeMb: number;
  /** The longest delay of the event loop since the sample before. */
  readonly maxLoopDelayMs: number;
  readonly states: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly unexpected: number;
}

/** Takes samples, and remembers every process that it ever saw below Assay. */
export class ResourceSampler {
  readonly #gateway: Gateway;
  readonly #tally: Tally;
  readonly #home: string;
  readonly #startedMs: number = performance.now();
  /** Start time by process id, since ids are reused. */
  readonly #seen = new Map<number, string>();

  constructor(gateway: Gateway, tally: Tally, home: string) {
    this.#gateway = gateway;
    this.#home = home;
    this.#tally = tally;
  }

  async take(): Promise<Sample> {
    const { pid } = this.#gateway;
    const { servers } = await this.#gateway.health();
    const states: Record<string, number> = {};
    for (const { state } of servers) states[state] = (states[state] ?? 0) + 1;
    const below = treeOf(pid).slice(1);
    const stats = below.map((one) => ({ pid: one, ...statOf(one) }));
    for (const { pid: one, startTime } of stats) if (startTime !== undefined) this.#seen.set(one, startTime);
    const fds = linksIn(`/proc/${String(pid)}/fd`);
    return {
      atSeconds: Math.round((performance.now() - this.#startedMs) / 1_000),
      rssMb: rssMbOf(pid) ?? NaN,
      fds: fds.length,
      sockets: fds.filter((link) => link.startsWith('socket:')).length,
      threads: linksIn(`/proc/${String(pid)}/task`, false).length,
      processes: below.length,
      zombies: stats.filter(({ state }) => state === 'Z').length,
      homeMb: bytesIn(this.#home) / 2 ** 20,
      maxLoopDelayMs: await this.#gateway.maxLoopDelayMs(),
      states,
      calls: this.#tally.calls,
      unexpected: this.#tally.unexpectedCount,
    };
  }

  /** All processes ever seen that still exist. */
  leftOver(): readonly number[] {
    return [...this.#seen]
      .filter(([pid, startTime]) => statOf(pid).startTime === startTime)
      .map(([pid]) => pid);
  }
}

function statOf(pid: number): { readonly state?: string; readonly startTime?: string } {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    const startTime = fields[19];
    return state === undefined || startTime === undefined ? {} : { state, startTime };
  } catch {
    return {};
  }
}

/** Targets of the links in a folder; links that vanish meanwhile are not counted. */
function linksIn(folder: string, areLinks = true): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    if (!areLinks) return [name];
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      return [];
    }
  });
}

/** Bytes that the files below a folder take on disk; files that vanish meanwhile are not counted. */
function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files
    .map(({ parentPath, name }) => statSync(join(parentPath, name), { throwIfNoEntry: false })?.blocks ?? 0)
    .reduce((total, blocks) => total + blocks * 512, 0);
}
