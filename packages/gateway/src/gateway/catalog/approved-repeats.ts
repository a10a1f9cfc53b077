import { hashArguments, sha256 } from '@assay-mcp/kit/digest';
import type { Decision, PolicyTool } from '../../core/policy/policy.ts';
import { mayRepeat } from '../../core/policy/retry.ts';
import type { Identity } from '../../core/subject.ts';
import type { RequestMessage } from '@assay-mcp/protocol/message';
import { findMember } from '@assay-mcp/protocol/spans';
import { getClientInfo, type LinkUser } from './link-choice.ts';
import type { Entry } from './listing.ts';
import { findToolId } from './tool-claims.ts';

/** A decided call of a tool. */
export interface DecidedCall extends LinkUser {
  readonly message: RequestMessage;
  readonly identity: Identity;
  readonly entry: Pick<Entry, 'server' | 'definition'> | undefined;
  readonly tool: PolicyTool | undefined;
  readonly decision: Decision | undefined;
  readonly argumentsText: string | undefined;
  /** Set if it was approved. The id is empty if it repeats an approved call. */
  readonly approval?: { readonly id: string } | undefined;
}

/** Time in ms in which a client may repeat a call. */
const REPEAT_MS = 600_000;
/** Beyond this number, the oldest are forgotten: repeating those calls needs another approval. */
const MAX_REPEATS = 1_000;

/**
 * Approved calls whose connection was lost before the answer. The client may repeat each of them once without another
 * question: the same caller in the same session, the same tool, definition and arguments, and no new reason to ask.
 */
export class ApprovedRepeats {
  readonly #nowMs: () => number;
  /** When each of them expires, in the order of their failures. */
  readonly #expiries = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Allows one repeat of an approved call that failed. Does nothing for a tool that may not be repeated, for a call
   * that Assay did not ask about (who confirms may change meanwhile), and for one that repeats or continues another:
   * its approval was for one call.
   */
  allow(call: DecidedCall): void {
    const { approval, message } = call;
    if (approval === undefined || approval.id === '' || findMember(message.params, 'requestState')) return;
    const key = keyOf(call);
    if (key === undefined) return;
    this.#expiries.delete(key);
    this.#expiries.set(key, this.#nowMs() + REPEAT_MS);
    const [oldest] = this.#expiries.keys();
    if (this.#expiries.size > MAX_REPEATS && oldest !== undefined) this.#expiries.delete(oldest);
  }

  /** Whether the call is such a repeat and need not be approved again. True only once. */
  take(call: DecidedCall): boolean {
    if (this.#expiries.size === 0) return false;
    const key = keyOf(call);
    const expiresMs = key === undefined ? undefined : this.#expiries.get(key);
    if (key === undefined || expiresMs === undefined) return false;
    this.#expiries.delete(key);
    return expiresMs > this.#nowMs();
  }
}

/** Undefined if the call may not be repeated, or needed no approval. Of fixed length, whatever the arguments. */
function keyOf(call: DecidedCall): string | undefined {
  const { entry, tool, decision, identity, argumentsText } = call;
  if (entry === undefined || tool === undefined || decision?.kind !== 'ask') return undefined;
  if (!mayRepeat(tool.hints)) return undefined;
  const toolId = findToolId(entry.server.spec, entry.definition);
  if (toolId === undefined) return undefined;
  return sha256(
    JSON.stringify([
      [identity.subject, identity.tokenId, identity.sessionId],
      call.session === undefined
        ? ['client', getClientInfo(call, call.message)]
        : ['session', call.session.id],
      [toolId, tool.digest],
      // Parsers disagree about duplicate keys, so arguments that have them match only the same text.
      argumentsText === undefined ? undefined : hashArguments(argumentsText),
      decision.reasons,
    ]),
  );
}
