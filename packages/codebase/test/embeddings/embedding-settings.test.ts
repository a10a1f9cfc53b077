import { expect, test } from 'vitest';
import { readEmbeddingSettings } from '../../src/embeddings/embedding-settings.ts';

const P = 'ASSAY_CODEBASE_EMBEDDINGS_';

function settingsOf(given: Record<string, string>): unknown {
  const read = readEmbeddingSettings(given);
  return read.ok ? read.value : read.error;
}

test('a URL alone selects Ollama, with the prefixes of its nomic model', () => {
  expect(settingsOf({ [`${P}URL`]: 'http://127.0.0.1:11434' })).toEqual({
    kind: 'ollama',
    url: 'http://127.0.0.1:11434/api/embed',
    model: 'nomic-embed-text',
    key: undefined,
    batch: 32,
    timeoutMs: 60_000,
    queryTimeoutMs: 2_000,
    prefixes: { document: 'search_document: ', query: 'search_query: ' },
    vectorsUrl: undefined,
  });
  expect(settingsOf({})).toBeUndefined();
});

test('the kind is inferred from the path of the URL, and the path is completed', () => {
  const model = { [`${P}MODEL`]: 'm' };
  const url = (address: string, more = {}): unknown =>
    settingsOf({ [`${P}URL`]: address, ...model, ...more });
  expect(url('https://api.example.com/v1')).toMatchObject({
    kind: 'openai',
    url: 'https://api.example.com/v1/embeddings',
    prefixes: { document: '', query: '' },
  });
  expect(url('http://h/x/embeddings?api-version=2')).toMatchObject({
    kind: 'openai',
    url: 'http://h/x/embeddings?api-version=2',
  });
  expect(url('http://h/api/')).toMatchObject({ kind: 'ollama', url: 'http://h/api/embed' });
  expect(url('http://h', { [`${P}KIND`]: 'openai' })).toMatchObject({ url: 'http://h/v1/embeddings' });
  expect(url('http://h', {})).toMatchObject({ url: 'http://h/v1/embeddings' });
  expect(url('http://h', { [`${P}KIND`]: 'ollama' })).toMatchObject({ url: 'http://h/api/embed' });
});

test.each([
  [{ URL: 'localhost:11434' }, 'URL'],
  [{ URL: 'http://user:secret@h/v1', MODEL: 'm' }, 'URL'],
  [{ URL: 'http://h/x' }, 'KIND'],
  [{ URL: 'http://h' }, 'MODEL'],
  [{ URL: 'http://h/v1', KIND: 'OpenAI', MODEL: 'm' }, 'KIND'],
  [{ URL: 'http://h/v1' }, 'MODEL'],
  [{ URL: 'http://h/v1', MODEL: 'm', BATCH: '0' }, 'BATCH'],
  [{ URL: 'http://h/v1', MODEL: 'm', TIMEOUT_MS: '1e3' }, 'TIMEOUT_MS'],
  [{ URL: 'http://h/v1', MODEL: 'm', KEY: 'secret\nx' }, 'KEY'],
  [{ MODEL: 'm' }, 'MODEL'],
])('%j is refused, naming the setting but no secret', (given, setting) => {
  const environment = Object.fromEntries(Object.entries(given).map(([name, value]) => [P + name, value]));
  const read = readEmbeddingSettings(environment);
  expect(read).toMatchObject({ ok: false, error: { setting: P + setting } });
  expect(JSON.stringify(read)).not.toContain('secret');
});

test('a database for vectors other than PostgreSQL is refused without repeating its password', () => {
  const read = settingsOf({
    [`${P}URL`]: 'http://h/api',
    ASSAY_CODEBASE_VECTORS_URL: 'mysql://u:secret@h/d',
  });
  expect(read).toMatchObject({ setting: 'ASSAY_CODEBASE_VECTORS_URL' });
  expect(JSON.stringify(read)).not.toContain('secret');
});
