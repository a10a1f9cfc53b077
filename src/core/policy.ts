import type { ResolvedHints } from './hints/resolve.ts';
import type { Identity } from './subject.ts';

/** What a decision may depend on. Whatever costs something to find out is found out when it is read. */
export interface PolicyInput {
  readonly identity: Identity;
  readonly method: string;
  /** Undefined where the request is not about a tool. */
  readonly tool: PolicyTool | undefined;
  /** JSON text of the arguments, as the client wrote it. */
  readonly argumentsText: string | undefined;
}

export interface PolicyTool {
  /** Undefined for Assay's configuration tools. */
  readonly server: string | undefined;
  /** What its server calls it. */
  readonly name: string;
  /** Of its definition. */
  readonly digest: string;
  readonly hints: ResolvedHints;
}

export type Decision =
  { readonly kind: 'allow' } | { readonly kind: 'refuse'; readonly reasons: readonly string[] };

/** Decides whether a call may go on. Pure and synchronous; a rule is compiled when it is set, not when it is applied. */
export type Policy = (input: PolicyInput) => Decision;

const ALLOWED: Decision = { kind: 'allow' };

export const ALLOW_ALL: Policy = () => ALLOWED;
