// Small calls of honest clients, in a thread of their own: their times contain no work of the other clients.
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type Call, checkAnswer, tool } from './calls.ts';
import { Chance } from './chance.ts';
import { HttpClient } from './http-client.ts';

export interface QuickCallsData {
  readonly endpoint: string;
  readonly token: string;
  readonly seed: number;
}

export interface QuickCalls {
  /** How long each call took. */
  readonly tookMs: readonly number[];
  /** Why answers were wrong. */
  readonly wrong: readonly string[];
}

const REPORT_INTERVAL_MS = 1_000;
const CALLS_PER_CLIENT = 100;
const PAUSE_MS = [20, 100] as const;
/** Servers that answer at once, so that the time is the gateway's. */
const TOOLS = ['pipe_echo', 'web_echo'] as const;

let tookMs: number[] = [];
let wrong: string[] = [];

if (parentPort !== null) {
  const data = workerData as QuickCallsData;
  void repeat(data, (client, chance) => callOften(client, chance));
  void repeat(data, async (client, chance) => {
    const session = await client.openSession();
    await callOften(client, chance, { session });
    await client.endSession(session);
  });
  void repeat(data, (client, chance) => callOften(client, chance, { isFresh: true }));
  setInterval(() => {
    parentPort?.postMessage({ tookMs, wrong } satisfies QuickCalls);
    tookMs = [];
    wrong = [];
  }, REPORT_INTERVAL_MS);
}

/** One client after another, each with connections of its own. */
async function repeat(
  { endpoint, token, seed }: QuickCallsData,
  visit: (client: HttpClient, chance: Chance) => Promise<void>,
): Promise<void> {
  const chance = new Chance(seed);
  for (;;) {
    const client = new HttpClient({ endpoint, token });
    try {
      await visit(client, chance);
    } catch (error) {
      wrong.push(String(error));
    }
    await client.close();
    await sleep(chance.between(...PAUSE_MS));
  }
}

async function callOften(
  client: HttpClient,
  chance: Chance,
  { session, isFresh = false }: { readonly session?: string; readonly isFresh?: boolean } = {},
): Promise<void> {
  const era = session === undefined ? 'modern' : 'legacy';
  for (let left = CALLS_PER_CLIENT; left > 0; left -= 1) {
    await sleep(chance.between(...PAUSE_MS));
    const call = quickCall(chance);
    const { method, params } = call;
    const id = client.nextId();
    const startMs = performance.now();
    const { messages } = await client.post({ era, method, params, id, session }, { isFresh });
    tookMs.push(performance.now() - startMs);
    const verdict = checkAnswer(call, messages, id);
    if (verdict.kind === 'wrong') wrong.push(`${era} ${call.what}: ${verdict.reason}`);
  }
}

function quickCall(chance: Chance): Call {
  const name = chance.pick(TOOLS);
  const message = `${name} ${String(chance.between(0, 1e9))}`;
  return tool(name, { message }, message);
}
