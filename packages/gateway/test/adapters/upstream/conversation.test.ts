import { expect, it } from 'vitest';
import { Conversation } from '../../../src/adapters/upstream/conversation.ts';
import { err } from '@assay-mcp/kit/result';
import { buildOwnUpstreamRequest } from '../../../src/gateway/ports/link.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import { SILENT } from '../../gateway/listed-server.ts';

it('a request written before the connection ends may have been executed; a later one is not sent', async () => {
  const sent: (number | undefined)[] = [];
  const conversation = new Conversation({
    server: 's',
    ownInfo: '{}',
    events: { changed() {}, updated() {}, missed() {}, drained() {}, ended() {} },
    log: SILENT,
    send: (_, id) => sent.push(id),
  });
  const request = buildOwnUpstreamRequest(buildOwnRequest('tools/call', { name: 'add' }), Infinity);
  const written = conversation.ask(request);
  const cause = { code: 'PROCESS_EXITED', exitCode: 1 } as const;
  conversation.end(cause);
  expect(await written).toEqual(err({ code: 'SERVER_ENDED', server: 's', cause }));
  expect(await conversation.ask(request)).toEqual(err({ code: 'SERVER_UNREACHED', server: 's', cause }));
  expect(sent).toHaveLength(1);
});
