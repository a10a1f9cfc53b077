import { quote } from '@assay-mcp/kit/printable';
import { formatCause, type Cause } from '../cause.ts';
import { getGapRemedy, formatGap, type SandboxGap } from '@assay-mcp/sandbox/support';
import type { TwinRights } from '@assay-mcp/sandbox/rights';
import { formatDenialRule, formatDenial, type Denial } from '@assay-mcp/sandbox/denial';
import { INTERNAL, INVALID_PARAMS, METHOD_NOT_FOUND, type RefusalTable } from './refusal-row.ts';

/** A call without a result, which its server may have executed all the same. */
export interface SentCall {
  readonly effect: 'unknown';
  /** Number of times it was sent. */
  readonly times: number;
  /** Whether the tool is read-only or idempotent, so that the call can be repeated. */
  readonly mayRepeat: boolean;
}

/** Refusals about calls, and what they need of a server. */
export type CallRefusal =
  | { readonly code: 'TOOL_UNKNOWN'; readonly name: string; readonly nearest?: string }
  | { readonly code: 'NAME_AMBIGUOUS'; readonly name: string; readonly candidates: readonly string[] }
  | { readonly code: 'TOOL_WITHHELD'; readonly name: string; readonly reason: string }
  | { readonly code: 'TOOL_DISABLED'; readonly tool: string }
  /** `toolset`: pinned the definition. Undefined if it changed while a call waited. */
  | { readonly code: 'TOOL_CHANGED'; readonly tool: string; readonly toolset?: string }
  | { readonly code: 'TOOL_DRIFTED'; readonly tool: string }
  /** The endpoint lists no tools of servers; they are called through `call_tool`. */
  | { readonly code: 'CALL_TOOL_REQUIRED'; readonly tool: string }
  | {
      readonly code: 'MODE_DIFFERS';
      readonly tool: string;
      /** The current mode. */
      readonly mode: 'configuration' | 'normal';
      /** The tool that switches to the other mode. */
      readonly switch: string;
    }
  /** The call was carried out, and its result is above `maxResultBytes`. */
  | {
      readonly code: 'RESULT_TOO_LARGE';
      readonly server: string;
      readonly tool: string;
      readonly bytes: number;
      readonly maxBytes: number;
      /** Otherwise it has no content that could be cut. */
      readonly isStructured: boolean;
    }
  | { readonly code: 'PROMPT_UNKNOWN'; readonly name: string }
  | { readonly code: 'RESOURCE_UNKNOWN'; readonly uri: string }
  | { readonly code: 'SUBSCRIPTION_UNSUPPORTED'; readonly server: string; readonly uri: string }
  | { readonly code: 'SUBSCRIPTION_LIMIT'; readonly limit: number }
  | { readonly code: 'TASK_UNKNOWN'; readonly taskId: string }
  | { readonly code: 'TASK_UNSUPPORTED'; readonly name: string }
  | { readonly code: 'TASK_REQUIRED'; readonly name: string }
  | {
      readonly code: 'SERVER_UNAVAILABLE';
      readonly server: string;
      readonly cause: Cause;
      /** Status of an HTTP server that did not answer with MCP. */
      readonly httpStatus?: number;
      readonly sent?: SentCall;
    }
  | {
      readonly code: 'SERVER_ENDED';
      readonly server: string;
      readonly cause: Cause;
      readonly sent?: SentCall;
    }
  /** The server did not know the session. It may have been asked about more than that, so the call was not repeated. */
  | { readonly code: 'SESSION_RENEWED'; readonly server: string; readonly cause: Cause }
  | { readonly code: 'SERVER_MESSAGE_INVALID'; readonly server: string; readonly reason: string }
  | { readonly code: 'SERVER_UNREACHED'; readonly server: string; readonly cause: Cause }
  | {
      readonly code: 'SERVER_TIMEOUT';
      readonly server: string;
      readonly limitMs: number;
      /** Set if it sent progress. */
      readonly elapsedMs?: number;
      readonly sent?: SentCall;
    }
  | { readonly code: 'SERVER_BUSY'; readonly server: string; readonly cause: Cause }
  | { readonly code: 'CLIENT_BUSY'; readonly limit: number }
  /** The tool is read-only, and the machine cannot run it with only these rights. */
  | { readonly code: 'SANDBOX_UNAVAILABLE'; readonly server: string; readonly gap: SandboxGap }
  /** The tool is read-only, and its sandbox denied an attempt. */
  | {
      readonly code: 'SANDBOX_DENIED';
      readonly server: string;
      readonly tool: string;
      readonly rights: TwinRights;
      readonly denial: Denial;
    }
  | { readonly code: 'SERVER_ASKS'; readonly server: string; readonly reason: string }
  | {
      readonly code: 'QUESTION_UNANSWERED';
      readonly server: string;
      readonly method: string;
      readonly reason: string;
    }
  | { readonly code: 'SERVER_STATE_LOST'; readonly server: string }
  | { readonly code: 'RESPONSE_LOST'; readonly sent: SentCall }
  | { readonly code: 'CLIENT_SILENT'; readonly reason: string }
  | { readonly code: 'STATE_INVALID'; readonly reason: string }
  | { readonly code: 'CALL_EXPIRED' }
  | { readonly code: 'CALL_ELSEWHERE' }
  | { readonly code: 'CALL_UNKNOWN'; readonly id: number | string }
  | { readonly code: 'CANCELLED' }
  | { readonly code: 'SHUTTING_DOWN' }
  | { readonly code: 'INTERNAL' };

export const CALL_REFUSALS: RefusalTable<CallRefusal> = {
  TOOL_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: 'usage' },
    sentence: (r) =>
      `Unknown tool ${quote(r.name)}. ${r.nearest === undefined ? '' : `Did you mean ${quote(r.nearest)}? `}"tools/list" or \`assay tools\` lists all tools.`,
  },
  NAME_AMBIGUOUS: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) => `The name ${quote(r.name)} is ambiguous. Use one of: ${r.candidates.join(', ')}.`,
  },
  TOOL_WITHHELD: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) => `The tool ${quote(r.name)} is withheld: ${r.reason}.`,
  },
  TOOL_DISABLED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `The tool ${quote(r.tool)} is disabled by an operator, who can enable it again: PATCH /tools/{id} with {"enabled": true}.`,
  },
  TOOL_CHANGED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      r.toolset === undefined
        ? `The call of ${quote(r.tool)} was not sent and had no effect: while it waited, the definition of the tool changed or its server started again. List the tools, then send the call again if it still fits.`
        : `The tool ${quote(r.tool)} is withheld: its definition has changed since the toolset ${quote(r.toolset)} pinned it. An operator can review the change with \`assay toolset review ${r.toolset}\` and accept it with \`assay toolset accept\`.`,
  },
  TOOL_DRIFTED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `The tool ${quote(r.tool)} is withheld: its definition has changed in a dangerous way. An operator can review and accept the change with \`assay review\`.`,
  },
  CALL_TOOL_REQUIRED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `The tool ${quote(r.tool)} cannot be called directly here: call "call_tool" with {"name": ${JSON.stringify(r.tool)}, "arguments": {…}}.`,
  },
  MODE_DIFFERS: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `The tool ${quote(r.tool)} cannot be called: Assay is in ${r.mode} mode. Call ${quote(r.switch)} first, and list the tools again.`,
  },
  PROMPT_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: 'usage' },
    sentence: (r) => `Unknown prompt ${quote(r.name)}. "prompts/list" lists all prompts.`,
  },
  RESULT_TOO_LARGE: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'failed' },
    isToolError: true,
    sentence: (r) =>
      `The tool ${quote(r.tool)} was called, but its result of ${r.bytes} bytes exceeds the limit of ${r.maxBytes} and cannot be cut${r.isStructured ? ', as it is structured' : ''}. Request less data, or raise "maxResultBytes" in the config entry of the server ${quote(r.server)}.`,
  },
  RESOURCE_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, legacyRpc: -32002, http: 200, rest: 404, exit: 'usage' },
    sentence: (r) => `No server offers the resource ${quote(r.uri)}.`,
  },
  SUBSCRIPTION_UNSUPPORTED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `Server ${quote(r.server)} does not support subscriptions to the resource ${quote(r.uri)}. Read it again when you need it.`,
  },
  SUBSCRIPTION_LIMIT: {
    reported: { rpc: INTERNAL, http: 429, exit: 'unavailable' },
    sentence: (r) =>
      `This client would exceed the maximum of ${r.limit} resource subscriptions. End some first.`,
  },
  TASK_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: 'usage' },
    sentence: (r) =>
      `You have no task ${quote(r.taskId)} at this endpoint. Use the id that came with the task, with the same token and endpoint.`,
  },
  TASK_UNSUPPORTED: {
    reported: { rpc: METHOD_NOT_FOUND, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) => `The tool ${quote(r.name)} cannot be run as a task. Call it without "task".`,
  },
  TASK_REQUIRED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `The tool ${quote(r.name)} runs only as a task of revision 2025-11-25, which clients of other revisions cannot ask for. Call it through a client of that revision.`,
  },
  SERVER_UNAVAILABLE: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'unavailable' },
    sentence: (r) =>
      `Server ${quote(r.server)} is not available: ${formatCause(r.cause)}.${sentCallText(r.sent)}`,
  },
  SERVER_ENDED: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'unavailable' },
    sentence: (r) =>
      `Server ${quote(r.server)} ended before it responded: ${formatCause(r.cause)}.${sentCallText(r.sent)}`,
  },
  SESSION_RENEWED: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'unavailable' },
    sentence: (r) =>
      `Server ${quote(r.server)} refused the request: ${formatCause(r.cause)}. Assay is opening a new session and has not sent the request again. The error indicates that it was not carried out, so you may repeat it.`,
  },
  SERVER_MESSAGE_INVALID: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'unavailable' },
    sentence: (r) =>
      `Server ${quote(r.server)} sent an ambiguous response, which was not relayed: ${r.reason}. JSON readers would disagree on its content. The call may have had its effect; report this to the author of the server.`,
  },
  SERVER_UNREACHED: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'unavailable' },
    sentence: (r) =>
      `Server ${quote(r.server)} could not be reached: ${formatCause(r.cause)}. The request was not carried out.`,
  },
  SERVER_TIMEOUT: {
    reported: { rpc: INTERNAL, http: 200, rest: 504, exit: 'unavailable' },
    sentence: (r) =>
      `Server ${quote(r.server)} sent ${r.elapsedMs === undefined ? `neither a result nor progress for ${r.limitMs} ms` : `progress, but no result within ${r.elapsedMs} ms`}, so the call was cancelled.${sentCallText(r.sent)} To allow more time, set "timeoutMs".`,
  },
  SERVER_BUSY: {
    reported: { rpc: INTERNAL, http: 200, rest: 503, exit: 'unavailable' },
    sentence: (r) =>
      `Server ${quote(r.server)} is busy: ${formatCause(r.cause)}. The request was not carried out; try again later.`,
  },
  CLIENT_BUSY: {
    reported: { rpc: INTERNAL, http: 429, exit: 'unavailable' },
    sentence: (r) =>
      `This client has reached the maximum of ${r.limit} requests in progress. Wait for responses, or raise limits.requestsPerClient.`,
  },
  SANDBOX_UNAVAILABLE: {
    reported: { rpc: INTERNAL, http: 200, rest: 503, exit: 'config' },
    isToolError: true,
    sentence: (r) =>
      `The call was not sent: the tool is read-only, and server ${quote(r.server)} cannot be confined to reading, because ${formatGap(r.gap)}. ${getGapRemedy(r.gap)}`,
  },
  SANDBOX_DENIED: {
    reported: { rpc: INTERNAL, http: 200, rest: 403, exit: 'failed' },
    isToolError: true,
    sentence: (r) =>
      `The sandbox stopped tool ${quote(r.tool)} of server ${quote(r.server)} from ${formatDenial(r.denial)}: ${formatDenialRule(r.denial, r.rights)}. Do not repeat the call. If the tool has to do this, its operator can override its hints.`,
  },
  SERVER_ASKS: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'failed' },
    sentence: (r) => `Server ${quote(r.server)} asks for input in the middle of the call, ${r.reason}.`,
  },
  QUESTION_UNANSWERED: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'failed' },
    sentence: (r) =>
      `Server ${quote(r.server)} asked ${quote(r.method)} in the middle of the call, and the client did not answer it: ${r.reason}.`,
  },
  SERVER_STATE_LOST: {
    reported: { rpc: INTERNAL, http: 200, rest: 409, exit: 'failed' },
    isToolError: true,
    sentence: (r) =>
      `Server ${quote(r.server)} ran in a process of this session at another replica of Assay, or before a restart. That process and its state are lost. The call was not carried out; retry to start a new process.`,
  },
  RESPONSE_LOST: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'failed' },
    sentence: () =>
      'The stream of this request was opened at another replica of Assay, or before a restart, and its response is not available here. Whether the request took effect is not known: check before you repeat it.',
  },
  CLIENT_SILENT: {
    reported: { rpc: INTERNAL, http: 200, rest: 502, exit: 'failed' },
    sentence: (r) => `The request of the server was not answered: ${r.reason}.`,
  },
  STATE_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: 'usage' },
    sentence: (r) =>
      `Invalid params: params.requestState: ${r.reason}. Send the request again without it to start over.`,
  },
  CALL_EXPIRED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'unavailable' },
    sentence: () =>
      'The call that waited for this answer has ended: it was already answered, took too long, or its server is gone. Send the request again without requestState to start over.',
  },
  CALL_ELSEWHERE: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'unavailable' },
    sentence: () =>
      'The call that waits for this answer belongs to another Assay process. Send the retry to that process, or send the request again without requestState.',
  },
  CALL_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 404, exit: 'usage' },
    sentence: (r) =>
      `No recorded call has the id ${quote(String(r.id))}. It may have been removed by age; \`assay activity\` lists the latest.`,
  },
  CANCELLED: {
    reported: { rpc: INTERNAL, http: 200, rest: 503, exit: 'failed' },
    sentence: () => 'The client cancelled the request.',
  },
  SHUTTING_DOWN: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: () => 'Assay is shutting down. Try again after it has restarted.',
  },
  INTERNAL: {
    reported: { rpc: INTERNAL, http: 500, exit: 'failed' },
    sentence: () => 'Internal error; see the log of Assay for details. The call may have had its effect.',
  },
};

/** What to do about a call without a result, as sentences to append. Empty if nothing was called. */
function sentCallText(sent: SentCall | undefined): string {
  if (sent === undefined) return '';
  const { times, mayRepeat } = sent;
  const unknown = ' It is unknown whether the call took effect.';
  if (!mayRepeat)
    return `${unknown} It was not sent again, because the tool is not known to be idempotent: check its effect before you repeat it.`;
  const tried = times === 1 ? '' : ` It was sent ${times} times.`;
  return `${unknown}${tried} You can safely repeat it: the tool is read-only or idempotent.`;
}
