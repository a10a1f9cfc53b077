import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { textIn } from '../support/clients.ts';
import { endLater, untilLogged } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, namesAt } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { META, modernAsk } from '../support/modern.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';

const LONG = 'a_tool_whose_name_is_so_long_that_no_client_would_take_it_with_a_prefix';
const ODD = ['with space', 'git.push', 'größe', 'a/b', 'a:b', 'emoji 🎉'];

const SERVERS = {
  a: fixture('named', ['b_c', 'unique', '--label=a']),
  a_b: fixture('named', ['c', '--label=a_b']),
  bare: fixture('named', ['unprefixed', 'b_c', '--label=bare'], { prefix: false }),
  long: fixture('named', [`${LONG}_one`, `${LONG}_two`, '--label=long']),
  'odd server:1': fixture('named', [...ODD.map((name) => JSON.stringify(name)), '--label=odd']),
  twin: fixture('named', ['x.y', 'x_y', 'x-y', '--label=twin']),
};

describe('public names', () => {
  let assay: Gateway;
  let session: LegacySession;
  let names: readonly string[];
  const config = writeConfig(SERVERS);
  const home = tempDir();
  beforeAll(async () => {
    assay = await startGateway({ config, home });
    await assay.settled();
    session = await openSession(assay.url);
    names = namesAt(await session.ask('tools/list'), 'result', 'tools');
  });

  it('are the server’s name, an underscore and the tool’s name', () => {
    expect(names).toContain('a_unique');
    expect(names).toContain('twin_x-y');
  });

  it('are valid for every known client: [a-zA-Z0-9_-]{1,64}, each unique', () => {
    expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toHaveLength(2 + 1 + 2 + 2 + ODD.length + 3);
  });

  it('each reach exactly the tool that they name', async () => {
    const reached = await Promise.all(names.map((name) => session.call(name)));
    expect([...reached].sort()).toEqual(
      [
        'a:b_c',
        'a:unique',
        'a_b:c',
        'bare:unprefixed',
        'bare:b_c',
        `long:${LONG}_one`,
        `long:${LONG}_two`,
        ...ODD.map((name) => `odd:${name}`),
        'twin:x.y',
        'twin:x_y',
        'twin:x-y',
      ].sort(),
    );
  });

  it('that collide are made distinct, and the contested name itself never silently means one of them', async () => {
    const contested = names.filter((name) => name.startsWith('a_b_c'));
    expect(contested).toHaveLength(2);
    const answer = await session.ask('tools/call', { name: 'a_b_c', arguments: {} });
    if (!names.includes('a_b_c')) expect(at(answer, 'error', 'code')).toBe(-32602);
    await untilLogged(assay, 'a_b_c');
  });

  it('of long tool names keep their beginning and end in a short hash', () => {
    const long = names.filter((name) => name.startsWith('long_a_tool_whose_name'));
    expect(long).toHaveLength(2);
    expect(long.every((name) => name.length <= 64)).toBe(true);
    expect(long[0]).not.toBe(long[1]);
  });

  it('of a server without a prefix are its own', async () => {
    expect(names).toContain('unprefixed');
    expect(await session.call('unprefixed')).toBe('bare:unprefixed');
  });

  it('are the same after a restart, and in another order of the config', async () => {
    // Another file with the same content: one gateway serves each config.
    const again = await startGateway({ servers: SERVERS, home });
    await again.settled();
    const later = namesAt(await (await openSession(again.url)).ask('tools/list'), 'result', 'tools');
    expect(later).toEqual(names);
    const turned = await startGateway({
      servers: Object.fromEntries(Object.entries(SERVERS).reverse()),
    });
    await turned.settled();
    const other = namesAt(await (await openSession(turned.url)).ask('tools/list'), 'result', 'tools');
    expect([...other].sort()).toEqual([...names].sort());
  });

  it('are shorter for a client with a limit, which may call by either name', async () => {
    const client = new Client({ name: 'cursor-vscode', version: '1' });
    endLater(() => client.close());
    await client.connect(new StreamableHTTPClientTransport(new URL(assay.url)));
    const shown = (await client.listTools()).tools.map(({ name }) => name);
    expect(shown.filter((name) => name.length > 54)).toEqual([]);
    const modern = await modernAsk(assay.url, 'tools/list', {
      meta: { [`${META}clientInfo`]: { name: 'Cursor', version: '2' } },
    });
    expect(namesAt(modern, 'result', 'tools')).toEqual(shown);
    const changed = names.flatMap((name, index) => (name === shown[index] ? [] : [index]));
    expect(changed.map((index) => names[index]?.slice(0, 11))).toEqual(['long_a_tool', 'long_a_tool']);
    for (const index of changed) {
      const called = await client.callTool({ name: shown[index] ?? '' });
      expect(textIn(called)).toBe(await session.call(names[index] ?? ''));
    }
  });

  it('of prompts follow the same rules', async () => {
    const prompts = namesAt(await session.ask('prompts/list'), 'result', 'prompts');
    expect(prompts).toContain('a_unique');
    expect(prompts.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([]);
    const one = await session.ask('prompts/get', { name: 'a_unique' });
    expect(at(one, 'result', 'description')).toBe('a:unique');
  });
});
