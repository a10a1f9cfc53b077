import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ConfigEntry } from '../../gateway/ports/config-entries.ts';
import type { Gateway } from '../../api/server.ts';
import type { ServerChanger } from '../../gateway/services/servers/server-service.ts';
import type { Failure } from './failure.ts';
import { ENTRY_FIELDS } from './gateway-entry.ts';
import type { RestCall, Reply } from './route.ts';

export function omitNull(entry: ConfigEntry): ConfigEntry {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
}

export function toViewObject(found: Result<Gateway, Refusal>): JsonObject | undefined {
  return found.ok ? { ...found.value } : undefined;
}

export function toServerChanger({ identity, unmet }: RestCall<unknown, unknown>): ServerChanger {
  // Runtime state does not count as a change of the gateway.
  return { subject: identity.subject, objection: (view) => unmet(lasting(view)) };
}

function lasting({ reachable, state, keptState, cause, causeCode, toolCount, ...view }: Gateway): unknown {
  return view;
}

export function toGatewayReply(found: Result<Gateway, Refusal>): Result<Reply, Failure> {
  if (!found.ok) return found;
  return ok({ kind: 'one', body: found.value, of: lasting(found.value) });
}

/** Reports each fault of an entry at its field in the body. */
export function toGatewayFailure(
  call: RestCall<unknown, unknown>,
  done: Result<Reply, Failure>,
): Result<Reply, Failure> {
  if (done.ok || !('code' in done.error) || done.error.code !== 'GATEWAY_INVALID') return done;
  const fieldErrors = done.error.faults.map(({ field, reason }) => ({
    at: call.pointerTo(field === '' ? 'name' : (ENTRY_FIELDS.get(field) ?? field)),
    kind: 'invalid' as const,
    reason: reason.replace(/\.$/, ''),
  }));
  return err({ code: 'BODY_INVALID', fieldErrors });
}
