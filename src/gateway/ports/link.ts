import type { Cancellation } from '../../core/cancellation.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { ToolFacts } from '../../core/hints/tool-facts.ts';
import type { Result } from '../../core/result.ts';
import type { ServerSpec, Transport, TransportOf } from '../../core/server-spec.ts';
import type { Cause } from '../../core/cause.ts';
import type { Holder, Identity, Scope } from '../../core/subject.ts';
import type { MintedToken } from '../../core/token.ts';
import type { Era } from '../../protocol/eras.ts';
import type { HeaderParameters } from '../../protocol/header-parameters.ts';
import type { listable } from '../../protocol/listable.ts';
import type { NotificationMessage, RequestMessage, ResponseMessage } from '../../protocol/message.ts';
import type { RequestEdits } from '../../protocol/translate.ts';

/** One request for a server, as a client sent it; the link makes of it what its server understands. */
export interface UpstreamRequest extends RequestEdits {
  readonly message: RequestMessage;
  /** What of its arguments headers repeat towards a modern server over HTTP. */
  readonly parameters?: HeaderParameters | undefined;
  /** Longest silence in ms: without a result or progress for so long the request is cancelled. */
  readonly timeoutMs: number;
  /** Cancelled when the answer is no longer wanted. */
  readonly cancellation: Cancellation | undefined;
  /** Undefined: the server is told that its client can answer nothing. */
  readonly onServerRequest: ServerRequestHandler | undefined;
  /** Progress (with the client's own token in it) and log messages that belong to this request. Absent: they are not wanted. */
  onNotification?(note: NotificationMessage, bytes: Buffer): void;
}

/** Answers a request that a server makes of its client, or has the client answer it. */
export type ServerRequestHandler = (serverRequest: ServerRequest) => void;

/** The `result` or the `error` member of a response, as JSON text. */
export interface ServerRequestAnswer {
  readonly kind: 'result' | 'error';
  readonly text: string;
}

/** A request that a server makes of its client. The first answer counts. */
export interface ServerRequest {
  /** As the server wrote it. */
  readonly message: RequestMessage;
  answer(answer: ServerRequestAnswer): void;
  /** The client tells how far it is; the token in the notification is none of the server's. */
  progress(note: NotificationMessage): void;
  /** Told, once, when the server wants no answer any more, or is gone. Who listened before hears nothing. */
  onWithdrawn(listener: (() => void) | undefined): void;
}

/** The client in whose name a link is opened. */
export interface ClientProfile {
  /** JSON text of what it can do for servers. */
  readonly capabilities: string;
  /** JSON text of its name and version; undefined: Assay's own. */
  readonly clientInfo: string | undefined;
  readonly subject: string;
}

/** A request of Assay's own, whose answer is read. `timeoutMs` may be Infinity. */
export function ownUpstreamRequest(
  message: RequestMessage,
  timeoutMs: number,
  cancellation?: Cancellation,
): UpstreamRequest {
  return {
    message,
    era: 'legacy',
    name: undefined,
    clientInfo: undefined,
    timeoutMs,
    cancellation,
    onServerRequest: undefined,
  };
}

/** A server's answer, as it came: its result or its error. */
export interface Reply {
  readonly message: ResponseMessage;
  readonly era: Era;
}

export type Capabilities = Readonly<Record<string, unknown>>;

/** What became of the wish to be told of updates of a resource. */
export type SubscriptionAnswer =
  | { readonly kind: 'honoured' }
  /** The server's error. */
  | { readonly kind: 'refused'; readonly reply: Reply }
  | { readonly kind: 'failed'; readonly refusal: Refusal };

/** The stream on which a server tells of those resources alone for which it was opened. */
export interface ResourceStream {
  /** Answers when the server has said whether it tells of this resource too. */
  add(uri: string): Promise<SubscriptionAnswer>;
  drop(uri: string): void;
}

/** A live conversation with one server, past its handshake. */
export interface Link {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
  /** Whether headers repeat parts of a request, so that a tool is of no use whose headers cannot be made. */
  readonly hasHeaders?: boolean;
  /** Bytes that were sent and that its server has not taken; 0 as long as it takes what comes. */
  readonly unreadBytes: number;
  /** Whether a question of the server comes on the stream of the request that it belongs to. */
  readonly correlatesServerRequests: boolean;
  /** Whether whoever calls may be asked in the course of the call, though all share the link. */
  readonly asksCallers?: boolean;
  /** Resolves when what the server says unasked is heard, or will not be. Undefined: it is heard from the start. */
  readonly listening?: Promise<unknown> | undefined;
  /** Where it takes the place of `resources/subscribe`. */
  readonly resources?: ResourceStream | undefined;
  send(ask: UpstreamRequest): Promise<Result<Reply, Refusal>>;
  /** What its source has that no tool could be made of, and why. */
  readonly skipped?: readonly Skipped[];
  /** What Assay knows of a tool of the last list, where it builds the tools itself. */
  facts?(tool: string): ToolFacts | undefined;
  /** Another entry is in force, and the way is the same: what differs is followed without a new connection. */
  adopt?(spec: ServerSpec): void;
  /** Sends a notification of the client's. */
  notify(note: Buffer): void;
  /** Ends the conversation in good order, and its process with all that it started. Requests under way are told the cause. */
  close(cause: Cause): Promise<void>;
}

/** Something of a source of which there is no tool. */
export interface Skipped {
  /** `DELETE /pets/{id}`, the path of a file. */
  readonly what: string;
  /** The function module that it is of, and the tool in it; no tool where it is all of the module. */
  readonly of?: { readonly module: string; readonly tool?: string } | undefined;
  /** A phrase. */
  readonly why: string;
}

/** The lists that a server keeps. */
export type ListKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

/** What a link says without being asked. */
export interface LinkEvents {
  changed(kind: ListKind): void;
  /** A resource has changed: that of this URI, or a part of one that the server was asked for. */
  updated(uri: string, note: NotificationMessage): void;
  /** The server could not be heard for a while. Whatever it tells of may have changed. */
  missed(): void;
  /** The server has taken what it had left; perhaps not all of it. */
  drained(): void;
  /** The server asks something that it ties to no request. Without a listener it is told that nobody can answer. */
  requested?: ((serverRequest: ServerRequest) => void) | undefined;
  /** The server says something else that it ties to no request. Whoever takes it says true; else it goes to our log. */
  notified?: ((note: NotificationMessage) => boolean) | undefined;
  /** The conversation is over; said once, with its first cause. */
  ended(cause: Cause): void;
}

/** How a link is to be opened. */
export interface Opening {
  readonly events: LinkEvents;
  /** Aborted when it takes too long. */
  readonly signal: AbortSignal;
  /** Undefined: in the name of Assay, which can do nothing for servers. A legacy handshake waits until it is known. */
  readonly client: ClientProfile | Promise<ClientProfile | undefined> | undefined;
}

/** Opens a link: finds the server's era, shakes hands. */
export type Connect = (spec: ServerSpec, opening: Opening) => Promise<Result<Link, Cause>>;

/** Opens links to sources of these kinds; `transport` is that of `spec`. */
export type Connectors<K extends Transport['kind']> = {
  readonly [Of in K]: (
    spec: ServerSpec,
    transport: TransportOf<Of>,
    opening: Opening,
  ) => Promise<Result<Link, Cause>>;
};

/** What official clients accept of a definition: all, all but some members, or nothing of it. */
export type Fitness = ReturnType<typeof listable>;

/** One entry of a server's list, as the server wrote it. */
export interface Definition {
  /** The name of a tool or prompt, the URI (template) of a resource; undefined where it is no string. */
  readonly key: string | undefined;
  readonly bytes: Buffer;
  readonly fitness: Readonly<Record<Era, Fitness>>;
  /** Of a tool that modern clients are shown. */
  readonly parameters?: HeaderParameters | undefined;
  /** Of a tool that Assay builds itself. */
  readonly facts?: ToolFacts | undefined;
}

export type Inventory = Readonly<Record<ListKind, readonly Definition[]>>;

/** What a server said of itself when it last stood. */
export interface Snapshot {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
  readonly inventory: Inventory;
}

/** What is known of servers between starts. Another command or URL under the same name is another server. */
export interface Memory {
  recall(spec: ServerSpec): Snapshot | undefined;
  /** Holds from now on; it is written down soon. */
  remember(spec: ServerSpec, snapshot: Snapshot): void;
}

/** Makes a token that nobody else has. */
export type Mint = () => MintedToken;

/** Knows who may come in by a token. It stands on the path of every request, so it waits for nothing but what it must. */
export interface Gate {
  /**
   * Who brings this header from this address. TOKEN_REQUIRED: no valid token; TOO_MANY_FAILURES: none was valid too often;
   * ISSUER_UNAVAILABLE: that cannot be told. A promise only for a token of an issuer that was not seen a moment ago, and for
   * one of Assay's own that is looked up in the store, as another process may just have made it.
   */
  admit(
    authorization: string | undefined,
    address: string,
    nowMs: number,
  ): Result<Identity, Refusal> | Promise<Result<Identity, Refusal>>;
  /** Whether somebody has a token for MCP endpoints, and none can be guessed. */
  isFitForNetwork(nowMs: number): boolean;
  /** Whether what was opened by this right may last: its token holds, and has the scope where one is named. */
  isHolder(holder: Holder, scope: Scope | undefined, nowMs: number): boolean;
  /** Calls back when tokens may have ended; what it gives ends that. */
  onTokens(listener: () => void): () => void;
  /** Resolves when what was changed of tokens before counts here, or the store cannot be read. */
  refresh(): Promise<void>;
  /** Refuses a token from now on until this process ends, stored or not. False: no valid token of the store has this id. */
  revoke(id: string, nowMs: number): boolean;
}

/** Where events go that people may want to read. Known secrets are masked on the way. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
