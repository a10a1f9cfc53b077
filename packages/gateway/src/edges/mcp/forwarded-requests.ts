import { randomInt } from 'node:crypto';
import { toRpcError } from '../../core/errors.ts';
import { Slots } from '../../core/slots.ts';
import { refuseServerRequest } from '../../gateway/catalog/server-request-router.ts';
import { acceptsServerRequests } from '../../gateway/catalog/link-choice.ts';
import type { ServerRequest, ServerRequestAnswer } from '../../gateway/ports/link.ts';
import type { NotificationMessage, ResponseMessage } from '@assay-mcp/protocol/message';
import { buildForwardedRequest, SERVER_REQUESTS } from '@assay-mcp/protocol/server-requests';
import { buildNotification } from '@assay-mcp/protocol/reply';
import { findMember, readRawValue } from '@assay-mcp/protocol/spans';

const MAX_FIRST_GENERATION = 2 ** 32;
/** JSON text of an id that names the replica that asked. */
const NAMED_ID = /^"([\da-f]{12})-(\d{1,16})"$/;

export interface ForwardedRequestsOptions {
  /** The capabilities that the client declared, as JSON text. */
  readonly capabilities: string;
  /** Time limit in ms for the client's response. */
  readonly limitMs: number;
  /** Names this process in the ids of requests, if their answers may arrive at another one. */
  readonly replica?: string | undefined;
}

/** Sends a message to the client. Returns false if it cannot arrive. */
export type Send = (bytes: Buffer) => boolean;

interface Open {
  readonly serverRequest: ServerRequest;
  readonly send: Send;
  readonly timer: NodeJS.Timeout;
}

/**
 * Server requests forwarded to one legacy client, under our own ids. Each is answered exactly once, even if the client
 * leaves.
 */
export class ForwardedRequests {
  readonly #options: ForwardedRequestsOptions;
  /** An answer to a request of an earlier process must not be taken for one to a request of this one. */
  readonly #open = new Slots<Open>(randomInt(MAX_FIRST_GENERATION));
  #isOver = false;

  constructor(options: ForwardedRequestsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Forwards requests that the client declared support for. Unknown methods are forwarded too; the client decides. */
  ask(serverRequest: ServerRequest, send: Send): void {
    const { capabilities, limitMs } = this.#options;
    const { method } = serverRequest.message;
    if (this.#isOver || (SERVER_REQUESTS.has(method) && !acceptsServerRequests(capabilities, method))) {
      refuseServerRequest(serverRequest);
      return;
    }
    const timer = setTimeout(() => this.#late(id), limitMs).unref();
    const id = this.#open.add({ serverRequest, send, timer });
    if (id === undefined) {
      clearTimeout(timer);
      serverRequest.answer(UNHEARD);
      return;
    }
    serverRequest.onWithdrawn(() => this.#withdraw(id, 'the server wants no answer any more'));
    if (send(buildForwardedRequest(serverRequest.message, this.#toClientId(id)))) return;
    this.#close(id);
    serverRequest.answer(UNHEARD);
  }

  /**
   * Handles a response from the client. Responses to unknown ids are ignored. Returns the replica that asked, if it was
   * another one.
   */
  receive({ idText, bytes, root, isError }: ResponseMessage): string | undefined {
    const { id, replica } = this.#readId(idText);
    if (replica !== this.#options.replica) return replica;
    const open = this.#close(id);
    const kind = isError ? 'error' : 'result';
    const member = findMember(root, kind);
    if (member !== undefined) open?.serverRequest.answer({ kind, text: readRawValue(bytes, member) });
    return undefined;
  }

  /** Handles progress from the client. Progress for unknown tokens is ignored. */
  progress(note: NotificationMessage): void {
    const token = findMember(note.params, 'progressToken');
    if (token === undefined) return;
    const { id, replica } = this.#readId(readRawValue(note.bytes, token));
    if (replica === this.#options.replica) this.#open.get(id)?.serverRequest.progress(note);
  }

  /** The client has left. */
  end(): void {
    this.#isOver = true;
    for (const { serverRequest, timer } of this.#open.all()) {
      clearTimeout(timer);
      serverRequest.onWithdrawn(undefined);
      serverRequest.answer(GONE);
    }
  }

  #late(id: number | undefined): void {
    if (id === undefined) return;
    const open = this.#open.get(id);
    this.#withdraw(id, 'the time limit has passed');
    open?.serverRequest.answer(LATE);
  }

  #withdraw(id: number, reason: string): void {
    const open = this.#close(id);
    open?.send(buildNotification('notifications/cancelled', { requestId: this.#toClientId(id), reason }));
  }

  #toClientId(id: number): number | string {
    const { replica } = this.#options;
    return replica === undefined ? id : `${replica}-${id}`;
  }

  /** `replica` is undefined in ids that name none. */
  #readId(idText: string | undefined): { readonly id: number; readonly replica: string | undefined } {
    if (this.#options.replica === undefined) return { id: Number(idText), replica: undefined };
    const [, replica, id] = NAMED_ID.exec(idText ?? '') ?? [];
    return { id: Number(id), replica };
  }

  #close(id: number): Open | undefined {
    const open = this.#open.get(id);
    if (open === undefined) return undefined;
    this.#open.delete(id);
    clearTimeout(open.timer);
    open.serverRequest.onWithdrawn(undefined);
    return open;
  }
}

const UNHEARD: ServerRequestAnswer = unanswered('the client has no stream for server requests');
const GONE: ServerRequestAnswer = unanswered('the client is gone');
const LATE: ServerRequestAnswer = unanswered('the client did not answer in time');

function unanswered(reason: string): ServerRequestAnswer {
  const error = toRpcError({ code: 'CLIENT_SILENT', reason }, true);
  return { kind: 'error', text: JSON.stringify(error) };
}
