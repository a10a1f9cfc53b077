import { toPrintable } from '../../core/printable.ts';
import { isJsonObject, parseJson } from '../../core/json-object.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { CHOSEN_BY_OPERATOR } from '../../core/reach.ts';
import { HttpClient } from '../../platform/http-client.ts';
import type { EmbeddingFault, EmbeddingOptions, EmbeddingProvider } from './embedding-provider.ts';
import type { EmbeddingSettings } from './embedding-settings.ts';
import { postJson, type Posted } from './post-json.ts';
import { readVectors } from './read-vectors.ts';
import { truncateText } from '../../core/shorten.ts';

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
    proxy: settings.proxy,
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
