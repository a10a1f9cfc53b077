import assert from 'node:assert/strict';
import {
  readResponsePieces,
  readServerMessage,
  type ResponseMessage,
} from '../../../src/protocol/message.ts';
import { replyFor, withProgressToken } from '../../../src/protocol/translate.ts';
import { jsonOf, sameForAllReaders } from '../readers.ts';

const ERAS = ['legacy', 'modern'] as const;
const READ = [
  ['id'],
  ['result'],
  ['error'],
  ['method'],
  ['result', 'requestState'],
  ['result', 'resultType'],
] as const;

/** The first byte says where the rest is cut in two, as large answers come. */
export function fuzz(data: Buffer): void {
  const bytes = data.subarray(1);
  const message = readServerMessage(bytes);
  if (message.kind === 'none') {
    if (message.fault === 'not JSON')
      assert.equal(jsonOf(bytes), undefined, `JSON is called broken: ${message.reason}`);
  } else if (message.kind === 'notification') {
    if (jsonOf(bytes) !== undefined) sameForAllReaders(withProgressToken(message, '1'), [['id'], ['method']]);
  } else if (message.kind === 'response') answered(message, bytes);
  const cut = ((data[0] ?? 0) * bytes.length) >> 8;
  const pieces = readResponsePieces([bytes.subarray(0, cut), bytes.subarray(cut)]);
  if (pieces !== undefined) answered(pieces, bytes);
}

function answered(message: ResponseMessage, bytes: Buffer): void {
  if (jsonOf(bytes) === undefined) return; // long strings of servers pass unread
  for (const from of ERAS)
    for (const to of ERAS) {
      const out = Buffer.concat(replyFor(message, { idText: '"mine"', method: 'tools/call', from, to }));
      const json = jsonOf(out) as { id: unknown } | undefined;
      assert.ok(json, 'what goes to the client is JSON');
      assert.equal(json.id, 'mine');
      sameForAllReaders(out, READ);
    }
}
