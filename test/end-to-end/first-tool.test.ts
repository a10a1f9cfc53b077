// A client may connect before there is any tool, and the first one is created meanwhile.
import { expect, it } from 'vitest';
import { at, listAt, type Json } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk, modernStream } from '../support/modern.ts';
import { callText, openRestWorld, serveApi } from '../support/rest-tools.ts';

const isChange = (message: Json): boolean => at(message, 'method') === 'notifications/tools/list_changed';

it('clients that connected before the first tool are notified of it, and can call it', async () => {
  const api = await serveApi();
  const { assay, admin } = await openRestWorld({ servers: {} });
  const session = await openSession(assay.url);
  expect(at(session.initialized, 'result', 'capabilities')).toEqual({ tools: { listChanged: true } });
  expect(at(await modernAsk(assay.url, 'server/discover'), 'result', 'capabilities')).toEqual({
    tools: { listChanged: true },
  });
  for (const answer of [await session.ask('tools/list'), await modernAsk(assay.url, 'tools/list')])
    expect(listAt(answer, 'result', 'tools')).toEqual([]);
  const legacy = await session.listen();
  const modern = await modernStream(assay.url, 'subscriptions/listen', {
    params: { notifications: { toolsListChanged: true } },
  });
  const acknowledged = await modern.next(
    'acknowledgement',
    (one) => at(one, 'params', 'notifications') !== undefined,
  );
  expect(at(acknowledged, 'params', 'notifications')).toEqual({ toolsListChanged: true });
  expect((await admin.post('/tools', { name: 'first', url: `${api.url}/first`, method: 'GET' })).status).toBe(
    201,
  );
  await Promise.all([legacy, modern].map((stream) => stream.next('the first tool', isChange)));
  expect(listAt(await session.ask('tools/list'), 'result', 'tools').map((tool) => at(tool, 'name'))).toEqual([
    'first',
  ]);
  expect(await callText(assay, 'first')).toBe('{"ok":true}');
});
