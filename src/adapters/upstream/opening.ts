import type { Cause } from '../../core/cause.ts';
import { chooserOf, type ReachRules } from '../../core/reach.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Opening as Asked, LinkEvents, Log } from '../../gateway/ports/link.ts';
import type { Credentials } from '../../gateway/ports/credentials.ts';
import type { ResolveName } from '../../platform/checked-lookup.ts';
import type { Child } from '../../platform/child.ts';
import type { Launcher } from '../../platform/launcher.ts';
import type { HttpReach } from '../../platform/http-client.ts';
import type { Era } from '../../protocol/eras.ts';

export interface UpstreamDeps {
  readonly log: Log;
  /** The era that a server spoke when it last stood. */
  readonly recallEra: (spec: ServerSpec) => Era | undefined;
  readonly ownInfo: string;
  /** Most bytes that wait for one server. */
  readonly backlogBytes: number;
  readonly rules: ReachRules;
  /** How names become addresses; that of the system where nothing else is given. */
  readonly resolve?: ResolveName | undefined;
  readonly launcher: Launcher;
  /** The process that was started for a server already; each is given away once. */
  readonly takeStarted?: ((spec: ServerSpec) => Child | undefined) | undefined;
  /** Servers, by name, that are not probed any more because they never lived long enough to answer. */
  readonly suspects: Map<string, Era>;
  /** Undefined: nobody signs in anywhere. */
  readonly credentials?: Credentials | undefined;
}

/** One attempt to open a link. */
export interface Opening extends Asked {
  readonly spec: ServerSpec;
  readonly deps: UpstreamDeps;
  /** In whose name requests are made, where the server has somebody sign in. */
  readonly subject: string;
}

/** Where connections to a server may lead, by who chose its URL. */
export function httpReachOf({ spec, deps }: Pick<Opening, 'spec' | 'deps'>): HttpReach {
  const chooser = chooserOf(spec);
  const { rules, resolve } = deps;
  return { reaches: rules[chooser], chosenBy: chooser, resolve };
}

/** The events of one attempt to open a link. Nothing is reported before the link stands, nor of one that never did. */
export class Attempt implements LinkEvents {
  readonly requested: LinkEvents['requested'];
  readonly notified: LinkEvents['notified'];
  readonly #events: LinkEvents;
  #stands = false;
  #cause: Cause | undefined;

  constructor(events: LinkEvents) {
    this.#events = events;
    this.requested = events.requested;
    this.notified = events.notified;
  }

  changed(kind: Parameters<LinkEvents['changed']>[0]): void {
    if (this.#stands) this.#events.changed(kind);
  }

  updated(...told: Parameters<LinkEvents['updated']>): void {
    if (this.#stands) this.#events.updated(...told);
  }

  missed(): void {
    if (this.#stands) this.#events.missed();
  }

  drained(): void {
    if (this.#stands) this.#events.drained();
  }

  ended(cause: Cause): void {
    this.#cause ??= cause;
    if (this.#stands) this.#events.ended(cause);
  }

  /** The link has been handed out. If it ended on the way, that is reported now. */
  succeeded(): void {
    this.#stands = true;
    if (this.#cause !== undefined) this.#events.ended(this.#cause);
  }
}
