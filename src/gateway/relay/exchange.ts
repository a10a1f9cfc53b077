import type { Cancellation } from '../../core/cancellation.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Era } from '../../protocol/eras.ts';
import type { NotificationMessage, RequestMessage } from '../../protocol/message.ts';
import type { ServerRequestHandler } from '../catalog/server-request-router.ts';
import type { ClientSession } from '../catalog/client-session.ts';
import type { HeaderParameters } from '../../protocol/header-parameters.ts';
import type { HeaderLines } from '../../protocol/parameter-values.ts';
import type { TaskChange } from '../../protocol/tasks.ts';
import type { TraceContext } from '../../protocol/trace-context.ts';
import type { Reply } from '../ports/link.ts';
import type { ClientSubscriptions } from './client-subscriptions.ts';
import type { View } from '../catalog/view.ts';

/** One request on its way through the gateway, with what is known of who asks. */
export interface Exchange {
  readonly view: View;
  readonly message: RequestMessage;
  readonly era: Era;
  /** The revision that a legacy client negotiated. */
  readonly version?: string | undefined;
  /** Whose request it is. */
  readonly subject: string;
  /** JSON text of the client's name and version, where the message does not carry it. */
  readonly clientInfo: string | undefined;
  /** The least severe level of log messages that the client wants; undefined: it did not say. */
  readonly logLevel?: string | undefined;
  /** Of whose updates a legacy client is told. */
  readonly wishes?: ClientSubscriptions | undefined;
  /** Of a legacy client. */
  readonly session?: ClientSession | undefined;
  /** Asks a legacy client something, on the stream of this request; undefined: it cannot be asked. */
  readonly ask?: ServerRequestHandler | undefined;
  /** Cancelled when the client wants no answer any more. */
  readonly cancellation: Cancellation;
  /** The headers with which the request came, where they must repeat what it says. */
  readonly headerLines?: (() => HeaderLines) | undefined;
  /** What of the arguments headers repeat; known with the tool. */
  readonly parameters?: HeaderParameters | undefined;
  /** Of the span that watches it. */
  readonly trace?: TraceContext | undefined;
  /** What of it is about tasks, once its server is known. */
  readonly task?: TaskChange | undefined;
  /** Says something to the client before the result: progress and log messages of this request. */
  notify(note: NotificationMessage, bytes: Buffer): void;
}

export type Answer =
  | {
      readonly kind: 'relayed';
      readonly reply: Reply;
      /** What takes the place of the state that a modern server gave; undefined: there is none. */
      readonly requestState?: string | undefined;
      /** What the client calls a task of the server; undefined where the reply can hold none. */
      readonly wrapTask?: (inner: string) => string;
    }
  /** JSON text of a result of our own. */
  | { readonly kind: 'own'; readonly result: Buffer }
  | { readonly kind: 'refused'; readonly refusal: Refusal };
