// Names and descriptions of OpenAPI tools.
import { describe, expect, it } from 'vitest';
import type { BuiltInDefinition } from '@assay-mcp/functions/function-messages';
import { computeShortHash } from '@assay-mcp/kit/digest';
import type { JsonObject } from '../../../../../../test/support/json.ts';
import { echoWeb } from '../../../../../../test/support/echo-web.ts';
import { documentOf, operationOf } from '../../../../../../test/support/openapi-document.ts';
import { toolsIn } from '../../../../../../test/support/openapi-source.ts';

async function definitionOf(operation: JsonObject, more: JsonObject = {}): Promise<BuiltInDefinition> {
  const { tools, skipped } = await toolsIn(operationOf(operation, more));
  expect(skipped).toEqual([]);
  return tools[0]!.definition;
}

async function namesOf(paths: JsonObject): Promise<readonly string[]> {
  return (await toolsIn(documentOf(paths))).tools.map(({ definition }) => definition.name);
}

/** A hash, which does not reveal the location. */
const MARK: unknown = expect.stringMatching(/^[0-9a-f]{8}$/);

describe('a name', () => {
  const long = 'a'.repeat(61);
  it.each<[operation: JsonObject, name: string]>([
    [{ operationId: 'listPets' }, 'listPets'],
    [{ operationId: 'list-pets_v2' }, 'list-pets_v2'],
    [{ operationId: 'pets.list / all' }, 'pets_list_all'],
    [{ operationId: 'Übersicht_für_Café' }, 'Ubersicht_fur_Cafe'],
    [{ operationId: '🐶 dog 🐶🐱 cat 🐱' }, 'dog_cat'],
    [{ operationId: 'read__item__get' }, 'read__item__get'],
    [{ operationId: '🐶' }, 'get_x'],
    [{ operationId: '' }, 'get_x'],
    [{ operationId: 5 }, 'get_x'],
    [
      { operationId: undefined as never, path: '/Pets/{petId}/toys.json', method: 'put' },
      'put_pets_petid_toys_json',
    ],
    [{ operationId: undefined as never, path: '/' }, 'get'],
    [{ operationId: 'a'.repeat(60) }, 'a'.repeat(60)],
    [{ operationId: long }, `${'a'.repeat(52)}_${computeShortHash(long, 8)}`],
    [{ 'x-mcp': { name: 'find it' } }, 'find_it'],
    [{ 'x-mcp': { name: '' } }, 'op'],
  ])('for %j is %s', async (operation, name) => {
    expect((await definitionOf(operation)).name).toBe(name);
  });

  it('is given to neither of two operations that claim it', async () => {
    const get = { operationId: 'same' };
    const hashed = (what: string): string => `same_${computeShortHash(what, 8)}`;
    expect(
      await namesOf({
        '/a': { get, put: { operationId: 'sa me' } },
        '/b': { get, put: { operationId: 'other' } },
      }),
    ).toEqual([hashed('GET /a'), 'sa_me', hashed('GET /b'), 'other']);
    expect(await namesOf({ '/b': { get }, '/a': { get } })).toEqual([hashed('GET /b'), hashed('GET /a')]);
  });

  it('differs for each operation even if it was shortened', async () => {
    const names = await namesOf({
      '/a': { get: { operationId: `${long}b` } },
      '/b': { get: { operationId: `${long}c` } },
    });
    expect(new Set(names).size).toBe(2);
  });
});

describe('names and descriptions', () => {
  const bare = {
    name: 'op',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  };

  it.each<[operation: JsonObject, more: JsonObject, expected: JsonObject]>([
    [{}, {}, {}],
    [{ summary: 'S', description: 'D' }, {}, { title: 'S', description: 'D', annotations: { title: 'S' } }],
    [{ summary: 'S' }, {}, { title: 'S', description: 'S', annotations: { title: 'S' } }],
    [{ description: ' D ' }, {}, { description: 'D' }],
    [{ description: 'D', deprecated: true }, {}, { description: 'Deprecated. D' }],
    [{ deprecated: true }, {}, { description: 'Deprecated.' }],
    [{ description: 'd'.repeat(5_000) }, {}, { description: `${'d'.repeat(4_096)}…` }],
    [
      { summary: 'S', 'x-mcp': { title: 'T', description: 'D', annotations: { readOnlyHint: true } } },
      {},
      { title: 'T', description: 'D', annotations: { title: 'T', readOnlyHint: true } },
    ],
    [
      { 'x-mcp': { annotations: { readOnlyHint: false, idempotentHint: 'yes', mood: 'calm' } } },
      { 'x-mcp': { name: 'no', annotations: { readOnlyHint: true, openWorldHint: false } } },
      { annotations: { readOnlyHint: false, openWorldHint: false } },
    ],
    [{ 'x-mcp': 'nonsense' }, { 'x-mcp': [] }, {}],
    [{ 'x-mcp': true }, { 'x-mcp': false }, {}],
    [{ 'x-mcp': { enabled: true } }, { 'x-mcp': { enabled: false } }, {}],
  ])('for operation %j in document %j become %j', async (operation, more, expected) => {
    expect(await definitionOf(operation, more)).toEqual({ ...bare, ...expected });
  });

  it.each<[operation: JsonObject, more: JsonObject]>([
    [{ 'x-mcp': false }, {}],
    [{ 'x-mcp': { enabled: false } }, {}],
    [{}, { 'x-mcp': { enabled: false } }],
  ])('are not made if x-mcp disables the operation: %j in document %j', async (operation, more) => {
    const { tools, skipped } = await toolsIn(operationOf(operation, more));
    expect([tools, skipped]).toEqual([[], [{ what: 'GET /x', why: 'its x-mcp disables it' }]]);
  });

  it('are accompanied by the method and path of the request', async () => {
    const { tools } = await toolsIn(operationOf({ path: '/a/{b}', method: 'delete' }));
    expect(tools.map(({ facts }) => facts)).toEqual([
      { kind: 'openapi', method: 'DELETE', path: '/a/{b}', target: MARK },
    ]);
  });
});

it('a document in a file does not extend its trust to what it references by URL', async () => {
  const op = { responses: {}, 'x-mcp': { title: 'Wipe', annotations: { readOnlyHint: true } } };
  const item = { get: op, delete: op, 'x-mcp': { annotations: { destructiveHint: false } } };
  const web = await echoWeb(item);
  const general = { 'x-mcp': { annotations: { openWorldHint: false } } };
  const { tools } = await toolsIn(
    documentOf({ '/a': { $ref: `${web.url}/item.json` }, '/b': item }, general),
  );
  expect(tools.map(({ definition: { annotations }, facts }) => [annotations, facts])).toEqual([
    ...[{ method: 'GET', path: '/a' }, { path: '/a' }].map((facts) => [
      { openWorldHint: false, title: 'Wipe' },
      { kind: 'openapi', ...facts, target: MARK },
    ]),
    ...['GET', 'DELETE'].map((method) => [
      { openWorldHint: false, destructiveHint: false, readOnlyHint: true, title: 'Wipe' },
      { kind: 'openapi', method, path: '/b', target: MARK },
    ]),
  ]);
});

it('a title in the annotations of x-mcp is kept next to that of the operation', async () => {
  const operation = { summary: 'S', 'x-mcp': { annotations: { title: 'Mine' } } };
  expect(await definitionOf(operation)).toMatchObject({ title: 'S', annotations: { title: 'Mine' } });
});

describe('contradictory hints', () => {
  const reads = { annotations: { readOnlyHint: true } };
  const both = { annotations: { readOnlyHint: true, destructiveHint: true } };

  it('in one x-mcp cause the operation to be skipped with that reason', async () => {
    const { tools, skipped } = await toolsIn(operationOf({ 'x-mcp': both }));
    expect(tools).toEqual([]);
    expect(skipped).toEqual([
      expect.objectContaining({
        why: 'its x-mcp contradicts itself: readOnlyHint and destructiveHint are both true',
      }),
    ]);
  });

  it('between a general and a specific x-mcp are resolved in favor of the specific one', async () => {
    const { annotations } = await definitionOf(
      { 'x-mcp': { annotations: { destructiveHint: true } } },
      { 'x-mcp': reads },
    );
    expect(annotations).toMatchObject({ destructiveHint: true });
    expect(annotations).not.toHaveProperty('readOnlyHint');
  });
});
