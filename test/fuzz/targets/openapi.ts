import assert from 'node:assert/strict';
import { createDocumentParser } from '../../../packages/gateway/src/adapters/sources/openapi/document-parser.ts';
import { openOpenapi } from '../../../packages/gateway/src/adapters/sources/openapi/open-openapi.ts';
import type { HttpPort } from '../../../packages/gateway/src/adapters/sources/http/open-http.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';

/** Sends nothing, so external references cannot be resolved. */
const http: HttpPort = {
  send: () => Promise.resolve(err('is not asked')),
  close: () => Promise.resolve(),
};
const NEVER: AbortSignal = new AbortController().signal;

/** An OpenAPI document is read or refused without an exception, and each of its tools has a JSON schema. */
export async function fuzz(bytes: Buffer): Promise<void> {
  const source = openOpenapi({
    document: '/documents/api.json',
    chosenBy: 'operator',
    headers: {},
    credentials: {},
    timeoutMs: 20_000,
    maxBytes: 1024 * 1024,
    outputValidation: 'warn',
    http,
    parse: createDocumentParser(PLAIN_LAUNCHER),
    readFile: () => Promise.resolve(ok(bytes.toString())),
  });
  const read = await source.read(NEVER);
  await source.close();
  if (!read.ok) {
    assert.notEqual(read.error.code, 'READING_FAILED');
    return;
  }
  const { tools } = read.value;
  assert.equal(new Set(tools.map(({ definition }) => definition.name)).size, tools.length, 'names differ');
  for (const { definition } of tools)
    assert.equal((JSON.parse(JSON.stringify(definition.inputSchema)) as { type?: unknown }).type, 'object');
}
