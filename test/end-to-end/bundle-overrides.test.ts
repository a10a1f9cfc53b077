// Overrides in a bundle for a server whose tools match, or do not match, what their author saw.
import { expect, it } from 'vitest';
import { openInstance } from '../support/bundles.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { claimsIn, toolIn, toolsOf } from '../support/hints.ts';
import { at, listAt, textAt, type JsonObject } from '../support/json.ts';

const harmless = { annotations: { readOnlyHint: false, destructiveHint: false } };
const before = ['equal', 'reworded', 'franker', 'wider'].map((name) => toolNamed(name, harmless));
const after = [
  toolNamed('equal', harmless),
  toolNamed('reworded', { ...harmless, description: 'In other words.' }),
  toolNamed('franker', { annotations: { readOnlyHint: false, destructiveHint: true } }),
  toolNamed('wider', { ...harmless, inputSchema: { type: 'object', required: ['all'] } }),
];

it('an import plan lists the overrides that it suspends, and the others apply at once', async () => {
  const server = filedServer(before);
  const servers = { made: server.entry };
  const from = await openInstance(undefined, { servers });
  for (const tool of before) {
    const id = textAt(await toolIn(from.admin, 'made', textAt(tool, 'name')), 'id');
    const said = await from.admin.put(`/tools/${id}`, { annotations: { readOnlyHint: true } });
    expect([tool['name'], said.status, said.text]).toEqual([tool['name'], 200, expect.any(String)]);
  }
  const bundle = (await from.admin.get('/export')).json() as JsonObject;

  server.have(after);
  const to = await openInstance(undefined, { servers });
  const ids = new Map([...(await toolsOf(to.admin, 'server=made'))].map(([name, { id }]) => [name, id]));
  const warning = (name: string): string =>
    `The override of readOnlyHint is suspended: the definition of made.${name} here differs from the one that it was made for. \`assay review made.${name}\` shows what changed and, with --accept, accepts it; over REST, use GET /tools/${String(ids.get(name))} and POST /tools/${String(ids.get(name))}/review.`;
  for (const apply of [false, true]) {
    const plan = (await to.admin.post('/import', { bundle, apply })).json();
    const warnings = listAt(plan, 'items').map((item) => [textAt(item, 'name'), at(item, 'warnings')]);
    expect(Object.fromEntries(warnings)).toEqual({
      'made.equal': [],
      'made.reworded': [],
      'made.franker': [warning('franker')],
      'made.wider': [warning('wider')],
    });
  }
  const tools = [...(await toolsOf(to.admin, 'server=made'))];
  const readOnly = tools.map(([name, { hints = null }]) => [
    name,
    [at(hints, 'readOnlyHint', 'effective'), claimsIn(hints)[0]],
  ]);
  expect(Object.fromEntries(readOnly)).toEqual({
    equal: [true, 'o+ d-'],
    reworded: [true, 'o+ d-'],
    franker: [false, 'o+! d-'],
    wider: [false, 'o+! d-'],
  });
});
