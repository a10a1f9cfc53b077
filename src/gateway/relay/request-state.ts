import { digestOfJson } from '../../core/digest.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { memberOf, rawOf, textOf } from '../../protocol/spans.ts';
import { nameOf } from '../../protocol/translate.ts';
import type { Exchange } from './exchange.ts';
import type { SuspendedCallId } from '../catalog/suspended-calls.ts';

/** What a modern client brings back for us: the state of a modern server, or where its call to a legacy one waits. */
export type RequestState =
  | { readonly kind: 'server'; readonly state: string }
  | { readonly kind: 'parked'; readonly place: SuspendedCallId };

/** How long in ms the state of a server may be brought back. */
const SERVER_STATE_MS = 24 * 60 * 60 * 1_000;

/** Seals a state to one request of one subject to one server (DESIGN.md, D2). */
export function sealState(exchange: Exchange, server: string, state: RequestState): Promise<string> {
  const { sealer, suspended: suspended, nowMs } = exchange.view.asking;
  const text = JSON.stringify(
    state.kind === 'server' ? ['server', state.state] : ['parked', state.place.replica, state.place.id],
  );
  const lifeMs = state.kind === 'server' ? SERVER_STATE_MS : suspended.keepsMs;
  return sealer.seal(text, { about: aboutOf(exchange, server), expiresMs: nowMs() + lifeMs });
}

/** STATE_INVALID where it is none of ours, has expired, or was given for another request. */
export async function openState(
  exchange: Exchange,
  server: string,
  sealed: string,
): Promise<Result<RequestState, Refusal>> {
  const about = aboutOf(exchange, server);
  const { sealer, nowMs } = exchange.view.asking;
  const opened = await sealer.open(sealed, { about, nowMs: nowMs() });
  if (!opened.ok) return opened;
  const [kind, one = '', other = ''] = JSON.parse(opened.value) as readonly string[];
  if (kind === 'server') return ok({ kind, state: one });
  if (kind === 'parked') return ok({ kind, place: { replica: one, id: other } });
  return err({ code: 'STATE_INVALID', reason: 'it is of another version of Assay' });
}

/** All that must be the same when the client comes again. */
function aboutOf({ view, message, subject }: Exchange, server: string): string {
  const { bytes, params, method } = message;
  const name = textOf(bytes, nameOf(message) ?? memberOf(params, 'uri'));
  const given = memberOf(params, 'arguments');
  const args = given && digestOfJson(rawOf(bytes, given));
  return JSON.stringify([subject, view.endpoint, method, name, args, server]);
}
