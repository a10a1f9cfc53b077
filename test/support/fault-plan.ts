/** What may happen to one message on its way. */
export const FAULTS = ['lose', 'delay', 'duplicate', 'cut', 'kill'] as const;
export type Fault = (typeof FAULTS)[number];

/** What happens to the nth message of one exchange, counted from zero in both directions. */
export interface Plan {
  readonly fault: Fault;
  readonly at: number;
}

/** How long in ms a message is delayed. */
export const DELAY_MS = 120;

/** A plan stands in the name of the client whose messages it is about, so that everybody on the way can read it. */
export function markOf(trial: string, { fault, at }: Plan): string {
  return `${trial}|${fault}|${at}`;
}

export function planOf(mark: string): Plan | undefined {
  const [, fault, at] = mark.split('|');
  const found = FAULTS.find((one) => one === fault);
  return found === undefined || at === undefined ? undefined : ({ fault, at: Number(at) } as Plan);
}

/** Counts the messages of one exchange and says what happens to each. */
export class Fate {
  readonly #plan: Plan | undefined;
  #count = 0;

  constructor(plan: Plan | undefined) {
    this.#plan = plan;
  }

  /** How many messages there were. */
  get count(): number {
    return this.#count;
  }

  next(): Fault | 'pass' {
    const at = this.#count;
    this.#count += 1;
    return this.#plan?.at === at ? this.#plan.fault : 'pass';
  }
}

/** The name that the client of a message gave itself, in either era. */
export function nameIn(text: string): string | undefined {
  return /clientInfo":\{[^{}]*?"name":"([^"]*)"/.exec(text)?.[1];
}
