import type { ApprovalRefusal } from './approval.ts';
import { policyReasonText, warningText } from './policy/reason-text.ts';

type Sentences = {
  readonly [C in ApprovalRefusal['code']]: (refusal: Extract<ApprovalRefusal, { code: C }>) => string;
};

/**
 * The sentences for clients, models and operators about calls that were not sent. The caller bounds and escapes the
 * inserted texts.
 */
export const APPROVAL_SENTENCES: Sentences = {
  CALL_REFUSED: (r) =>
    `The call of ${JSON.stringify(r.tool)} was refused, and it had no effect: ${r.reasons.map(policyReasonText).join('; ')}. Do not retry it. An operator can change this; \`assay policy test\` explains the decision.`,
  APPROVAL_REQUIRED: (r) =>
    `The call of ${JSON.stringify(r.tool)} needs approval, and it had no effect: ${r.reasons.map(policyReasonText).join('; ')}.${r.isTooLong === true ? ' Its arguments are too long to ask here, so it can only be approved in the inbox.' : ''}${r.warnings.length === 0 ? '' : ` Note: ${r.warnings.map(warningText).join('; ')}.`} ${r.approval === undefined ? 'Tell the user. An operator can allow such calls with a rule; `assay policy test` explains the decision.' : `Ask the user to approve it with \`assay approvals approve ${r.approval}\`, then send the same call again.`}`,
  APPROVAL_DENIED: (r) =>
    `The call of ${JSON.stringify(r.tool)} was denied, and it had no effect${r.reason === undefined ? '' : `: ${JSON.stringify(r.reason)}`}. Do not retry it; ask the user what to do instead.`,
  APPROVALS_FULL: (r) =>
    `The call needs approval, and it had no effect: there are already ${r.limit} approvals, which is the maximum. Ask the user to answer those that wait, which \`assay approvals\` lists, or try again later.`,
  APPROVAL_UNKNOWN: (r) => `There is no approval ${JSON.stringify(r.id)}. \`assay approvals\` lists all.`,
  APPROVAL_CLOSED: (r) =>
    `The approval ${JSON.stringify(r.id)} can no longer be answered or changed this way: it is ${r.state}. \`assay approvals\` lists those that wait.`,
  APPROVAL_OWN: (r) =>
    `The approval ${JSON.stringify(r.id)} is for a call of ${JSON.stringify(r.subject)} itself, which cannot approve it. Use another token of scope admin, or \`assay approvals approve\`.`,
  APPROVAL_ONCE_ONLY: (r) =>
    `Each call of ${JSON.stringify(r.tool)} needs an approval, so the approval ${JSON.stringify(r.id)} can be for one call only. Approve it with the scope "once".`,
  APPROVAL_SCOPE_INVALID: (r) =>
    `The approval ${JSON.stringify(r.id)} cannot have that scope. Choose one of: ${r.scopes.join(', ')}.`,
};
