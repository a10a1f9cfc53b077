import type { Cancellation } from '../../core/cancellation.ts';
import type { PolicyInput, PolicyTool } from '../../core/policy.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Identity } from '../../core/subject.ts';
import type { Era } from '../../protocol/eras.ts';
import type { HeaderParameters } from '../../protocol/header-parameters.ts';
import type { NotificationMessage, RequestMessage } from '../../protocol/message.ts';
import type { HeaderLines } from '../../protocol/parameter-values.ts';
import { memberOf, rawOf } from '../../protocol/spans.ts';
import { taskIdsInNote, type TaskChange } from '../../protocol/tasks.ts';
import type { TraceContext } from '../../protocol/trace-context.ts';
import type { ClientSession } from '../catalog/client-session.ts';
import { type ConfigurationTool, hintsOf } from '../catalog/configuration-tool.ts';
import { digestOf } from '../catalog/definition-facts.ts';
import type { LinkUser } from '../catalog/link-choice.ts';
import type { Entry } from '../catalog/listing.ts';
import type { Server } from '../catalog/server.ts';
import type { SuspendableCall } from '../catalog/suspendable-call.ts';
import type { View } from '../catalog/view.ts';
import type { Reply, ServerRequestHandler, UpstreamRequest } from '../ports/link.ts';
import type { ClientSubscriptions } from './client-subscriptions.ts';
import type { TaskNotifications } from './task-notifications.ts';

/** Who calls, as far as that outlasts a request: a legacy session, or one request of the modern era. */
export interface Caller {
  readonly era: Era;
  readonly view: View;
  /** JSON text of the client's name and version, as a legacy client gave it at its handshake. */
  readonly clientInfo: string | undefined;
  /** The revision that a legacy client negotiated. */
  readonly version?: string;
  /** Of a legacy client. */
  readonly session?: ClientSession;
  /** The headers of this one request, which repeat what it says; of a modern client over HTTP. */
  readonly headerLines?: () => HeaderLines;
  /** The least severe level of log messages that a legacy client asked for. */
  logLevel: string | undefined;
  /** The resources of whose updates a legacy client is told. */
  readonly subscriptions?: ClientSubscriptions | undefined;
}

/** The client's end of a call: what reaches it before the response. */
export interface ClientChannel {
  /** Progress and log messages of the call. */
  notify(note: NotificationMessage, bytes: Buffer): void;
  /** Undefined: the client cannot be asked on the stream of this call. */
  readonly ask: ServerRequestHandler | undefined;
}

export interface CallOptions {
  readonly caller: Caller;
  readonly identity: Identity;
  readonly message: RequestMessage;
  readonly cancellation: Cancellation;
  readonly client: ClientChannel;
  /** The least severe level of log messages that the client wants; undefined: it did not say. */
  readonly logLevel: string | undefined;
}

export type Answer =
  | {
      readonly kind: 'relayed';
      readonly reply: Reply;
      /** Replaces the state that a modern server gave; undefined: there is none. */
      readonly requestState?: string | undefined;
      /** Makes the client's id of a task from the server's; undefined where the reply can hold none. */
      readonly wrapTask?: ((inner: string) => string) | undefined;
    }
  /** JSON text of a result of Assay's own. */
  | { readonly kind: 'own'; readonly result: Buffer }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * One request on its way through the gateway. It is made at the edge; each step of the pipeline fills in its part, and the
 * link sends it as it is.
 */
export class Call implements UpstreamRequest, LinkUser, PolicyInput {
  readonly caller: Caller;
  readonly identity: Identity;
  readonly logLevel: string | undefined;
  /** As it is to be sent next: the client's own, or a retry with answers of the client. */
  message: RequestMessage;
  /** Of the request; once the call may outlast its request, of the call. */
  cancellation: Cancellation;
  client: ClientChannel;

  // Filled in by `resolve`.
  entry: Entry | undefined = undefined;
  configurationTool: ConfigurationTool | undefined = undefined;
  name: string | undefined = undefined;
  parameters: HeaderParameters | undefined = undefined;
  task: TaskChange | undefined = undefined;
  taskNotifications: TaskNotifications | undefined = undefined;

  // Filled in by `send` and `ask`.
  trace: TraceContext | undefined = undefined;
  requestState: string | undefined = undefined;
  envelopeLogLevel: string | undefined = undefined;
  timeoutMs = 0;
  onServerRequest: ServerRequestHandler | undefined = undefined;
  /** Where the call may outlast its request. */
  suspendable: SuspendableCall | undefined = undefined;

  constructor({ caller, identity, message, cancellation, client, logLevel }: CallOptions) {
    this.caller = caller;
    this.identity = identity;
    this.message = message;
    this.cancellation = cancellation;
    this.client = client;
    this.logLevel = logLevel;
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

  get subject(): string {
    return this.identity.subject;
  }

  get method(): string {
    return this.message.method;
  }

  get capabilities(): string | undefined {
    return this.caller.session?.profile.capabilities;
  }

  get argumentsText(): string | undefined {
    const { bytes, params } = this.message;
    const member = memberOf(params, 'arguments');
    return member && rawOf(bytes, member);
  }

  get tool(): PolicyTool | undefined {
    const { entry, configurationTool } = this;
    if (configurationTool !== undefined) {
      const { name, definition } = configurationTool;
      return { server: undefined, name, digest: digestOf(definition), hints: hintsOf(configurationTool) };
    }
    if (entry === undefined || this.method !== 'tools/call') return undefined;
    const { server, name, definition } = entry;
    const hints = server.claims.resolvedOf(server.spec, definition);
    return { server: server.spec.name, name, digest: digestOf(definition), hints };
  }

  /** What the server says before its answer. News of tasks that are not those of the request is another client's. */
  onNotification(note: NotificationMessage, bytes: Buffer): void {
    if (this.task === undefined && taskIdsInNote(note).length > 0) return;
    (this.suspendable ?? this).notify(note, bytes);
  }

  /** Tells the client of the request. */
  notify(note: NotificationMessage, bytes: Buffer): void {
    (this.taskNotifications ?? this.client).notify(note, bytes);
  }
}

/** The server that a call goes to, and what that server calls the tool, prompt or task, if not by its public name. */
export interface Target {
  readonly server: Server;
  readonly name: string | undefined;
}

export function refused(refusal: Refusal): Answer {
  return { kind: 'refused', refusal };
}
