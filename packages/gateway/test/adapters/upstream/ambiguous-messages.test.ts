import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../src/adapters/upstream/conversation.ts';
import type { Refusal } from '../../../src/core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import { buildOwnUpstreamRequest, type LinkEvents, type Reply } from '../../../src/gateway/ports/link.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';

interface OpenConversation {
  readonly conversation: Conversation;
  readonly sent: string[];
  readonly warnings: unknown[];
  /** The outcomes of two pending calls, by their ids. */
  readonly ended: Map<number, Result<Reply, Refusal>>;
}

/** A conversation with two pending calls, whose ids are `FIRST` and the one after. */
function openConversation(): OpenConversation {
  const [sent, warnings, ended] = [
    [] as string[],
    [] as unknown[],
    new Map<number, Result<Reply, Refusal>>(),
  ];
  const quiet = (): undefined => undefined;
  const log: Log = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (_, fields) => void warnings.push(fields),
  };
  const events: LinkEvents = { changed: quiet, updated: quiet, missed: quiet, drained: quiet, ended: quiet };
  const send = (pieces: readonly Buffer[]): void => void sent.push(Buffer.concat(pieces).toString());
  const conversation = new Conversation({ server: 's', ownInfo: '{}', events, log, send });
  const ids = [1, 2].map(() => {
    const asked = conversation.ask(
      buildOwnUpstreamRequest(buildOwnRequest('tools/call', { name: 'a' }), Infinity),
    );
    const { id } = JSON.parse(sent.at(-1) ?? '') as { id: number };
    void asked.then((result) => ended.set(id, result));
    return id;
  });
  expect(ids).toEqual([FIRST, FIRST + 1]);
  sent.length = 0;
  return { conversation, sent, warnings, ended };
}

async function afterReceiving(text: string): Promise<OpenConversation> {
  const opened = openConversation();
  await opened.conversation.receive(Buffer.from(text));
  await new Promise((resolve) => setImmediate(resolve));
  return opened;
}

/** The id of a new conversation's first request. */
const FIRST = ((): number => {
  let id = -1;
  const quiet = (): undefined => undefined;
  const conversation = new Conversation({
    server: 's',
    ownInfo: '{}',
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    events: { changed: quiet, updated: quiet, missed: quiet, drained: quiet, ended: quiet },
    send: (pieces) => ({ id } = JSON.parse(Buffer.concat(pieces).toString()) as { id: number }),
  });
  void conversation.ask(buildOwnUpstreamRequest(buildOwnRequest('ping'), Infinity));
  return id;
})();

describe('a server message that different parsers would read differently', () => {
  it.for([
    [
      `{"jsonrpc":"2.0","id":${FIRST},"result":{"forged":1},"id":${FIRST + 1}}`,
      'the member "id" occurs twice',
    ],
    [
      `{"jsonrpc":"2.0","id":${FIRST},"ID":${FIRST + 1},"result":{"forged":1}}`,
      'the member "ID" is read as "id"',
    ],
    [
      `{"jsonrpc":"2.0","method":"notifications/message","params":{},"ID":${FIRST},"result":{}}`,
      'the member "ID" is read as "id"',
    ],
  ] as const)('is logged and not answered if its id is ambiguous: %s', async ([text, reason]) => {
    const { ended, warnings, sent } = await afterReceiving(text);
    expect([ended.size, sent]).toEqual([0, []]);
    expect(warnings).toEqual([
      expect.objectContaining({ server: 's', reason: expect.stringContaining(reason) as string }),
    ]);
  });

  it.for([
    ['"result":{"forged":1},"result":{}', 'the member "result" occurs twice, at byte 47'],
    [
      '"result":{},"Error":{}',
      'the member "Error" is read as "error" by readers that ignore case, at byte 37',
    ],
    [
      '"result":{"requestState":"a","reque\\u017ftState":"b"}',
      'the member "requeſtState" is read as "requestState"',
    ],
    ['"result":{"_meta":{},"_META":{}}', 'the member "_META" is read as "_meta"'],
  ] as const)('immediately fails the call whose id it carries: %s', async ([members, reason]) => {
    const { ended } = await afterReceiving(`{"jsonrpc":"2.0","id":${FIRST},${members}}`);
    expect([...ended.keys()]).toEqual([FIRST]);
    const result = ended.get(FIRST);
    expect(result?.ok === false && result.error).toMatchObject({
      code: 'SERVER_MESSAGE_INVALID',
      server: 's',
    });
    expect(result?.ok === false && 'reason' in result.error && result.error.reason).toContain(
      reason.split(', at byte')[0],
    );
  });

  it('is answered with an error if it is a request, and ends no call of Assay with that id', async () => {
    const { ended, sent } = await afterReceiving(
      `{"jsonrpc":"2.0","id":${FIRST},"method":"elicitation/create","params":{"mode":"form","Mode":"url"}}`,
    );
    expect(ended.size).toBe(0);
    expect(sent.map((text) => JSON.parse(text) as unknown)).toEqual([
      expect.objectContaining({ id: FIRST, error: expect.objectContaining({ code: -32600 }) as object }),
    ]);
  });

  it('is logged once, not once per message', async () => {
    const { conversation, warnings } = openConversation();
    for (let count = 0; count < 1_000; count += 1) await conversation.receive(Buffer.from('{"id":1,"id":2}'));
    expect(warnings).toHaveLength(1);
  });
});
