import { useState } from 'react';

const drafts = new Map<string, unknown>();
let owner: string | undefined;

export interface Draft<T> {
  readonly value: T;
  readonly set: (value: T) => void;
  /** Discards the draft. */
  readonly discard: () => void;
  /** Call it after this value was saved: discards the draft, unless it has been edited since. */
  readonly saved: (value: T) => void;
}

/** Unsaved input of a form. It survives a sign-out if the same person signs in again. */
export function useDraft<T>(key: string, initial: T): Draft<T> {
  const [value, setValue] = useState<T>(() => (drafts.has(key) ? (drafts.get(key) as T) : initial)); // Only `set` writes it.
  const discard = (): void => {
    drafts.delete(key);
    setValue(initial);
  };
  return {
    value,
    set: (next) => {
      drafts.set(key, next);
      setValue(next);
    },
    discard,
    saved: (sent) => {
      if (drafts.get(key) === sent) discard();
    },
  };
}

export function forgetDrafts(): void {
  drafts.clear();
}

/** Drops the drafts of another user. */
export function keepDrafts(subject: string): void {
  if (owner !== undefined && owner !== subject) drafts.clear();
  owner = subject;
}
