// How long a client waits for its tools: from the process start to its first complete tools/list.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { INITIALIZE_PARAMS } from './messages.ts';
import { pidsNaming } from './proc.ts';
import { median } from './statistics.ts';
import { builtMain, type Place, ROOT } from './targets.ts';

const END_WITHIN_MS = 10_000;
const SERVER = join('node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

export interface StartRound {
  readonly round: number;
  /** Node itself, doing nothing. */
  readonly bareMs: number;
  /** The server started by its client. */
  readonly directMs: number;
  /** The server behind `assay stdio`, with a catalog from an earlier run. */
  readonly warmMs: number;
  /** The same with an empty home folder. */
  readonly coldMs: number;
}

export interface Start {
  readonly tools: number;
  readonly rounds: readonly StartRound[];
}

/** The median over rounds of this time divided by that of the server alone. */
export function startRatio(rounds: readonly StartRound[], of: 'warmMs' | 'coldMs'): number | undefined {
  return median(rounds.map((round) => round[of] / round.directMs));
}

/** Rejects if Assay and the server alone list different numbers of tools. */
export async function measureStart(place: Place, roundCount: number): Promise<Start> {
  const starts = new Starts(place);
  // Not measured: fills the catalog, Node's compile cache and the system's file cache.
  const { tools } = await starts.direct();
  await starts.assay(starts.warmHome);
  await starts.assay(starts.emptyHome());
  await bareStart();
  const rounds: StartRound[] = [];
  for (let round = 1; round <= roundCount; round += 1) {
    const tookMs = { bareMs: NaN, directMs: NaN, warmMs: NaN, coldMs: NaN };
    const steps = [
      async () => (tookMs.bareMs = await bareStart()),
      async () => (tookMs.directMs = sameTools(await starts.direct(), tools)),
      async () => (tookMs.warmMs = sameTools(await starts.assay(starts.warmHome), tools)),
      async () => (tookMs.coldMs = sameTools(await starts.assay(starts.emptyHome()), tools)),
    ];
    // Consecutive measurements are compared, so the order alternates.
    for (const step of round % 2 === 0 ? steps.toReversed() : steps) await step();
    rounds.push({ round, ...tookMs });
  }
  return { tools, rounds };
}

interface Listed {
  readonly tookMs: number;
  /** When the list was there, by the clock of `process.hrtime` and of V8's profiles. */
  readonly atUs: number;
  readonly tools: number;
}

export class Starts {
  readonly warmHome: string;
  readonly #place: Place;
  readonly #folder: string;
  readonly #config: string;
  readonly #server: readonly string[];

  constructor(place: Place) {
    this.#place = place;
    this.#folder = mkdtempSync(join(place.scratch, 'start-'));
    this.warmHome = join(this.#folder, 'warm');
    mkdirSync(this.warmHome);
    // The server ignores its second argument; the bench finds running processes by it.
    this.#server = [join(ROOT, SERVER), 'stdio', this.#folder];
    this.#config = join(this.#folder, 'mcp.json');
    const everything = { command: process.execPath, args: this.#server };
    writeFileSync(this.#config, JSON.stringify({ mcpServers: { everything } }));
  }

  emptyHome(): string {
    return mkdtempSync(join(this.#folder, 'cold-'));
  }

  async direct(): Promise<Listed> {
    return await this.#listing(this.#server);
  }

  async assay(home: string, nodeOptions: readonly string[] = []): Promise<Listed> {
    const options = ['--all', '--config', this.#config, '--home', home];
    return await this.#listing([...nodeOptions, builtMain(), 'stdio', ...options]);
  }

  async #listing(args: readonly string[]): Promise<Listed> {
    const startedMs = performance.now();
    const client = this.#place.pipe(args);
    try {
      // No capabilities: the server has more tools for clients that declare some, and Assay declares none.
      await client.ask('initialize', INITIALIZE_PARAMS);
      client.notify('notifications/initialized');
      const tools = await client.tools();
      const atUs = Number(process.hrtime.bigint() / 1_000n);
      return { tookMs: performance.now() - startedMs, atUs, tools: tools.length };
    } finally {
      await client.end(END_WITHIN_MS);
      await this.#untilGone();
    }
  }

  /** Processes still ending after one start would slow down the next. */
  async #untilGone(): Promise<void> {
    const untilMs = performance.now() + END_WITHIN_MS;
    while (pidsNaming(this.#folder).length > 0) {
      if (performance.now() > untilMs) throw new Error('a server outlived its client');
      await sleep(20);
    }
  }
}

function sameTools(listed: Listed, tools: number): number {
  if (listed.tools === tools) return listed.tookMs;
  throw new Error(`listed ${String(listed.tools)} tools where the server alone lists ${String(tools)}`);
}

async function bareStart(): Promise<number> {
  const startedMs = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - startedMs;
}
