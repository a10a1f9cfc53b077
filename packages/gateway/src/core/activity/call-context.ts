import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { sha256 } from '@assay-mcp/kit/digest';
import { HINTS } from '@assay-mcp/kit/hint';
import { toReason } from '../hints/reason.ts';
import { parseObject } from '@assay-mcp/kit/json-object';
import type { Decision, PolicyTool } from '../policy/policy.ts';
import type { CallFacts, FinishedCall } from './call-entry.ts';
import { shorten } from '@assay-mcp/kit/shorten';

/** What many calls have in common: who called what, how that was decided, and how it ended. */
export interface CallContext {
  /** SHA-256 of the text, in hexadecimal. */
  readonly hash: string;
  /** Canonical JSON (RFC 8785) of the members of a `RecordedCall` that are not the call's own. */
  readonly text: string;
  readonly facts: CallFacts;
}

export function createContext(text: string, facts: CallFacts): CallContext {
  return { hash: sha256(text), text, facts };
}

/** A context with what it was made from. */
interface KnownContext {
  call: FinishedCall;
  readonly context: CallContext;
}

/** The latest contexts of each tool. */
let contexts = new WeakMap<object, readonly KnownContext[]>();
/** How many have been added; they are forgotten together. */
let contextCount = 0;
const NO_TOOL = {};
const MAX_PER_TOOL = 64;
const MAX_CONTEXTS = 10_000;

/** Calls that have everything in common have the same context object, since this runs for every call. */
export function toContext(call: FinishedCall): CallContext {
  const key = call.tool ?? NO_TOOL;
  const known = contexts.get(key) ?? [];
  for (const one of known) if (hasSameContext(one.call, call)) return one.context;
  const text = serializeContext(call);
  const same = known.find(({ context }) => context.text === text);
  const context = same?.context ?? createContext(text, toCallFacts(call));
  // Clients choose these texts, so only short ones are kept.
  const { subject, publicName, client = '' } = call;
  if (Math.max(subject.length, publicName.length, client.length) > 4 * MAX_NAME) return context;
  if (same !== undefined) same.call = withoutOwn(call);
  else addContext(key, { call: withoutOwn(call), context });
  return context;
}

function addContext(key: object, one: KnownContext): void {
  if (contextCount >= MAX_CONTEXTS) {
    contexts = new WeakMap();
    contextCount = 0;
  }
  contextCount += 1;
  contexts.set(key, [one, ...(contexts.get(key) ?? []).slice(0, MAX_PER_TOOL - 1)]);
}

function hasSameContext(one: FinishedCall, other: FinishedCall): boolean {
  return (
    one.outcome === other.outcome &&
    one.decision === other.decision &&
    one.publicName === other.publicName &&
    one.subject === other.subject &&
    one.client === other.client &&
    one.endpoint === other.endpoint &&
    one.toolset === other.toolset &&
    one.toolId === other.toolId &&
    one.isAsked === other.isAsked &&
    (one.labels === other.labels || String(one.labels) === String(other.labels))
  );
}

/** Keeps no arguments in memory. */
function withoutOwn(call: FinishedCall): FinishedCall {
  return { ...call, sessionId: undefined, argumentsText: undefined, approval: undefined };
}

/** Written member by member in name order. */
function serializeContext(call: FinishedCall): string {
  const { client, decision, labels, toolset, tool } = call;
  return (
    '{' +
    (client === undefined ? '' : `"client":${clientText(client)},`) +
    (decision === undefined ? '' : `"decision":${decisionText(decision)},`) +
    `"endpoint":${nameText(call.endpoint)},` +
    (tool === undefined ? '' : `"hints":${hintsText(tool)},`) +
    (call.isAsked === false ? '"isAsked":false,' : '') +
    '"kind":"call",' +
    (labels === undefined ? '' : `"labels":${JSON.stringify(labels)},`) +
    `"outcome":${JSON.stringify(call.outcome)},` +
    `"subject":${nameText(call.subject)},` +
    `"tool":${toolText(call)}` +
    (toolset === undefined ? '' : `,"toolset":${nameText(toolset)}`) +
    '}'
  );
}

/** Maximum length of a name, since names come from peers and issuers. */
const MAX_NAME = 256;

function nameText(text: string): string {
  return JSON.stringify(bounded(text));
}

function bounded(text: string): string {
  return shorten(text, MAX_NAME);
}

/** The fields that queries filter by, equal to what `readCallFacts` reads from the entry. */
function toCallFacts(call: FinishedCall): CallFacts {
  const { tool, outcome } = call;
  return {
    subject: bounded(call.subject),
    server: tool?.server,
    tool: tool === undefined ? bounded(call.publicName) : namespacedName(tool),
    decision: call.decision?.kind,
    outcome,
  };
}

function namespacedName({ server, name }: PolicyTool): string {
  return bounded(server === undefined ? name : `${server}.${name}`);
}

function toolText({ tool, toolId, publicName }: FinishedCall): string {
  if (tool === undefined) return `{"publicName":${nameText(publicName)}}`;
  const { server, digest, confirm } = tool;
  return serializeCanonical({
    publicName: bounded(publicName),
    ...(toolId !== undefined && { id: toolId }),
    namespacedName: namespacedName(tool),
    ...(server !== undefined && { server }),
    digest,
    ...(confirm !== undefined && { confirm }),
  });
}

function hintsText(tool: PolicyTool): string {
  const entries = HINTS.map((hint) => {
    const { value, by } = tool.hints[hint].decision;
    return [hint, { value, reason: toReason(by).code }] as const;
  });
  return serializeCanonical(Object.fromEntries(entries));
}

function decisionText(decision: Decision): string {
  // Drops members that are undefined, which canonical JSON cannot express.
  return serializeCanonical(JSON.parse(JSON.stringify(decision)));
}

function clientText(json: string): string {
  const { name, version } = parseObject(json);
  return serializeCanonical({
    ...(typeof name === 'string' && { name: bounded(name) }),
    ...(typeof version === 'string' && { version: bounded(version) }),
  });
}
