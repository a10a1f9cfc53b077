import type { ApprovalRequest, ApprovalScope } from '../../core/approval.ts';
import { hashArguments, sha256 } from '@assay-mcp/kit/digest';
import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import { toDecisionReason } from '../../core/hints/reason.ts';
import { isJsonObject, parseObject } from '@assay-mcp/kit/json-object';
import type { AskedPer, Decision, PolicyTool } from '../../core/policy/policy.ts';
import { listHintWarnings } from '../../core/policy/reason-text.ts';
import { computeIdentity, computeOriginIdentity } from '../../core/server-identity.ts';
import { formatNamespacedName } from '../../core/tool-ref.ts';
import { readJsonString } from '@assay-mcp/protocol/spans';
import { findNameMember } from '@assay-mcp/protocol/translate';
import { computeSessionlessId, type Approvals } from '../catalog/approvals.ts';
import { getClientInfo } from '../catalog/link-choice.ts';
import { getDigest } from '../catalog/definition-facts.ts';
import type { Server } from '../catalog/server.ts';
import type { Definition } from '../ports/link.ts';
import type { ApprovalBinding } from '../ports/approvals.ts';
import type { Call } from './call.ts';
import { getPolicy } from './labels.ts';
import { truncateText } from '@assay-mcp/kit/shorten';

export type Ask = Extract<Decision, { kind: 'ask' }>;

/**
 * What the approval of a call applies to. Approvals of runs on the pages apply only to one run: an MCP client with the
 * same token must not benefit from what its user approves for themselves.
 */
export function buildApprovalBinding(call: Call, tool: PolicyTool): ApprovalBinding {
  const { entry, isFromPages } = call;
  const identity = entry === undefined ? '' : computeOriginIdentity(entry.server.spec);
  const args = call.argumentsText ?? '{}';
  const run = isFromPages ? [crypto.randomUUID()] : [];
  return {
    subject: call.subject,
    session:
      call.identity.sessionId ?? call.sessionId ?? computeSessionlessId(getClientInfo(call, call.message)),
    toolKey: sha256(JSON.stringify([tool.server, identity, tool.name, ...(isFromPages ? [PAGES] : [])])),
    digest: tool.digest,
    serverKey: entry === undefined || isFromPages ? '' : serverKeyOf(entry.server),
    // Parsers disagree about duplicate keys, so arguments that have them match only the same text.
    argumentsHash: sha256([hashArguments(args), hashReasons(call), ...run].join('\n')),
  };
}

const PAGES = 'pages';

/** Changes with what the server is and what it offers, so that an approval does not outlast the server that was shown. */
function serverKeyOf({ spec, inventory: { tools } }: Server): string {
  return sha256(JSON.stringify([spec.name, computeIdentity(spec), toolsDigest(tools)]));
}

const TOOLS = new WeakMap<readonly Definition[], string>();

function toolsDigest(tools: readonly Definition[]): string {
  const known = TOOLS.get(tools);
  if (known !== undefined) return known;
  const digest = sha256(tools.map(getDigest).toSorted().join());
  TOOLS.set(tools, digest);
  return digest;
}

/**
 * Hash of why a call needs approval, and of the hints that a person is shown. An approval is valid only for the same
 * hash.
 */
export function hashReasons({ decision, tool }: Call): string {
  const asked = decision?.kind === 'ask' ? [decision.per, decision.reasons] : [];
  const hints = tool && HINTS.map((hint) => tool.hints[hint].decision.value);
  return sha256(JSON.stringify([asked, hints]));
}

const SCOPES: Readonly<Record<AskedPer, readonly ApprovalScope[]>> = {
  call: ['once'],
  session: ['once', 'session', 'always'],
  server: ['once', 'server'],
};

interface Requested {
  readonly tool: PolicyTool;
  readonly decision: Ask;
  readonly approvals: Approvals | undefined;
}

/** What a person is told about a call that needs approval. */
export function buildApprovalRequest(call: Call, { tool, decision, approvals }: Requested): ApprovalRequest {
  const { message, entry } = call;
  const name = readJsonString(message.bytes, findNameMember(message)) ?? tool.name;
  const text = call.argumentsText ?? '{}';
  const shown = approvals?.options.shownArguments(text);
  const client = getClientInfo(call, message);
  const title = entry === undefined ? undefined : titleOf(parseObject(entry.definition.bytes.toString()));
  return {
    tool: name,
    namespacedName: tool.server === undefined ? tool.name : formatNamespacedName(tool.server, tool.name),
    ...(title !== undefined && { title }),
    server: tool.server ?? '',
    ...(client !== undefined && { client: truncateText(client, MAX_CLIENT_LENGTH) }),
    complete: approvals?.options.argumentsToApprove(text),
    arguments: shown?.text ?? '',
    isShortened: shown?.isShortened ?? true,
    reasons: decision.reasons,
    warnings: getPolicy(call).showWarnings ? listHintWarnings(tool) : [],
    hints: HINTS.map((hint) => {
      const { code: origin, text } = toDecisionReason(tool.hints[hint]);
      const reason = [text, ...findStudied(tool.hints[hint])].join('; ');
      return { hint, value: tool.hints[hint].decision.value, origin, reason };
    }),
    // A run on the pages is approved by itself.
    scopes: SCOPES[decision.per === 'server' && call.isFromPages ? 'call' : decision.per],
  };
}

/** What the study saw, unless it decided the value and so is the reason already. */
function findStudied({ claims, decision: { by } }: PolicyTool['hints'][Hint]): readonly string[] {
  return claims.flatMap((claim) =>
    claim.source === 'study' && claim.reason !== undefined && !(by.kind === 'claim' && by.claim === claim)
      ? [claim.reason]
      : [],
  );
}

const MAX_CLIENT_LENGTH = 500;
const MAX_TITLE_LENGTH = 200;

function titleOf({ title, annotations }: Readonly<Record<string, unknown>>): string | undefined {
  const given = title ?? (isJsonObject(annotations) ? annotations['title'] : undefined);
  return typeof given === 'string' && given !== '' ? truncateText(given, MAX_TITLE_LENGTH) : undefined;
}
