import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { formatEmbeddingFault } from '../../src/embeddings/failure-text.ts';
import type { EmbeddingSettings } from '../../src/embeddings/embedding-settings.ts';
import { openHttpProvider, parseRetryAfter } from '../../src/embeddings/http-provider.ts';
import { EmbeddingService, hashEmbedding, type Fault } from './embedding-service.ts';

let service: EmbeddingService;
beforeAll(async () => {
  service = await EmbeddingService.start();
});
afterAll(() => service.close());
beforeEach(() => {
  service.requests.length = 0;
  service.script.length = 0;
});

type Embedded = Awaited<ReturnType<ReturnType<typeof openHttpProvider>['embed']>>;

async function embed(
  texts: readonly string[],
  changed: Partial<EmbeddingSettings> & { signal?: AbortSignal; purpose?: 'query' } = {},
): Promise<Embedded> {
  const { signal, purpose = 'document', ...settings } = changed;
  const provider = openHttpProvider(service.settings(settings));
  try {
    return await provider.embed(texts, { purpose, limitMs: settings.timeoutMs ?? 20_000, signal });
  } finally {
    await provider.close();
  }
}

function unit(text: string): Float32Array {
  const vector = hashEmbedding(text, 64);
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (number) => number / length);
}

function expectVectors(embedded: Embedded, texts: readonly string[]): void {
  const vectors = embedded.ok ? embedded.value : [];
  expect(vectors).toHaveLength(texts.length);
  texts.forEach((text, index) => {
    const expected = unit(text);
    vectors[index]!.forEach((number, at) => expect(number).toBeCloseTo(expected[at]!, 5));
  });
}

test.each(['ollama', 'openai'] as const)(
  '%s: vectors are normalized, and the prefix is sent',
  async (kind) => {
    const prefixes = { document: 'doc: ', query: 'find: ' };
    expectVectors(await embed(['alpha', 'beta'], { kind, prefixes }), ['doc: alpha', 'doc: beta']);
    await embed(['alpha'], { kind, prefixes, purpose: 'query', key: 'key-1' });
    const path = kind === 'ollama' ? '/api/embed' : '/v1/embeddings';
    const model = 'hash-embedding';
    expect(service.requests).toEqual([
      { path, model, authorization: undefined, input: ['doc: alpha', 'doc: beta'] },
      { path, model, authorization: 'Bearer key-1', input: ['find: alpha'] },
    ]);
  },
);

test.each(['reordered', 'base64'] as const)('a %s response is accepted', async (kind) => {
  service.script.push({ kind });
  expectVectors(await embed(['alpha', 'beta', 'gamma'], { kind: 'openai' }), ['alpha', 'beta', 'gamma']);
});

describe('an unusable response is refused as a whole:', () => {
  test.each<[Fault['kind'], string]>([
    ['misnumbered', 'numbered its vectors wrongly'],
    ['ragged', 'answered with vectors of different lengths'],
    ['short', 'answered with 1 vector for 2'],
    ['null', 'answered with something else than numbers in a vector'],
    ['huge_number', 'answered with numbers that are not finite'],
    ['zeros', 'answered with a vector of zeros'],
    ['not_json', 'did not answer with a JSON object'],
  ])('%s', async (kind, problem) => {
    service.script.push({ kind } as Fault);
    const embedded = await embed(['alpha', 'beta'], { kind: 'openai' });
    expect(embedded).toEqual({ ok: false, error: { code: 'ANSWER_INVALID', problem } });
  });

  test('too large', async () => {
    service.script.push({ kind: 'oversized' });
    expect(await embed(['alpha'])).toMatchObject({ error: { code: 'ANSWER_TOO_LARGE' } });
  });
});

describe('a request without a complete response', () => {
  test.each(['reset', 'cut'] as const)('reports that the connection was closed: %s', async (kind) => {
    service.script.push({ kind });
    expect(await embed(['alpha'])).toEqual({
      ok: false,
      error: { code: 'UNREACHABLE', fault: { code: 'CONNECTION_CLOSED' } },
    });
  });

  test('reports that it timed out', async () => {
    service.script.push({ kind: 'silent' });
    expect(await embed(['alpha'], { timeoutMs: 30 })).toEqual({
      ok: false,
      error: { code: 'TIMED_OUT', limitMs: 30 },
    });
  });

  test('reports that it was cancelled', async () => {
    service.script.push({ kind: 'silent' });
    const controller = new AbortController();
    const embedding = embed(['alpha'], { signal: controller.signal });
    controller.abort();
    expect(await embedding).toEqual({ ok: false, error: { code: 'CANCELLED' } });
  });

  test('reports that the connection was refused, and which setting to check', async () => {
    const gone = await EmbeddingService.start();
    const url = `${gone.url}/api/embed`;
    await gone.close();
    const embedded = await embed(['alpha'], { url });
    expect(embedded).toMatchObject({ error: { code: 'UNREACHABLE', fault: { code: 'CONNECTION_REFUSED' } } });
    expect(embedded.ok ? '' : formatEmbeddingFault(embedded.error)).toContain(
      'ASSAY_CODEBASE_EMBEDDINGS_URL',
    );
  });
});

describe('a status other than 200', () => {
  test('is reported with the message of the service and the wait that it asks for', async () => {
    service.script.push({
      kind: 'status',
      status: 429,
      retryAfter: '7',
      body: '{"error":{"message":"slow\\ndown"}}',
    });
    expect(await embed(['alpha'])).toEqual({
      ok: false,
      error: { code: 'STATUS', status: 429, text: 'slow\\u000adown', retryAfterMs: 7_000 },
    });
    expect(parseRetryAfter('Mon, 23 Nov 2026 10:00:30 GMT', Date.parse('2026-11-23T10:00:00Z'))).toBe(30_000);
    expect(parseRetryAfter('soon', 0)).toBeUndefined();
  });

  test('is reported with the settings to check if it is 404', async () => {
    service.script.push({ kind: 'status', status: 404, body: '{"error":"model \\"m\\" not found"}' });
    const embedded = await embed(['alpha']);
    expect(embedded.ok ? '' : formatEmbeddingFault(embedded.error)).toBe(
      'The embedding service answered with status 404: model "m" not found. Check ASSAY_CODEBASE_EMBEDDINGS_MODEL, and write the whole address in ASSAY_CODEBASE_EMBEDDINGS_URL, such as http://127.0.0.1:11434/api/embed or http://127.0.0.1:8000/v1/embeddings.',
    );
  });

  test.each([401, 500])('is reported without the key: %i', async (status) => {
    const body = '{"error":{"message":"Incorrect API key provided: sk-secret."}}';
    service.script.push({ kind: 'status', status, body });
    const embedded = await embed(['alpha'], { kind: 'openai', key: 'sk-secret' });
    expect(embedded).toMatchObject({ error: { code: 'STATUS', status } });
    expect(JSON.stringify(embedded)).not.toContain('secret');
  });
});
