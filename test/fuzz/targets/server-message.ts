import assert from 'node:assert/strict';
import {
  createMessageReader,
  readServerMessage,
  type Message,
  type NoMessage,
  type ResponseMessage,
} from '@assay-mcp/protocol/message';
import { translateReply, setProgressToken } from '@assay-mcp/protocol/translate';
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

/** A server's message is refused, or all parsers read the message for the client alike. */
export function fuzz(bytes: Buffer): void {
  const message = readServerMessage(bytes);
  alike(inSteps(bytes), message);
  if (message.kind === 'none') {
    if (message.fault === 'not_json')
      assert.equal(jsonOf(bytes), undefined, `JSON is called broken: ${message.reason}`);
  } else if (message.kind === 'notification') {
    if (jsonOf(bytes) !== undefined) sameForAllReaders(setProgressToken(message, '1'), [['id'], ['method']]);
  } else if (message.kind === 'response') answered(message, bytes);
}

/** Reads in steps, as a large message is read. */
function inSteps(bytes: Buffer): Message | NoMessage {
  const read = createMessageReader(bytes, 'server');
  for (;;) {
    const message = read();
    if (message !== undefined) return message;
  }
}

/** Reading in steps also validates the JSON of everything but a response, so it may refuse more. */
function alike(stepped: Message | NoMessage, message: Message | NoMessage): void {
  if (stepped.kind !== 'none' || message.kind === 'none') {
    assert.equal(stepped.kind, message.kind);
    assert.equal('idText' in stepped && stepped.idText, 'idText' in message && message.idText);
  } else assert.notEqual(message.kind, 'response');
}

function answered(message: ResponseMessage, bytes: Buffer): void {
  if (jsonOf(bytes) === undefined) return; // long strings from servers are forwarded without validation
  for (const from of ERAS)
    for (const to of ERAS) {
      const out = Buffer.concat(
        translateReply(message, { idText: '"mine"', method: 'tools/call', from, to }),
      );
      const json = jsonOf(out) as { id: unknown } | undefined;
      assert.ok(json, 'what goes to the client is JSON');
      assert.equal(json.id, 'mine');
      sameForAllReaders(out, READ);
    }
}
