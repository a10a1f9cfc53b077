import { digestOfJson } from '../../core/digest.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { memberOf, textOf } from '../../protocol/spans.ts';
import { nameOf } from '../../protocol/translate.ts';
import { digestOf } from '../catalog/definition-facts.ts';
import type { SuspendedCallId } from '../catalog/suspended-calls.ts';
import type { Call } from './call.ts';

/** The state in a retry of a modern client: the one of a modern server, or the id of a suspended call. */
export type RequestState =
  | { readonly kind: 'server'; readonly state: string }
  | { readonly kind: 'suspended'; readonly id: SuspendedCallId };

/** Lifetime in ms of a sealed server state. */
const SERVER_STATE_MS = 24 * 60 * 60 * 1_000;

/** Seals a state to one request of one subject to one server (DESIGN.md, D2). */
export function sealState(call: Call, server: string, state: RequestState): Promise<string> {
  const { sealer, suspended, nowMs } = call.view.calls;
  const text = JSON.stringify(
    state.kind === 'server' ? ['server', state.state] : ['suspended', state.id.replica, state.id.nonce],
  );
  const lifeMs = state.kind === 'server' ? SERVER_STATE_MS : suspended.keepsMs;
  return sealer.seal(text, { about: aboutOf(call, server), expiresMs: nowMs() + lifeMs });
}

/** STATE_INVALID if it was not sealed by Assay, has expired, or belongs to another request or definition. */
export async function openState(
  call: Call,
  server: string,
  sealed: string,
): Promise<Result<RequestState, Refusal>> {
  const { sealer, nowMs } = call.view.calls;
  const opened = await sealer.open(sealed, { about: aboutOf(call, server), nowMs: nowMs() });
  if (!opened.ok) return opened;
  const [kind, one = '', other = ''] = JSON.parse(opened.value) as readonly string[];
  if (kind === 'server') return ok({ kind, state: one });
  if (kind === 'suspended') return ok({ kind, id: { replica: one, nonce: other } });
  return err({ code: 'STATE_INVALID', reason: 'it is of another version of Assay' });
}

/** Everything that must be the same in the retry. */
function aboutOf({ view, message, subject, method, entry, argumentsText }: Call, server: string): string {
  const { bytes, params } = message;
  const name = textOf(bytes, nameOf(message) ?? memberOf(params, 'uri'));
  const args = argumentsText && digestOfJson(argumentsText);
  const digest = entry && digestOf(entry.definition);
  return JSON.stringify([subject, view.endpoint, method, name, args, digest, server]);
}
