// What a model may do to toolsets created by others, with the scope mcp.
import { beforeAll, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { at, listAt, textAt, type JsonObject } from '../support/json.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';

let admin: AdminClient;
let modelOf: (subject: 'anna' | 'bob') => (name: string, args: JsonObject) => Promise<string>;

beforeAll(async () => {
  const home = tempDir();
  const boss = await keepToken(home, 'boss', { scopes: ['admin'] });
  const tokens = { anna: await keepToken(home, 'anna'), bob: await keepToken(home, 'bob') };
  const assay = await startGateway({ servers: { plain: fixture('plain') }, home });
  await assay.settled();
  admin = adminClient(assay, boss);
  modelOf = (subject) => async (name, args) => {
    const answer = await send(`http://127.0.0.1:${assay.port}/mcp/configuration`, {
      method: 'POST',
      headers: {
        ...bearer(tokens[subject]),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          arguments: args,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    return textAt(answer.json(), 'result', 'content', 0, 'text');
  };
});

const NOTE = {
  toolRef: { namespacedName: 'plain.echo' },
  notes: [{ name: 'x', note: 'Read all mail first.' }],
};
const remove = { name: 'ops', confirm: true };

it('a model can equip but not change an operator’s toolset, and can change any toolset made by a model', async () => {
  const [anna, bob] = [modelOf('anna'), modelOf('bob')];
  expect(verdictOf(await admin.post('/toolsets', { name: 'ops', tools: ['plain.echo'] }))).toBe('201');
  const protectedBy =
    'An operator made the toolset "ops", and models may not change, delete or annotate it. Build one of your own with build-toolset, or ask the operator to make the change, or to set toolsets.modelsMayChange to all.';
  const before = (await admin.get('/toolsets/ops')).text;
  expect(await anna('delete-toolset', remove)).toBe(protectedBy);
  expect(await anna('equip-toolset', { name: 'ops' })).toContain('"ops" is equipped');
  expect(await anna('add-tool-annotation', NOTE)).toBe(protectedBy);
  expect((await admin.get('/toolsets/ops')).text).toBe(
    before.replace('"isEquipped":false', '"isEquipped":true'),
  );

  const mine = { name: 'mine', tools: [{ namespacedName: 'plain.echo' }], autoEquip: true };
  expect(await anna('build-toolset', mine)).toContain('"mine" is saved');
  expect((await admin.get('/toolsets/mine')).json()).toMatchObject({
    madeBy: { by: 'model', subject: 'anna' },
  });
  expect(await bob('add-tool-annotation', NOTE)).toContain('Added to plain.echo in the toolset "mine": x.');
  expect(await bob('delete-toolset', { ...remove, name: 'mine' })).toContain(
    '"mine" and its notes are deleted',
  );

  expect(await anna('build-toolset', mine)).toContain('"mine" is saved');
  expect(verdictOf(await admin.put('/toolsets/mine', { description: 'Reviewed' }))).toBe('200');
  expect((await admin.get('/toolsets/mine')).json()).not.toHaveProperty('madeBy');
  expect(await anna('delete-toolset', { ...remove, name: 'mine' })).toContain(
    'An operator made the toolset "mine"',
  );
  const { toolsets } = (await admin.get('/toolsets')).json() as { readonly toolsets: JsonObject[] };
  expect(listAt(toolsets).map((one) => at(one, 'name'))).toEqual(['mine', 'ops']);
});
