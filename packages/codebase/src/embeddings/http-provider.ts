import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { toPrintable } from '@assay-mcp/kit/printable';
import { CHOSEN_BY_OPERATOR } from '@assay-mcp/kit/reach';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { truncateText } from '@assay-mcp/kit/shorten';
import { HttpClient, type ResponseHeaders } from '@assay-mcp/kit/platform/http-client';
import type { EmbeddingFault, EmbeddingOptions, EmbeddingProvider } from './embedding-provider.ts';
import type { EmbeddingSettings } from './embedding-settings.ts';

/** A vector of 8,192 numbers as JSON. */
const MAX_BYTES_PER_VECTOR = 256 * 1024;
const MAX_BYTES_BESIDE = 64 * 1024;
const MAX_TEXT = 200;

/** Ollama's `POST /api/embed` and OpenAI's `POST /v1/embeddings`. */
export function openHttpProvider(settings: EmbeddingSettings): EmbeddingProvider {
  const { kind, model, prefixes } = settings;
  const { origin, pathname, search } = new URL(settings.url);
  const client = new HttpClient(origin, {
    reaches: CHOSEN_BY_OPERATOR,
    chosenBy: 'operator',
    sandboxProxy: settings.proxy,
  });
  const headers = settings.key === undefined ? [] : ['authorization', `Bearer ${settings.key}`];
  return {
    kind,
    model,
    identity: JSON.stringify([kind, model, prefixes.document]),
    async embed(texts, options) {
      const post = {
        path: pathname + search,
        headers,
        body: bodyOf(settings, texts, options),
        limitMs: options.limitMs,
        maxBytes: MAX_BYTES_BESIDE + texts.length * MAX_BYTES_PER_VECTOR,
        signal: options.signal,
      };
      const posted = await postJson(client, post);
      return posted.ok ? vectorsIn(posted.value, settings, texts.length) : posted;
    },
    close: () => client.close(),
  };
}

function bodyOf(
  { kind, model, prefixes }: EmbeddingSettings,
  texts: readonly string[],
  { purpose }: EmbeddingOptions,
): unknown {
  const input = texts.map((text) => prefixes[purpose] + text);
  return kind === 'ollama' ? { model, input, truncate: true } : { model, input, encoding_format: 'float' };
}

function vectorsIn(
  { status, headers, text }: Posted,
  { kind, key }: EmbeddingSettings,
  count: number,
): Result<readonly Float32Array[], EmbeddingFault> {
  if (status !== 200) {
    const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
    // Services repeat a key that they refuse.
    const shown = status === 401 || status === 403 ? '' : messageIn(text, key);
    return err({ code: 'STATUS', status, text: shown, retryAfterMs });
  }
  const vectors = readVectors(kind, text, count);
  return vectors.ok ? ok(vectors.value) : err({ code: 'ANSWER_INVALID', problem: vectors.error });
}

/** Both shapes put a message into `error`, Ollama directly and OpenAI as its `message`. */
function messageIn(text: string, key: string | undefined): string {
  const answer = parseJson(text);
  const error = isJsonObject(answer) ? answer['error'] : undefined;
  const message = isJsonObject(error) ? error['message'] : error;
  const shown = typeof message === 'string' ? message : text;
  const masked = key === undefined ? shown : shown.replaceAll(key, '[key]');
  return toPrintable(truncateText(masked, MAX_TEXT));
}

/** Seconds or a date (RFC 9110, section 10.2.3), as ms from now. */
export function parseRetryAfter(header: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

interface Post {
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: unknown;
  readonly limitMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

interface Posted {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

/** Posts JSON and reads the whole response, within a time limit and a size limit. */
function postJson(client: HttpClient, post: Post): Promise<Result<Posted, EmbeddingFault>> {
  const { path, limitMs, maxBytes, signal } = post;
  if (signal?.aborted === true) return Promise.resolve(err({ code: 'CANCELLED' }));
  return new Promise((resolve) => {
    let [status, size] = [0, 0];
    let headers: ResponseHeaders = {};
    const chunks: Buffer[] = [];
    const settle = (result: Result<Posted, EmbeddingFault>): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      resolve(result);
    };
    const stop = (fault: EmbeddingFault): void => {
      settle(err(fault));
      abort();
    };
    const cancel = (): void => stop({ code: 'CANCELLED' });
    const timer = setTimeout(() => stop({ code: 'TIMED_OUT', limitMs }), limitMs);
    signal?.addEventListener('abort', cancel);
    const body = Buffer.from(JSON.stringify(post.body));
    const ownHeaders = ['content-type', 'application/json', 'accept', 'application/json'];
    const abort = client.call(
      { method: 'POST', path, headers: [...ownHeaders, ...post.headers], body: [body] },
      {
        start(given, givenHeaders) {
          [status, headers] = [given, givenHeaders];
        },
        data(chunk) {
          size += chunk.length;
          if (size > maxBytes) stop({ code: 'ANSWER_TOO_LARGE', maxBytes });
          else chunks.push(chunk);
        },
        end: () => settle(ok({ status, headers, text: Buffer.concat(chunks).toString('utf8') })),
        error: (fault) => settle(err({ code: 'UNREACHABLE', fault })),
      },
    );
  });
}

/** More than any known model returns. */
const MAX_DIMENSION: number = 8_192;

/**
 * The vectors of a response in the order of the texts, scaled to length 1. The error is a phrase that follows "the
 * embedding service". A response is accepted whole or not at all.
 */
function readVectors(
  kind: EmbeddingProvider['kind'],
  text: string,
  count: number,
): Result<readonly Float32Array[], string> {
  const answer = parseJson(text);
  if (!isJsonObject(answer)) return err('did not answer with a JSON object');
  const listed = kind === 'ollama' ? answer['embeddings'] : inOrder(answer['data']);
  if (typeof listed === 'string') return err(listed);
  const member = kind === 'ollama' ? 'embeddings' : 'data';
  if (!Array.isArray(listed)) return err(`answered without "${member}"`);
  if (listed.length !== count)
    return err(`answered with ${listed.length} ${listed.length === 1 ? 'vector' : 'vectors'} for ${count}`);
  const vectors = listed.map(toUnitVector);
  const fault = vectors.find((vector) => typeof vector === 'string');
  if (fault !== undefined) return err(fault);
  const whole = vectors.filter((vector) => typeof vector !== 'string');
  const dimension = whole[0]?.length;
  if (whole.some(({ length }) => length !== dimension))
    return err('answered with vectors of different lengths');
  return ok(whole);
}

/** OpenAI's shape numbers the vectors; some servers answer in another order. A string says what is wrong. */
function inOrder(data: unknown): unknown {
  if (!Array.isArray(data) || !data.every(isJsonObject)) return undefined;
  if (data.every(({ index }) => index === undefined)) return data.map(({ embedding }) => embedding);
  const byIndex = new Map(data.map(({ index, embedding }) => [index, embedding]));
  const ordered = data.map((_, index) => byIndex.get(index));
  return byIndex.size === data.length && ordered.every((vector) => vector !== undefined)
    ? ordered
    : 'numbered its vectors wrongly';
}

function toUnitVector(value: unknown): Float32Array | string {
  const numbers = typeof value === 'string' ? decodeFloats(value) : value;
  if (!(numbers instanceof Float32Array) && !isNumbers(numbers))
    return 'answered with something else than numbers in a vector';
  if (numbers.length === 0 || numbers.length > MAX_DIMENSION)
    return `answered with a vector of ${numbers.length} numbers`;
  const vector = Float32Array.from(numbers);
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  if (!Number.isFinite(length)) return 'answered with numbers that are not finite';
  if (length === 0) return 'answered with a vector of zeros';
  return vector.map((number) => number / length);
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number');
}

/** Little-endian 32-bit floats in base64, which OpenAI's own clients request. */
function decodeFloats(base64: string): Float32Array | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length % 4 !== 0) return undefined;
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
