import type { ServerSpec } from '../../core/server-spec.ts';
import type { Settings } from '../../core/settings.ts';
import type { SoleClient } from './client-session.ts';
import type { ToolClaims } from './tool-claims.ts';
import type { InstructionsText } from '../../core/record.ts';
import type { InstructionsReview } from './instructions-review.ts';
import type { Connect, Definition, Log, Memory } from '../ports/link.ts';
import type { ResourceSubscriptions } from './resource-subscriptions.ts';
import type { Credentials } from '../ports/credentials.ts';

export interface ServerDeps {
  readonly connect: Connect;
  readonly memory: Memory;
  readonly log: Log;
  readonly limits: Settings;
  /** Takes secrets out of what a server said; undefined: nothing is secret. */
  readonly mask?: ((text: string) => string) | undefined;
  /** Called after the server's lists or its state may have changed. */
  readonly onChange: () => void;
  /** What is said of tools beside their definitions; undefined: nothing. */
  readonly claims?: ToolClaims | undefined;
  /** Told of the tools of a server each time they were read, and from which link. */
  readonly onTools?: ((spec: ServerSpec, tools: readonly Definition[], link: object) => void) | undefined;
  /** Holds instructions of servers to what was accepted; undefined: they pass as they are. */
  readonly instructions?: Pick<InstructionsReview, 'passed' | 'stateOf'> | undefined;
  /** Told what a server tells models about itself each time it is connected. */
  readonly onInstructions?: ((spec: ServerSpec, now: InstructionsText | undefined) => void) | undefined;
  /** A number from 0 to 1. */
  readonly chance: () => number;
  /** Those of the server in whose place it comes. */
  readonly subscriptions?: ResourceSubscriptions | undefined;
  /** The only client of this process, if it has but one. */
  readonly sole?: SoleClient | undefined;
  /** Undefined: nobody signs in anywhere. */
  readonly credentials?: Pick<Credentials, 'isPersonal'> | undefined;
}
