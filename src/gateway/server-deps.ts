import type { Settings } from '../core/settings.ts';
import type { SoleClient } from './client-session.ts';
import type { Connect, Log, Memory } from './ports.ts';
import type { ResourceSubscriptions } from './resource-subscriptions.ts';
import type { Credentials } from './ports/credentials.ts';

export interface ServerDeps {
  readonly connect: Connect;
  readonly memory: Memory;
  readonly log: Log;
  readonly limits: Settings;
  /** Called after the server's lists or its state may have changed. */
  readonly onChange: () => void;
  /** A number from 0 to 1. */
  readonly chance: () => number;
  /** Those of the server in whose place it comes. */
  readonly subscriptions?: ResourceSubscriptions | undefined;
  /** The only client of this process, if it has but one. */
  readonly sole?: SoleClient | undefined;
  /** Undefined: nobody signs in anywhere. */
  readonly credentials?: Pick<Credentials, 'isPersonal'> | undefined;
}
