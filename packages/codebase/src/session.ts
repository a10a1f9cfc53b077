import { randomUUID } from 'node:crypto';

/**
 * State set by one client's connection. Over stdio a process has one client. A process shared by several clients keeps
 * nothing, because one would change the directory of another.
 */
export class Session {
  /** Null if nothing is kept between requests. */
  readonly id: string | null;
  #directory: string | undefined;

  constructor({ isStateless }: { readonly isStateless: boolean }) {
    this.id = isStateless ? null : randomUUID();
  }

  get directory(): string | undefined {
    return this.#directory;
  }

  /** Returns whether it is kept. */
  setDirectory(directory: string): boolean {
    if (this.id === null) return false;
    this.#directory = directory;
    return true;
  }
}
