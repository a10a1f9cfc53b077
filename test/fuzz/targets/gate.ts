import assert from 'node:assert/strict';
import { OutgoingMessage } from 'node:http';
import { buildDnsAnswer, readQueriedName } from '@assay-mcp/sandbox/dns-query';
import { selectEndToEndHeaders } from '@assay-mcp/sandbox/network-gate';

/** A header name that Node's parser accepts. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** What the network gate of a sandbox reads: Node can write any headers that it passes on, and answers any DNS query. */
export function fuzz(bytes: Buffer): void {
  const lines = bytes.toString('latin1').split('\n');
  const raw = lines.flatMap((line) => {
    const [name = '', value = ''] = line.split(/:(.*)/s);
    return NAME.test(name) ? [name, value.trim()] : [];
  });
  const message = new OutgoingMessage();
  const passed = selectEndToEndHeaders(raw);
  for (const [name, values] of Object.entries(passed)) message.setHeader(name, values);
  assert.equal(Object.keys(passed).includes('connection'), false);

  const name = readQueriedName(bytes);
  if (name === undefined) return;
  for (const address of [undefined, '127.0.0.1']) {
    const answer = buildDnsAnswer(bytes, name, address);
    assert.ok(answer.length >= 12 && answer.subarray(0, 2).equals(bytes.subarray(0, 2)));
    assert.equal(answer.readUInt16BE(4), 1);
  }
}
