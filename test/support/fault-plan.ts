/** What may happen to a message in transit. */
export const FAULTS = ['lose', 'delay', 'duplicate', 'cut', 'kill'] as const;
export type Fault = (typeof FAULTS)[number];

/** What happens to the nth message of an exchange, counted from zero in both directions. */
export interface Plan {
  readonly fault: Fault;
  readonly at: number;
}

/** Delay of a message in ms. */
export const DELAY_MS = 120;

/** Encodes the plan in the client's name, so that every hop can read it. */
export function markOf(trial: string, { fault, at }: Plan): string {
  return `${trial}|${fault}|${at}`;
}

export function planOf(mark: string): Plan | undefined {
  const [, fault, at] = mark.split('|');
  const found = FAULTS.find((one) => one === fault);
  return found === undefined || at === undefined ? undefined : ({ fault, at: Number(at) } as Plan);
}

/** Counts the messages of one exchange and decides what happens to each. */
export class FaultSequence {
  readonly #plan: Plan | undefined;
  #count = 0;

  constructor(plan: Plan | undefined) {
    this.#plan = plan;
  }

  /** Number of messages so far. */
  get count(): number {
    return this.#count;
  }

  next(): Fault | 'pass' {
    const at = this.#count;
    this.#count += 1;
    return this.#plan?.at === at ? this.#plan.fault : 'pass';
  }
}

/** The client name in a message, in either era. */
export function nameIn(text: string): string | undefined {
  return /clientInfo":\{[^{}]*?"name":"([^"]*)"/.exec(text)?.[1];
}
