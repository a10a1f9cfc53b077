import type { Cancellation } from '../core/cancellation.ts';
import type { Refusal } from '../core/errors.ts';
import type { Result } from '../core/result.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import type { Era } from '../protocol/eras.ts';
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
  ask(ask: Ask): Promise<Result<Reply, Refusal>>;
  /** Ends the conversation in good order, and its process with all that it started. */
  close(): Promise<void>;
}

/** The lists that a server keeps. */
export type ListKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

/** What a link says without being asked. */
export interface LinkEvents {
  changed(kind: ListKind): void;
  /** The conversation is over; said once, with its first cause as a phrase ("exited with code 7"). */
  ended(cause: string): void;
}

/** Opens a link: finds the server's era, shakes hands. The error is the cause as a phrase. */
export type Connect = (
  spec: ServerSpec,
  events: LinkEvents,
  signal: AbortSignal,
) => Promise<Result<Link, string>>;

/** The era that each server was found to speak, remembered between starts. */
export interface EraMemory {
  recall(spec: ServerSpec): Era | undefined;
  remember(spec: ServerSpec, era: Era): void;
}

/** Where events go that people may want to read. `fields` never hold secrets. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
