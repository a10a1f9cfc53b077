import { quote, toPrintable } from '@assay-mcp/kit/printable';
import { formatReasons } from '../policy/reason-text.ts';
import type { ApprovalScope, ApprovalState } from '../approval.ts';
import type { HintWarning, PolicyReason } from '../policy/policy.ts';
import { formatStop, formatStopTarget, type Stop } from '../stops.ts';
import { INTERNAL, INVALID_PARAMS, type RefusalTable } from './refusal-row.ts';

/** Refusals about the policy and approvals. */
export type PolicyRefusal =
  | { readonly code: 'CALL_REFUSED'; readonly tool: string; readonly reasons: readonly PolicyReason[] }
  /** An operator has stopped the tool, its server or all calls. */
  | { readonly code: 'CALL_STOPPED'; readonly stop: Stop }
  | { readonly code: 'STOP_UNKNOWN'; readonly id: string }
  | { readonly code: 'NOTICE_UNSENT'; readonly setting: string }
  | { readonly code: 'STOPS_LIMIT'; readonly limit: number }
  | {
      readonly code: 'APPROVAL_REQUIRED';
      readonly tool: string;
      readonly reasons: readonly PolicyReason[];
      /** Empty if operators do not want them shown. */
      readonly warnings: readonly HintWarning[];
      /** Id of the approval that an operator can give. Undefined if the call does not wait for one. */
      readonly approval?: string | undefined;
      /** The client's user was not asked, because the arguments are too long for a question. */
      readonly isTooLong?: boolean | undefined;
    }
  | {
      readonly code: 'APPROVAL_DENIED';
      readonly tool: string;
      /** As written by the person who denied it. */
      readonly reason?: string | undefined;
    }
  | { readonly code: 'APPROVALS_FULL'; readonly limit: number }
  | { readonly code: 'APPROVAL_UNKNOWN'; readonly id: string }
  | { readonly code: 'APPROVAL_CLOSED'; readonly id: string; readonly state: ApprovalState }
  /** The caller tried to approve its own call. */
  | { readonly code: 'APPROVAL_OWN'; readonly id: string; readonly subject: string }
  | { readonly code: 'APPROVAL_ONCE_ONLY'; readonly id: string; readonly tool: string }
  /** The scope is not among those that the request offers. */
  | {
      readonly code: 'APPROVAL_SCOPE_INVALID';
      readonly id: string;
      readonly scopes: readonly ApprovalScope[];
    }
  | { readonly code: 'LABELS_UNKNOWN'; readonly subject: string };

export const POLICY_REFUSALS: RefusalTable<PolicyRefusal> = {
  CALL_REFUSED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: 'failed' },
    isToolError: true,
    sentence: (r) =>
      `The call of ${quote(r.tool)} was refused, and it had no effect. ${formatReasons(r, 'client').join(' ')} Do not retry it. An operator can change this; \`assay policy test\` explains the decision.`,
  },
  CALL_STOPPED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: 'failed' },
    isToolError: true,
    sentence: (r) =>
      `The request was refused, and it had no effect. ${formatStop(r.stop)} Do not retry it; tell the user. An operator can allow it again with \`assay enable ${r.stop.target.kind === 'all_calls' ? '--all-calls' : toPrintable(formatStopTarget(r.stop.target))}\`.`,
  },
  STOP_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: 'usage' },
    sentence: (r) => `Nothing with the id ${quote(r.id)} is stopped. \`assay disable\` lists what is.`,
  },
  NOTICE_UNSENT: {
    reported: { rpc: INTERNAL, http: 502, exit: 'failed' },
    sentence: (r) =>
      `A test notice could not be sent. Correct the setting ${quote(r.setting)} or its target, restart Assay if you changed the setting, and repeat the test.`,
  },
  STOPS_LIMIT: {
    reported: { rpc: INTERNAL, http: 429, exit: 'usage' },
    sentence: (r) =>
      `There are already ${r.limit} stops, which is the maximum. Stop a whole server or all calls instead, or enable some first.`,
  },
  APPROVAL_REQUIRED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: 'failed' },
    isToolError: true,
    sentence: (r) =>
      `The call of ${quote(r.tool)} needs approval, and it had no effect. ${formatReasons(r, 'client').join(' ')}${r.isTooLong === true ? ' Its arguments are too long to ask here, so it can only be approved in the inbox.' : ''} ${r.approval === undefined ? 'Tell the user. An operator can allow such calls with a rule; `assay policy test` explains the decision.' : `Ask the user to approve it with \`assay approvals approve ${r.approval}\`, then send the same call again.`}`,
  },
  APPROVAL_DENIED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: 'failed' },
    isToolError: true,
    sentence: (r) =>
      `The call of ${quote(r.tool)} was denied, and it had no effect${r.reason === undefined ? '' : `: ${quote(r.reason)}`}. Do not retry it; ask the user what to do instead.`,
  },
  APPROVALS_FULL: {
    reported: { rpc: INTERNAL, http: 200, rest: 429, exit: 'unavailable' },
    isToolError: true,
    sentence: (r) =>
      `The call needs approval, and it had no effect: there are already ${r.limit} approvals, which is the maximum. Ask the user to answer those that wait, which \`assay approvals\` lists, or try again later.`,
  },
  APPROVAL_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: 'usage' },
    sentence: (r) => `There is no approval ${quote(r.id)}. \`assay approvals\` lists all.`,
  },
  APPROVAL_CLOSED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `The approval ${quote(r.id)} can no longer be answered or changed this way: it is ${r.state}. \`assay approvals\` lists those that wait.`,
  },
  APPROVAL_OWN: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: 'usage' },
    sentence: (r) =>
      `The approval ${quote(r.id)} is for a call of ${quote(r.subject)} itself, which cannot approve it. Use another token of scope admin, or \`assay approvals approve\`.`,
  },
  APPROVAL_ONCE_ONLY: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: 'usage' },
    sentence: (r) =>
      `Each call of ${quote(r.tool)} needs an approval, so the approval ${quote(r.id)} can be for one call only. Approve it with the scope "once".`,
  },
  APPROVAL_SCOPE_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: 'usage' },
    sentence: (r) =>
      `The approval ${quote(r.id)} cannot have that scope. Choose one of: ${r.scopes.join(', ')}.`,
  },
  LABELS_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 404, exit: 'usage' },
    sentence: (r) =>
      `The caller ${quote(r.subject)} has no labels. \`assay policy labels\` lists all who do.`,
  },
};
