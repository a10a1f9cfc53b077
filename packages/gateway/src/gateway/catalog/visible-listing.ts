import { HINTS } from '@assay-mcp/kit/hint';
import type { Claim } from '../../core/hints/claim.ts';
import { resolveHints, type ResolvedHints } from '../../core/hints/resolve.ts';
import type { HiddenTools } from '../../core/policy/hidden-tools.ts';
import type { RuleTool } from '../../core/policy/rule.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import type { RequestMessage } from '@assay-mcp/protocol/message';
import { getDeclared, getDigest } from './definition-facts.ts';
import type { Entry, ListedEntry, Listing } from './listing.ts';

const VISIBLE = new WeakMap<Listing, WeakMap<HiddenTools, Listing>>();

/** The part of a list that some callers see. Computed once for all callers to whom the same rules apply. */
export function getVisibleListing(listing: Listing, hidden: HiddenTools | undefined): Listing {
  if (hidden === undefined) return listing;
  let known = VISIBLE.get(listing);
  if (known === undefined) {
    known = new WeakMap();
    VISIBLE.set(listing, known);
  }
  const visible = known.get(hidden) ?? listing.without((entry) => isHidden(entry, hidden));
  known.set(hidden, visible);
  return visible;
}

export function isHidden(entry: Entry | ListedEntry, hidden: HiddenTools | undefined): boolean {
  return hidden?.hides('server' in entry ? toolOfServer(entry) : ownTool(entry)) === true;
}

/** Most rules are about names, and hints need the digest of the definition. */
function toolOfServer({ server: { spec, claims }, name, definition }: Entry): RuleTool {
  return {
    server: spec.name,
    name,
    get hints() {
      return claims.policyToolOf(spec, name, definition).hints;
    },
    get tags() {
      return claims.policyToolOf(spec, name, definition).tags;
    },
  };
}

function ownTool(entry: ListedEntry): RuleTool {
  return {
    server: undefined,
    name: entry.name,
    get hints() {
      return resolveOwnHints(entry);
    },
  };
}

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
