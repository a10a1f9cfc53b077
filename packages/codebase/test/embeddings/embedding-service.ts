import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EmbeddingSettings } from '../../src/embeddings/embedding-settings.ts';
import type { Clock } from '../../src/embeddings/with-retries.ts';

/** How the service misbehaves for one request. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string; readonly body?: string }
  | {
      readonly kind:
        | 'silent'
        | 'reset'
        | 'cut'
        | 'reordered'
        | 'misnumbered'
        | 'ragged'
        | 'short'
        | 'null'
        | 'huge_number'
        | 'zeros'
        | 'base64'
        | 'oversized'
        | 'not_json';
    }
  | { readonly kind: 'dimension'; readonly dimension: number }
  | { readonly kind: 'well' };

export interface Request {
  readonly path: string;
  readonly model: unknown;
  readonly authorization: string | undefined;
  readonly input: readonly string[];
}

/** Serves both API formats over real sockets. Its vectors count hashed subwords: texts that share words are near. */
export class EmbeddingService {
  readonly requests: Request[] = [];
  /** One fault per upcoming request. Requests after the last one succeed. */
  readonly script: Fault[] = [];
  /** Requests that contain this text fail with this status, regardless of the script. */
  refused: { readonly text: string; readonly status: number } | undefined;
  dimension = 64;
  /** Number of requests in progress. */
  open = 0;
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  static async start(): Promise<EmbeddingService> {
    const service = new EmbeddingService();
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  settings(changed: Partial<EmbeddingSettings> = {}): EmbeddingSettings {
    const kind = changed.kind ?? 'ollama';
    return {
      kind,
      url: this.url + (kind === 'ollama' ? '/api/embed' : '/v1/embeddings'),
      model: 'hash-embedding',
      key: undefined,
      batch: 4,
      timeoutMs: 20_000,
      queryTimeoutMs: 20_000,
      prefixes: { document: '', query: '' },
      vectorsUrl: undefined,
      ...changed,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { model, input } = JSON.parse(Buffer.concat(chunks).toString()) as Pick<Request, 'model' | 'input'>;
    const { authorization } = request.headers;
    this.requests.push({ path: request.url ?? '', model, authorization, input });
    this.open += 1;
    response.on('close', () => (this.open -= 1));
    const { refused } = this;
    if (refused !== undefined && input.some((text) => text.includes(refused.text)))
      return void response.writeHead(refused.status).end('{"error":"cannot embed this"}');
    this.#answer(this.script.shift() ?? { kind: 'well' }, input, response);
  }

  #answer(fault: Fault, input: readonly string[], response: ServerResponse): void {
    const isOllama = this.requests.at(-1)?.path === '/api/embed';
    switch (fault.kind) {
      case 'silent':
        return;
      case 'reset':
        return void response.socket?.resetAndDestroy();
      case 'cut':
        response.writeHead(200, { 'content-length': '1000' }).write('{"data":');
        return void setImmediate(() => response.socket?.destroy());
      case 'status': {
        const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
        return void response.writeHead(fault.status, headers).end(fault.body ?? '{"error":"scripted"}');
      }
      case 'oversized':
        return void response.end(Buffer.alloc(1_000_000, ' '));
      case 'not_json':
        return void response.end('<html>');
      default: {
        const dimension = fault.kind === 'dimension' ? fault.dimension : this.dimension;
        const vectors = corrupted(
          input.map((text) => hashEmbedding(text, dimension)),
          fault.kind,
        );
        const data = vectors.map((embedding, index) => ({ index, embedding }));
        if (fault.kind === 'reordered') data.reverse();
        if (fault.kind === 'misnumbered') data.forEach((item) => (item.index += 1));
        response.end(JSON.stringify(isOllama ? { embeddings: vectors } : { data }));
      }
    }
  }
}

function corrupted(vectors: number[][], kind: Fault['kind']): unknown[] {
  const [first = [], ...rest] = vectors;
  switch (kind) {
    case 'ragged':
      return [first.slice(1), ...rest];
    case 'short':
      return rest;
    case 'null': // JSON.stringify of NaN
      return [[null, ...first.slice(1)], ...rest];
    case 'huge_number':
      return [[1e300, ...first.slice(1)], ...rest];
    case 'zeros':
      return [first.map(() => 0), ...rest];
    case 'base64':
      return vectors.map((vector) => Buffer.from(Float32Array.from(vector).buffer).toString('base64'));
    default:
      return vectors;
  }
}

/** Feature hashing of words and their trigrams, with signs. The numbers say nothing about a model's quality. */
export function hashEmbedding(text: string, dimension: number): number[] {
  const vector = new Array<number>(dimension).fill(0);
  vector[0] = 0.01; // never a vector of zeros
  const words = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  for (const word of words ?? []) {
    const padded = `^${word}$`;
    const parts = [padded, ...Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3))];
    for (const part of parts) {
      const hash = fnv1a(part);
      vector[(hash >>> 1) % dimension]! += hash & 1 ? 1 : -1;
    }
  }
  return vector;
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193) >>> 0;
  return hash;
}

/** A clock that advances only by the waits it records. */
export function handClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => waits.reduce((sum, ms) => sum + ms, 0),
    wait: async (ms) => void waits.push(ms),
    random: () => 1,
  };
}
