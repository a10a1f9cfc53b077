import { randomBytes, randomUUID } from 'node:crypto';
import { SealedSessionIds } from '../adapters/auth/session-ids.ts';
import type { Settings } from '../core/settings.ts';
import type { LastingSessions } from '../edges/mcp/sessions.ts';
import { SessionAnswers } from '../gateway/catalog/session-answers.ts';
import { SessionStates } from '../gateway/catalog/session-states.ts';
import type { Relay } from '../gateway/relay/call.ts';
import type { Environment } from './environment.ts';
import { createDerivedKeys } from './keys.ts';

const REPLICA_BYTES = 6;

/** What legacy sessions need to continue in other processes on the store, and after a restart. */
export function openLastingSessions(
  environment: Environment,
  { settings, relay }: { readonly settings: Settings; readonly relay: Relay },
): LastingSessions {
  const { log, store, cleanup } = environment;
  const derivedKeys = createDerivedKeys(environment);
  const open = (): ReturnType<typeof store.open> => store.open();
  const shared = {
    ...{ open, log, replica: randomBytes(REPLICA_BYTES).toString('hex') },
    nowMs: () => Date.now(),
  };
  const states = new SessionStates({ ...shared, idleMs: settings['limits.sessionIdleMs'] });
  const { sealer } = relay.deps;
  const answers = new SessionAnswers({ ...shared, sealer, createId: () => randomUUID() });
  cleanup.defer(() => {
    states.close();
    answers.close();
  });
  return { ids: new SealedSessionIds({ log, openStore: open, derivedKeys }), states, answers };
}
