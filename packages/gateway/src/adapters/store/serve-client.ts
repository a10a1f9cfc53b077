import type { Cause } from '../../core/cause.ts';
import { OWN_INFO } from '@assay-mcp/kit/version';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { HttpClient, type HttpRequest } from '@assay-mcp/kit/platform/http-client';
import { EventTooLarge, SseParser } from '@assay-mcp/protocol/sse';
import { LOCAL_ORIGIN, type RunningServe } from './running-serve.ts';

/** The response of a running `serve` to an MCP request. */
export type ServeAnswer =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: JsonObject }
  /** The request or its response was lost. */
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface ServeRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Receives the notifications that belong to the request. */
  readonly onNotification: (note: JsonObject) => void;
}

interface Answered {
  readonly status: number;
  readonly sessionId: string | undefined;
}

interface Lost {
  readonly cause: Cause;
  readonly isUnreached: boolean;
}

/** Longer responses are refused. Servers may send at most 64 MiB. */
const MAX_BYTES = 80 * 1024 * 1024;
const ENDPOINT = '/mcp/all';
const VERSION = '2025-11-25';

/** Sends requests from this user's commands to their running `assay serve`. Whoever opens it closes it. */
export class ServeClient {
  readonly #serve: RunningServe;
  readonly #client: HttpClient;
  #sessionId: string | undefined;

  readonly #clientInfo: JsonObject;

  /** `clientInfo`: how it introduces itself. */
  constructor(serve: RunningServe, clientInfo: JsonObject = OWN_INFO) {
    this.#serve = serve;
    this.#clientInfo = clientInfo;
    this.#client =
      serve.url === '' ? new HttpClient(LOCAL_ORIGIN, undefined, serve.socket) : new HttpClient(serve.url);
  }

  /** Fetches a JSON document from the REST API. SERVER_UNREACHED on failure. */
  async read(path: string): Promise<Result<unknown, Refusal>> {
    const chunks: Buffer[] = [];
    const sent = await this.#send({ method: 'GET', path, body: undefined }, (chunk) => chunks.push(chunk));
    if (!sent.ok) return err(unreached(sent.error));
    const value = sent.value.status === 200 ? parsed(Buffer.concat(chunks)) : undefined;
    return value === undefined ? err(unreached(unexpected(sent.value))) : ok(value);
  }

  /**
   * Sends an MCP request as a legacy client, in its own session, and waits for the response as long as the gateway
   * takes.
   */
  async request({ method, params, onNotification }: ServeRequest): Promise<ServeAnswer> {
    const opening = { protocolVersion: VERSION, capabilities: {}, clientInfo: this.#clientInfo };
    const opened = await this.#post({ id: 0, method: 'initialize', params: opening });
    // The tool is not called yet, so nothing has happened.
    if (!opened.ok) return { kind: 'refused', refusal: unreached(opened.error) };
    this.#sessionId = opened.value.sessionId;
    if (this.#sessionId === undefined)
      return { kind: 'refused', refusal: unreached(unexpected(opened.value)) };
    await this.#post({ method: 'notifications/initialized' });
    let response: JsonObject | undefined;
    const answered = await this.#post({ id: 1, method, params }, (message) => {
      if (message['id'] === 1 && !('method' in message)) response = message;
      else if (typeof message['method'] === 'string') onNotification(message);
    });
    const { result, error } = response ?? {};
    if (isJsonObject(result)) return { kind: 'result', result };
    if (isJsonObject(error)) return { kind: 'error', error };
    const lost = answered.ok ? unexpected(answered.value) : answered.error;
    return { kind: 'refused', refusal: lost.isUnreached ? unreached(lost) : ended(lost) };
  }

  /** Ends the session, which cancels a call that is still open. */
  async close(): Promise<void> {
    const isOpen = this.#sessionId !== undefined;
    if (isOpen) await this.#send({ method: 'DELETE', path: ENDPOINT, body: undefined }, () => undefined);
    await this.#client.close();
  }

  async #post(
    message: JsonObject,
    onMessage: (message: JsonObject) => void = () => undefined,
  ): Promise<Result<Answered, Lost>> {
    const body = [Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))];
    const chunks: Buffer[] = [];
    const take = (text: Buffer): void => {
      const read = parsed(text);
      if (isJsonObject(read)) onMessage(read);
    };
    const events = new SseParser(({ event, data }) => {
      if (event === 'message') take(data);
    }, MAX_BYTES);
    const sent = await this.#send({ method: 'POST', path: ENDPOINT, body }, (chunk, isStream) => {
      if (isStream) events.push(chunk);
      else chunks.push(chunk);
    });
    if (chunks.length > 0) take(Buffer.concat(chunks));
    return sent;
  }

  #send(
    request: Omit<HttpRequest, 'headers'>,
    onData: (chunk: Buffer, isStream: boolean) => void,
  ): Promise<Result<Answered, Lost>> {
    const headers = [
      ...['authorization', `Bearer ${this.#serve.token}`],
      ...['accept', 'application/json, text/event-stream'],
      ...(request.body === undefined ? [] : ['content-type', 'application/json']),
      ...(this.#sessionId === undefined ? [] : ['mcp-session-id', this.#sessionId]),
      ...(this.#sessionId === undefined ? [] : ['mcp-protocol-version', VERSION]),
    ];
    return new Promise((resolve) => {
      let answered: Answered = { status: 0, sessionId: undefined };
      let [isStream, bytes] = [false, 0];
      const abort = this.#client.call(
        { ...request, headers },
        {
          start: (status, { 'content-type': type = '', 'mcp-session-id': id }) => {
            isStream = String(type).startsWith('text/event-stream');
            answered = { status, sessionId: typeof id === 'string' ? id : undefined };
          },
          data: (chunk) => {
            bytes += chunk.length;
            try {
              if (bytes > MAX_BYTES) throw new EventTooLarge();
              onData(chunk, isStream);
            } catch {
              abort();
            }
          },
          end: () => resolve(ok(answered)),
          error: (fault, isUnreached) => resolve(err({ cause: fault, isUnreached })),
        },
      );
    });
  }
}

const NAME = 'assay serve';

function unexpected({ status }: Answered): Lost {
  const cause = status === 200 ? RESPONSE_INCOMPLETE : ({ code: 'HTTP_STATUS_UNEXPECTED', status } as const);
  return { cause, isUnreached: false };
}

const RESPONSE_INCOMPLETE: Cause = { code: 'RESPONSE_INCOMPLETE' };

function unreached({ cause }: Lost): Refusal {
  return { code: 'SERVER_UNREACHED', server: NAME, cause };
}

function ended({ cause }: Lost): Refusal {
  return { code: 'SERVER_ENDED', server: NAME, cause };
}

function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
