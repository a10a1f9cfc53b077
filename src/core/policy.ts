import type { ResolvedHints } from './hints/resolve.ts';
import type { Identity } from './subject.ts';

/** The input of a policy decision. Expensive values are computed on access. */
export interface PolicyInput {
  readonly identity: Identity;
  readonly method: string;
  /** Undefined if the request is not about a tool. */
  readonly tool: PolicyTool | undefined;
  /** JSON text of the arguments, exactly as the client wrote it. */
  readonly argumentsText: string | undefined;
}

export interface PolicyTool {
  /** Undefined for Assay's configuration tools. */
  readonly server: string | undefined;
  /** Its name on its server. */
  readonly name: string;
  /** Digest of its definition. */
  readonly digest: string;
  readonly hints: ResolvedHints;
}

export type Decision =
  { readonly kind: 'allow' } | { readonly kind: 'refuse'; readonly reasons: readonly string[] };

/** Decides whether a call may proceed. Pure and synchronous; rules are compiled when set, not when applied. */
export type Policy = (input: PolicyInput) => Decision;

const ALLOWED: Decision = { kind: 'allow' };

export const ALLOW_ALL: Policy = () => ALLOWED;
