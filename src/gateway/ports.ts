import type { Cancellation } from '../core/cancellation.ts';
import type { Refusal, RefusalCode } from '../core/errors.ts';
import type { Result } from '../core/result.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import type { Ending } from '../core/supervision.ts';
import type { Identity, Scope } from '../core/subject.ts';
import type { MintedToken } from '../core/token.ts';
import type { Era } from '../protocol/eras.ts';
import type { listable } from '../protocol/listable.ts';
import type { NotificationMessage, RequestMessage, ResponseMessage } from '../protocol/message.ts';

/** One request for a server, as a client sent it; the link makes of it what its server understands. */
export interface Ask {
  readonly message: RequestMessage;
  /** The era whose form the message has. */
  readonly era: Era;
  /** What the server calls the tool or prompt, where that differs from its public name. */
  readonly name: string | undefined;
  /** JSON text of the client's name and version; undefined: Assay's own. */
  readonly clientInfo: string | undefined;
  /** Longest silence in ms: without a result or progress for so long the request is cancelled. */
  readonly timeoutMs: number;
  /** Cancelled when whoever asked wants no answer any more. */
  readonly cancellation: Cancellation | undefined;
  /** Whether the answer is only handed on, so that a large one need not be read or joined. */
  readonly isRelayed: boolean;
  /** Progress (with the client's own token in it) and log messages that belong to this request. */
  readonly onNotification: ((note: NotificationMessage, bytes: Buffer) => void) | undefined;
}

/** A request of Assay's own, whose answer is read. `timeoutMs` may be Infinity. */
export function ownAsk(message: RequestMessage, timeoutMs: number, cancellation?: Cancellation): Ask {
  return {
    message,
    era: 'legacy',
    name: undefined,
    clientInfo: undefined,
    timeoutMs,
    cancellation,
    isRelayed: false,
    onNotification: undefined,
  };
}

/** A server's answer, as it came: its result or its error. */
export interface Reply {
  readonly message: ResponseMessage;
  readonly era: Era;
}

export type Capabilities = Readonly<Record<string, unknown>>;

/** A live conversation with one server, past its handshake. */
export interface Link {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
  /** Bytes that were sent and that its server has not taken; 0 as long as it takes what comes. */
  readonly untakenBytes: number;
  ask(ask: Ask): Promise<Result<Reply, Refusal>>;
  /** Ends the conversation in good order, and its process with all that it started. Requests under way are told the cause. */
  close(cause: string): Promise<void>;
}

/** The lists that a server keeps. */
export type ListKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

/** What a link says without being asked. */
export interface LinkEvents {
  changed(kind: ListKind): void;
  /** The server has taken what it had left; perhaps not all of it. */
  drained(): void;
  /** The conversation is over; said once, with its first cause as a phrase ("exited with code 7"). */
  ended(cause: string): void;
}

/** Opens a link: finds the server's era, shakes hands. */
export type Connect = (
  spec: ServerSpec,
  events: LinkEvents,
  signal: AbortSignal,
) => Promise<Result<Link, Ending>>;

/** What official clients accept of a definition: all, all but some members, or nothing of it. */
export type Fitness = ReturnType<typeof listable>;

/** One entry of a server's list, as the server wrote it. */
export interface Definition {
  /** The name of a tool or prompt, the URI (template) of a resource; undefined where it is no string. */
  readonly key: string | undefined;
  readonly bytes: Buffer;
  readonly fitness: Readonly<Record<Era, Fitness>>;
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

/** One entry of a server's list as last seen. */
export interface SeenDefinition {
  readonly kind: ListKind;
  /** Name of a tool or prompt, URI (template) of a resource; undefined where the server gave none. */
  readonly key: string | undefined;
  /** JSON text, as the server wrote it. */
  readonly text: string;
  /** SHA-256 of the definition in canonical JSON, in hexadecimal. */
  readonly digest: string;
}

/** A server as it was when it last stood. */
export interface SeenServer {
  readonly name: string;
  /** Which server had this name: a hash of its command or URL. Another one inherits nothing. */
  readonly identity: string;
  readonly era: Era;
  /** The revision that it speaks. */
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
  readonly seenMs: number;
  /** In the server's order, kind by kind. */
  readonly definitions: readonly SeenDefinition[];
}

/** A token as it is kept: never the token itself. */
export interface StoredToken {
  /** The public part of the token, by which it is found. */
  readonly id: string;
  /** What people call it; the subject of what is done with it. Unique among those not revoked. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** SHA-256 of the secret part, in hexadecimal. */
  readonly hash: string;
  readonly createdMs: number;
  readonly expiresMs: number | undefined;
  readonly revokedMs: number | undefined;
}

/** A key that all processes on one store share. */
export interface StoredKey {
  readonly id: string;
  readonly purpose: string;
  readonly bytes: Buffer;
  readonly createdMs: number;
}

/** The parts of a store, as changes of them are announced. */
export type StorePart = 'servers' | 'tokens' | 'keys' | 'settings';

/**
 * What outlasts the process, in one database that several processes share. Each method is one transaction, durable
 * before it resolves, and refuses with STORE_UNAVAILABLE when the database cannot be reached. Writes are done in the
 * order in which they are asked for, and a read sees those that were asked for before it.
 */
export interface Store {
  /** Replaces what was known of the server of this name and identity; only rows that differ are written. */
  saveServer(server: SeenServer): Promise<Result<undefined, Refusal>>;
  /** All servers ever seen, without their definitions. */
  servers(): Promise<Result<readonly Omit<SeenServer, 'definitions'>[], Refusal>>;
  /** Undefined where no server of this name and identity was seen. */
  server(name: string, identity: string): Promise<Result<SeenServer | undefined, Refusal>>;
  /** TOKEN_NAME_TAKEN where one of this name is not revoked. */
  addToken(token: StoredToken): Promise<Result<undefined, Refusal>>;
  /** Oldest first, those that are revoked among them. */
  tokens(): Promise<Result<readonly StoredToken[], Refusal>>;
  /** By id or, where none has it, by name. TOKEN_UNKNOWN where there is none that is not revoked yet. */
  revokeToken(idOrName: string, revokedMs: number): Promise<Result<StoredToken, Refusal>>;
  /** Newest first. */
  keys(purpose: string): Promise<Result<readonly StoredKey[], Refusal>>;
  /** Adds the key where its purpose has none; gives the one that is then newest, the same to all who ask at a time. */
  ensureKey(key: StoredKey): Promise<Result<StoredKey, Refusal>>;
  addKey(key: StoredKey): Promise<Result<undefined, Refusal>>;
  settings(): Promise<Result<ReadonlyMap<string, unknown>, Refusal>>;
  /** Undefined takes the setting away. The value is kept as JSON. */
  saveSetting(key: string, value: unknown): Promise<Result<undefined, Refusal>>;
  /**
   * Told within a second what any process changed, this one included; also of parts that may have changed while nobody
   * could see it. The returned function ends it.
   */
  onChange(listener: (parts: readonly StorePart[]) => void): () => void;
  /** What was asked for before is done. */
  close(): Promise<void>;
}

/** Makes a token that nobody else has. */
export type Mint = () => MintedToken;

/** Knows who may come in by a token. It stands on the path of every request, so nothing in it waits. */
export interface Gate {
  /** Who brings this header from this address. TOKEN_REQUIRED: no valid token; TOO_MANY_FAILURES: none was valid too often. */
  admit(authorization: string | undefined, address: string, nowMs: number): Result<Identity, Refusal>;
  /** Whether somebody has a token for MCP endpoints, and none can be guessed. */
  isFitForNetwork(nowMs: number): boolean;
  /** Whether MCP endpoints still let in whoever came as this subject. */
  isHolder(subject: string, nowMs: number): boolean;
}

/** Where events go that people may want to read. Known secrets are masked on the way. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** How a relayed request ended: the server's result, the server's error, or a refusal of ours. */
export type RelayEnding = 'ok' | 'error' | RefusalCode;

/** What is counted of one method of one server. Asked for once per request, so that it must cost next to nothing. */
export interface Tally {
  /** Gives the moment, for `end`. */
  begin(): number;
  end(ending: RelayEnding, beganMs: number): void;
}

/** Counts what is relayed, and tells it to whoever collects such numbers. */
export interface Meter {
  of(server: string, method: string): Tally;
  /** A server is being started, for the first time or again. */
  starting(server: string): void;
  /** All numbers as text, and its media type. */
  expose(readings: Readings): Promise<{ readonly type: string; readonly text: string }>;
}

/** What is read off at the moment when the numbers are collected. */
export interface Readings {
  readonly servers: readonly ServerReading[];
  /** All states that a server can be in. */
  readonly states: readonly string[];
  /** Of legacy clients over HTTP. */
  readonly sessions: number;
  /** Of clients over HTTP. */
  readonly connections: number;
  /** Open `subscriptions/listen` over HTTP. */
  readonly subscriptions: number;
}

export interface ServerReading {
  readonly name: string;
  readonly state: string;
  /** Requests in its queue; undefined: it has none. */
  readonly waiting: number | undefined;
}

/** What a span tells of a relayed request. */
export interface TracedRequest {
  readonly server: string;
  readonly method: string;
  /** The id that the client gave it. */
  readonly id: string;
  /** The tool or prompt by its public name, or the URI of a resource. */
  readonly target: string | undefined;
  /** The client's revision of the protocol. */
  readonly version: string | undefined;
  /** The members of `_meta` that tell of the client's own span: `traceparent`, `tracestate`, `baggage`. */
  readonly context: Readonly<Record<string, string>>;
}

/** How a request ended, as its span tells it. */
export interface TracedEnd {
  readonly ending: RelayEnding;
  /** Of a JSON-RPC error, the server's or ours. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** The tool ran, and its result says `isError`. */
  readonly isToolError: boolean;
}

/** Where spans begin. There is one only where somebody wants spans. */
export interface Tracer {
  begin(request: TracedRequest): Span;
}

export interface Span {
  end(end: TracedEnd): void;
}

/** What watches requests without having a part in them. */
export interface Telemetry {
  readonly meter: Meter | undefined;
  readonly tracer: Tracer | undefined;
  /** Takes secrets out of a text that a peer wrote. */
  readonly mask: (text: string) => string;
}
