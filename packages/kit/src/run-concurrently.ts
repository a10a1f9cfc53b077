/** Runs a task for each item, at most `limit` at a time. Resolves with the results in the order of the items. */
export async function runConcurrently<Item, Outcome>(
  items: readonly Item[],
  limit: number,
  task: (item: Item) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  // Shared by all workers, so that each item is taken once.
  const rest = items.entries();
  const work = async (): Promise<void> => {
    for (const [at, item] of rest) outcomes[at] = await task(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return outcomes;
}
