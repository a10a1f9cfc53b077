import type { Cause } from '../../core/cause.ts';
import { getUrlChooser, toOutbound, type ReachRules } from '../../core/reach-rules.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import type { Reach } from '@assay-mcp/kit/reach';
import type { Result } from '@assay-mcp/kit/result';
import type { SandboxGap, UnsafePath } from '@assay-mcp/sandbox/support';
import type { SandboxRights } from '@assay-mcp/sandbox/rights';
import type { DiscardedFiles, ObservedDenial } from '@assay-mcp/sandbox/denial';
import type { Command } from '@assay-mcp/sandbox/rights';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { OpenOptions as Asked, LinkEvents } from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Credentials } from '../../gateway/ports/credentials.ts';
import type { ResolveName } from '@assay-mcp/kit/platform/checked-lookup';
import type { Child, ChildOptions } from '@assay-mcp/kit/platform/child';
import type { Launcher } from '@assay-mcp/kit/platform/launcher';
import type { HttpReach } from '@assay-mcp/kit/platform/http-client';
import type { Era } from '@assay-mcp/protocol/eras';
import { GapPace, type GapClock } from './gap-pace.ts';

export interface UpstreamDeps {
  readonly log: Log;
  /** The era the server spoke when it was last ready. */
  readonly recallEra: (spec: ServerSpec) => Era | undefined;
  readonly ownInfo: string;
  /** Maximum number of bytes queued for one server; by default the fixed limit. */
  readonly backlogBytes?: number | undefined;
  readonly rules: ReachRules;
  /** Resolves host names; defaults to the system resolver. */
  readonly resolve?: ResolveName | undefined;
  readonly launcher: Launcher;
  /**
   * Returns how to start a command in a sandbox. The error says what the machine lacks for that, or which path cannot be
   * protected.
   */
  readonly confine: (
    command: Command,
    options: {
      readonly rights: SandboxRights;
      readonly isWatched?: boolean;
      readonly discards?: boolean;
      readonly namedReaches: ReadonlySet<Reach>;
      readonly resolve?: ResolveName | undefined;
    },
  ) => Promise<Result<ConfinedOptions, SandboxGap | UnsafePath>>;
  /** Resolves and stores the paths that an entry with a sandbox declares, unless they are stored already. */
  readonly declare?: ((command: Command) => Promise<unknown>) | undefined;
  /** Returns a process already started for a server, at most once each. */
  readonly takeStarted?: ((spec: ServerSpec) => Child | undefined) | undefined;
  /** Servers, by name, that are no longer probed because they never lived long enough to answer. */
  readonly suspects: Map<string, Era>;
  /** Servers, by name, whose twins do not start unless their changes of files are discarded. */
  readonly discarding: Set<string>;
  /** Default: that of the system. */
  readonly gapClock?: GapClock | undefined;
  /** See `HttpLinkOptions`. */
  readonly minSilenceMs?: number | undefined;
  /** Undefined if sign-in is not available. */
  readonly credentials?: Credentials | undefined;
}

/** How to start a process in a sandbox. See `Confined` in packages/sandbox/src/. */
interface ConfinedOptions extends ChildOptions {
  readonly denials?: () => Promise<readonly ObservedDenial[]>;
  readonly refused?: () => readonly ObservedDenial[];
  readonly discarded?: DiscardedFiles & { hold(child: Child): void; close(): Promise<void> };
  readonly onEnd?: () => void;
}

/** One attempt to open a link. */
export interface LinkAttempt extends Asked {
  readonly spec: ServerSpec;
  readonly deps: UpstreamDeps;
  /** The user on whose behalf requests are made, if the server requires sign-in. */
  readonly subject: string;
}

/** Where connections to a server may lead, depending on who chose its URL. */
export function toHttpReach({ spec, deps }: Pick<LinkAttempt, 'spec' | 'deps'>): HttpReach {
  const chooser = getUrlChooser(spec);
  const { rules, resolve } = deps;
  const proxySpec = getSourceKind(spec.transport).signIn(spec.transport);
  return {
    reaches: rules[chooser],
    chosenBy: chooser,
    resolve,
    outbound: toOutbound(rules, chooser, proxySpec),
  };
}

/** The events of one attempt to open a link. Reports none before the link is ready, or if it never is. */
export class Attempt implements LinkEvents {
  readonly requested: LinkEvents['requested'];
  readonly notified: LinkEvents['notified'];
  readonly #events: LinkEvents;
  readonly #gaps: GapPace;
  #stands = false;
  #cause: Cause | undefined;

  constructor(events: LinkEvents, gapClock?: GapClock) {
    this.#events = events;
    this.#gaps = new GapPace(() => events.missed(), gapClock);
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
    if (this.#stands) this.#gaps.note();
  }

  drained(): void {
    if (this.#stands) this.#events.drained();
  }

  ended(cause: Cause): void {
    this.#cause ??= cause;
    this.#gaps.end();
    if (this.#stands) this.#events.ended(cause);
  }

  /** The link was returned to the caller. If it ended in the meantime, reports that now. */
  succeeded(): void {
    this.#stands = true;
    if (this.#cause !== undefined) this.#events.ended(this.#cause);
  }
}
