import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { isInitializeRequest } from '@modelcontextprotocol/server';
import { EventMemory } from './event-memory.ts';
import { everything } from './everything.ts';
import type { SharedLists } from './shared-lists.ts';

/** How long a client whose stream was closed is to wait before it asks again. */
const RETRY_MS = 50;

/** Serves the legacy era: one server for each session. */
export class Sessions {
  readonly #lists: SharedLists;
  readonly #transports = new Map<string, NodeStreamableHTTPServerTransport>();

  constructor(lists: SharedLists) {
    this.#lists = lists;
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const transport = typeof id === 'string' ? this.#transports.get(id) : undefined;
    if (transport !== undefined) return transport.handleRequest(request, response, body);
    if (id === undefined && isInitializeRequest(body))
      return (await this.#open()).handleRequest(request, response, body);
    const [status, message] =
      id === undefined ? [400, 'There is no session without initialize'] : [404, 'Session not found'];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map((transport) => transport.close()));
  }

  async #open(): Promise<NodeStreamableHTTPServerTransport> {
    const { server, followLists } = everything(this.#lists);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventMemory(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => {
        this.#transports.set(id, transport);
      },
    });
    const leave = followLists();
    server.server.onclose = () => {
      leave();
      this.#transports.delete(transport.sessionId ?? '');
    };
    await server.connect(transport);
    return transport;
  }
}
