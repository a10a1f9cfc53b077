import type { ApprovalRequest } from '../../core/approval.ts';
import {
  formatApprovalLink,
  buildApprovalQuestion,
  fitsQuestion,
  type QuestionAnswer,
  readQuestionAnswer,
} from '../../core/approval-question.ts';
import { isJsonObject, type JsonObject, parseObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import {
  toLegacyRequest,
  serializeInputRequired,
  type Retry,
  removeRetry,
} from '@assay-mcp/protocol/server-requests';
import { type Approvals, createApprovalId } from '../catalog/approvals.ts';
import { readModernProfile } from '../catalog/link-choice.ts';
import type { ApprovalBinding, StoredApproval } from '../ports/approvals.ts';
import { type Ask, buildApprovalBinding, hashReasons, buildApprovalRequest } from './approval-request.ts';
import { type Answer, type Call, type GivenApproval, toRefusedAnswer, findSendRefusalNow } from './call.ts';
import { askClient, showClient } from './input-requests.ts';
import { decideCall, decideWithoutLabels, getPolicy, refuseByPolicy, relearnLabels } from './labels.ts';
import { type OpenedRetry, openRetry, type RequestState, sealState } from './request-state.ts';
import { isUnchanged } from './send-again.ts';

/** A call that needs approval. */
interface Asked {
  readonly call: Call;
  readonly approvals: Approvals;
  readonly binding: ApprovalBinding;
  readonly request: ApprovalRequest;
  /** Empty for Assay's own tools. */
  readonly server: string;
  /** Whether the server was approved as a destination, so that other reasons are asked about. */
  readonly isGranted: boolean;
}

/**
 * Obtains approval for a call (docs/POLICY.md): from an earlier approval, from the user of the client during the call,
 * or from an operator through the inbox. Undefined if the call may be sent; it is then in `call.approval`.
 */
export async function obtainApproval(call: Call, decision: Ask): Promise<Answer | undefined> {
  const { approvals } = call.deps;
  const { tool } = call;
  if (tool === undefined) return toRefusedAnswer({ code: 'INTERNAL' });
  if (approvals === undefined)
    return toRefusedAnswer(requiredBy(buildApprovalRequest(call, { tool, decision, approvals })));
  const server = tool.server ?? '';
  const retry = await openRetry(call, server);
  if (!retry.ok) return toRefusedAnswer(retry.error);
  const state = retry.value?.state;
  // The server of the call must not see the answer to a question that it did not ask.
  if (state?.kind === 'approval' || state?.kind === 'inbox') call.message = removeRetry(call.message);
  const granted =
    decision.per === 'server'
      ? await approvals.serverGrantFor(buildApprovalBinding(call, tool))
      : ok(undefined);
  if (!granted.ok) return toRefusedAnswer(granted.error);
  const rest = granted.value === undefined ? decision : decideWithoutLabels(call);
  if (rest?.kind !== 'ask') {
    if (granted.value !== undefined) call.approval = approvalOf(granted.value);
    return undefined;
  }
  call.decision = rest;
  const request = buildApprovalRequest(call, { tool, decision: rest, approvals });
  const isGranted = granted.value !== undefined;
  const asked: Asked = {
    call,
    approvals,
    binding: buildApprovalBinding(call, tool),
    request,
    server,
    isGranted,
  };
  const outcome = await outcomeOf(asked, rest, retry.value);
  if (!outcome.ok) return outcome.error;
  const changed = await changeSince(asked);
  if (changed !== undefined) return toRefusedAnswer(changed);
  call.approval = outcome.value;
  return undefined;
}

/** While the call waited, its token may have ended, its tool may have changed, and the policy may now refuse it. */
async function changeSince({ call, request, isGranted }: Asked): Promise<Refusal | undefined> {
  const ended = await findSendRefusalNow(call);
  if (ended !== undefined) return ended;
  const { entry, view } = call;
  const found = entry && (await view.tool(entry.key));
  // Tools that are called through another tool are not listed themselves.
  if (found?.ok === false && found.error.code !== 'CALL_TOOL_REQUIRED') return found.error;
  if (entry !== undefined && !isUnchanged(call, entry.server)) return requiredBy(request);
  const per = call.decision?.kind === 'ask' ? call.decision.per : undefined;
  relearnLabels(call);
  const decision = isGranted ? decideWithoutLabels(call) : decideCall(call);
  if (decision?.kind === 'refuse') return refuseByPolicy(request.tool, decision.reasons);
  const hasOtherReasons =
    decision?.kind === 'ask' && JSON.stringify(decision.reasons) !== JSON.stringify(request.reasons);
  // Its server is trusted meanwhile: who approved one of the calls that are all confirmed, approved the first one, too.
  const isCovered = per === 'call' && decision?.kind === 'ask' && decision.per === 'session';
  return hasOtherReasons && !isCovered ? requiredBy({ ...request, reasons: decision.reasons }) : undefined;
}

/** The approval, or the answer that the client gets instead of a result: a refusal, or a question. */
type Outcome = Result<GivenApproval, Answer>;

async function outcomeOf(asked: Asked, { per }: Ask, retry: OpenedRetry | undefined): Promise<Outcome> {
  const { call, approvals, binding } = asked;
  const { repeats } = call.deps;
  const state = retry?.state;
  const reasons = hashReasons(call);
  if (retry !== undefined && state?.kind === 'approval' && state.asked === reasons)
    return takeAnswer(asked, state.id, retry.retry);
  if ((state?.kind === 'server' || state?.kind === 'suspended') && state.approval?.asked === reasons)
    return resumeApproved(asked, { kind: state.kind, id: state.approval.id });
  if (repeats.take(call)) return ok({ id: '', by: call.subject, scope: 'once' });
  if (per === 'session') {
    const granted = await approvals.grantFor(binding);
    if (!granted.ok) return refusal(granted.error);
    if (granted.value !== undefined) return ok(approvalOf(granted.value));
  }
  const { approver } = getPolicy(call);
  const isClient =
    approver === 'client' ||
    (approver === 'by_transport' && (approvals.options.isUsersClient || call.attached !== undefined));
  // Asking the client would replace a modern server's state, which would be lost.
  const mayAsk = retry === undefined || state?.kind === 'approval';
  const isAskable = isClient && acceptsForms(call);
  const isTooLong = isAskable && !fitsQuestion(asked.request);
  if (isAskable && mayAsk && !isTooLong) return askInBand(asked);
  return askInbox(asked, { link: mayAsk ? linkFor(asked) : undefined, isTooLong });
}

/** Waits for an operator. A client that can open a link is sent to the page where the call waits. */
async function askInbox(
  asked: Asked,
  { link, isTooLong }: { readonly link: JsonObject | undefined; readonly isTooLong: boolean },
): Promise<Outcome> {
  const { call, approvals, binding, request, server } = asked;
  const waiting = link && (await approvals.request(binding, request));
  if (waiting?.ok === false) return refusal(waiting.error);
  let close: (() => void) | undefined;
  if (link !== undefined && waiting?.value.state === 'pending') {
    const message = buildOwnRequest('elicitation/create', link);
    if (call.era === 'modern') {
      const state = await sealState(call, server, { kind: 'inbox' });
      const result = serializeInputRequired([{ key: QUESTION, message }], state);
      return err({ kind: 'own', result: Buffer.from(result) });
    }
    close = showClient(call, toLegacyRequest(message, waiting.value.id));
  }
  const { cancellation, client, isFromPages } = call;
  const obtained = await approvals.obtain(binding, request, {
    cancellation,
    isSole: isFromPages,
    onWaiting: (approval) => client.onWaiting?.(approval),
    onDenied: ({ id, answer }) => {
      const { by = '', reason } = answer ?? {};
      call.denial = { id, by, ...(reason !== undefined && { reason }) };
    },
  });
  close?.();
  if (obtained.ok) return ok(approvalOf(obtained.value));
  const { error } = obtained;
  return refusal(isTooLong && error.code === 'APPROVAL_REQUIRED' ? { ...error, isTooLong } : error);
}

/** Undefined if there is no page, or the client cannot open links (2025-11-25, client/elicitation). */
function linkFor({ call, approvals: { baseUrl }, request }: Asked): JsonObject | undefined {
  if (baseUrl === undefined || !isJsonObject(elicitationOf(call)?.['url'])) return undefined;
  return { mode: 'url', message: formatApprovalLink(request), url: `${baseUrl}/admin/approvals` };
}

function refusal(reason: Refusal): Outcome {
  return err(toRefusedAnswer(reason));
}

function approvalOf({ id, answer }: StoredApproval): GivenApproval {
  return { id, by: answer?.by ?? '', scope: answer?.scope ?? 'once' };
}

/** The call was approved, and its server then asked for input. Each server state can resume the call once. */
async function resumeApproved(
  asked: Asked,
  { kind, id }: { readonly kind: RequestState['kind']; readonly id: string },
): Promise<Outcome> {
  if (kind === 'server') {
    const first = await asked.approvals.use(id, asked);
    if (!first.ok) return refusal(first.error);
    if (!first.value) return refusal(USED_STATE);
  }
  return ok({ id, by: asked.call.subject, scope: 'once' });
}

const USED_STATE: Refusal = { code: 'STATE_INVALID', reason: 'it was used before' };

function askInBand(asked: Asked): Promise<Outcome> {
  return asked.call.era === 'legacy' ? askLegacy(asked) : askModern(asked);
}

async function askLegacy(asked: Asked): Promise<Outcome> {
  const { call, request } = asked;
  const answer = await askClient(call, questionOf(request));
  if (answer === undefined) return refusal({ code: 'CANCELLED' });
  const read = answer.kind === 'result' ? readQuestionAnswer(answer.text, request.scopes) : UNANSWERED;
  return takeDecision(asked, createApprovalId(), read);
}

const UNANSWERED: QuestionAnswer = { kind: 'unanswered' };
/** The key of the question among the input requests of a result. */
const QUESTION = 'approval';

async function askModern({ call, request, server }: Asked): Promise<Outcome> {
  const state = await sealState(call, server, {
    kind: 'approval',
    id: createApprovalId(),
    asked: hashReasons(call),
  });
  const questions = [{ key: QUESTION, message: questionOf(request) }];
  return err({ kind: 'own', result: Buffer.from(serializeInputRequired(questions, state)) });
}

function questionOf(request: ApprovalRequest): ReturnType<typeof buildOwnRequest> {
  return buildOwnRequest('elicitation/create', buildApprovalQuestion(request));
}

function takeAnswer(asked: Asked, id: string, { responses }: Retry): Promise<Outcome> {
  const { request } = asked;
  return takeDecision(asked, id, readQuestionAnswer(responses.get(QUESTION) ?? '', request.scopes));
}

/** The approval is stored before the call is sent, so that it is used only once, whatever happens meanwhile. */
async function takeDecision(asked: Asked, id: string, answer: QuestionAnswer): Promise<Outcome> {
  const { call, approvals, binding, request } = asked;
  if (answer.kind === 'denied') {
    call.denial = { by: call.subject };
    return refusal({ code: 'APPROVAL_DENIED', tool: request.tool });
  }
  if (answer.kind === 'unanswered') return refusal(requiredBy(request));
  const { scope } = answer;
  const by = call.subject;
  const recorded = await approvals.record(id, { binding, request, scope, by });
  if (!recorded.ok) return refusal(recorded.error);
  return recorded.value ? ok({ id, by, scope }) : refusal(USED_STATE);
}

/** Whether the client can show a form (2025-06-18 and later; empty means the form mode). */
function acceptsForms(call: Call): boolean {
  const elicitation = elicitationOf(call);
  if (elicitation === undefined) return false;
  return Object.keys(elicitation).length === 0 || isJsonObject(elicitation['form']);
}

/** The modes in which the client can be asked. Undefined if it cannot. */
function elicitationOf(call: Call): JsonObject | undefined {
  const isModern = call.era === 'modern';
  const capabilities = isModern
    ? readModernProfile(call.message, call.subject).capabilities
    : call.capabilities;
  const elicitation = parseObject(capabilities ?? '{}')['elicitation'];
  return isJsonObject(elicitation) && (isModern || call.client.ask !== undefined) ? elicitation : undefined;
}

function requiredBy({ tool, reasons, warnings }: ApprovalRequest): Refusal {
  return { code: 'APPROVAL_REQUIRED', tool, reasons, warnings };
}
