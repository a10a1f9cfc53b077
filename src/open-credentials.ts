import type { KeyPlace } from './adapters/auth/encryption-key.ts';
import { ServerCredentials } from './adapters/auth/server-credentials.ts';
import type { ReachRules } from './core/reach.ts';
import type { Credentials } from './gateway/ports/credentials.ts';
import type { Store } from './gateway/ports/store.ts';
import { openHomeStore, setting, type Ground } from './ground.ts';

export interface CredentialsOptions {
  readonly store?: Store | undefined;
  readonly isPersonal?: boolean | undefined;
  readonly rules: ReachRules;
}

/** What is known of sign-ins in this home. */
export function openCredentials(
  ground: Pick<Ground, 'home' | 'log' | 'secrets'>,
  { store, isPersonal = false, rules }: CredentialsOptions,
): Credentials {
  return new ServerCredentials({
    store,
    open: () => openHomeStore(ground),
    place: keyPlace(ground),
    learn: (secrets) => ground.secrets.add(secrets),
    isPersonal,
    log: ground.log,
    rules,
  });
}

/** Where the key is with which sign-ins are encrypted. */
export function keyPlace({ home }: Pick<Ground, 'home'>): KeyPlace {
  return { home, given: setting('ASSAY_ENCRYPTION_KEY') };
}
