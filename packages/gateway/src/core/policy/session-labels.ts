import type { ResolvedHints } from '../hints/resolve.ts';
import { NO_LABELS, type SessionLabel } from './policy.ts';
import { findTrustedValue } from './rule.ts';

/** Tags with a meaning for decisions. */
export const PRIVATE_TAG = 'private';
export const OUTBOUND_TAG = 'outbound';

const UNTRUSTED: ReadonlySet<SessionLabel> = new Set(['saw-untrusted']);
const PRIVATE: ReadonlySet<SessionLabel> = new Set(['saw-private']);
/** Also assumed while the labels of a subject cannot be read. */
export const BOTH_LABELS: ReadonlySet<SessionLabel> = new Set([...UNTRUSTED, ...PRIVATE]);

/** The source of a result. */
export interface ResultSource {
  /** Undefined for resources and prompts, which have none. */
  readonly hints: ResolvedHints | undefined;
  /** The operators' tags. */
  readonly tags: readonly string[];
  /** Whether its server was given files, folders or a database. */
  readonly holdsPrivateData: boolean;
  /** Whether it runs in a sandbox without a network. */
  readonly isConfined?: boolean;
}

/** The labels that a result adds. If a hint is unknown, the label is set. */
export function computeResultLabels({
  hints,
  tags,
  holdsPrivateData,
  isConfined = false,
}: ResultSource): ReadonlySet<SessionLabel> {
  const isUntrusted = (hints?.openWorldHint.decision.value ?? true) && !isConfined;
  const isPrivate = tags.includes(PRIVATE_TAG) || (holdsPrivateData && mayReadInside(hints));
  return labelsWith(isUntrusted, isPrivate);
}

/**
 * The labels that a result adds if it only acknowledges the call. A tool that only reads has no such results: whatever
 * it returns was read.
 */
export function computeAcknowledgedLabels(source: ResultSource): ReadonlySet<SessionLabel> {
  const labels = computeResultLabels(source);
  const onlyReads = source.hints?.readOnlyHint.decision.value ?? true;
  return onlyReads ? labels : labelsWith(false, labels.has('saw-private'));
}

/** Whether the tool may read private data: no trusted source says that it reaches outside or changes something. */
function mayReadInside(hints: ResolvedHints | undefined): boolean {
  if (hints === undefined) return true;
  return findTrustedValue(hints.openWorldHint) !== true && findTrustedValue(hints.readOnlyHint) !== false;
}

/** Returns one of four shared sets, so that no call allocates one. */
function labelsWith(isUntrusted: boolean, isPrivate: boolean): ReadonlySet<SessionLabel> {
  if (isUntrusted) return isPrivate ? BOTH_LABELS : UNTRUSTED;
  return isPrivate ? PRIVATE : NO_LABELS;
}

/** Also returns one of the four sets. */
export function mergeLabels(
  one: ReadonlySet<SessionLabel>,
  other: ReadonlySet<SessionLabel>,
): ReadonlySet<SessionLabel> {
  const has = (label: SessionLabel): boolean => one.has(label) || other.has(label);
  return labelsWith(has('saw-untrusted'), has('saw-private'));
}
