import { useState } from 'react';

const drafts = new Map<string, unknown>();
let owner: string | undefined;

export interface Draft<T> {
  readonly value: T;
  readonly set: (value: T) => void;
  /** Gives it up. */
  readonly discard: () => void;
  /** After this value was saved: discards it, but keeps what was typed meanwhile. */
  readonly saved: (value: T) => void;
}

/** What a form holds and has not saved. It stays when the session ends and the same person signs in again. */
export function useDraft<T>(key: string, initial: T): Draft<T> {
  const [value, setValue] = useState<T>(() => (drafts.has(key) ? (drafts.get(key) as T) : initial)); // only `set` writes it
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

/** Nobody sees what somebody else has typed. */
export function keepDraftsOf(subject: string): void {
  if (owner !== undefined && owner !== subject) drafts.clear();
  owner = subject;
}
