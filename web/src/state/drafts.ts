import { useState } from 'react';

const drafts = new Map<string, unknown>();
let owner: string | undefined;

export interface Draft<T> {
  readonly value: T;
  readonly set: (value: T) => void;
  /** After it was saved or given up. */
  readonly discard: () => void;
}

/** What a form holds and has not saved. It stays when the session ends and the same person signs in again. */
export function useDraft<T>(key: string, initial: T): Draft<T> {
  const [value, setValue] = useState<T>(() => (drafts.has(key) ? (drafts.get(key) as T) : initial)); // only `set` writes it
  return {
    value,
    set: (next) => {
      drafts.set(key, next);
      setValue(next);
    },
    discard: () => {
      drafts.delete(key);
      setValue(initial);
    },
  };
}

export function forgetDrafts(): void {
  drafts.clear();
}

/** Nobody sees what somebody else has typed. */
export function keepDraftsOf(subject: string): void {
  if (owner !== undefined && owner !== subject) drafts.clear();
  owner = subject;
}
