// Resources held by a running Assay, measured from outside.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
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
  readonly states: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly unexpected: number;
}

/** Takes samples, and remembers every process that it ever saw below Assay. */
export class ResourceSampler {
  readonly #gateway: Gateway;
  readonly #tally: Tally;
  readonly #startedMs: number = performance.now();
  /** Start time by process id, since ids are reused. */
  readonly #seen = new Map<number, string>();

  constructor(gateway: Gateway, tally: Tally) {
    this.#gateway = gateway;
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
