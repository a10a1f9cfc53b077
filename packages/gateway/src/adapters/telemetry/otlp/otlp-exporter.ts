import type { ClientRequest, IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { computeBackoffMs } from '@assay-mcp/kit/backoff';
import { isJsonObject, parseObject } from '@assay-mcp/kit/json-object';
import type { Log } from '../../../gateway/ports/log.ts';
import type { SignalSettings } from './otlp-settings.ts';

export interface ExporterOptions<T> {
  readonly settings: SignalSettings;
  /** What is exported, for the log: spans, metrics or logs. */
  readonly kind: 'spans' | 'metrics' | 'logs';
  /** The body of a request, as a JSON value. */
  readonly encode: (items: readonly T[]) => object;
  readonly log: Log;
  readonly onDropped: (count: number) => void;
  /** From 0 to 1. */
  readonly chance?: () => number;
}

/** A batch is given up after this many tries. */
const MAX_TRIES = 5;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** More of a response is not read. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** How long in ms closing waits for the last exports. */
const CLOSE_MS = 2_000;
const LOG_INTERVAL_MS = 60_000;
/** Statuses after which a request may be repeated (OTLP/HTTP, Failures). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

type Attempt =
  | { readonly kind: 'done'; readonly rejected: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number };

/**
 * Collects items and sends them in batches as OTLP over HTTP/JSON, one request at a time. Whoever adds an item never
 * waits: beyond the queue, items are dropped and counted. Redirects are not followed, and proxies are not used.
 */
export class OtlpExporter<T> {
  readonly #options: ExporterOptions<T>;
  #queue: T[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #request: ClientRequest | undefined;
  #isClosing = false;
  #isClosed = false;
  #wake: (() => void) | undefined;
  #loggedMs = -Infinity;

  constructor(options: ExporterOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#queue.length;
  }

  add(item: T): void {
    const { settings, onDropped } = this.#options;
    if (this.#isClosed || this.#queue.length >= settings.maxQueue) {
      onDropped(1);
      return;
    }
    this.#queue.push(item);
    if (this.#queue.length >= settings.maxBatch) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), settings.delayMs).unref();
  }

  /** Sends what is left, for at most two seconds. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const limit = setTimeout(() => this.#end(), CLOSE_MS).unref();
    this.#wake?.();
    this.#send();
    await this.#sending;
    clearTimeout(limit);
    this.#end();
  }

  #end(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#request?.destroy();
    this.#wake?.();
    this.#drop(this.#queue.splice(0).length, 'Assay is ending');
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#queue.length > 0 && !this.#isClosed)
        this.#timer ??= setTimeout(() => this.#send(), this.#options.settings.delayMs).unref();
    });
  }

  async #sendAll(): Promise<void> {
    const { maxBatch } = this.#options.settings;
    do {
      const batch = this.#queue.splice(0, maxBatch);
      if (batch.length > 0) await this.#sendBatch(batch);
    } while (!this.#isClosed && this.#queue.length >= (this.#isClosing ? 1 : maxBatch));
  }

  async #sendBatch(batch: readonly T[]): Promise<void> {
    const { encode, settings, chance = Math.random } = this.#options;
    const body = Buffer.from(JSON.stringify(encode(batch)));
    const bytes = settings.isCompressed ? gzipSync(body) : body;
    for (let tries = 1; ; tries += 1) {
      const attempt = await this.#try(bytes);
      if (attempt.kind === 'done') {
        if (attempt.rejected > 0)
          this.#drop(Math.min(attempt.rejected, batch.length), 'the collector rejected them');
        return;
      }
      const isLast = attempt.kind === 'refused' || tries >= MAX_TRIES || this.#isClosing;
      if (isLast || this.#isClosed) {
        this.#drop(batch.length, attempt.reason);
        return;
      }
      const backoffMs = computeBackoffMs(tries, {
        firstMs: FIRST_RETRY_MS,
        maxMs: MAX_RETRY_MS,
        chance: chance(),
      });
      await this.#pause(Math.min(attempt.afterMs ?? backoffMs, MAX_RETRY_MS));
    }
  }

  /** Ends early when the exporter closes. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #try(bytes: Buffer): Promise<Attempt> {
    const { url, headers, timeoutMs, isCompressed } = this.#options.settings;
    const { request: send } = process.getBuiltinModule(
      url.protocol === 'https:' ? 'node:https' : 'node:http',
    );
    return new Promise((resolve) => {
      const request = send(url, {
        method: 'POST',
        agent: false,
        headers: {
          ...Object.fromEntries(headers),
          'content-type': 'application/json',
          'content-length': bytes.length,
          ...(isCompressed && { 'content-encoding': 'gzip' }),
        },
      });
      this.#request = request;
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)),
        timeoutMs,
      ).unref();
      request.once('close', () => clearTimeout(timer));
      request.on('error', (error: NodeJS.ErrnoException) =>
        resolve({ kind: 'retry', reason: error.code ?? error.message }),
      );
      request.once('close', () => resolve({ kind: 'retry', reason: 'the connection was closed' }));
      request.once('response', (response) => {
        void readAnswer(response).then((text) => {
          request.destroy();
          resolve(toAttempt(response, text));
        });
      });
      request.end(bytes);
    });
  }

  #drop(count: number, reason: string): void {
    if (count === 0) return;
    const { onDropped, log, kind, settings } = this.#options;
    onDropped(count);
    const nowMs = performance.now();
    if (nowMs - this.#loggedMs < LOG_INTERVAL_MS) return;
    this.#loggedMs = nowMs;
    log.warn(`OTLP: ${kind} were dropped; further drops are logged once a minute`, {
      count,
      endpoint: `${settings.url.origin}${settings.url.pathname}`,
      cause: reason,
    });
  }
}

/** The beginning of a response; the rest is not read. */
async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) return '';
    }
  } catch {
    return ''; // The status says enough.
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toAttempt({ statusCode: status = 0, headers }: IncomingMessage, text: string): Attempt {
  if (status >= 200 && status < 300) return { kind: 'done', rejected: countRejected(text) };
  const reason = `HTTP ${status}`;
  if (!RETRYABLE.has(status)) return { kind: 'refused', reason };
  const after = headers['retry-after'];
  const isSeconds = after !== undefined && /^\d{1,9}$/.test(after);
  const afterMs = isSeconds ? Number(after) * 1_000 : Date.parse(after ?? '') - Date.now();
  return Number.isFinite(afterMs)
    ? { kind: 'retry', reason, afterMs: Math.max(0, afterMs) }
    : { kind: 'retry', reason };
}

/** The items that the collector did not accept (`partialSuccess`). */
function countRejected(text: string): number {
  if (!text.includes('partialSuccess')) return 0;
  const { partialSuccess } = parseObject(text);
  if (!isJsonObject(partialSuccess)) return 0;
  const [count] = Object.entries(partialSuccess).flatMap(([key, value]) =>
    key.startsWith('rejected') ? [Number(value)] : [],
  );
  return count !== undefined && count > 0 ? count : 0;
}
