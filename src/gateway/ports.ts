import type { Cancellation } from '../core/cancellation.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Result } from '../core/result.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import type { Ending } from '../core/supervision.ts';
import type { Identity } from '../core/subject.ts';
import type { MintedToken } from '../core/token.ts';
import type { Era } from '../protocol/eras.ts';
import type { HeaderParameters } from '../protocol/header-parameters.ts';
import type { listable } from '../protocol/listable.ts';
import type { NotificationMessage, RequestMessage, ResponseMessage } from '../protocol/message.ts';
import type { TraceContext } from '../protocol/trace-context.ts';

/** One request for a server, as a client sent it; the link makes of it what its server understands. */
export interface Ask {
  readonly message: RequestMessage;
  /** The era whose form the message has. */
  readonly era: Era;
  /** What the server calls the tool or prompt, where that differs from its public name. */
  readonly name: string | undefined;
  /** What of its arguments headers repeat towards a modern server over HTTP. */
  readonly parameters?: HeaderParameters | undefined;
  /** The trace that the server is to know the request by. */
  readonly trace?: TraceContext | undefined;
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
  /** Whether headers repeat parts of a request, so that a tool is of no use whose headers cannot be made. */
  readonly hasHeaders?: boolean;
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
  /** Of a tool that modern clients are shown. */
  readonly parameters?: HeaderParameters | undefined;
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
