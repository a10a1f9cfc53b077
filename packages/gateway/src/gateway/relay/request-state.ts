import { hashArguments } from '@assay-mcp/kit/digest';
import { CLIENT_VALUE_LIFETIME_MS } from '../../core/client-values.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { findMember, readJsonString } from '@assay-mcp/protocol/spans';
import { type Retry, readRetry } from '@assay-mcp/protocol/server-requests';
import { findNameMember } from '@assay-mcp/protocol/translate';
import { getDigest } from '../catalog/definition-facts.ts';
import type { SuspendedCallId } from '../catalog/suspended-calls.ts';
import type { Call } from './call.ts';

/**
 * The state in a retry of a modern client: that of a modern server, the id of a suspended call, or the id of a question
 * about approval. `asked`: why approval was needed. `approval`: the call was approved before its server asked for
 * input.
 */
export type RequestState =
  | { readonly kind: 'server'; readonly state: string; readonly approval?: SealedApproval | undefined }
  | {
      readonly kind: 'suspended';
      readonly id: SuspendedCallId;
      readonly approval?: SealedApproval | undefined;
    }
  | ({ readonly kind: 'approval' } & SealedApproval)
  /** The client was sent to the inbox. */
  | { readonly kind: 'inbox' };

export interface SealedApproval {
  readonly id: string;
  /** Hash of why approval was needed; another reason needs another approval. */
  readonly asked: string;
}

/** Seals a state to one request of one subject to one server (DESIGN.md, D2). */
export function sealState(call: Call, server: string, state: RequestState): Promise<string> {
  const { sealer, suspended, nowMs } = call.deps;
  const lifeMs = state.kind === 'server' ? CLIENT_VALUE_LIFETIME_MS : suspended.keepsMs;
  return sealer.seal(textOfState(state), { about: aboutOf(call, server), expiresMs: nowMs() + lifeMs });
}

function textOfState(state: RequestState): string {
  switch (state.kind) {
    case 'server':
      return JSON.stringify(['server', state.state, '', state.approval?.id, state.approval?.asked]);
    case 'suspended':
      return JSON.stringify([
        ...['suspended', state.id.replica, state.id.nonce],
        ...[state.approval?.id, state.approval?.asked],
      ]);
    case 'approval':
      return JSON.stringify(['approval', '', '', state.id, state.asked]);
    case 'inbox':
      return JSON.stringify(['inbox']);
  }
}

/** STATE_INVALID if it was not sealed by Assay, has expired, or belongs to another request or definition. */
export async function openState(
  call: Call,
  server: string,
  sealed: string,
): Promise<Result<RequestState, Refusal>> {
  const { sealer, nowMs } = call.deps;
  const opened = await sealer.open(sealed, { about: aboutOf(call, server), nowMs: nowMs() });
  if (!opened.ok) return opened;
  const [kind, one, other, id, asked] = JSON.parse(opened.value) as readonly (string | null)[];
  const approval = id && asked ? { id, asked } : undefined;
  if (kind === 'server') return ok({ kind, state: one ?? '', approval });
  if (kind === 'suspended') return ok({ kind, id: { replica: one ?? '', nonce: other ?? '' }, approval });
  if (kind === 'inbox') return ok({ kind });
  if (kind === 'approval' && approval !== undefined) return ok({ kind, ...approval });
  return err({ code: 'STATE_INVALID', reason: 'it is of another version of Assay' });
}

/** What a modern client sends back in a retry. */
export interface OpenedRetry {
  readonly state: RequestState;
  readonly retry: Retry;
}

/** Undefined if the request is not a retry. PARAMS_INVALID, or as `openState`. */
export async function openRetry(
  call: Call,
  server: string,
): Promise<Result<OpenedRetry | undefined, Refusal>> {
  const isRetry = call.era === 'modern' && findMember(call.message.params, 'requestState') !== undefined;
  if (!isRetry) return ok(undefined);
  const retry = readRetry(call.message);
  if ('fault' in retry) {
    const reason = 'it does not have the form of a retry';
    return err({ code: 'PARAMS_INVALID', field: retry.fault, reason });
  }
  const state = await openState(call, server, retry.state ?? '');
  return state.ok ? ok({ state: state.value, retry }) : state;
}

/** Everything that must be the same in the retry. */
function aboutOf({ view, message, subject, method, entry, argumentsText }: Call, server: string): string {
  const { bytes, params } = message;
  const name = readJsonString(bytes, findNameMember(message) ?? findMember(params, 'uri'));
  const args = argumentsText && hashArguments(argumentsText);
  const digest = entry && getDigest(entry.definition);
  return JSON.stringify([subject, view.endpoint, method, name, args, digest, server]);
}
