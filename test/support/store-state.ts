import type { Store } from '../../src/gateway/ports/store.ts';
import { valueOf } from './store-values.ts';

/** What the task `write` of test/fixtures/store-process.ts has left in a store. */
export interface State {
  /** Round of the words that are there, 0 where there are none; -1 where they are of several. */
  readonly said: number;
  readonly set: number;
  readonly tokens: readonly number[];
}

export async function stateOf(store: Store): Promise<State> {
  const { words } = valueOf(await store.words(0));
  const rounds = new Set(words.flatMap(({ body }) => (body === undefined ? [] : [Number(body)])));
  const [round = 0] = rounds;
  return {
    said: rounds.size > 1 ? -1 : round,
    set: Number(valueOf(await store.settings()).get('round') ?? 0),
    tokens: valueOf(await store.tokens()).map(({ id }) => Number(id)),
  };
}
