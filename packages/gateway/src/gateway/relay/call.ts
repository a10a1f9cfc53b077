import type { CallDenial } from '../../core/activity/call-entry.ts';
import type { ApprovalScope } from '../../core/approval.ts';
import type { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Result } from '@assay-mcp/kit/result';
import { type Decision, NO_LABELS, type PolicyInput, type PolicyTool } from '../../core/policy/policy.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Identity } from '../../core/subject.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import type { HeaderParameters } from '@assay-mcp/protocol/header-parameters';
import type { NotificationMessage, RequestMessage } from '@assay-mcp/protocol/message';
import type { HeaderLines } from '@assay-mcp/protocol/parameter-values';
import { findMember, readRawValue } from '@assay-mcp/protocol/spans';
import { findTaskIdsInNote, type TaskChange } from '@assay-mcp/protocol/tasks';
import type { TraceContext } from '@assay-mcp/protocol/trace-context';
import type { RelayDeps } from '../catalog/call-deps.ts';
import type { AttachedClient, ClientSession } from '../catalog/client-session.ts';
import { type ConfigurationTool, resolveOwnHints } from '../catalog/visible-listing.ts';
import { getDigest } from '../catalog/definition-facts.ts';
import { getClientInfo, toConnectionKey, type LinkOwner, type LinkUser } from '../catalog/link-choice.ts';
import type { Entry } from '../catalog/listing.ts';
import type { Server } from '../catalog/server.ts';
import type { SuspendableCall } from '../catalog/suspendable-call.ts';
import type { View } from '../catalog/view.ts';
import type { StoredApproval } from '../ports/approvals.ts';
import type { SessionChange } from '../ports/legacy-sessions.ts';
import type { Link, Reply, ServerRequestHandler, UpstreamRequest } from '../ports/link.ts';
import type { ClientSubscriptions } from './client-subscriptions.ts';
import type { TaskNotifications } from './task-notifications.ts';

/** Answers requests about what servers offer. The edge answers those about the connection. */
export interface Relay {
  readonly deps: RelayDeps;
  answer(call: Call): Promise<Answer>;
}

/** The caller: a legacy session, or a single request of the modern era. */
export interface Caller {
  readonly era: Era;
  readonly relay: Relay;
  readonly view: View;
  /** JSON text of the name and version that a legacy client sent at its handshake. */
  readonly clientInfo: string | undefined;
  /** The revision that a legacy client negotiated. */
  readonly version?: string;
  /** Set for legacy clients. */
  readonly session?: ClientSession;
  /** Set for a client that has no protocol session but a connection of its own, as over stdio. */
  readonly connectionId?: string;
  /** The connection of a modern client over HTTP that has no token. */
  readonly httpConnectionId?: string | undefined;
  /** Set for a client whose process only passes its messages on to this gateway. */
  readonly attached?: AttachedClient | undefined;
  /** The headers of this request, which repeat its body; for modern clients over HTTP. */
  readonly headerLines?: () => HeaderLines;
  /** Whether it is an operator at the command line or the pages, who may know of the tools that rules hide. */
  readonly isOperator?: boolean;
  /** The log level that a legacy client requested. */
  logLevel: string | undefined;
  /** The resource subscriptions of a legacy client. */
  readonly subscriptions?: ClientSubscriptions | undefined;
  /** Saves a change of a session that outlasts this process, before it is acknowledged. */
  readonly keep?: ((change: SessionChange) => Promise<Result<undefined, Refusal>>) | undefined;
}

/** The client's end of a call: delivers messages to it before the response. */
export interface ClientChannel {
  /** Sends progress and log messages of the call. */
  notify(note: NotificationMessage, bytes: Buffer): void;
  /** Undefined if this call's stream cannot carry server requests. */
  readonly ask: ServerRequestHandler | undefined;
  /** Called when the call begins to wait for approval in the inbox. */
  onWaiting?(approval: StoredApproval): void;
}

export interface CallOptions {
  readonly caller: Caller;
  readonly identity: Identity;
  readonly message: RequestMessage;
  readonly cancellation: Cancellation;
  readonly client: ClientChannel;
  /** The minimum log level that the client wants. Undefined if it set none. */
  readonly logLevel: string | undefined;
}

export type Answer =
  | {
      readonly kind: 'relayed';
      readonly reply: Reply;
      /** Replaces the state of a modern server. Undefined if the reply has none. */
      readonly requestState?: string | undefined;
      /** Maps the server's task id to the client's. Undefined if the reply cannot contain one. */
      readonly wrapTask?: ((inner: string) => string) | undefined;
    }
  /** JSON text of a result that Assay made itself. */
  | { readonly kind: 'own'; readonly result: Buffer }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** An approval that a call was sent with. */
export interface GivenApproval {
  /** Empty if the call repeats an approved one that was lost. */
  readonly id: string;
  /** The approver: the name of a token, or `local`. */
  readonly by: string;
  readonly scope: ApprovalScope;
}

/**
 * One request on its way through the gateway. Created at the edge; each step of the pipeline fills in its part, and the
 * link sends it.
 */
export class Call implements UpstreamRequest, LinkUser, PolicyInput {
  readonly caller: Caller;
  readonly identity: Identity;
  readonly logLevel: string | undefined;
  /** The message to send next: the client's own, or a retry with its answers. */
  message: RequestMessage;
  /** Cancels the request, or the call once it may outlast its request. */
  cancellation: Cancellation;
  client: ClientChannel;

  // Set by the pipeline when it has resolved the call.
  entry: Entry | undefined = undefined;
  configurationTool: ConfigurationTool | undefined = undefined;
  parameters: HeaderParameters | undefined = undefined;
  /** What the caller had seen at the time of the decision. */
  labels: PolicyInput['labels'] = NO_LABELS;
  /** Undefined if there was nothing to decide. */
  decision: Decision | undefined = undefined;
  /** False if Assay would have asked, but the client confirms calls. */
  isAsked: false | undefined = undefined;
  /** The shared link of its server at the time of the decision. Undefined if the server was down. */
  decidedLink: Link | undefined = undefined;
  /** How the call was approved, if it needed approval. */
  approval: GivenApproval | undefined = undefined;
  /** Who denied it, if a person did. */
  denial: CallDenial | undefined = undefined;
  /** Whether it reads the whole of an earlier result of `entry`. */
  readsStoredResult = false;
  // Set by the task modules if the call is about tasks.
  task: TaskChange | undefined = undefined;
  taskNotifications: TaskNotifications | undefined = undefined;

  // Set by `send` and `ask`.
  name: string | undefined = undefined;
  trace: TraceContext | undefined = undefined;
  requestState: string | undefined = undefined;
  envelopeLogLevel: string | undefined = undefined;
  asksProgress = false;
  timeoutMs = 0;
  onServerRequest: ServerRequestHandler | undefined = undefined;
  /** Whether its server has asked its client something. */
  wasAsked = false;
  /** Resolves when the messages sent to its client so far were passed on. Undefined if none is held. */
  delivered: (() => Promise<void> | undefined) | undefined = undefined;
  /** Number of times that it was sent again. */
  repeats = 0;
  /** The value of `repeats` when progress was first reported. */
  #reporting: number | undefined = undefined;
  /** Set if the call may outlast its request. */
  suspendable: SuspendableCall | undefined = undefined;

  constructor({ caller, identity, message, cancellation, client, logLevel }: CallOptions) {
    this.caller = caller;
    this.identity = identity;
    this.message = message;
    this.cancellation = cancellation;
    this.client = client;
    this.logLevel = logLevel;
  }

  get deps(): RelayDeps {
    return this.caller.relay.deps;
  }

  get view(): View {
    return this.caller.view;
  }

  get era(): Era {
    return this.caller.era;
  }

  get version(): string | undefined {
    return this.caller.version;
  }

  get clientInfo(): string | undefined {
    return this.caller.clientInfo;
  }

  get session(): ClientSession | undefined {
    return this.caller.session;
  }

  get attached(): AttachedClient | undefined {
    return this.caller.attached;
  }

  /** Undefined for a client that is known only by its token. */
  get sessionId(): string | undefined {
    return this.caller.session?.id ?? this.caller.connectionId;
  }

  get owner(): LinkOwner | undefined {
    const { era, connectionId, httpConnectionId } = this.caller;
    if (era === 'legacy') return undefined;
    const id = connectionId ?? httpConnectionId;
    if (id !== undefined) return { kind: 'connection', key: toConnectionKey(id) };
    const { subject, tokenId = null } = this.identity;
    // Its token first: a client that gives the name of another must not reach the other's process.
    const key = `client ${JSON.stringify([subject, tokenId, getClientInfo(this, this.message)])}`;
    return { kind: 'client', key };
  }

  get subject(): string {
    return this.identity.subject;
  }

  /** Whether a person runs it on the admin pages. MCP endpoints do not accept the cookie of their session. */
  get isFromPages(): boolean {
    return this.identity.sessionId !== undefined;
  }

  get method(): string {
    return this.message.method;
  }

  get capabilities(): string | undefined {
    return this.caller.session?.profile.capabilities;
  }

  get argumentsText(): string | undefined {
    const { bytes, params } = this.message;
    const member = findMember(params, 'arguments');
    return member && readRawValue(bytes, member);
  }

  get hasArguments(): boolean {
    return !/^(?:\{\s*\})?$/.test(this.argumentsText ?? '');
  }

  get toolset(): string | undefined {
    return this.view.toolset?.();
  }

  get tool(): PolicyTool | undefined {
    const { entry, configurationTool } = this;
    if (configurationTool !== undefined) {
      const { name, definition } = configurationTool;
      return {
        server: undefined,
        name,
        digest: getDigest(definition),
        hints: resolveOwnHints(configurationTool),
      };
    }
    if (entry === undefined || (this.method !== 'tools/call' && !this.readsStoredResult)) return undefined;
    const { server, name, definition } = entry;
    return server.claims.policyToolOf(server.spec, name, definition);
  }

  /** Handles server notifications before the response. Those about tasks of other requests belong to another client. */
  onNotification(note: NotificationMessage, bytes: Buffer): void {
    if (this.task === undefined && findTaskIdsInNote(note).length > 0) return;
    if (note.method === 'notifications/progress') {
      this.#reporting ??= this.repeats;
      // Progress must increase (2025-11-25, basic/utilities/progress), and a call that is sent again starts over.
      if (this.#reporting !== this.repeats) return;
    }
    (this.suspendable ?? this).notify(note, bytes);
  }

  /** Notifies the client of the request. */
  notify(note: NotificationMessage, bytes: Buffer): void {
    (this.taskNotifications ?? this.client).notify(note, bytes);
  }
}

/** The server that a call goes to, and its name for the tool, prompt or task if that differs from the public name. */
export interface Target {
  readonly server: Server;
  readonly name: string | undefined;
}

export function toRefusedAnswer(refusal: Refusal): Answer {
  return { kind: 'refused', refusal };
}

/**
 * Why a call may no longer be sent: its token was revoked or has expired since the request was admitted, or an operator
 * has stopped it. Checked right before each send, so that no wait (approval, queue, cache, start of a server, retry)
 * can be missed.
 */
export function findSendRefusal(call: Call, server: Server | undefined): Refusal | undefined {
  const { gate } = call.deps.tokens;
  const isHolder = gate === undefined || gate.isHolder(call.identity, undefined, Date.now());
  return isHolder ? findStopRefusal(call, server) : ENDED;
}

/** CALL_STOPPED if an operator has stopped the tool, its server or all calls. Assay's own tools are not stopped. */
export function findStopRefusal(call: Call, server: Server | undefined): Refusal | undefined {
  const { findStop } = call.deps.policy;
  if (server === undefined || findStop === undefined) return undefined;
  const stop = findStop(server.spec.name, call.tool?.name);
  return stop && { code: 'CALL_STOPPED', stop };
}

/** The same after waiting for a person, when one read of the store more does not matter. */
export async function findSendRefusalNow(call: Call): Promise<Refusal | undefined> {
  await call.deps.tokens.gate?.refresh();
  return findSendRefusal(call, call.entry?.server);
}

const ENDED: Refusal = {
  code: 'TOKEN_REQUIRED',
  reason: 'it was revoked or has expired while its call waited, and the call was not sent',
};
