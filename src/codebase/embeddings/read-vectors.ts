import { isJsonObject, parseJson } from '../../core/json-object.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';

/** More than any known model returns. */
export const MAX_DIMENSION: number = 8_192;

/**
 * The vectors of a response in the order of the texts, scaled to length 1. The error is a phrase that follows "the
 * embedding service". A response is accepted whole or not at all.
 */
export function readVectors(
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
  const vectors = listed.map(vectorOf);
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

function vectorOf(value: unknown): Float32Array | string {
  const numbers = typeof value === 'string' ? floatsOf(value) : value;
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
function floatsOf(base64: string): Float32Array | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length % 4 !== 0) return undefined;
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
