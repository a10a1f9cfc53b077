import { type Claim, HINTS } from '../../core/hints/hint.ts';
import { resolveHints, type ResolvedHints } from '../../core/hints/resolve.ts';
import type { Era } from '../../protocol/eras.ts';
import type { RequestMessage } from '../../protocol/message.ts';
import { declaredOf, digestOf } from './definition-facts.ts';
import type { ListedEntry } from './listing.ts';

/** A call of a tool of Assay's own. */
export interface ConfigurationToolCall {
  readonly message: RequestMessage;
  readonly era: Era;
  /** Whose call it is. */
  readonly subject: string;
}

/** A tool of Assay's own. */
export interface ConfigurationTool extends ListedEntry {
  /** Resolves with the JSON text of the result, which says so where the call failed. */
  call(asked: ConfigurationToolCall): Promise<Buffer>;
}

/** What Assay declares of its own tool is what the tool does. */
export function hintsOf({ definition }: ConfigurationTool): ResolvedHints {
  const digest = digestOf(definition);
  const { hints } = declaredOf(definition);
  const claims = HINTS.flatMap((hint): readonly Claim[] => {
    const value = hints[hint];
    const claim = { hint, kind: 'declared', source: 'server', origin: 'assay', atMs: 0, digest } as const;
    return value === undefined ? [] : [{ ...claim, value, mayLower: true }];
  });
  return resolveHints(claims, digest, { isMade: true });
}
