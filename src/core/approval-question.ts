import {
  type ApprovalRequest,
  type ApprovalScope,
  APPROVAL_SCOPES,
  argumentsForApprover,
  MAX_ARGUMENTS_IN_QUESTION,
  startOfArguments,
} from './approval.ts';
import { isJsonObject, type JsonObject, parsedJson } from './json-object.ts';
import { hintText, policyReasonText, warningText } from './policy/reason-text.ts';
import { printable } from './printable.ts';

/** The question to a client's user before a call, as params of `elicitation/create` in form mode. */
export function approvalQuestion(request: ApprovalRequest): JsonObject {
  const properties = request.scopes.length > 1 ? { scope: scopeSchema(request) } : {};
  return { message: approvalText(request), requestedSchema: { type: 'object', properties } };
}

/** Whether a question can contain all arguments. Otherwise the call is answered in the inbox only. */
export function fitsQuestion(request: ApprovalRequest): boolean {
  const { text, isShortened } = argumentsForApprover(request);
  return !isShortened && printable(text).length <= MAX_ARGUMENTS_IN_QUESTION;
}

/** The text that a client shows with the link to the inbox. */
export function approvalLinkText(request: ApprovalRequest): string {
  return `Assay needs approval before it carries this call out. Approve or deny it on the page.\n\n${approvalText(request)}`;
}

/** The text of the question. Text from servers and clients is escaped, so that it cannot pass for ours. */
export function approvalText(request: ApprovalRequest): string {
  const { namespacedName, title, reasons, warnings, hints } = request;
  const { text, isShortened, isMasked } = startOfArguments(argumentsForApprover(request));
  const incomplete = [...(isShortened ? ['shortened'] : []), ...(isMasked ? ['known secrets masked'] : [])];
  const name = JSON.stringify(namespacedName);
  const notes = warnings.map(warningText).join('; ');
  return [
    `Allow this call of ${title === undefined || title === '' ? name : `${JSON.stringify(title)} (${name})`}?`,
    `Arguments${incomplete.length === 0 ? '' : ` (${incomplete.join(', ')})`}: ${text}`,
    ...(notes === '' ? [] : [`Note: ${notes}.`, `Hints: ${hints.map(hintText).join('; ')}.`]),
    `Why you are asked: ${reasons.map(policyReasonText).join('; ')}.`,
  ]
    .map(printable)
    .join('\n\n');
}

const SCOPES: Readonly<Record<ApprovalScope, string>> = {
  once: 'for this call only',
  session: 'for all calls of this tool in this session',
  server: 'for this session and destination server',
  always: 'for all calls of this tool, until its definition changes',
};

function scopeSchema({ scopes, server }: ApprovalRequest): JsonObject {
  const destination = ` ${printable(JSON.stringify(server))}`;
  const description = scopes
    .map((scope) => `${scope}: ${SCOPES[scope]}${scope === 'server' ? destination : ''}`)
    .join('; ');
  return { type: 'string', title: 'Approve', description, enum: scopes, default: 'once' };
}

/** The client's answer. `unanswered`: cancelled or not a valid answer, so nothing is approved. */
export type QuestionAnswer =
  | { readonly kind: 'approved'; readonly scope: ApprovalScope }
  | { readonly kind: 'denied' }
  | { readonly kind: 'unanswered' };

/** Reads the result of `elicitation/create`, as JSON text. */
export function readQuestionAnswer(text: string, scopes: readonly ApprovalScope[]): QuestionAnswer {
  const result = parsedJson(text);
  if (!isJsonObject(result)) return UNANSWERED;
  const { action, content } = result;
  if (action === 'decline') return { kind: 'denied' };
  if (action !== 'accept') return UNANSWERED;
  const chosen = isJsonObject(content)
    ? (content['scope'] ?? 'once')
    : content === undefined
      ? 'once'
      : undefined;
  const scope = APPROVAL_SCOPES.find((one) => one === chosen);
  return scope !== undefined && scopes.includes(scope) ? { kind: 'approved', scope } : UNANSWERED;
}

const UNANSWERED: QuestionAnswer = { kind: 'unanswered' };
