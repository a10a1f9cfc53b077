import { serializeCanonical } from '../canonical-json.ts';
import { computeShortHash } from '../digest.ts';
import { HINTS } from '../hints/hint.ts';
import { toReason } from '../hints/reason.ts';
import { parseObject } from '../json-object.ts';
import type { Decision, PolicyTool } from '../policy/policy.ts';
import type { CallFacts, FinishedCall, RecordedArguments } from './call-entry.ts';
import { shorten } from '../shorten.ts';

/**
 * The `RecordedCall` of a call that ended at this time, as canonical JSON. Written member by member in name order, with
 * parts cached that many calls share, because this runs for every call.
 */
export function serializeCall(call: FinishedCall, endedMs: number, args?: RecordedArguments): string {
  const { approval, client, decision, labels, sessionId, toolset, tool } = call;
  const session = sessionId === undefined ? undefined : computeShortHash(sessionId, SESSION_DIGITS);
  return (
    '{' +
    (approval === undefined ? '' : `"approval":${serializeCanonical({ ...approval })},`) +
    (args === undefined ? '' : `"arguments":${serializeCanonical(args)},`) +
    `"at":"${new Date(endedMs).toISOString()}",` +
    (client === undefined ? '' : `"client":${clientText(client)},`) +
    (decision === undefined ? '' : `"decision":${decisionText(decision)},`) +
    `"durationMs":${JSON.stringify(Math.round(call.durationMs * 10) / 10)},` +
    `"endpoint":${nameText(call.endpoint)},` +
    (tool === undefined ? '' : `"hints":${hintsText(tool)},`) +
    (call.isAsked === false ? '"isAsked":false,' : '') +
    '"kind":"call",' +
    (labels === undefined ? '' : `"labels":${JSON.stringify(labels)},`) +
    `"outcome":${JSON.stringify(call.outcome)},` +
    (session === undefined ? '' : `"session":"${session}",`) +
    `"subject":${nameText(call.subject)},` +
    `"tool":${toolText(call)}` +
    (toolset === undefined ? '' : `,"toolset":${nameText(toolset)}`) +
    '}'
  );
}

/** Maximum length of a name, since names come from peers and issuers. */
const MAX_NAME = 256;
const SESSION_DIGITS = 16;

function nameText(text: string): string {
  return JSON.stringify(bounded(text));
}

function bounded(text: string): string {
  return shorten(text, MAX_NAME);
}

/**
 * The fields that queries filter by, equal to what `readCallFacts` reads from the entry. Returns `other` if all are equal:
 * batches are copied to another thread, and shared objects are copied once.
 */
export function toCallFacts(call: FinishedCall, other: CallFacts | undefined): CallFacts {
  const { tool, outcome } = call;
  const facts = {
    subject: bounded(call.subject),
    server: tool?.server,
    tool: tool === undefined ? bounded(call.publicName) : namespacedName(tool),
    decision: call.decision?.kind,
    outcome,
  };
  return other !== undefined && isSame(facts, other) ? other : facts;
}

function isSame(one: CallFacts, other: CallFacts): boolean {
  return (
    one.subject === other.subject &&
    one.server === other.server &&
    one.tool === other.tool &&
    one.decision === other.decision &&
    one.outcome === other.outcome
  );
}

function namespacedName({ server, name }: PolicyTool): string {
  return bounded(server === undefined ? name : `${server}.${name}`);
}

interface ToolText {
  readonly publicName: string;
  readonly text: string;
}

const TOOLS = new WeakMap<PolicyTool, ToolText>();

function toolText({ tool, toolId, publicName }: FinishedCall): string {
  if (tool === undefined) return `{"publicName":${nameText(publicName)}}`;
  const known = TOOLS.get(tool);
  if (known?.publicName === publicName) return known.text;
  const { server, digest, confirm } = tool;
  const text = serializeCanonical({
    publicName: bounded(publicName),
    ...(toolId !== undefined && { id: toolId }),
    namespacedName: namespacedName(tool),
    ...(server !== undefined && { server }),
    digest,
    ...(confirm !== undefined && { confirm }),
  });
  TOOLS.set(tool, { publicName, text });
  return text;
}

const HINT_TEXTS = new WeakMap<PolicyTool, string>();

function hintsText(tool: PolicyTool): string {
  const known = HINT_TEXTS.get(tool);
  if (known !== undefined) return known;
  const entries = HINTS.map((hint) => {
    const { value, by } = tool.hints[hint].decision;
    return [hint, { value, reason: toReason(by).code }] as const;
  });
  const text = serializeCanonical(Object.fromEntries(entries));
  HINT_TEXTS.set(tool, text);
  return text;
}

const DECISIONS = new WeakMap<Decision, string>();

function decisionText(decision: Decision): string {
  const known = DECISIONS.get(decision);
  if (known !== undefined) return known;
  // Drops members that are undefined, which canonical JSON cannot express.
  const text = serializeCanonical(JSON.parse(JSON.stringify(decision)));
  DECISIONS.set(decision, text);
  return text;
}

const MAX_CLIENTS = 256;
const CLIENTS = new Map<string, string>();

/** Cached, since most calls come from few clients. */
function clientText(json: string): string {
  const known = CLIENTS.get(json);
  if (known !== undefined) return known;
  const { name, version } = parseObject(json);
  const text = serializeCanonical({
    ...(typeof name === 'string' && { name: bounded(name) }),
    ...(typeof version === 'string' && { version: bounded(version) }),
  });
  // Clients choose these texts, so only a few short ones are cached.
  if (CLIENTS.size >= MAX_CLIENTS) CLIENTS.clear();
  if (json.length <= 4 * MAX_NAME) CLIENTS.set(json, text);
  return text;
}
