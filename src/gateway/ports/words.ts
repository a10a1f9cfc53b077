import type { AuditEvent } from '../../core/audit-event.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';

/** What words are kept of: what operators say of tools, gateways that were registered, which servers are trusted. */
export type WordKind = 'tool' | 'gateway' | 'server' | 'instructions' | LocalKind;

/** What operators make themselves: requests, and modules of functions. */
export type LocalKind = 'rest-tool' | 'function-module';

export interface Word {
  readonly kind: WordKind;
  readonly id: string;
  /** A JSON value; undefined: nothing is said any more. */
  readonly body: unknown;
}

/** A word as it is kept. */
export interface StoredWord extends Word {
  /** Counts up with each change, over all words: one that is newer was written later. */
  readonly revision: number;
}

/** The definition of a tool that was accepted: the first that was seen, or the one that an operator reviewed last. */
export interface AcceptedDefinition {
  /** Of the tool. */
  readonly id: string;
  /** SHA-256 of the definition in canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** JSON text, as its server wrote it. */
  readonly text: string;
}

export interface WordChange {
  readonly word: Word;
  /** The revision that it replaces, that of a word whose body is gone included; undefined: there was none. */
  readonly former: number | undefined;
  /** What is to be told of it. */
  readonly deed?: AuditEvent | undefined;
  /** What is accepted from now on. */
  readonly accepted?: AcceptedDefinition | undefined;
}

/** What changed since somebody looked. */
export interface WordNews {
  /** In the order of their revisions, those that are gone among them, with no body. */
  readonly words: readonly StoredWord[];
  /** The newest one there is; 0 where there is none. */
  readonly revision: number;
}

/** A deed as it is kept. */
export interface StoredAuditEvent extends AuditEvent {
  /** Counts up: a later one has a larger one. */
  readonly id: number;
}

export interface AuditQuery {
  /** Only deeds before this one, newest first; absent: from the newest. */
  readonly before?: number | undefined;
  /** Only deeds after this one, oldest first. */
  readonly after?: number | undefined;
  readonly limit: number;
  readonly targetKind?: AuditEvent['target']['kind'] | undefined;
  readonly targetId?: string | undefined;
}

/** The part of a store that keeps words and deeds. As of all of it: each method is one transaction. */
export interface WordStore {
  /** `since`: the revision up to which they are known; 0: none is. */
  words(since: number): Promise<Result<WordNews, Refusal>>;
  /** Those that are known of these tools; of the others what is given is accepted. By the id of the tool. */
  acceptFirst(
    definitions: readonly AcceptedDefinition[],
  ): Promise<Result<ReadonlyMap<string, string>, Refusal>>;
  /** Undefined where none of this tool was. */
  accepted(id: string): Promise<Result<AcceptedDefinition | undefined, Refusal>>;
  deeds(query: AuditQuery): Promise<Result<readonly StoredAuditEvent[], Refusal>>;
}

/** What was said when this was last known, for who cannot wait for the store. */
export interface WordsMemory {
  readonly recalled: readonly Word[];
  /** All words: secrets in them are encrypted. */
  remember(words: readonly StoredWord[]): void;
  /** Resolves when what is remembered is written down. */
  flush(): Promise<void>;
}
