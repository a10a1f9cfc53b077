// Calls per second at two endpoints, measured alternately so that both run under the same conditions.
import type { LoadProcess } from './load-process.ts';
import type { Plan } from './plan.ts';
import { median } from './statistics.ts';

const CONCURRENCY = 64;
const PAYLOAD_BYTES = 100;

export interface CallPair {
  readonly round: number;
  readonly onePerSecond: number;
  readonly otherPerSecond: number;
}

export interface Calling {
  readonly load: LoadProcess;
  readonly plan: Plan;
  /** 64 by default. */
  readonly concurrency?: number;
}

/** Rejects on a wrong answer. */
export async function callsInPairs(
  one: string,
  other: string,
  calling: Calling,
): Promise<readonly CallPair[]> {
  const pairs: CallPair[] = [];
  for (let round = 0; round <= calling.plan.rounds; round += 1) {
    const places = [one, other];
    const found = new Map<string, number>();
    for (const at of round % 2 === 0 ? places : places.toReversed())
      found.set(at, await callsPerSecond(at, calling));
    const [onePerSecond = NaN, otherPerSecond = NaN] = places.map((at) => found.get(at));
    // The first round warms up.
    if (round > 0) pairs.push({ round, onePerSecond, otherPerSecond });
  }
  return pairs;
}

export function callsRatio(pairs: readonly CallPair[]): number | undefined {
  return median(pairs.map(({ onePerSecond, otherPerSecond }) => onePerSecond / otherPerSecond));
}

async function callsPerSecond(
  endpoint: string,
  { load, plan, concurrency = CONCURRENCY }: Calling,
): Promise<number> {
  const outcome = await load.call(
    {
      kind: 'calls',
      endpoint,
      streams: [{ era: 'modern', tool: 'echo' }],
      concurrency,
      payloadBytes: PAYLOAD_BYTES,
      warmUpMs: plan.warmUpMs,
      until: { ms: plan.cellMs },
    },
    () => undefined,
  );
  if (outcome.flaw !== undefined) throw new Error(outcome.flaw);
  return (outcome.calls / outcome.elapsedMs) * 1000;
}
