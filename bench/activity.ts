// The record of calls: what a call costs and takes up, and how soon lists and counts of a full record are there while 500
// calls a second are being recorded.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openStore } from '../packages/gateway/src/adapters/store/open-store.ts';
import { resolveHints } from '../packages/gateway/src/core/hints/resolve.ts';
import type { Decision, PolicyTool } from '../packages/gateway/src/core/policy/policy.ts';
import { getDefaultSettings } from '../packages/gateway/src/core/resolve-settings.ts';
import { ok } from '@assay-mcp/kit/result';
import type { Log } from '../packages/gateway/src/gateway/ports/log.ts';
import type { CallQuery } from '../packages/gateway/src/gateway/ports/call-log.ts';
import type { Store } from '../packages/gateway/src/gateway/ports/store.ts';
import { CallRecorder } from '../packages/gateway/src/gateway/services/activity/call-recorder.ts';
import { verifyCalls } from '../packages/gateway/src/gateway/services/activity/call-history.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { median } from './statistics.ts';
import type { Place } from './targets.ts';

const TOOL_COUNT = 300;
const SUBJECT_COUNT = 20;
/** The only call of its subject and with its outcome. */
const RARE_CALL = 1_000;
const SPACING_MS = 2;
const LIMIT = 51;
const ROUNDS = 15;
const PAUSE_MS = 20;

export interface QueryCost {
  readonly query: string;
  readonly p50Ms: number;
  readonly found: number;
}

export interface RecordCost {
  readonly database: string;
  readonly calls: number;
  /** CPU time of all threads for each call, in µs; PostgreSQL's own is not in it. */
  readonly cpuUs: number;
  readonly mainThreadUs: number;
  /** Undefined in PostgreSQL. */
  readonly bytesPerCall: number | undefined;
  readonly queries: readonly QueryCost[];
  readonly countsP50Ms: number;
  readonly verifyMs: number;
}

/** The slowest of the lists, in ms. */
export function slowestQueryMs(costs: readonly RecordCost[]): number | undefined {
  const all = costs.flatMap(({ queries }) => queries.map(({ p50Ms }) => p50Ms));
  return all.length === 0 ? undefined : Math.max(...all);
}

export async function measureActivity(
  place: Place,
  { calls }: { readonly calls: number },
): Promise<readonly RecordCost[]> {
  const home = join(place.scratch, 'activity');
  mkdirSync(home, { recursive: true });
  const sqlite = await measureRecord(calls, { database: 'SQLite', home, url: undefined });
  const server = await startPostgresServer();
  try {
    return [sqlite, await measureRecord(calls, { database: 'PostgreSQL', home, url: server.url })];
  } finally {
    await server.stop();
  }
}

interface Database {
  readonly database: string;
  readonly home: string;
  readonly url: string | undefined;
}

async function measureRecord(calls: number, { database, home, url }: Database): Promise<RecordCost> {
  const opened = await openStore({ home, databaseUrl: url, log: LOG });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  const store = opened.value;
  const caller = new Caller(store, calls);
  const [cpuBefore, mainBefore] = [process.cpuUsage(), process.threadCpuUsage()];
  await caller.fill();
  const [cpu, main] = [process.cpuUsage(cpuBefore), process.threadCpuUsage(mainBefore)];
  const bytes = url === undefined ? statSync(join(home, 'assay.db')).size / calls : undefined;
  if (url !== undefined) await analyze(url);
  const stop = caller.goOn();
  const queries: QueryCost[] = [];
  for (const [query, filter] of Object.entries(caller.queries()))
    queries.push({ query, ...(await measureQuery(store, filter)) });
  const countsP50Ms = await measureCounts(store, caller.nowMs);
  stop();
  await caller.recorder.close();
  const startedMs = performance.now();
  const verified = await verifyCalls(store);
  const verifyMs = performance.now() - startedMs;
  if (!verified.ok || verified.value.faultCount > 0)
    throw new Error(`verification: ${JSON.stringify(verified)}`);
  await store.close();
  return {
    ...{ database, calls },
    cpuUs: (cpu.user + cpu.system) / calls,
    mainThreadUs: (main.user + main.system) / calls,
    bytesPerCall: bytes,
    ...{ queries, countsP50Ms, verifyMs },
  };
}

const LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (message, fields) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
};

const DECISION: Decision = { kind: 'allow', reasons: [{ code: 'default_confirm', confirm: 'never' }] };
const TOOLS: readonly PolicyTool[] = Array.from({ length: TOOL_COUNT }, (_, at) => ({
  server: `server${at % 5}`,
  name: `tool${at}`,
  digest: 'a'.repeat(64),
  hints: resolveHints([], 'a'.repeat(64)),
  confirm: undefined,
}));

/** Records calls of many tools and subjects, evenly spread over time. */
class Caller {
  readonly recorder: CallRecorder;
  readonly #calls: number;
  readonly #startMs: number;
  #count = 0;
  nowMs: number;

  constructor(store: Store, calls: number) {
    this.#calls = calls;
    this.#startMs = Date.now() - calls * SPACING_MS;
    this.nowMs = this.#startMs;
    this.recorder = new CallRecorder({
      chain: `bench ${this.#startMs}`,
      settings: { ...getDefaultSettings(), 'activity.maxCalls': 20_000_000 },
      open: () => Promise.resolve(ok(store)),
      shown: (text) => ({ text, isShortened: false }),
      log: LOG,
      onLost: (lost) => process.stderr.write(`${lost} calls were not recorded\n`),
      nowMs: () => this.nowMs,
    });
  }

  async fill(): Promise<void> {
    while (this.#count < this.#calls) {
      this.#add();
      while (this.recorder.waiting > 5_000) await sleep(1);
    }
    while (this.recorder.waiting > 0) await sleep(10);
  }

  /** 500 calls a second, until the returned function is called. */
  goOn(): () => void {
    const timer = setInterval(() => {
      for (let call = 0; call < 25; call += 1) this.#add();
    }, 50);
    return () => clearInterval(timer);
  }

  queries(): Readonly<Record<string, Omit<CallQuery, 'limit'>>> {
    const at = (part: number): number => this.#startMs + Math.round(part * this.#calls) * SPACING_MS;
    const tool = 'server2.tool7';
    return {
      'the newest': {},
      'of a subject': { subject: 'user3' },
      'of a subject, from the middle on': { subject: 'user3', before: Math.round(this.#calls / 2) },
      'of a tool': { tool },
      'of a server': { server: 'server1' },
      'with errors': { outcome: 'tool_error' },
      'without errors': { outcome: 'ok' },
      'of nobody': { subject: 'nobody' },
      'the only one of its subject': { subject: 'rare' },
      'the only one with its outcome': { outcome: 'TOOL_UNKNOWN' },
      'before the first tenth ended': { untilMs: at(0.1) },
      'of a tool, before the first tenth ended': { tool, untilMs: at(0.1) },
      'of a second in the middle': { sinceMs: at(0.5), untilMs: at(0.5) + 1_000 },
    };
  }

  #add(): void {
    const isRare = this.#count === RARE_CALL;
    const tool = TOOLS[(this.#count * 7) % TOOL_COUNT];
    this.nowMs += SPACING_MS;
    this.recorder.add({
      subject: isRare ? 'rare' : `user${this.#count % SUBJECT_COUNT}`,
      sessionId: `session${this.#count % 16}`,
      client: '{"name":"bench","version":"1"}',
      ...{ endpoint: 'all', toolset: undefined, labels: undefined },
      publicName: tool?.name ?? '',
      ...{
        tool,
        toolId: `tool_${tool?.name ?? ''}`,
        decision: DECISION,
        approval: undefined,
        denial: undefined,
      },
      outcome: isRare ? 'TOOL_UNKNOWN' : this.#count % 50 === 0 ? 'tool_error' : 'ok',
      durationMs: 1.2 + (this.#count % 7),
      ...{ argumentsText: undefined, argumentsBytes: 10 },
    });
    this.#count += 1;
  }
}

async function measureQuery(
  store: Store,
  query: Omit<CallQuery, 'limit'>,
): Promise<Pick<QueryCost, 'p50Ms' | 'found'>> {
  const times: number[] = [];
  let found = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedMs = performance.now();
    const page = await store.calls({ ...query, limit: LIMIT });
    times.push(performance.now() - startedMs);
    if (!page.ok) throw new Error(JSON.stringify(page.error));
    found = page.value.calls.length;
    await sleep(PAUSE_MS);
  }
  return { p50Ms: median(times) ?? Number.NaN, found };
}

/** The overview: 48 slots of 15 minutes. */
async function measureCounts(store: Store, nowMs: number): Promise<number> {
  const span = { sinceMinute: Math.floor(nowMs / 60_000) - 719, slotMinutes: 15, slotCount: 48 };
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedMs = performance.now();
    const counted = await store.callCounts(span);
    times.push(performance.now() - startedMs);
    if (!counted.ok) throw new Error(JSON.stringify(counted.error));
  }
  return median(times) ?? Number.NaN;
}

/** As its own maintenance does after a while. */
async function analyze(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('analyze');
  await client.end();
}
