import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import type { ReasonCode } from './hints/reason.ts';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import type { HintWarning, PolicyReason } from './policy/policy.ts';
import { isUntrustedClaim } from './policy/untrusted-claims.ts';
import { shorten } from '@assay-mcp/kit/shorten';

/**
 * `session`: until the session of the client ends. `server`: the same, for all calls to the server that could carry data
 * out, until its identity or its tools change. `always`: until the definition of the tool changes.
 */
export type ApprovalScope = 'once' | 'session' | 'server' | 'always';

export const APPROVAL_SCOPES: readonly ApprovalScope[] = ['once', 'session', 'server', 'always'];

/** `unreadable`: another program changed its row in the store so that it cannot be read. */
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'used' | 'revoked' | 'expired' | 'unreadable';

/** JSON text of arguments, or the start of it. */
export interface ShownArguments {
  readonly text: string;
  /** Whether something is missing because the text is too long or too deeply nested. */
  readonly isShortened: boolean;
  /** Whether something in it was replaced because it is, or may be, a secret. */
  readonly isMasked: boolean;
}

/** Longer arguments fit neither a question in a client nor a list; they are opened in full in the inbox. */
export const MAX_ARGUMENTS_IN_QUESTION = 4_000;

/** What an approver sees of the arguments. Closed approvals have only what is kept. */
export function getApproverArguments({
  complete,
  arguments: text,
  isShortened,
}: ApprovalRequest): ShownArguments {
  return complete ?? { text, isShortened, isMasked: MASKS.test(text) };
}

const MASKS = /\*{3}|\[masked\]/;

/** The start of arguments, where there is no room for more. */
export function truncateArguments({ text, isShortened, isMasked }: ShownArguments): ShownArguments {
  return text.length <= MAX_ARGUMENTS_IN_QUESTION
    ? { text, isShortened, isMasked }
    : { text: shorten(text, MAX_ARGUMENTS_IN_QUESTION), isShortened: true, isMasked };
}

/** The request as it is kept after the call can no longer be approved. */
export function closeRequest({ complete, ...request }: ApprovalRequest): ApprovalRequest {
  return request;
}

/** What a person needs to know to decide on a call. Text from servers and clients is unescaped. */
export interface ApprovalRequest {
  /** The public name. */
  readonly tool: string;
  /** The name on its server, with the server: `linear.create_issue`. */
  readonly namespacedName: string;
  readonly title?: string | undefined;
  /** Empty for Assay's own tools. */
  readonly server: string;
  /** JSON text of the name and version of the client. */
  readonly client?: string | undefined;
  /**
   * What an approver sees: JSON text of all arguments, except known secrets. Removed once the call can no longer be
   * approved.
   */
  readonly complete?: ShownArguments | undefined;
  /** What is kept: JSON text in which anything that may be a secret is masked; shortened if `isShortened`. */
  readonly arguments: string;
  readonly isShortened: boolean;
  readonly reasons: readonly PolicyReason[];
  readonly warnings: readonly HintWarning[];
  /** `reason` may name operators, so only operators may see it. */
  readonly hints: readonly {
    readonly hint: Hint;
    readonly value: boolean;
    readonly origin: ReasonCode;
    readonly reason: string;
  }[];
  /** The scopes to choose from; only `once` if every call must be confirmed. */
  readonly scopes: readonly ApprovalScope[];
}

/** Whether a stored value is a request: it has the members that readers rely on. */
export function isApprovalRequest(value: unknown): value is ApprovalRequest {
  if (!isJsonObject(value)) return false;
  const { tool, namespacedName, title, server, client, complete } = value;
  return (
    [tool, namespacedName, server, value['arguments']].every((one) => typeof one === 'string') &&
    [title, client].every((one) => one === undefined || typeof one === 'string') &&
    (complete === undefined || (isJsonObject(complete) && typeof complete['text'] === 'string')) &&
    [value['reasons'], value['hints']].every((list) => Array.isArray(list) && list.every(isReadable)) &&
    Array.isArray(value['warnings']) &&
    value['warnings'].every((one) => isReadable(one) && HINTS.some((hint) => hint === one['hint'])) &&
    Array.isArray(value['scopes'])
  );
}

function isReadable(value: unknown): value is JsonObject {
  return isJsonObject(value) && isTime(value['contradictedMs']) && isUntrustedClaim(value['untrusted']);
}

function isTime(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && !Number.isNaN(new Date(value).valueOf()));
}
