import { expect, it } from 'vitest';
import { findInnerCall } from '../src/inner-call.ts';
import { readClientMessage, type RequestMessage } from '../src/message.ts';

function outer(params: string): RequestMessage {
  const message = readClientMessage(
    Buffer.from(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":${params}}`),
  );
  if (message.kind !== 'request') throw new Error('no request');
  return message;
}

function inner(params: string, name = 's_read'): string | undefined {
  const found = findInnerCall(outer(params));
  return found && `${found.name} ${found.messageFor(name).bytes.toString()}`;
}

it('a call within a call keeps its arguments as written, and all other members of the message', () => {
  expect(
    inner(
      '{"_meta":{"progressToken":1},"name":"call_tool","x":[1.0],"arguments":{ "arguments": {"n":1.50e3,"é":"\\u00e9"} , "name":"s.\\u0072ead"}}',
      's"read',
    ),
  ).toBe(
    's.read {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"_meta":{"progressToken":1},"name":"s\\"read","x":[1.0],"arguments":{"n":1.50e3,"é":"\\u00e9"}}}',
  );
  expect(inner('{"arguments":{"name":"s.read"},"name":"call_tool"}')).toBe(
    's.read {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"arguments":{},"name":"s_read"}}',
  );
  expect(inner('{"name":"call_tool","arguments":{"name":"s.read","arguments": null }}')).toBe(
    's.read {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"s_read","arguments":{}}}',
  );
});

it.each([
  '{"name":"call_tool"}',
  '{"name":"call_tool","arguments":[]}',
  '{"name":"call_tool","arguments":{"name":1,"arguments":{}}}',
  '{"name":"call_tool","arguments":{"name":"a","arguments":[]}}',
  '{"name":"call_tool","arguments":{"name":"a","name":"b"}}',
  '{"name":"call_tool","arguments":{"name":"a","args":{"n":1}}}',
  '{"name":"call_tool","arguments":{"name":"a","arguments":{},"reason":"x"}}',
  '{"name":"call_tool","arguments":{"name":"a","arguments":{},"Arguments":{}}}',
  `{"name":"call_tool","arguments":{"name":"a","arguments":{"x":"${'x'.repeat(1024 * 1024)}"}}}`,
])('%.100s contains no call', (params) => {
  expect(inner(params)).toBeUndefined();
});
