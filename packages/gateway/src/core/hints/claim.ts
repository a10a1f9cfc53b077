import type { Hint } from '@assay-mcp/kit/hint';

/** One statement about one hint of one tool. */
export interface Claim {
  readonly hint: Hint;
  readonly value: boolean;
  /** `declared` by the source, `inferred` by a rule, `override` by an operator, `observed` by verification. */
  readonly kind: ClaimKind;
  /** What kind of party made the claim. */
  readonly source: ClaimSource;
  /** Name of that party: a server, module, subject, rule or verification run. */
  readonly origin: string;
  /** Why, as a phrase: "GET request". */
  readonly reason?: string | undefined;
  readonly atMs: number;
  /** SHA-256 of the definition that the claim is about. */
  readonly digest: string;
  /**
   * Whether a decision may be less careful because of this claim. If false, it can only make decisions more careful, as
   * with claims of a server that the operator does not trust.
   */
  readonly mayLower: boolean;
  /** Why the claim is suspended; it is still shown. */
  readonly suspended?: string | undefined;
}

type ClaimKind = 'declared' | 'inferred' | 'override' | 'observed';

/**
 * `server`: the upstream server. `operator`: an operator, through the API, the CLI or the pages. `config_file`: the
 * entry of a REST tool there. `document`: `x-mcp` of an OpenAPI document. `module`: a function module. `rule`: the
 * semantics of an HTTP method. `verification`: a run that observed the tool. `study`: the verdicts that ship with Assay.
 */
export type ClaimSource =
  'server' | 'operator' | 'config_file' | 'document' | 'module' | 'rule' | 'verification' | 'study';

/** Whether an operator trusts a server. Applies only to the server with this identity, not to another of that name. */
export interface TrustRecord {
  readonly server: string;
  readonly identity: string;
  /** Whether its hints may lower caution. */
  readonly trust: boolean;
}
