import type { Hint } from './hint.ts';

/** Somebody's word on one hint of one tool. */
export interface Claim {
  readonly hint: Hint;
  readonly value: boolean;
  /** `declared` by the source, `inferred` by a rule, `override` by an operator, `observed` by verification. */
  readonly kind: ClaimKind;
  /** Who says so. */
  readonly source: ClaimSource;
  /** The name of who says so: a server, a module, a subject, a rule, a run of verification. */
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

/**
 * `server`: the upstream server. `operator`: an operator, through the API, the CLI or the pages. `config_file`: the entry of
 * a REST tool there. `document`: `x-mcp` of an OpenAPI document. `module`: a module of functions. `rule`: what an HTTP method
 * means. `verification`: a run that watched the tool.
 */
export type ClaimSource =
  'server' | 'operator' | 'config_file' | 'document' | 'module' | 'rule' | 'verification';
