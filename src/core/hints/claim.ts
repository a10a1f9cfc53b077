import type { Hint } from './hint.ts';

/** Somebody's word on one hint of one tool. */
export interface Claim {
  readonly hint: Hint;
  readonly value: boolean;
  /** `declared` by the source, `inferred` by a rule, `override` by an operator, `observed` by verification. */
  readonly kind: ClaimKind;
  /** Who says so: the name of a server, a rule, a subject, a run of verification. */
  readonly origin: string;
  /** Why, as a phrase: "GET request". */
  readonly reason?: string | undefined;
  readonly atMs: number;
  /** SHA-256 of the definition that it speaks of. */
  readonly digest: string;
  /**
   * Whether a decision may be less careful for it. Otherwise it may only make one more careful: the word of a server that
   * the operator does not trust.
   */
  readonly mayLower: boolean;
  /** Why it does not count for the time being; it is shown all the same. */
  readonly suspended?: string | undefined;
}

export type ClaimKind = 'declared' | 'inferred' | 'override' | 'observed';
