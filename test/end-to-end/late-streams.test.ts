import { expect, it } from 'vitest';
import { startNotifier, type NotifierHttp, type NotifierHttpOptions } from '../fixtures/notifier-http.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { at, namesAt, type Json } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';

/** A legacy server. */
async function legacyServer(options: Pick<NotifierHttpOptions, 'mayStream'> = {}): Promise<NotifierHttp> {
  const http = await startNotifier({ era: 'legacy', ...options });
  endLater(() => http.close());
  return http;
}

const isUpdate = (message: Json): boolean => at(message, 'method') === 'notifications/resources/updated';

it("a client is notified of resource updates from its subscription on, however late the server's stream begins", async () => {
  const http = await legacyServer({ mayStream: () => sleep(500) });
  const assay = await startGateway({ servers: { s: { type: 'http', url: http.url, isolation: 'session' } } });
  await assay.settled();
  const session = await openSession(assay.url);
  const stream = await session.listen();
  expect(await session.ask('resources/subscribe', { uri: 'note://one' })).toMatchObject({ result: {} });
  http.touch('note://one');
  await stream.next('the update', isUpdate);
});

it('what a server changed before its stream began, and could not announce, is found when it begins', async () => {
  const { promise: mayStream, resolve: stream } = Promise.withResolvers<undefined>();
  const http = await legacyServer({ mayStream: () => mayStream });
  const assay = await startGateway({ servers: { s: { type: 'http', url: http.url } } });
  await until('the list is read', () => (http.seen['tools/list'] === 1 ? true : undefined));
  expect(http.opened()).toBe(0);
  http.grow('tools');
  stream(undefined);
  await until('the new tool is there', async () =>
    namesAt(await modernAsk(assay.url, 'tools/list'), 'result', 'tools').includes('s_extra_0')
      ? true
      : undefined,
  );
});

it('a server whose stream begins at once is asked for its lists once', async () => {
  const http = await legacyServer();
  const assay = await startGateway({ servers: { s: { type: 'http', url: http.url } } });
  await assay.settled();
  await sleep(1_300);
  expect(http.opened()).toBe(1);
  expect(['tools/list', 'prompts/list', 'resources/list'].map((method) => http.seen[method])).toEqual([
    1, 1, 1,
  ]);
});
