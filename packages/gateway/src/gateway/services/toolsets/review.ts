import { compareJsonTexts, type JsonChange } from '../../../core/json-changes.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ToolRef } from '../../../core/tool-ref.ts';
import {
  toAbsentToolRefusal,
  hasTool,
  type HeldDefinition,
  type SingleTool,
  type Toolset,
  type ToolsetTool,
} from '../../../core/toolset.ts';
import { includes, isWhole, addKnownTools } from '../../../core/whole-server.ts';
import { getDigest, isWithheld } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import { toHeldDefinition } from './holding.ts';
import { select, type SelectOptions } from './selection.ts';
import { getEntryName, getRefId, resolveAll } from './tool-index.ts';
import { findUnservedReason, type UnservedReason } from './unserved.ts';

/** How a tool compares with the definition that a toolset pins it to. */
export type Review = PinnedReview | NewReview;

/** A tool of a whole server that appeared after an operator accepted those of the server. */
export interface NewReview {
  readonly state: 'new';
  readonly namespacedName: string;
  /** The current definition. */
  readonly now: HeldDefinition;
}

export type PinnedReview = Reviewed &
  (
    | {
        readonly state: 'absent' | 'disabled' | 'withheld';
        /** Why the tool is not served. */
        readonly reason: UnservedReason;
      }
    | { readonly state: 'unchanged' }
    | {
        readonly state: 'changed';
        readonly reason: UnservedReason;
        /** The current definition. */
        readonly now: HeldDefinition;
        readonly changes: readonly JsonChange[];
      }
  );

interface Reviewed {
  readonly namespacedName: string;
  readonly held: HeldDefinition;
}

/** All tools pinned to a definition, in the toolset's order. A tool appears twice if two servers share its name. */
export function listReviews(
  toolset: Pick<Toolset, 'tools'>,
  among: Pick<SelectOptions, 'index' | 'servers'>,
): readonly PinnedReview[] {
  return toolset.tools.flatMap(({ namespacedName, held }): readonly PinnedReview[] => {
    if (held === undefined) return [];
    const named = among.index.named(namespacedName);
    if (named.length > 0) {
      const isContested = named.length > 1 && named.every((entry) => getRefId(entry) !== held.refId);
      return named.map((entry) => reviewOf(entry, { namespacedName, held }, isContested));
    }
    const reason = findUnservedReason(namespacedName, among) ?? 'tool_gone';
    return [{ state: reason === 'disabled' ? 'disabled' : 'absent', reason, namespacedName, held }];
  });
}

/** Tools of whole servers that are new. */
export function listNewReviews(toolset: Toolset, options: SelectOptions): readonly NewReview[] {
  return select(toolset, options).fresh.map((entry) => ({
    state: 'new',
    namespacedName: getEntryName(entry),
    now: toHeldDefinition(entry),
  }));
}

/** Pinned tools and whole servers. */
export function listReviewable({ tools }: Toolset): readonly ToolRef[] {
  return tools
    .filter((tool) => tool.held !== undefined || isWhole(tool))
    .map(({ namespacedName }) => ({ namespacedName }));
}

interface Acceptable {
  /** With their current definitions. */
  readonly pinned: readonly SingleTool[];
  /** New tools of whole servers. */
  readonly fresh: readonly Entry[];
}

/**
 * What an operator accepts of a toolset; without refs, all new and changed tools. With `isNewOnly`, no pinned ones.
 * Errors: TOOL_NOT_IN_TOOLSET, ARGUMENTS_INVALID if a tool is not pinned, those of `resolve`.
 */
export function selectAcceptable(
  toolset: Toolset,
  options: SelectOptions,
  { refs, isNewOnly }: { readonly refs: readonly ToolRef[] | undefined; readonly isNewOnly: boolean },
): Result<Acceptable, Refusal> {
  const { fresh } = select(toolset, options);
  const changed = listReviews(toolset, { ...options, servers: [] }).filter(
    ({ state }) => state === 'changed',
  );
  const names = new Set(changed.map(({ namespacedName }) => namespacedName));
  const wanted = refs ?? (isNewOnly ? [] : [...names].map((namespacedName) => ({ namespacedName })));
  const single = (entry: Entry): ToolsetTool | undefined =>
    isNewOnly
      ? undefined
      : toolset.tools.find(({ namespacedName }) => namespacedName === getEntryName(entry));
  const entries = resolveAll(wanted, (ref) => {
    const entry = options.index.resolve(ref);
    if (!entry.ok) return entry;
    const name = getEntryName(entry.value);
    if (!hasTool(toolset, name)) return err(toAbsentToolRefusal(toolset, name));
    const tool = single(entry.value);
    return tool !== undefined && tool.held === undefined ? err(unpinned(name)) : entry;
  });
  if (!entries.ok) return entries;
  return ok({
    pinned: entries.value
      .filter((entry) => single(entry) !== undefined)
      .map((entry) => ({ namespacedName: getEntryName(entry), held: toHeldDefinition(entry) })),
    fresh: refs === undefined ? fresh : fresh.filter((entry) => entries.value.includes(entry)),
  });
}

function unpinned(tool: string): Refusal {
  const reason = `the tool "${tool}" is not pinned to a definition; pin it with \`assay toolset add\` and its refId`;
  return { code: 'ARGUMENTS_INVALID', reason };
}

/** The toolset after an operator accepted tools of its whole servers. */
export function addAccepted(toolset: Toolset, fresh: readonly Entry[]): Toolset {
  const tools = toolset.tools.map((tool) => {
    if (!isWhole(tool)) return tool;
    const accepted = fresh.filter((entry) => includes(tool, getEntryName(entry)));
    return accepted.length === 0
      ? tool
      : addKnownTools(
          tool,
          accepted.map(({ name }) => name),
        );
  });
  return tools.every((tool, at) => tool === toolset.tools[at]) ? toolset : { ...toolset, tools };
}

function reviewOf(entry: Entry, reviewed: Reviewed, isContested: boolean): PinnedReview {
  if (getDigest(entry.definition) !== reviewed.held.digest) {
    const now = toHeldDefinition(entry);
    const changes = compareJsonTexts(reviewed.held.text, now.text);
    const reason = isContested ? 'name_collision' : 'definition_changed';
    return { ...reviewed, state: 'changed', reason, now, changes };
  }
  return isWithheld(entry.definition)
    ? { ...reviewed, state: 'withheld', reason: 'withheld' }
    : { ...reviewed, state: 'unchanged' };
}
