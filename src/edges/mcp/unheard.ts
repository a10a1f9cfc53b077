/**
 * What a client is told as soon as it can hear: of each matter at most one notification, so that it is bounded by the
 * number of matters.
 */
export class Unheard {
  #kept = new Map<string, Buffer>();

  /** Where something else about the matter is kept already, `whole` says that all of it may have changed. */
  keep(matter: string, bytes: Buffer, whole: () => Buffer): void {
    const kept = this.#kept.get(matter);
    this.#kept.set(matter, kept === undefined || kept.equals(bytes) ? bytes : whole());
  }

  /** What was kept, by matter, in the order in which it came first; then nothing is kept any more. */
  take(): ReadonlyMap<string, Buffer> {
    const kept = this.#kept;
    this.#kept = new Map();
    return kept;
  }
}
