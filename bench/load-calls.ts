// Concurrent calls over keep-alive connections, each answer checked.
import { type Dispatcher, Pool } from 'undici';
import type { CallsJob, CallsOutcome } from './load-jobs.ts';
import { type CallTemplate, callTemplate, firstId, flawOf, textMember, textOf } from './messages.ts';
import { openSession } from './session.ts';
import { quantile } from './statistics.ts';

const ANSWER_WITHIN_MS = 15_000;

/** Warms up, waits for `whenWarm`, then measures; the first flaw ends the job and is reported. */
export async function callForJob(job: CallsJob, whenWarm: () => Promise<void>): Promise<CallsOutcome> {
  const { pathname } = new URL(job.endpoint);
  const pools = [job.endpoint, ...(job.others ?? [])].map(
    (endpoint) =>
      new Pool(new URL(endpoint).origin, {
        connections: job.concurrency,
        headersTimeout: ANSWER_WITHIN_MS,
        bodyTimeout: ANSWER_WITHIN_MS,
      }),
  );
  try {
    const hasLegacy = job.streams.some(({ era }) => era === 'legacy');
    const session = hasLegacy ? await openSession(job.endpoint) : undefined;
    const text = textOf(job.payloadBytes);
    const slots = Array.from({ length: job.concurrency }, (_, index) => {
      const stream = job.streams[index % job.streams.length];
      const pool = pools[index % pools.length];
      if (stream === undefined || pool === undefined) throw new Error('a job of calls needs a stream');
      const owned = stream.era === 'legacy' ? session : undefined;
      const template = callTemplate({ ...stream, text, session: owned });
      return new Slot(pool, pathname, { template, textMember: textMember(text), intervalMs: job.intervalMs });
    });
    const warmUp = await callUntil(slots, { ms: job.warmUpMs });
    if (warmUp.flaw !== undefined) return warmUp;
    await whenWarm();
    return await callUntil(slots, job.until);
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

async function callUntil(slots: readonly Slot[], until: CallsJob['until']): Promise<CallsOutcome> {
  const startedMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const phase = new Phase(until, startedMs);
  await Promise.all(slots.map((slot) => slot.callThrough(phase)));
  const cpu = process.cpuUsage(cpuBefore);
  return {
    calls: phase.latenciesMs.length,
    elapsedMs: performance.now() - startedMs,
    loadCpuMs: (cpu.user + cpu.system) / 1000,
    p50Ms: quantile(phase.latenciesMs, 0.5) ?? 0,
    p99Ms: quantile(phase.latenciesMs, 0.99) ?? 0,
    maxMs: quantile(phase.latenciesMs, 1) ?? 0,
    flaw: phase.flaw,
  };
}

/** A run of calls shared by all slots: when it ends, and its results. */
class Phase {
  readonly latenciesMs: number[] = [];
  flaw: string | undefined;
  readonly #endMs: number;
  readonly #callLimit: number;
  #begun = 0;

  constructor(until: CallsJob['until'], startedMs: number) {
    this.#endMs = 'ms' in until ? startedMs + until.ms : Infinity;
    this.#callLimit = 'calls' in until ? until.calls : Infinity;
  }

  /** Whether another call may start at this time; counts it if so. */
  begin(atMs: number): boolean {
    if (this.flaw !== undefined || atMs >= this.#endMs || this.#begun >= this.#callLimit) {
      return false;
    }
    this.#begun += 1;
    return true;
  }
}

let lastId = firstId();

/** One caller: at most one call in flight, with the same bytes each time except the id. */
class Slot implements Dispatcher.DispatchHandler {
  readonly #pool: Pool;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #template: CallTemplate;
  readonly #textMember: Buffer;
  readonly #intervalMs: number | undefined;
  #phase: Phase | undefined;
  #leave: (() => void) | undefined;
  #chunks: Buffer[] = [];
  #status = 0;
  #id = 0;
  #sentMs = 0;
  #dueMs = 0;

  constructor(
    pool: Pool,
    path: string,
    call: { template: CallTemplate; textMember: Buffer; intervalMs: number | undefined },
  ) {
    this.#pool = pool;
    this.#template = call.template;
    this.#textMember = call.textMember;
    this.#intervalMs = call.intervalMs;
    const { headers, body } = call.template;
    this.#options = { path, method: 'POST', headers: Object.entries(headers).flat(), body };
  }

  /** Makes one call after another until the phase ends. */
  async callThrough(phase: Phase): Promise<void> {
    this.#phase = phase;
    // Spreads the slots over the interval.
    this.#dueMs = performance.now() + Math.random() * (this.#intervalMs ?? 0);
    await new Promise<void>((resolve) => {
      this.#leave = resolve;
      this.#next(phase);
    });
  }

  onRequestStart(): void {
    this.#chunks = [];
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const phase = this.#phase;
    if (phase === undefined) return;
    phase.latenciesMs.push(performance.now() - this.#sentMs);
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const body = only ?? Buffer.concat(this.#chunks);
    phase.flaw ??= flawOf(this.#status, body, { id: this.#id, textMember: this.#textMember });
    this.#next(phase);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#phase !== undefined) this.#phase.flaw ??= `transport: ${error.message}`;
    this.#leave?.();
  }

  #next(phase: Phase): void {
    const nowMs = performance.now();
    if (this.#intervalMs === undefined) {
      this.#send(phase, nowMs);
      return;
    }
    const dueMs = this.#dueMs;
    this.#dueMs += this.#intervalMs;
    if (dueMs <= nowMs) this.#send(phase, dueMs);
    else setTimeout(() => this.#send(phase, performance.now()), dueMs - nowMs);
  }

  #send(phase: Phase, sinceMs: number): void {
    if (!phase.begin(sinceMs)) {
      this.#leave?.();
      return;
    }
    lastId += 1;
    this.#id = lastId;
    this.#sentMs = sinceMs;
    this.#template.body.write(String(this.#id), this.#template.idAt, 'latin1');
    this.#pool.dispatch(this.#options, this);
  }
}
