// `/mcp/search` and `assay stdio --search`: three tools that find, describe and call all others.
import { beforeAll, describe, expect, it } from 'vitest';
import { startAsking } from '../fixtures/asking-http.ts';
import { toldIn } from '../fixtures/asking-peer.ts';
import { ACCEPT, ASKABLE } from '../support/askable.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { endLater } from '../support/endings.ts';
import { parseJson } from '../support/json.ts';
import { fixture } from '../support/paths.ts';
import { overHttp, overStdio, type Model } from '../support/toolsets.ts';

endAfterEach();

const SERVERS = { plain: fixture('plain'), other: fixture('named', ['same', 'b.c', '--label=other']) };
const FORM = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Who?',
    requestedSchema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
  },
};

describe.each([
  ['HTTP, legacy', () => overHttp({ servers: SERVERS, path: '/search' }, 'legacy')],
  ['HTTP, modern', () => overHttp({ servers: SERVERS, path: '/search' }, 'modern')],
  ['stdio', () => overStdio({ servers: SERVERS, view: { search: true } }, 'legacy')],
] as const)('tool search over %s', (_, open) => {
  let model: Model;
  beforeAll(async () => {
    model = await open();
  });

  it('lists three tools, and finds, describes and calls all others', async () => {
    expect(await model.tools()).toEqual(['search_tools', 'describe_tool', 'call_tool']);
    const found = await model.call('search_tools', { query: 'add two numbers' });
    expect(parseJson(found.text.split('\n')[0] ?? '')).toMatchObject({
      name: 'plain_add',
      arguments: 'a?: number, b?: number',
    });
    expect(parseJson((await model.call('describe_tool', { name: 'plain.add' })).text)).toMatchObject({
      name: 'plain_add',
    });
    for (const name of ['plain_add', 'plain.add'])
      expect((await model.call('call_tool', { name, arguments: { a: 2, b: 40 } })).text).toBe('42');
    expect((await model.call('call_tool', { name: 'other.b.c' })).text).toBe('other:b.c');
  });

  it('reports unknown names, invalid arguments and empty results, and how to call a tool', async () => {
    for (const tool of ['describe_tool', 'call_tool'])
      expect(await model.call(tool, { name: 'plain.ad' })).toMatchObject({
        isError: true,
        text: expect.stringContaining('Did you mean "plain.add"?') as string,
      });
    expect((await model.call('call_tool', { name: 'plain.add', arguments: [] })).text).toMatch(
      /arguments\.arguments/,
    );
    expect((await model.call('call_tool', { name: 'plain.add', args: { a: 2, b: 40 } })).text).toMatch(
      /arguments\.args.*did you mean "arguments"\?/,
    );
    expect((await model.call('search_tools', { query: 'xylophone' })).text).toMatch(/No tool matches/);
    await expect(model.call('plain_add', { a: 1, b: 1 })).rejects.toThrow(/call "call_tool" with/);
  });
});

describe.for(ASKABLE)('a client $label', ({ connect }) => {
  it('receives the elicitation of a tool that it calls through call_tool', async () => {
    const asking = await startAsking('modern');
    endLater(() => asking.close());
    const { url } = await overHttp({ servers: { m: { url: asking.url } }, path: '/search' }, 'modern');
    const client = await connect({ url });
    client.answerWith(ACCEPT);
    expect(
      toldIn(await client.call('call_tool', { name: 'm_ask', arguments: { rounds: [[FORM]] } })),
    ).toEqual([{ result: { action: 'accept', content: { who: 'Who?' } } }]);
  });
});
