import {
  type ApprovalRequest,
  type ApprovalScope,
  APPROVAL_SCOPES,
  getApproverArguments,
  MAX_ARGUMENTS_IN_QUESTION,
  truncateArguments,
} from './approval.ts';
import { isJsonObject, type JsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { formatHints, formatReasons } from './policy/reason-text.ts';
import { toPrintable } from '@assay-mcp/kit/printable';

/** The question to a client's user before a call, as params of `elicitation/create` in form mode. */
export function buildApprovalQuestion(request: ApprovalRequest): JsonObject {
  const properties = request.scopes.length > 1 ? { scope: scopeSchema(request) } : {};
  return { message: formatApproval(request), requestedSchema: { type: 'object', properties } };
}

/** Whether a question can contain all arguments. Otherwise the call is answered in the inbox only. */
export function fitsQuestion(request: ApprovalRequest): boolean {
  const { text, isShortened } = getApproverArguments(request);
  return !isShortened && toPrintable(text).length <= MAX_ARGUMENTS_IN_QUESTION;
}

/** The text that a client shows with the link to the inbox. */
export function formatApprovalLink(request: ApprovalRequest): string {
  return `Assay needs approval before it carries this call out. Approve or deny it on the page.\n\n${formatApproval(request)}`;
}

/** The text of the question. Text from servers and clients is escaped, so that it cannot pass for ours. */
export function formatApproval(request: ApprovalRequest): string {
  const { namespacedName, title, warnings, hints } = request;
  const { text, isShortened, isMasked } = truncateArguments(getApproverArguments(request));
  const incomplete = [...(isShortened ? ['shortened'] : []), ...(isMasked ? ['known secrets masked'] : [])];
  const name = JSON.stringify(namespacedName);
  return [
    `Allow this call of ${title === undefined || title === '' ? name : `${JSON.stringify(title)} (${name})`}?`,
    `Arguments${incomplete.length === 0 ? '' : ` (${incomplete.join(', ')})`}: ${text}`,
    `Why you are asked: ${formatReasons(request).join(' ')}`,
    ...(warnings.length === 0 ? [] : [`Hints: ${formatHints(hints)}.`]),
  ]
    .map(toPrintable)
    .join('\n\n');
}

const SCOPES: Readonly<Record<ApprovalScope, string>> = {
  once: 'for this call only',
  session: 'for all calls of this tool in this session',
  server: 'for this session and destination server',
  always: 'for all calls of this tool, until its definition changes',
};

function scopeSchema({ scopes, server }: ApprovalRequest): JsonObject {
  const destination = ` ${toPrintable(JSON.stringify(server))}`;
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
  const result = parseJson(text);
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
