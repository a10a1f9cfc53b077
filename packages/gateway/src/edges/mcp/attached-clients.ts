import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ConnectedClient } from '../../api/status.ts';
import {
  ATTACH_PROTOCOL,
  ATTACH_TARGET,
  MAX_ATTACH_BYTES,
  parseAttachRequest,
  RETIRING_LINE,
  type AttachAnswer,
  type AttachRequest,
} from '../../core/attach.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { type AttachedClient, SoleClient } from '../../gateway/catalog/client-session.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import type { View } from '../../gateway/catalog/view.ts';
import { guardCallback, type Peer } from '@assay-mcp/kit/platform/guarded';
import { readUntil } from '@assay-mcp/kit/platform/read-until';
import { VERSION } from '@assay-mcp/kit/version';
import { parseClientIdentity } from './client-load.ts';
import { findOriginFault, findPageFault } from './guard.ts';
import { runStdioServer, type StdioServerOptions } from './stdio-server.ts';

export interface AttachedClientsOptions extends Pick<
  StdioServerOptions,
  'relay' | 'settings' | 'limits' | 'log'
> {
  /** What the client sees. TOOLSET_UNKNOWN */
  readonly findView: (view: AttachRequest['view'], clientId: string) => Result<View, Refusal>;
  /**
   * How the client's folder and variables change entries of servers. `notes`: sentences for its log. The error is the
   * reason why the client needs a process of its own.
   */
  readonly openPlace: (
    request: AttachRequest,
  ) => Result<Pick<AttachedClient, 'specFor'> & { readonly notes: readonly string[] }, string>;
  /** Called when a client of a newer version has attached. */
  readonly onNewer: (version: string) => void;
}

interface Attached {
  readonly socket: Duplex;
  readonly view: View;
  /** Undefined until it has introduced itself. */
  client: { readonly info: string | undefined; readonly era: Era } | undefined;
  lastUsedMs: number;
}

/** Time limit in ms for the line that says who attaches. */
const REQUEST_MS = 5_000;
/** Time in ms for a client to read the last answers. */
const END_LIMIT_MS = 1_000;
/** Maximum number of clients that are attached at a time. */
const MAX_CLIENTS = 256;

/**
 * The clients whose `assay stdio` passes their messages on to this process, over the socket of the home. Each has the
 * rights and the session of a client on stdio.
 */
export class AttachedClients {
  readonly #options: AttachedClientsOptions;
  readonly #clients = new Set<Attached>();
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #opening = new Set<Duplex>();

  constructor(options: AttachedClientsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#clients.size;
  }

  get all(): readonly ConnectedClient[] {
    const nowMs = performance.now();
    return [...this.#clients].map(({ client, view, lastUsedMs }) => ({
      ...parseClientIdentity(client?.info),
      era: client?.era ?? 'modern',
      endpoint: view.endpoint,
      subject: LOCAL_USER.subject,
      idleMs: Math.round(nowMs - lastUsedMs),
    }));
  }

  /** Handles a request to upgrade a connection. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const peer: Peer = { name: 'attached client', end: () => void socket.destroy() };
    socket.on('error', () => socket.destroy());
    const isMeant = request.url === ATTACH_TARGET && request.headers.upgrade === ATTACH_PROTOCOL;
    const fault = findOriginFault(request, true) ?? findPageFault(request);
    const isFull = this.#clients.size >= MAX_CLIENTS || this.#stopping.signal.aborted;
    if (!isMeant || fault !== undefined || isFull) {
      socket.end(
        `HTTP/1.1 ${isFull ? '503 Service Unavailable' : '400 Bad Request'}\r\nConnection: close\r\n\r\n`,
      );
      return;
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${ATTACH_PROTOCOL}\r\n\r\n`,
    );
    if (head.length > 0) socket.unshift(head);
    const running = this.#run(socket, peer).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Tells all clients that a newer version takes the place of this process. */
  announceRetirement(): void {
    for (const { socket } of this.#clients) socket.write(`${RETIRING_LINE}\n`);
  }

  /** Answers what is open, and ends the connections. */
  async close(): Promise<void> {
    this.#stopping.abort();
    for (const socket of this.#opening) socket.destroy();
    await Promise.all(this.#running);
  }

  async #run(socket: Duplex, peer: Peer): Promise<void> {
    this.#opening.add(socket);
    const line = await readUntil(socket, {
      end: '\n',
      maxBytes: MAX_ATTACH_BYTES,
      limitMs: REQUEST_MS,
      peer,
    });
    this.#opening.delete(socket);
    const request = line === undefined ? undefined : parseAttachRequest(line);
    if (request === undefined) {
      socket.destroy();
      return;
    }
    const id = randomUUID();
    const { findView, openPlace, onNewer, ...options } = this.#options;
    const view = findView(request.view, id);
    if (!view.ok) {
      const { code } = view.error;
      socket.write(toLine({ kind: 'refused', code, message: formatRefusal(view.error) }));
      endSocket(socket);
      return;
    }
    const opened = openPlace(request);
    if (!opened.ok) {
      socket.write(toLine({ kind: 'alone', reason: opened.error }));
      endSocket(socket);
      return;
    }
    const place = opened.value;
    socket.write(toLine({ kind: 'attached', version: VERSION, notes: place.notes }));
    const client: Attached = { socket, view: view.value, client: undefined, lastUsedMs: performance.now() };
    const sole = new SoleClient();
    void sole.profile.then((profile) => {
      const era = sole.session === undefined ? 'modern' : 'legacy';
      client.client = { info: profile?.clientInfo, era };
    });
    this.#clients.add(client);
    const used = (): number => (client.lastUsedMs = performance.now());
    socket.on('data', guardCallback(peer, used));
    onNewer(request.version);
    try {
      const served = runStdioServer({
        ...options,
        input: socket,
        output: socket,
        view: view.value,
        sole,
        stopping: this.#stopping.signal,
        attached: { id, specFor: (spec) => place.specFor(spec) },
      });
      // It was paused after the first line.
      socket.resume();
      await served;
    } finally {
      this.#clients.delete(client);
      sole.introduce(undefined);
      endSocket(socket);
    }
  }
}

/** Ends a connection even if the client does not read. */
function endSocket(socket: Duplex): void {
  socket.end();
  setTimeout(() => socket.destroy(), END_LIMIT_MS).unref();
}

function toLine(answer: AttachAnswer): string {
  return `${JSON.stringify(answer)}\n`;
}
