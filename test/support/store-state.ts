import type { Store } from '../../packages/gateway/src/gateway/ports/store.ts';
import { valueOf } from './store-values.ts';

/** The state that the task `write` of test/fixtures/store-process.ts left in a store. */
export interface State {
  /** Round of the stored records: 0 if there are none, -1 if they are from several rounds. */
  readonly written: number;
  readonly set: number;
  readonly tokens: readonly number[];
}

export async function stateOf(store: Store): Promise<State> {
  const { records } = valueOf(await store.records(0));
  const rounds = new Set(records.flatMap((one) => (one.kind === 'tool' ? (one.body?.title ?? []) : [])));
  const [round = '0'] = rounds;
  return {
    written: rounds.size > 1 ? -1 : Number(round),
    set: Number(valueOf(await store.settings()).get('round') ?? 0),
    tokens: valueOf(await store.tokens()).map(({ id }) => Number(id)),
  };
}
