import { until } from './endings.ts';

export interface Relisting {
  /** The number of `list_changed` notifications received so far. */
  readonly changes: () => number;
  readonly list: () => Promise<readonly string[]>;
  readonly isComplete: (names: readonly string[]) => boolean;
}

/**
 * Lists again after each notification, as clients do, until the list is complete: the first notification may stem
 * from the startup.
 */
export async function listAfterChanges({ changes, list, isComplete }: Relisting): Promise<void> {
  let seen = 0;
  do {
    seen = await until('another change is announced', () => (changes() > seen ? changes() : undefined));
  } while (!isComplete(await list()));
}
