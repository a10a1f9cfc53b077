// Shared by all actors: the Assay under test, the tally of results, and the signal that ends the run.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import type { Gateway } from './gateway.ts';
import type { Tally } from './tally.ts';

export interface SoakContext {
  readonly gateway: Gateway;
  readonly tally: Tally;
  readonly over: AbortSignal;
}

/** An action that an actor repeats until the run is over. */
export type Act = (context: SoakContext, chance: Chance) => Promise<void>;

export interface Actor {
  readonly name: string;
  /** Shortest and longest wait between two actions. */
  readonly pauseMs: readonly [min: number, max: number];
  readonly act: Act;
}

/** Repeats the action until the run is over; an exception fails the run without ending it. */
export async function actOn(context: SoakContext, actor: Actor, chance: Chance): Promise<void> {
  const { tally, over } = context;
  for (;;) {
    await pause(chance.between(...actor.pauseMs), over);
    if (over.aborted) return;
    try {
      await actor.act(context, chance);
    } catch (error) {
      tally.object(actor.name, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
  }
}

/** Waits, but not once the run is over. */
export async function pause(ms: number, over: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: over }).catch(() => undefined);
}

/** Polls until there is a result; undefined when the time has passed. */
export async function seek<T>(withinMs: number, look: () => Promise<T | undefined>): Promise<T | undefined> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() > untilMs) return found;
    await sleep(200);
  }
}
