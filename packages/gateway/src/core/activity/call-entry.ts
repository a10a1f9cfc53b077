import { isUntrustedClaim } from '../policy/untrusted-claims.ts';
import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import { isJsonObject, type JsonObject, parseJson } from '@assay-mcp/kit/json-object';
import type { ReasonCode } from '../hints/reason.ts';
import type { Decision, PolicyTool, SessionLabel } from '../policy/policy.ts';
import type { RefusalCode } from '../refusal.ts';

/** How a call ended. `input_required`: the client was asked for input and may retry with it. */
export type CallOutcome = 'ok' | 'tool_error' | 'error' | 'input_required' | RefusalCode;

/** The approval under which a call was made. */
export interface CallApproval {
  readonly id: string;
  readonly by: string;
  readonly scope: string;
}

/** Who denied a call. */
export interface CallDenial {
  /** Of the request in the inbox. Absent if the client's user was asked during the call. */
  readonly id?: string;
  /** The name of a token, or `local`. */
  readonly by: string;
  /** As written for the model. */
  readonly reason?: string;
}

/** A `tools/call` that has ended, as collected on the hot path: by reference, and not yet bounded. */
export interface FinishedCall {
  readonly subject: string;
  readonly sessionId: string | undefined;
  /** JSON text of the client's name and version. */
  readonly client: string | undefined;
  /** The view that was called. */
  readonly endpoint: string;
  readonly toolset: string | undefined;
  readonly labels: readonly SessionLabel[] | undefined;
  /** The name that the client called. */
  readonly publicName: string;
  readonly tool: PolicyTool | undefined;
  readonly toolId: string | undefined;
  readonly decision: Decision | undefined;
  /** False if Assay would have asked, but the client confirms calls. */
  readonly isAsked?: false | undefined;
  readonly approval: CallApproval | undefined;
  readonly denial: CallDenial | undefined;
  readonly outcome: CallOutcome;
  readonly durationMs: number;
  /** JSON text. Undefined if arguments are not recorded; empty if it was too large. */
  readonly argumentsText: string | undefined;
  /** Size in bytes of the arguments as sent. */
  readonly argumentsBytes: number;
}

/** An entry of the call record, as JSON. Calls that could not be recorded are counted in a `dropped` entry. */
export type CallEntry = RecordedCall | DroppedCalls;

export interface RecordedCall {
  readonly kind: 'call';
  readonly at: string;
  readonly subject: string;
  /** Hash of the session id; the id itself would grant access to the session. */
  readonly session?: string;
  readonly client?: { readonly name?: string; readonly version?: string };
  readonly endpoint: string;
  readonly toolset?: string;
  readonly labels?: readonly string[];
  readonly tool: {
    /** Absent, like the digest and the hints, if the call was not resolved to a tool. */
    readonly id?: string;
    readonly publicName: string;
    readonly namespacedName?: string;
    /** Absent for Assay's own tools. */
    readonly server?: string;
    readonly digest?: string;
    readonly confirm?: string;
  };
  /** The values used for the decision, each with its origin. */
  readonly hints?: Readonly<Record<Hint, { readonly value: boolean; readonly reason: ReasonCode }>>;
  readonly decision?: Decision;
  /** Present if `decision` is `ask` and Assay did not ask, because the client confirms calls. */
  readonly isAsked?: false;
  readonly approval?: CallApproval;
  /** Present if a person denied the call. */
  readonly denial?: CallDenial;
  readonly outcome: CallOutcome;
  readonly durationMs: number;
  readonly arguments?: RecordedArguments;
}

export interface RecordedArguments {
  /** Size in bytes as sent. */
  readonly bytes: number;
  readonly form: 'masked' | 'full';
  /** Whether `text` is truncated. */
  readonly isShortened: boolean;
  /** JSON text, or the start of it. */
  readonly text: string;
}

export interface DroppedCalls {
  readonly kind: 'dropped';
  readonly at: string;
  /** Number of calls that were not recorded. */
  readonly count: number;
  /** When the first of them ended. */
  readonly since: string;
}

/** A call as it is kept: what is its own, and what it has in common with others (`CallContext`). */
export interface CallRow {
  readonly atMs: number;
  /** Duration in tenths of a ms. */
  readonly tenths: number;
  readonly session: string | undefined;
  /** Canonical JSON of the members that few calls have: approval, denial and arguments, or those of a gap in the record. */
  readonly details: string | undefined;
}

/** The context of calls that have more contexts than are kept; the details of such a call contain its own. */
export const OTHER_CONTEXT = '{"kind":"other"}';
export const DROPPED_CONTEXT = '{"kind":"dropped"}';

/** Joins a call and the canonical JSON of its context. Undefined if Assay did not write them. */
export function readCallEntry(row: CallRow, context: string): CallEntry | undefined {
  const shared = parseJson(context);
  const details = row.details === undefined ? {} : parseJson(row.details);
  if (!isJsonObject(shared) || !isJsonObject(details) || !isDate(row.atMs)) return undefined;
  const at = new Date(row.atMs).toISOString();
  if (shared['kind'] === 'dropped') return toCallEntry({ ...details, kind: 'dropped', at });
  const { context: own, ...rest } = details;
  const common = shared['kind'] === 'other' ? own : shared;
  if (!isJsonObject(common) || common['kind'] !== 'call') return undefined;
  const { session } = row;
  return toCallEntry({
    ...common,
    at,
    ...(session !== undefined && { session }),
    durationMs: row.tenths / 10,
    ...rest,
  });
}

/** Undefined if members that readers rely on are missing, or of another type. */
export function toCallEntry(value: unknown): CallEntry | undefined {
  if (!isJsonObject(value) || !isTime(value['at'])) return undefined;
  const isEntry = value['kind'] === 'dropped' ? isDropped(value) : value['kind'] === 'call' && isCall(value);
  return isEntry ? (value as unknown as CallEntry) : undefined; // just checked
}

/** The row and the canonical JSON of the context of an entry. The inverse of `readCallEntry`. */
export function splitEntry(entry: CallEntry): { readonly row: CallRow; readonly context: string } {
  if (entry.kind === 'dropped') {
    const { count, since } = entry;
    const details = serializeCanonical({ count, since });
    return { row: toRow(entry, { tenths: 0, details }), context: DROPPED_CONTEXT };
  }
  const { at, durationMs, session, approval, denial, arguments: args, ...context } = entry;
  const own = {
    ...(approval !== undefined && { approval: { ...approval } }),
    ...(denial !== undefined && { denial: { ...denial } }),
    ...(args !== undefined && { arguments: { ...args } }),
  };
  const details = Object.keys(own).length === 0 ? undefined : serializeCanonical(own);
  const row = toRow({ at }, { tenths: Math.round(durationMs * 10), session, details });
  return { row, context: serializeCanonical(JSON.parse(JSON.stringify(context))) };
}

function toRow(
  { at }: Pick<CallEntry, 'at'>,
  { tenths, session, details }: { tenths: number; session?: string | undefined; details: string | undefined },
): CallRow {
  return { atMs: Date.parse(at), tenths, session, details };
}

/** Such a call has the context `OTHER_CONTEXT`. */
export function addContextToDetails(details: string | undefined, context: string): string {
  const own = `"context":${context}`;
  return details === undefined ? `{${own}}` : `${details.slice(0, -1)},${own}}`;
}

function isDate(ms: number): boolean {
  return !Number.isNaN(new Date(ms).getTime());
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isDropped({ count, since }: JsonObject): boolean {
  return typeof count === 'number' && isTime(since);
}

function isCall({
  subject,
  endpoint,
  outcome,
  durationMs,
  tool,
  decision,
  client,
  ...rest
}: JsonObject): boolean {
  return (
    [subject, endpoint, outcome].every((one) => typeof one === 'string') &&
    typeof durationMs === 'number' &&
    isJsonObject(tool) &&
    typeof tool['publicName'] === 'string' &&
    [tool['namespacedName'], tool['server']].every((one) => one === undefined || typeof one === 'string') &&
    (decision === undefined || isDecision(decision)) &&
    [client, rest['approval'], rest['denial'], rest['arguments']].every(
      (one) => one === undefined || isJsonObject(one),
    ) &&
    (rest['labels'] === undefined || Array.isArray(rest['labels'])) &&
    (rest['hints'] === undefined || isHints(rest['hints']))
  );
}

function isHints(value: unknown): boolean {
  return isJsonObject(value) && HINTS.every((hint) => isJsonObject(value[hint]));
}

function isDecision(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['kind'] !== 'string') return false;
  const { reasons } = value;
  return (
    Array.isArray(reasons) &&
    reasons.every(
      (one) => isJsonObject(one) && typeof one['code'] === 'string' && isUntrustedClaim(one['untrusted']),
    )
  );
}

/** The fields that queries filter by. */
export interface CallFacts {
  readonly subject?: string | undefined;
  readonly server?: string | undefined;
  /** Namespaced name, or the name that was called if there is no such tool. */
  readonly tool?: string | undefined;
  readonly decision?: Decision['kind'] | undefined;
  readonly outcome?: string | undefined;
}

export function readCallFacts(entry: CallEntry): CallFacts {
  if (entry.kind === 'dropped') return {};
  const { subject, tool, decision, outcome } = entry;
  return {
    subject,
    server: tool.server,
    tool: tool.namespacedName ?? tool.publicName,
    decision: decision?.kind,
    outcome,
  };
}

export function hasSameFacts(one: CallFacts, other: CallFacts): boolean {
  return (
    one.subject === other.subject &&
    one.server === other.server &&
    one.tool === other.tool &&
    one.decision === other.decision &&
    one.outcome === other.outcome
  );
}
