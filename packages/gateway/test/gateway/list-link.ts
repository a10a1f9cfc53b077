import { ok } from '@assay-mcp/kit/result';
import type { Link } from '../../src/gateway/ports/link.ts';
import { readServerMessage, type ResponseMessage } from '@assay-mcp/protocol/message';

/** Returns the result of a list, as JSON text. `params`: those of the request, as JSON text. */
export type Lister = (method: string, params: string) => string | ResponseMessage;

/** A connection whose server lists tools and nothing else. */
export function listLink(list: Lister): Link {
  return {
    era: 'legacy',
    version: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    instructions: undefined,
    unreadBytes: 0,
    correlatesServerRequests: false,
    send: ({ message }) => {
      const answer = list(message.method, message.bytes.toString());
      return Promise.resolve(
        ok({ era: 'legacy', message: typeof answer === 'string' ? listAnswer(answer) : answer }),
      );
    },
    notify() {},
    close: () => Promise.resolve(),
  };
}

export function listAnswer(result: string): ResponseMessage {
  const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`));
  if (message.kind !== 'response') throw new Error(`no response: ${result.slice(0, 200)}`);
  return message;
}
