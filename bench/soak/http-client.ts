// An HTTP client of either era, with kept connections or a new one for each request.
import { Agent, Client, request } from 'undici';
import { type Ask, INITIALIZE_PARAMS, messagesOf, outgoing } from '../messages.ts';
import type { Received } from '../pipe-client.ts';

const ANSWER_WITHIN_MS = 60_000;

export interface HttpAnswer {
  readonly status: number;
  readonly session: string | undefined;
  /** All messages up to and including the response; none if the request was cancelled. */
  readonly messages: readonly Received[];
}

export class HttpClient {
  readonly endpoint: string;
  readonly #token: string;
  readonly #agent = new Agent({ headersTimeout: ANSWER_WITHIN_MS, bodyTimeout: ANSWER_WITHIN_MS });
  #lastId = 0;

  constructor({ endpoint, token }: { readonly endpoint: string; readonly token: string }) {
    this.endpoint = endpoint;
    this.#token = token;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** One POST; `signal` disconnects the client mid-request. */
  async post(ask: Ask, how: { signal?: AbortSignal; isFresh?: boolean } = {}): Promise<HttpAnswer> {
    const { headers, body } = outgoing({ ...ask, token: this.#token });
    const { origin } = new URL(this.endpoint);
    const fresh = how.isFresh === true ? new Client(origin) : undefined;
    try {
      const response = await request(this.endpoint, {
        method: 'POST',
        headers,
        body,
        dispatcher: fresh ?? this.#agent,
        signal: how.signal ?? null,
      });
      const text = await response.body.text();
      const session = response.headers['mcp-session-id'];
      return {
        status: response.statusCode,
        session: typeof session === 'string' ? session : undefined,
        messages: messagesOf(text) as readonly Received[],
      };
    } finally {
      await fresh?.destroy();
    }
  }

  /** Reads an event stream until the signal aborts it; returns its first message. */
  async listen(ask: Ask | { session: string }, signal: AbortSignal): Promise<Received | undefined> {
    const asked = 'method' in ask ? outgoing({ ...ask, token: this.#token }) : undefined;
    const headers = asked?.headers ?? this.#streamHeaders(ask.session ?? '');
    const { statusCode, body } = await request(this.endpoint, {
      method: asked === undefined ? 'GET' : 'POST',
      headers,
      body: asked?.body ?? null,
      dispatcher: this.#agent,
      signal,
    });
    let heard = '';
    try {
      for await (const chunk of body) heard += String(chunk);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (statusCode !== 200) throw new Error(`status ${String(statusCode)}: ${heard.slice(0, 200)}`);
    return messagesOf(heard.slice(0, heard.lastIndexOf('\n\n') + 1))[0] as Received | undefined;
  }

  /** Opens a legacy session and returns its id. */
  async openSession(): Promise<string> {
    const { status, session } = await this.initialize();
    if (session === undefined) throw new Error(`no session, status ${String(status)}`);
    await this.post({ era: 'legacy', method: 'notifications/initialized', params: {}, session });
    return session;
  }

  async initialize(): Promise<HttpAnswer> {
    const id = this.nextId();
    return await this.post({ era: 'legacy', method: 'initialize', params: INITIALIZE_PARAMS, id });
  }

  /** Sends the DELETE and returns its status. */
  async endSession(session: string): Promise<number> {
    const headers = this.#streamHeaders(session);
    const options = { method: 'DELETE', headers, dispatcher: this.#agent } as const;
    const { statusCode, body } = await request(this.endpoint, options);
    await body.dump();
    return statusCode;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #streamHeaders(session: string): Readonly<Record<string, string>> {
    return {
      accept: 'text/event-stream',
      authorization: `Bearer ${this.#token}`,
      'mcp-session-id': session,
      'mcp-protocol-version': String(INITIALIZE_PARAMS['protocolVersion']),
    };
  }
}
