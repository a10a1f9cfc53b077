import type { Duplex, Readable, Writable } from 'node:stream';
import { RETIRING_LINE } from '../../core/attach.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { computeBackoffMs } from '@assay-mcp/kit/backoff';
import { guardCallback, type Peer } from '@assay-mcp/kit/platform/guarded';
import { InOrder } from '@assay-mcp/kit/platform/in-order';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import { pause } from '@assay-mcp/kit/platform/pause';
import {
  type NotificationMessage,
  readServerMessage,
  type RequestMessage,
} from '@assay-mcp/protocol/message';
import { buildNotification } from '@assay-mcp/protocol/reply';
import { findMember, readRawValue } from '@assay-mcp/protocol/spans';
import { LIST_CHANGED } from './legacy-rules.ts';
import { readBatch, readFromClient } from './read-message.ts';

export interface AttachPipeOptions {
  /** The streams of the client. */
  readonly input: Readable;
  readonly output: Writable;
  /** Aborted when this process is asked to stop. */
  readonly stopping: AbortSignal;
  /**
   * Connects to the gateway, or to one in this process. `isRetired`: the last one ended because a newer version takes its
   * place.
   */
  readonly open: (again?: { readonly isRetired: boolean }) => Promise<Result<Duplex, Refusal>>;
  readonly maxBodyBytes: number;
  /** Whether the gateway in this process could not serve the client: then no other is opened. */
  readonly isFailed: () => boolean;
}

/** Requests that are sent again to another gateway: they only read, or set up the client's session. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'initialize',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'ping',
  'server/discover',
  'tools/list',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
  'subscriptions/listen',
  'tasks/get',
  'tasks/list',
  'tasks/result',
]);

/** A request of the client without an answer. `line`: set if it can be sent again. */
interface OpenRequest {
  readonly idText: string;
  readonly line: Buffer | undefined;
}

/** A request that sets up the client's session. */
type SessionRequest = OpenRequest & { readonly line: Buffer };

const LINE_FEED = Buffer.from('\n');

/**
 * Passes messages between a client on stdio and a gateway. If the gateway ends, the client's session is opened again at
 * the next one: the handshake, the log level, the subscriptions and what only reads are sent again; calls that were lost
 * are answered with an error. Resolves when the client has closed its side. Errors: those of the first `open`.
 */
export async function runAttachPipe(options: AttachPipeOptions): Promise<Result<undefined, Refusal>> {
  const pipe = new AttachPipe(options);
  return pipe.run();
}

class AttachPipe {
  readonly #options: AttachPipeOptions;
  readonly #open = new Map<string, OpenRequest>();
  /** What the client has said that another gateway must hear. */
  #handshake: SessionRequest | undefined;
  #initialized: Buffer | undefined;
  #logLevel: SessionRequest | undefined;
  readonly #subscriptions = new Map<string, SessionRequest>();
  /** Ids of the gateway's requests that the client has not answered. */
  readonly #asked = new Set<string>();
  /** Ids of requests that were sent again only for the gateway; the client has their answers. */
  readonly #repeated = new Set<string>();
  #gateway: Duplex | undefined;
  #messages: InOrder | undefined;
  /** Read to the end only after the gateway was gone. */
  readonly #unsent: Buffer[] = [];
  /** The requests without an answer when the last gateway was gone. */
  #lost: readonly OpenRequest[] = [];
  #isRetired = false;
  #hasEnded = false;

  constructor(options: AttachPipeOptions) {
    this.#options = options;
  }

  async run(): Promise<Result<undefined, Refusal>> {
    const { open, input, output, stopping, isFailed } = this.#options;
    const first = await open();
    if (!first.ok) return first;
    const end = (): void => {
      this.#hasEnded = true;
      this.#gateway?.end();
      setTimeout(() => this.#gateway?.destroy(), END_LIMIT_MS).unref();
    };
    output.on('error', end);
    stopping.addEventListener('abort', end);
    if (stopping.aborted) end();
    this.#readClient(() => end());
    let connection: Duplex = first.value;
    let failures = 0;
    for (;;) {
      const sinceMs = performance.now();
      await this.#pass(connection);
      if (this.#hasEnded || isFailed()) break;
      await this.#refuseLost();
      failures = performance.now() - sinceMs < STABLE_MS ? failures + 1 : 0;
      if (failures > 0) await pause(computeBackoffMs(failures, BACKOFF));
      const next = await open({ isRetired: this.#isRetired });
      this.#isRetired = false;
      if (!next.ok) return next;
      connection = next.value;
      // Writing to a connection that was lost again must not end the process.
      connection.on('error', () => connection.destroy());
      // The client may have left meanwhile.
      if (this.#hasClientLeft()) {
        connection.destroy();
        break;
      }
      this.#resume(connection);
    }
    await flush(output);
    input.destroy();
    return ok(undefined);
  }

  #hasClientLeft(): boolean {
    return this.#hasEnded;
  }

  #readClient(onEnd: () => void): void {
    const { input, maxBodyBytes } = this.#options;
    const peer: Peer = { name: 'stdio client', end: () => void input.destroy() };
    const messages = new InOrder({
      take: (line) => this.#fromClient(line),
      hold: (isHeld) => {
        if (isHeld) input.pause();
        else input.resume();
      },
      peer,
    });
    this.#messages = messages;
    messages.hold(true);
    const lines = new LineSplitter(maxBodyBytes, {
      line: (line) => messages.push(line),
      tooLong: () => void this.#refuse({ code: 'MESSAGE_TOO_LARGE', limitBytes: maxBodyBytes }),
    });
    input.on(
      'data',
      guardCallback(peer, (chunk: Buffer) => lines.push(chunk)),
    );
    const finish = (): void => {
      lines.end();
      messages.whenIdle(onEnd);
    };
    for (const event of ['end', 'error', 'close']) input.once(event, finish);
  }

  /** Passes messages on until the connection is gone. */
  #pass(connection: Duplex): Promise<void> {
    this.#gateway = connection;
    const { output, maxBodyBytes } = this.#options;
    const peer: Peer = { name: 'gateway', end: () => void connection.destroy() };
    return new Promise((resolve) => {
      const lines = new LineSplitter(Math.max(maxBodyBytes, MAX_ANSWER_BYTES), {
        line: (line) => this.#fromGateway(line),
        tooLong: () => connection.destroy(),
      });
      connection.on(
        'data',
        guardCallback(peer, (chunk: Buffer) => {
          lines.push(chunk);
          if (!output.writableNeedDrain) return;
          connection.pause();
          output.once('drain', () => connection.resume());
        }),
      );
      connection.on('drain', () => this.#messages?.hold(false));
      connection.on('error', () => connection.destroy());
      connection.once('end', () => connection.destroy());
      connection.once('close', () => {
        this.#gateway = undefined;
        // What is read from now on is not lost.
        this.#lost = [...this.#open.values()];
        this.#messages?.hold(true);
        resolve();
      });
      this.#messages?.hold(false);
      connection.resume();
    });
  }

  #fromClient(line: Buffer): Promise<void> | undefined {
    if (line.toString('latin1', 0, 64).trimStart().startsWith('[')) return this.#batchFromClient(line);
    const message = readFromClient(line);
    if (message instanceof Promise) return message.then((read) => this.#noteAndSend(read, line));
    this.#noteAndSend(message, line);
    return undefined;
  }

  async #batchFromClient(line: Buffer): Promise<void> {
    const batch = await readBatch(line);
    // Its answer is one array, so none of its requests is sent again.
    if (batch.ok)
      for (const message of batch.value)
        if (message.kind === 'request')
          this.#open.set(message.idText, { idText: message.idText, line: undefined });
    this.#send(line);
  }

  #noteAndSend(message: Exclude<ReturnType<typeof readFromClient>, Promise<unknown>>, line: Buffer): void {
    // The question of a gateway that is gone: another one may not take the answer for its own.
    if (message.kind === 'response' && message.idText !== undefined && !this.#asked.delete(message.idText))
      return;
    if (message.kind === 'request') this.#noteRequest(message, line);
    else if (message.kind === 'notification' && message.method === 'notifications/initialized')
      this.#initialized = line;
    else if (message.kind === 'notification' && message.method === 'notifications/cancelled')
      this.#open.delete(readRequestId(message) ?? '');
    this.#send(line);
  }

  #noteRequest({ idText, method, params, bytes }: RequestMessage, line: Buffer): void {
    const request = { idText, line };
    this.#open.set(idText, REPEATABLE.has(method) ? request : { idText, line: undefined });
    if (method === 'initialize') this.#handshake = request;
    else if (method === 'logging/setLevel') this.#logLevel = request;
    else if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
      const uri = findMember(params, 'uri');
      const key = uri === undefined ? '' : readRawValue(bytes, uri);
      if (method === 'resources/unsubscribe') this.#subscriptions.delete(key);
      else if (this.#subscriptions.size < MAX_SUBSCRIPTIONS) this.#subscriptions.set(key, request);
    }
  }

  #fromGateway(line: Buffer): void {
    if (line.length === RETIRING_LINE.length && line.toString() === RETIRING_LINE) {
      this.#isRetired = true;
      return;
    }
    if (line[0] === 0x5b) {
      for (const idText of listBatchIds(line)) this.#open.delete(idText);
      this.#write(line);
      return;
    }
    const message = readServerMessage(line);
    if (message.kind === 'request') this.#asked.add(message.idText);
    else if (message.kind === 'notification' && message.method === 'notifications/cancelled')
      this.#asked.delete(readRequestId(message) ?? '');
    else if (message.kind === 'response' && message.idText !== undefined) {
      if (this.#repeated.delete(message.idText)) return;
      this.#open.delete(message.idText);
    }
    this.#write(line);
  }

  #send(line: Buffer): void {
    const gateway = this.#gateway;
    // What the client sends after its end was read, or after this process was asked to stop, goes nowhere.
    if (this.#hasEnded) return;
    if (gateway === undefined) {
      this.#unsent.push(line);
      return;
    }
    gateway.cork();
    gateway.write(line);
    const hasRoom = gateway.write(LINE_FEED);
    process.nextTick(() => gateway.uncork());
    // `#pass` goes on when there is room again.
    if (!hasRoom) this.#messages?.hold(true);
  }

  #write(line: Buffer): void {
    const { output } = this.#options;
    if (output.destroyed || output.writableEnded) return;
    output.cork();
    output.write(line);
    output.write(LINE_FEED);
    process.nextTick(() => output.uncork());
  }

  /** Refuses what cannot be read, so that its id is not known. */
  async #refuse(refusal: Refusal): Promise<void> {
    const { toRpcError } = await import('../../core/errors.ts');
    const error = JSON.stringify(toRpcError(refusal, true));
    this.#write(Buffer.from(`{"jsonrpc":"2.0","id":null,"error":${error}}`));
  }

  /** Answers the requests that were lost with the gateway and may have taken effect. */
  async #refuseLost(): Promise<void> {
    const { toRpcError } = await import('../../core/errors.ts');
    const text = JSON.stringify(toRpcError(LOST, true));
    for (const request of this.#lost) {
      const { idText, line } = request;
      if (line !== undefined || this.#open.get(idText) !== request) continue;
      this.#open.delete(idText);
      this.#write(Buffer.from(`{"jsonrpc":"2.0","id":${idText},"error":${text}}`));
    }
    for (const idText of this.#asked) {
      const params = `{"requestId":${idText},"reason":"the gateway that asked has ended"}`;
      this.#write(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`));
    }
    this.#asked.clear();
  }

  /** Brings another gateway to where the last one was. */
  #resume(connection: Duplex): void {
    const unsent = this.#unsent.splice(0);
    const lines: Buffer[] = [];
    this.#repeated.clear();
    const sent = new Set<Buffer>(unsent);
    const add = (request: OpenRequest | undefined): void => {
      if (request?.line === undefined || sent.has(request.line)) return;
      sent.add(request.line);
      lines.push(request.line);
      // The client has its answer.
      if (!this.#open.has(request.idText)) this.#repeated.add(request.idText);
    };
    add(this.#handshake);
    if (this.#initialized !== undefined) lines.push(this.#initialized);
    for (const request of [this.#logLevel, ...this.#subscriptions.values(), ...this.#open.values()])
      add(request);
    for (const line of [...lines, ...unsent]) connection.write(Buffer.concat([line, LINE_FEED]));
    // Other servers may run now.
    if (this.#initialized !== undefined)
      for (const method of new Set(Object.values(LIST_CHANGED))) this.#write(buildNotification(method));
  }
}

/** The id of the request that a notification cancels, as it was written. */
function readRequestId({ params, bytes }: NotificationMessage): string | undefined {
  const id = findMember(params, 'requestId');
  return id && readRawValue(bytes, id);
}

const LOST: Refusal = { code: 'GATEWAY_ENDED' };

/** The ids of the answers in a batch, as a client writes numbers and texts. */
function listBatchIds(line: Buffer): readonly string[] {
  const batch: unknown = JSON.parse(line.toString());
  if (!Array.isArray(batch)) return [];
  return batch.map((one: unknown) => JSON.stringify((one as { readonly id?: unknown } | null)?.id ?? null));
}

/** A connection that lasted this long, in ms, was not the fault of the gateway or of what is sent again. */
const STABLE_MS = 5_000;
const BACKOFF = { firstMs: 100, maxMs: 10_000 };
/** Time in ms for a gateway to answer the last requests of a client that has left. */
const END_LIMIT_MS = 30_000;

/** Servers may send at most 64 MiB. */
const MAX_ANSWER_BYTES = 80 * 1024 * 1024;
const MAX_SUBSCRIPTIONS = 1_024;
const FLUSH_MS = 2_000;

function flush(output: Writable): Promise<void> {
  if (output.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    setTimeout(resolve, FLUSH_MS).unref();
    output.write('', () => resolve());
  });
}
