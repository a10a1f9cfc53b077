import { expect, it } from 'vitest';
import { Conversation } from '../../../src/adapters/upstream/conversation.ts';
import type { Refusal } from '../../../src/core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import { buildOwnUpstreamRequest, type Reply } from '../../../src/gateway/ports/link.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';

interface Received {
  readonly result: Result<Reply, Refusal> | undefined;
  readonly warnings: readonly unknown[];
}

/** The outcome of a call after this text came, in which ID stands for its id; undefined if it still waits. */
async function receivedBy(text: string): Promise<Received> {
  const quiet = (): undefined => undefined;
  const warnings: unknown[] = [];
  let id = '';
  const conversation = new Conversation({
    server: 's',
    ownInfo: '{}',
    log: { debug: quiet, info: quiet, error: quiet, warn: (_, fields) => void warnings.push(fields) },
    events: { changed: quiet, updated: quiet, missed: quiet, drained: quiet, ended: quiet },
    send: (pieces) => void (id = String((JSON.parse(Buffer.concat(pieces).toString()) as { id: number }).id)),
  });
  let result: Received['result'];
  const asked = conversation.ask(
    buildOwnUpstreamRequest(buildOwnRequest('tools/call', { name: 'a' }), Infinity),
  );
  void asked.then((outcome) => (result = outcome));
  await conversation.receive(Buffer.from(text.replaceAll('ID', id)));
  await conversation.receive(Buffer.from(text.replaceAll('ID', id)));
  await new Promise((resolve) => setImmediate(resolve));
  return { result, warnings };
}

const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

it.for([
  ['nested 200,000 deep', `{"jsonrpc":"2.0","id":ID,"result":${deep(200_000)}}`],
  ['nested 200,000 deep before its id', `{"result":${deep(200_000)},"jsonrpc":"2.0","id":"ID"}`],
  ['nested 2,000,000 deep', `{"jsonrpc":"2.0","result":${deep(2_000_000)}, "id" : ID }`],
  [
    'nested deep in objects',
    `{"jsonrpc":"2.0","error":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)},"id":ID}`,
  ],
  ['with an invalid value', '{"jsonrpc":"2.0","id":ID,"result":{"a":NaN}}'],
  ['broken off', '{"jsonrpc":"2.0","id":ID,"result":{"a":"b'],
  ['with a trailing comma', '{"jsonrpc":"2.0","id":ID,"result":{"a":[1,]}}'],
] as const)('a call whose answer is %s fails at once, and the log says why once', async ([, text]) => {
  const { result, warnings } = await receivedBy(text);
  expect(result?.ok === false && result.error).toMatchObject({
    code: 'SERVER_ENDED',
    cause: { code: 'RESPONSE_INVALID' },
  });
  expect(warnings).toEqual([expect.objectContaining({ server: 's', code: 'MESSAGE_INVALID' })]);
});

it.for([
  ['is a request', `{"jsonrpc":"2.0","id":ID,"method":"ping","params":${deep(200_000)}}`],
  ['has two ids', `{"jsonrpc":"2.0","id":ID,"Id":1,"result":${deep(200_000)}}`],
  ['has its id deeper', `{"jsonrpc":"2.0","result":{"id":ID,"x":${deep(200_000)}}}`],
  ['has its id in a string', `{"jsonrpc":"2.0","result":["\\",\\"id\\":ID,"],"x":${deep(200_000)}}`],
  ['is no message', '{"id":ID,"result":1,"level":"debug",}'],
  ['is no JSON at all', 'listening with id ID'],
] as const)('a text that cannot be read and %s ends no call', async ([, text]) => {
  expect((await receivedBy(text)).result).toBeUndefined();
});
