import type { ServerSpec } from '../../core/server-spec.ts';
import type { FixedLimits } from '../../core/fixed-limits.ts';
import type { Settings } from '../../core/settings.ts';
import type { SoleClient } from './client-session.ts';
import type { StartLimiter } from './start-limiter.ts';
import type { StopSource } from './server-request-router.ts';
import type { AddLabels } from './server-labels.ts';
import type { ToolClaims } from './tool-claims.ts';
import type { TwinDenials } from './twin-denials.ts';
import type { InstructionsText } from '../../core/record.ts';
import type { InstructionsReview } from './instructions-review.ts';
import type { Connect, Definition, Memory } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { ResourceSubscriptions } from './resource-subscriptions.ts';
import type { Credentials } from '../ports/credentials.ts';

export interface ServerDeps {
  readonly connect: Connect;
  readonly memory: Memory;
  readonly log: Log;
  readonly limits: Settings & Partial<FixedLimits>;
  /** Masks secrets in text from a server. Undefined: nothing is secret. */
  readonly mask?: ((text: string) => string) | undefined;
  /** Called after the server's lists or its state may have changed. */
  readonly onChange: () => void;
  /** Claims about tools beyond their definitions. Undefined: none. */
  readonly claims?: ToolClaims | undefined;
  /** Called with a server's tools and the link each time they have been read. */
  readonly onTools?: ((spec: ServerSpec, tools: readonly Definition[], link: object) => void) | undefined;
  /** Holds servers to their accepted instructions. Undefined: instructions pass unchanged. */
  readonly instructions?: Pick<InstructionsReview, 'passed' | 'stateOf'> | undefined;
  /** Called with a server's instructions each time it connects. */
  readonly onInstructions?: ((spec: ServerSpec, now: InstructionsText | undefined) => void) | undefined;
  /**
   * After how many ms without use a server process is stopped; it is then started by a request, at first too if its
   * lists are known. 0 or undefined: it always runs.
   */
  readonly idleMs?: number | undefined;
  /** How many processes may be starting at once. Undefined: any number. */
  readonly starts?: StartLimiter | undefined;
  /** A number from 0 to 1. */
  readonly chance: () => number;
  /** Taken over from the server that this one replaces. */
  readonly subscriptions?: ResourceSubscriptions | undefined;
  /** The only client, in a single-client process. */
  readonly sole?: SoleClient | undefined;
  /** Whether a client is attached, or one is about to be. Undefined: no client can attach to this process. */
  readonly hasAttached?: (() => boolean) | undefined;
  /** Finds out what sandboxes refused. Undefined: the server's own error is passed on. */
  readonly denials?: TwinDenials | undefined;
  /** Records what callers have seen. Undefined: nothing is recorded. */
  readonly addLabels?: AddLabels | undefined;
  /** Undefined: nothing is ever stopped. */
  readonly policy?: StopSource | undefined;
  /** Undefined: no server needs a sign-in. */
  readonly credentials?: Pick<Credentials, 'isPersonal'> | undefined;
}
