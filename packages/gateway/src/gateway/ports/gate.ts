import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Holder, Identity, Scope } from '../../core/subject.ts';
import type { MintedToken } from '../../core/token.ts';

/** Creates a unique token. */
export type Mint = () => MintedToken;

/** Decides who may enter with a token. On the path of every request, so it waits only if it must. */
export interface Gate {
  /**
   * Identifies who sends this header from this address. TOKEN_REQUIRED: no valid token; TOO_MANY_FAILURES: too many
   * invalid attempts; ISSUER_UNAVAILABLE: cannot be verified. Returns a promise only for an issuer's token that was not
   * seen recently, and for one of Assay's own that is looked up in the store because another process may just have
   * created it.
   */
  admit(
    authorization: string | undefined,
    address: string,
    nowMs: number,
  ): Result<Identity, Refusal> | Promise<Result<Identity, Refusal>>;
  /** Whether a token for MCP endpoints exists and none is guessable. */
  isFitForNetwork(nowMs: number): boolean;
  /** Whether connections opened with this token may stay open: it is still valid, and has the scope if one is given. */
  isHolder(holder: Holder, scope: Scope | undefined, nowMs: number): boolean;
  /** Calls back when tokens may have ended. Returns a function that unsubscribes. */
  onTokens(listener: () => void): () => void;
  /** Resolves when earlier token changes apply here, or the store cannot be read. */
  refresh(): Promise<void>;
  /**
   * Refuses a token from now on until this process ends, stored or not. False if the store has no valid token with this
   * id.
   */
  revoke(id: string, nowMs: number): boolean;
}
