import { type Claim, HINTS } from '../../core/hints/hint.ts';
import { resolveHints, type ResolvedHints } from '../../core/hints/resolve.ts';
import type { Era } from '../../protocol/eras.ts';
import type { RequestMessage } from '../../protocol/message.ts';
import { getDeclared, getDigest } from './definition-facts.ts';
import type { Entry, ListedEntry } from './listing.ts';

/** A call of one of Assay's own tools. */
export interface ConfigurationToolCall {
  readonly message: RequestMessage;
  readonly era: Era;
  /** The caller. */
  readonly subject: string;
}

/** The call of a server's tool that a call of one of Assay's own tools asks for. */
export interface ForwardedCall {
  readonly entry: Entry;
  readonly message: RequestMessage;
  /** Whether rules hide the tool from the caller: the call is recorded, and answered as that of an unknown tool. */
  readonly isHidden?: boolean;
}

/** One of Assay's own tools. */
export interface ConfigurationTool extends ListedEntry {
  /** Resolves with the result as JSON text. A failed call sets `isError` in it. */
  call(asked: ConfigurationToolCall): Promise<Buffer>;
  /**
   * The call to carry out instead, with that tool's hints. Undefined if there is none; then `call` answers why.
   */
  forward?(message: RequestMessage, subject: string): Promise<ForwardedCall | undefined>;
}

/** Assay's own declarations are accurate, so they are used directly. */
export function resolveOwnHints({ definition }: Pick<ListedEntry, 'definition'>): ResolvedHints {
  const digest = getDigest(definition);
  const { hints } = getDeclared(definition);
  const claims = HINTS.flatMap((hint): readonly Claim[] => {
    const value = hints[hint];
    const claim = { hint, kind: 'declared', source: 'server', origin: 'assay', atMs: 0, digest } as const;
    return value === undefined ? [] : [{ ...claim, value, mayLower: true }];
  });
  return resolveHints(claims, digest, { isMade: true });
}
