import { beforeAll, describe, expect, it } from 'vitest';
import { serverIn, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { OFFICIAL } from '../support/clients.ts';
import { at, listAt, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';
import { untilLogged } from '../support/endings.ts';

describe('one bad tool never affects the others:', () => {
  let assay: Gateway;
  let session: LegacySession;
  beforeAll(async () => {
    assay = await startGateway({ servers: { b: fixture('bad-hints'), plain: fixture('plain') } });
    await assay.settled();
    session = await openSession(assay.url);
  });

  const toolOf = async (name: string): Promise<Json | undefined> =>
    listAt(await session.ask('tools/list'), 'result', 'tools').find((one) => at(one, 'name') === name);

  it.each(OFFICIAL)('the official client $label lists and calls the good ones', async ({ connect }) => {
    const client = await connect({ url: assay.url });
    const tools = await client.tools();
    expect(tools).toEqual(expect.arrayContaining(['b_good_first', 'b_good_last', 'plain_echo']));
    expect(tools).toEqual(expect.arrayContaining(['b_maybe', 'b_numbered', 'b_numbered_inside']));
    expect(await client.call('b_good_last')).toBe('good_last');
    expect(await client.call('b_maybe')).toBe('maybe');
  });

  it('a hint that is not a boolean is omitted, the others stay', async () => {
    expect(await toolOf('b_maybe')).toEqual({
      name: 'b_maybe',
      description: 'Does maybe.',
      inputSchema: { type: 'object', properties: {} },
      annotations: { destructiveHint: false },
    });
  });

  it('a title that is not a string is omitted, on the tool and in its annotations', async () => {
    expect(await toolOf('b_numbered')).not.toHaveProperty('title');
    expect(at(await toolOf('b_numbered_inside'), 'annotations')).toEqual({ idempotentHint: true });
  });

  it('a tool without a usable name is withheld, which is logged', async () => {
    const names = listAt(await session.ask('tools/list'), 'result', 'tools').map((one) => at(one, 'name'));
    expect(names.every((name) => typeof name === 'string')).toBe(true);
    expect(names).not.toContain('b_9');
    await untilLogged(assay, /withheld|left out/);
  });

  it('every listed schema is valid in its era', async () => {
    const legacy = listAt(await session.ask('tools/list'), 'result', 'tools');
    const modern = listAt(await modernAsk(assay.url, 'tools/list'), 'result', 'tools');
    for (const tool of [...legacy, ...modern]) expect(at(tool, 'inputSchema', 'type')).toBe('object');
    for (const tool of legacy) {
      if (at(tool, 'outputSchema') !== undefined) expect(at(tool, 'outputSchema', 'type')).toBe('object');
    }
  });

  it('the server itself counts as up', async () => {
    expect(at(serverIn(await assay.health(), 'b'), 'state')).toBe('up');
  });
});
