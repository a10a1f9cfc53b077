// How another program's lock on the store affects calls: alternating windows without and with a lock.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { CallsJob, CallsOutcome } from './load-jobs.ts';
import type { LoadProcess } from './load-process.ts';
import { SMALL_BYTES } from './plan.ts';
import { listPage } from './session.ts';
import { median } from './statistics.ts';
import { builtMain, peerFile, type Place, untilEchoes } from './targets.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';

const NAME = 'lock';
const LOCK_MS = 3_000;
const WARM_UP_MS = 300;
const FIRST_WARM_UP_MS = 3_000;
const CONCURRENCY = 8;
/** Steady calls, 500 a second: a caller that waits for each answer would miss most of a stall. */
const INTERVAL_MS = 16;
/** Assay retries for 5 s while the store is locked, and again 10 s later. */
const WRITTEN_WITHIN_MS = 20_000;

export interface LockRound {
  readonly round: number;
  readonly freeP99Ms: number;
  readonly freeMaxMs: number;
  readonly lockedP99Ms: number;
  readonly lockedMaxMs: number;
  /** Tools that a server added while the store was locked; all of them were stored afterwards. */
  readonly heldBack: number;
}

export interface Lock {
  readonly calls: number;
  readonly rounds: readonly LockRound[];
}

/** The median over rounds of p99 with the lock divided by p99 without it. */
export function lockRatio(rounds: readonly LockRound[]): number | undefined {
  return median(rounds.map(({ lockedP99Ms, freeP99Ms }) => lockedP99Ms / freeP99Ms));
}

/** Rejects if a call was answered wrongly, if the lock delayed no write, or if a delayed write was lost. */
export async function measureLock(
  place: Place,
  { load, roundCount }: { load: LoadProcess; roundCount: number },
): Promise<Lock> {
  const windows = await Windows.open(place, load);
  await windows.warmUp();
  const rounds: LockRound[] = [];
  let calls = 0;
  for (let round = 1; round <= roundCount; round += 1) {
    // Consecutive measurements are compared, so the order alternates.
    const isLockedFirst = round % 2 === 0;
    const early = isLockedFirst ? undefined : await windows.measure('look');
    const locked = await windows.measure('lock');
    const free = early ?? (await windows.measure('look'));
    calls += free.calls + locked.calls;
    rounds.push({
      round,
      freeP99Ms: free.p99Ms,
      freeMaxMs: free.maxMs,
      lockedP99Ms: locked.p99Ms,
      lockedMaxMs: locked.maxMs,
      heldBack: locked.heldBack,
    });
  }
  if (rounds.every(({ heldBack }) => heldBack === 0)) throw new Error('the lock held nothing back');
  return { calls, rounds };
}

class Windows {
  readonly #load: LoadProcess;
  readonly #job: CallsJob;
  readonly #locker: string;
  readonly #file: string;

  private constructor(of: { load: LoadProcess; job: CallsJob; locker: string; file: string }) {
    this.#load = of.load;
    this.#job = of.job;
    this.#locker = of.locker;
    this.#file = of.file;
  }

  static async open(place: Place, load: LoadProcess): Promise<Windows> {
    const home = join(place.scratch, NAME);
    mkdirSync(home, { recursive: true });
    const token = await newToken(place, home);
    const echo = await place.echo(10);
    const growing = { command: process.execPath, args: [peerFile('growing-stdio.ts')] };
    const mcpServers = { echo: { url: echo.endpoint, prefix: false }, growing };
    const { endpoint, running } = await place.assay(NAME, { mcpServers });
    await untilEchoes({ endpoint, proxy: running, behind: [] }, 'modern', 'echo');
    const file = join(home, 'assay.db');
    const locker = await place.peer('store-lock.ts', [file]);
    const job: CallsJob = {
      kind: 'calls',
      endpoint,
      // Half of the callers send a token from the store.
      streams: [
        { era: 'modern', tool: 'echo' },
        { era: 'modern', tool: 'echo', token },
      ],
      concurrency: CONCURRENCY,
      intervalMs: INTERVAL_MS,
      payloadBytes: SMALL_BYTES,
      warmUpMs: WARM_UP_MS,
      until: { ms: LOCK_MS },
    };
    return new Windows({ load, job, locker: locker.endpoint, file });
  }

  async warmUp(): Promise<void> {
    rightOnly(await this.#load.call({ ...this.#job, until: { ms: FIRST_WARM_UP_MS } }, () => undefined));
  }

  /** Both windows do the same work; in `look` the other program takes no lock. */
  async measure(act: 'look' | 'lock'): Promise<CallsOutcome & { readonly heldBack: number }> {
    let before = NaN;
    const outcome = await this.#load.call(this.#job, async () => {
      await this.#tell(act);
      before = this.#stored();
    });
    const listed = await this.#listed();
    const stored = this.#stored();
    await this.#tell('free');
    if (act === 'lock' && stored !== before) throw new Error('the store was written in spite of the lock');
    await this.#untilStored(listed);
    return { ...rightOnly(outcome), heldBack: listed - stored };
  }

  async #tell(act: 'look' | 'lock' | 'free'): Promise<void> {
    const { statusCode, body } = await request(new URL(`/${act}`, this.#locker), { method: 'POST' });
    await body.dump();
    if (statusCode !== 204) throw new Error(`/${act} got status ${String(statusCode)}`);
  }

  /** Number of tools of the growing server that Assay lists. */
  async #listed(): Promise<number> {
    const { names } = await listPage(this.#job.endpoint, undefined);
    return names.filter((name) => name.startsWith('growing_')).length;
  }

  /** Number of tools of that server with an accepted definition in the store. */
  #stored(): number {
    const database = openDatabase(this.#file, { mode: 'read' });
    try {
      const select = "select count(*) as count from assay_accepted where text_json like '%grown_%'";
      return (database.prepare(select).get() as { readonly count: number }).count;
    } finally {
      database.close();
    }
  }

  async #untilStored(count: number): Promise<void> {
    const untilMs = performance.now() + WRITTEN_WITHIN_MS;
    while (this.#stored() < count) {
      if (performance.now() > untilMs)
        throw new Error(`the store has ${String(this.#stored())} of ${String(count)} tools after the lock`);
      await sleep(50);
    }
  }
}

async function newToken(place: Place, home: string): Promise<string> {
  const creating = place.node([builtMain(), 'token', 'create', 'bench', '--home', home]);
  const [token] = await creating.saying(/assay_\w+/);
  return token;
}

function rightOnly(outcome: CallsOutcome): CallsOutcome {
  if (outcome.flaw !== undefined) throw new Error(outcome.flaw);
  return outcome;
}
