import type { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Refusal } from '../../core/refusal.ts';
import type { ResolvedHints } from '../../core/hints/resolve.ts';
import type { ToolFacts } from '../../core/hints/tool-facts.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { TwinRights } from '@assay-mcp/sandbox/rights';
import type { DiscardedFiles, ObservedDenial } from '@assay-mcp/sandbox/denial';
import type { ServerSpec, Transport, TransportOf } from '../../core/server-spec.ts';
import type { Cause } from '../../core/cause.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import type { HeaderParameters } from '@assay-mcp/protocol/header-parameters';
import type { checkListable } from '@assay-mcp/protocol/listable';
import type { NotificationMessage, RequestMessage, ResponseMessage } from '@assay-mcp/protocol/message';
import type { RequestEdits } from '@assay-mcp/protocol/translate';

/** One request for a server, as the client sent it. The link translates it for the server. */
export interface UpstreamRequest extends RequestEdits {
  readonly message: RequestMessage;
  /** Arguments that HTTP headers repeat for a modern server. */
  readonly parameters?: HeaderParameters | undefined;
  /** Cancels the request after this many ms without a result or progress. */
  readonly timeoutMs: number;
  /** Cancelled when the answer is no longer wanted. */
  readonly cancellation: Cancellation | undefined;
  /** The tool that is called, with its effective hints. Undefined for other requests, and for Assay's own. */
  readonly tool?: { readonly hints: ResolvedHints } | undefined;
  /** Undefined: the server is told that its client cannot answer requests. */
  readonly onServerRequest: ServerRequestHandler | undefined;
  /** Receives progress (with the client's own token) and log messages of this request. Absent: they are not wanted. */
  onNotification?(note: NotificationMessage, bytes: Buffer): void;
}

/** Answers a request that a server makes of its client, or passes it on to the client. */
export type ServerRequestHandler = (serverRequest: ServerRequest) => void;

/** The `result` or the `error` member of a response, as JSON text. */
export interface ServerRequestAnswer {
  readonly kind: 'result' | 'error';
  readonly text: string;
}

/** A request that a server makes of its client. Only the first answer counts. */
export interface ServerRequest {
  /** As the server wrote it. */
  readonly message: RequestMessage;
  answer(answer: ServerRequestAnswer): void;
  /** Reports the client's progress. The token in the notification is not the server's. */
  progress(note: NotificationMessage): void;
  /** Calls back once if the server withdraws the request or disconnects. Replaces the previous listener. */
  onWithdrawn(listener: (() => void) | undefined): void;
}

/** The client on whose behalf a link is opened. */
export interface ClientProfile {
  /** Client capabilities as JSON text. */
  readonly capabilities: string;
  /** Name and version as JSON text. Undefined: Assay's own. */
  readonly clientInfo: string | undefined;
  readonly subject: string;
}

/** A request of Assay's own. `timeoutMs` may be Infinity. */
export function buildOwnUpstreamRequest(
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

/** A server's response, unchanged: its result or its error. */
export interface Reply {
  readonly message: ResponseMessage;
  readonly era: Era;
}

export type Capabilities = Readonly<Record<string, unknown>>;

/** The outcome of subscribing to updates of a resource. */
export type SubscriptionAnswer =
  | { readonly kind: 'honoured' }
  /** The server's error. */
  | { readonly kind: 'refused'; readonly reply: Reply }
  | { readonly kind: 'failed'; readonly refusal: Refusal };

/** The stream on which a server reports updates of exactly the resources it was opened for. */
export interface ResourceStream {
  /** Resolves once the server has said whether it covers this resource too. */
  add(uri: string): Promise<SubscriptionAnswer>;
  drop(uri: string): void;
}

/** A live connection to one server, after the handshake. */
export interface Link {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
  /** Whether headers repeat parts of a request, so that a tool whose headers cannot be built is unusable. */
  readonly hasHeaders?: boolean;
  /** Bytes sent but not yet taken by the server. 0 while it keeps up. */
  readonly unreadBytes: number;
  /** Whether server requests arrive on the stream of the request they belong to. */
  readonly correlatesServerRequests: boolean;
  /** Whether callers may be asked during their call although the link is shared. */
  readonly asksCallers?: boolean;
  /** Resolves once unsolicited messages can be received, or never will be. Undefined: from the start. */
  readonly listening?: Promise<unknown> | undefined;
  /** Set if it replaces `resources/subscribe`. */
  readonly resources?: ResourceStream | undefined;
  /** The last connections that its sandbox refused. Absent: it has no such sandbox. */
  readonly refused?: (() => readonly ObservedDenial[]) | undefined;
  /** What it changed, if it is a twin whose changes of files are discarded. */
  readonly discarded?: DiscardedFiles | undefined;
  send(ask: UpstreamRequest): Promise<Result<Reply, Refusal>>;
  /** Parts of the source that could not become tools, and why. */
  readonly skipped?: readonly Skipped[];
  /** Tools with a result that differed from their output schema and was delivered. */
  readonly differences?: readonly OutputDifference[];
  /** Assay's facts about a tool in the last list, if it builds the tools itself. */
  facts?(tool: string): ToolFacts | undefined;
  /** Applies a changed entry with the same transport, without a new connection. */
  adopt?(spec: ServerSpec): void;
  /** Forwards a notification from the client. */
  notify(note: Buffer): void;
  /** Closes the connection cleanly, with its process and all children. Requests in flight fail with the cause. */
  close(cause: Cause): Promise<void>;
}

/** Part of a source that has no tool. */
export interface Skipped {
  /** For example `DELETE /pets/{id}`, or the path of a file. */
  readonly what: string;
  /** The function module it belongs to, and the tool in it. No tool: the whole module. */
  readonly of?: { readonly module: string; readonly tool?: string } | undefined;
  /** A phrase. */
  readonly why: string;
}

export interface OutputDifference {
  readonly tool: string;
  /** A phrase that names no value of a result. */
  readonly where: string;
}

/** The lists of a server. */
export type ListKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

/** Unsolicited messages of a link. */
export interface LinkEvents {
  changed(kind: ListKind): void;
  /** A resource has changed: the one with this URI, or part of one that was subscribed to. */
  updated(uri: string, note: NotificationMessage): void;
  /** Notifications of the server may have been lost. Anything it reports may have changed. */
  missed(): void;
  /** The server has read some or all of the bytes that were pending. */
  drained(): void;
  /** The server makes a request that belongs to none of ours. Without a listener it is refused. */
  requested?: ((serverRequest: ServerRequest) => void) | undefined;
  /**
   * The server sends another notification that belongs to no request. Returns true if handled; otherwise it is logged.
   */
  notified?: ((note: NotificationMessage) => boolean) | undefined;
  /** The connection has ended. Called once, with the first cause. */
  ended(cause: Cause): void;
}

/** Options for opening a link. */
export interface OpenOptions {
  readonly events: LinkEvents;
  /** Aborted on timeout. */
  readonly signal: AbortSignal;
  /**
   * Called if the attempt fails while its process is still being ended, so that nobody waits for that to learn the
   * cause. If absent, the attempt fails when the process has ended.
   */
  readonly onEnding?: ((ended: Promise<void>) => void) | undefined;
  /** Undefined: Assay itself, with no client capabilities. A legacy handshake waits until the profile is known. */
  readonly client: ClientProfile | Promise<ClientProfile | undefined> | undefined;
  /** Whether several clients use the link, so that no state of one client may be kept for another. */
  readonly isShared?: boolean;
  /** The rights with which the process of a twin runs. Undefined for the server itself. */
  readonly rights?: TwinRights | undefined;
  /** Whether a twin may change files without effect. Absent: only if it does not start otherwise. */
  readonly discards?: boolean | undefined;
  /**
   * If set, system calls of a twin are traced, which slows it down. Called with the denials once the process has ended.
   */
  readonly onDenials?: ((denials: readonly ObservedDenial[]) => void) | undefined;
}

/** Opens a link: detects the server's era and performs the handshake. */
export type Connect = (spec: ServerSpec, opening: OpenOptions) => Promise<Result<Link, Cause>>;

/** Opens links to sources of these kinds; `transport` is that of `spec`. */
export type Connectors<K extends Transport['kind']> = {
  readonly [Of in K]: (
    spec: ServerSpec,
    transport: TransportOf<Of>,
    opening: OpenOptions,
  ) => Promise<Result<Link, Cause>>;
};

/** How much of a definition official clients accept: all of it, all but some members, or nothing. */
export type Fitness = ReturnType<typeof checkListable>;

/** One entry of a server's list, unchanged. */
export interface Definition {
  /** Name of a tool or prompt, URI (template) of a resource. Undefined if not a string. */
  readonly key: string | undefined;
  readonly bytes: Buffer;
  readonly fitness: Readonly<Record<Era, Fitness>>;
  /** Set for a tool whose input schema refers to a part that it does not have: where, and what is wrong. */
  readonly danglingReference?: string | undefined;
  /** Set for a tool that modern clients see. */
  readonly parameters?: HeaderParameters | undefined;
  /** Set for a tool that Assay builds itself. */
  readonly facts?: ToolFacts | undefined;
}

export type Inventory = Readonly<Record<ListKind, readonly Definition[]>>;

/** What a server declared when it was last ready. */
export interface Snapshot {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
  /** Whether it has ever requested something of its client outside the stream of a call. */
  readonly asksClient: boolean;
  readonly inventory: Inventory;
}

/**
 * Facts about servers that are remembered across restarts. Another command or URL under the same name is another
 * server.
 */
export interface Memory {
  recall(spec: ServerSpec): Snapshot | undefined;
  /** Takes effect at once and is written to disk soon after. */
  remember(spec: ServerSpec, snapshot: Snapshot): void;
  /** Whether the server was too late for the first lists of an earlier start, and has never been ready. */
  recallAbsence(spec: ServerSpec): boolean;
  /** Has no effect on a server that was ready once. */
  rememberAbsence(spec: ServerSpec): void;
}
