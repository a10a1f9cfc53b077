import assert from 'node:assert/strict';
import { findJsonFault, readClientMessage, type RequestMessage } from '@assay-mcp/protocol/message';
import type { Era } from '@assay-mcp/protocol/eras';
import { type RequestEdits, translateRequest } from '@assay-mcp/protocol/translate';
import { jsonOf, sameForAllReaders } from '../readers.ts';

const CHANGE = { name: 'renamed', clientInfo: '{"name":"fuzz","version":"1"}' } as const;
const ERAS = ['legacy', 'modern'] as const;
/** Paths of the members that all parsers must read alike. */
const READ = [['id'], ['method'], ['params'], ['params', 'name'], ['params', '_meta']] as const;

/** A client's message is refused, or all parsers read the message for the server alike. */
export function fuzz(bytes: Buffer): void {
  const message = readClientMessage(bytes);
  const json = jsonOf(bytes);
  if (message.kind === 'none') {
    if (message.fault === 'not_json')
      assert.equal(json, undefined, `JSON is called broken: ${message.reason}`);
    return;
  }
  assert.equal(
    findJsonFault(message) === undefined,
    json !== undefined,
    'the strict reader and JSON.parse differ',
  );
  if (json === undefined || message.kind !== 'request') return;
  assert.equal(message.method, (json as { method: unknown }).method);
  for (const from of ERAS) for (const to of ERAS) forwarded(message, { ...CHANGE, era: from }, to);
}

function forwarded(message: RequestMessage, change: RequestEdits, to: Era): void {
  const id = 7;
  const out = Buffer.concat(translateRequest(message, change, { id, to, ownInfo: '{}' }));
  const sent = jsonOf(out) as { id: unknown; method: unknown; params?: { arguments?: unknown } } | undefined;
  assert.ok(sent, 'what goes to the server is JSON');
  assert.equal(sent.id, id);
  assert.equal(sent.method, message.method);
  sameForAllReaders(out, READ);
}
