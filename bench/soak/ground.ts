// What all actors share: where Assay is, what came of everything, and when it is over.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import type { Gateway } from './gateway.ts';
import type { Tally } from './tally.ts';

export interface Ground {
  readonly gateway: Gateway;
  readonly tally: Tally;
  readonly over: AbortSignal;
}

/** One who does something again and again until it is over. */
export type Act = (ground: Ground, chance: Chance) => Promise<void>;

export interface Actor {
  readonly name: string;
  /** Least and longest wait between two acts. */
  readonly pauseMs: readonly [least: number, most: number];
  readonly act: Act;
}

/** Acts until it is over; what an act throws fails the run and does not end it. */
export async function actOn(ground: Ground, actor: Actor, chance: Chance): Promise<void> {
  const { tally, over } = ground;
  for (;;) {
    await pause(chance.between(...actor.pauseMs), over);
    if (over.aborted) return;
    try {
      await actor.act(ground, chance);
    } catch (error) {
      tally.object(actor.name, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
  }
}

/** Waits; not at all once it is over. */
export async function pause(ms: number, over: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: over }).catch(() => undefined);
}

/** Looks again and again until there is something; undefined when the time has passed. */
export async function seek<T>(withinMs: number, look: () => Promise<T | undefined>): Promise<T | undefined> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() > untilMs) return found;
    await sleep(200);
  }
}
