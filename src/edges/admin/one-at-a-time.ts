/** Runs works one after the other, so that what one has read is still so when it writes, as far as this process goes. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function oneAtATime(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}
