import { toRpcError } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { ServerRequest, ServerRequestAnswer } from '../../gateway/ports/link.ts';
import type { NotificationMessage, RequestMessage } from '@assay-mcp/protocol/message';
import { buildErrorMessage, buildResultMessage } from '@assay-mcp/protocol/reply';
import { findMember, readRawValue } from '@assay-mcp/protocol/spans';
import { findProgressToken, setProgressToken } from '@assay-mcp/protocol/translate';

/** Maximum number of unanswered server requests on one link. */
const MAX_OPEN = 256;

export interface ServerRequestRoute {
  /** Receives the server request; undefined if the client cannot. */
  readonly to: ((serverRequest: ServerRequest) => void) | undefined;
  /** Sends the response. */
  readonly send: (bytes: Buffer) => void;
  /** Called when the server request starts waiting for its answer. */
  readonly onOpen?: () => void;
  /** Called when an opened server request is answered or withdrawn. */
  readonly onOver: () => void;
}

/** The unanswered server requests of one link, by the id the server chose. */
export class OpenServerRequests {
  readonly #open = new Map<string, ServerQuestion>();

  get size(): number {
    return this.#open.size;
  }

  /**
   * Takes a server request and returns a function that withdraws it. `ping` is answered at once
   * (2025-11-25, basic/utilities/ping).
   */
  take(message: RequestMessage, asked: ServerRequestRoute): () => void {
    const { method, idText } = message;
    if (method === 'ping') asked.send(buildResultMessage(idText, Buffer.from('{}')));
    else if (asked.to === undefined) asked.send(refusal(idText, { code: 'METHOD_UNKNOWN', method }));
    else if (this.#open.has(idText))
      return () => undefined; // a duplicate id: an error would count as the answer to the first
    else if (this.#open.size >= MAX_OPEN)
      asked.send(refusal(idText, { code: 'MESSAGE_INVALID', reason: 'too many server requests are open' }));
    else {
      asked.onOpen?.();
      const onOver = (): void => {
        this.#open.delete(idText);
        asked.onOver();
      };
      const serverRequest = new ServerQuestion(message, { ...asked, onOver });
      this.#open.set(idText, serverRequest);
      asked.to(serverRequest);
      return () => serverRequest.withdraw();
    }
    return () => undefined;
  }

  /** The server cancels a request. Returns whether the notification was a cancellation. */
  cancelled(note: NotificationMessage): boolean {
    if (note.method !== 'notifications/cancelled') return false;
    const id = findMember(note.params, 'requestId');
    if (id !== undefined) this.#open.get(readRawValue(note.bytes, id))?.withdraw();
    return true;
  }

  /** Withdraws all server requests because the connection is gone. */
  end(): void {
    for (const serverRequest of [...this.#open.values()]) serverRequest.withdraw();
  }
}

class ServerQuestion implements ServerRequest {
  readonly message: RequestMessage;
  readonly #asked: ServerRequestRoute;
  #isOver = false;
  #listener: (() => void) | undefined;

  constructor(message: RequestMessage, asked: ServerRequestRoute) {
    this.message = message;
    this.#asked = asked;
  }

  answer({ kind, text }: ServerRequestAnswer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#asked.send(Buffer.from(`{"jsonrpc":"2.0","id":${this.message.idText},"${kind}":${text}}`));
    this.#asked.onOver();
  }

  progress(note: NotificationMessage): void {
    const token = findProgressToken(this.message);
    if (!this.#isOver && token !== undefined) this.#asked.send(setProgressToken(note, token));
  }

  onWithdrawn(listener: (() => void) | undefined): void {
    this.#listener = listener;
    if (this.#isOver && listener !== undefined) this.#notify();
  }

  withdraw(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#asked.onOver();
    this.#notify();
  }

  #notify(): void {
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.();
  }
}

function refusal(idText: string, what: Refusal): Buffer {
  return buildErrorMessage(idText, toRpcError(what, true), 'legacy');
}
