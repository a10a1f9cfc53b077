import { Client } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ListedKind } from '../src/definition-rules.ts';
import type { Era } from '../src/eras.ts';
import { checkListable, type Listable } from '../src/listable.ts';
import { rounds } from '../../../test/support/campaign.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

const KINDS: readonly ListedKind[] = ['tool', 'prompt', 'resource', 'resourceTemplate'];
const ERAS: readonly Era[] = ['legacy', 'modern'];
const RUNS = rounds({ short: 150, long: 3_000 });

const ICON: JsonObject = { src: 'data:,', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark', vendor: 1 };
const NAMED: JsonObject = {
  name: 'a',
  title: 'A',
  description: 'Does a.',
  icons: [ICON],
  _meta: { 'example.org/x': [1] },
  vendor: { any: null },
};
const ABOUT_RESOURCES: JsonObject = {
  ...NAMED,
  mimeType: 'text/plain',
  annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-07-28T12:00:00Z', vendor: 'x' },
};
const VALID: Readonly<Record<ListedKind, JsonObject>> = {
  tool: {
    ...NAMED,
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        path: { type: 'string', maxLength: 9 },
        deep: { type: 'array', items: { enum: [1, null] } },
      },
      required: ['path'],
      additionalProperties: false,
    },
    outputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        size: { type: 'number', minimum: 0 },
        kind: { type: ['string', 'null'], pattern: '^a$', enum: ['a'] },
      },
      required: ['size'],
    },
    annotations: {
      title: 'A',
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
      vendorHint: 'maybe',
    },
    execution: { taskSupport: 'optional', vendor: 1 },
  },
  prompt: {
    ...NAMED,
    arguments: [{ name: 'topic', title: 'Topic', description: 'What about?', required: true, vendor: 1 }],
  },
  resource: { ...ABOUT_RESOURCES, uri: 'file:///a', size: 3 },
  resourceTemplate: { ...ABOUT_RESOURCES, uriTemplate: 'file:///{a}' },
};

/** The required members of a listable definition. */
const LEAST: Readonly<Record<ListedKind, readonly string[]>> = {
  tool: ['name', 'inputSchema'],
  prompt: ['name'],
  resource: ['name', 'uri'],
  resourceTemplate: ['name', 'uriTemplate'],
};

describe('the members that make official clients reject a whole list', () => {
  const check = (kind: ListedKind, bad: JsonObject, expected: Readonly<Record<Era, Listable>>): void => {
    const definition = { ...VALID[kind], ...bad };
    expect({
      legacy: checkListable(kind, 'legacy', definition),
      modern: checkListable(kind, 'modern', definition),
    }).toEqual(expected);
  };
  const checkBoth = (kind: ListedKind, bad: JsonObject, expected: Listable): void => {
    check(kind, bad, { legacy: expected, modern: expected });
  };
  const whole: Listable = { kind: 'whole' };
  const without = (...faults: readonly (readonly [readonly string[], string])[]): Listable => ({
    kind: 'without',
    paths: faults.map(([path]) => path),
    reasons: faults.map(([, reason]) => reason),
  });
  const withheld = (reason: string): Listable => ({ kind: 'withheld', reason });

  it('nothing is omitted from valid definitions, nor is a member that no client checks', () => {
    for (const kind of KINDS) checkBoth(kind, { vendorTitle: 5, tags: null }, whole);
    checkBoth('tool', { annotations: { sensitiveHint: 'very' }, size: 'big', arguments: 1 }, whole);
    checkBoth('prompt', { annotations: 5, inputSchema: 5 }, whole);
    checkBoth('resourceTemplate', { size: 'big' }, whole);
  });
  it('a hint that is not a boolean, and a title that is not a string, are omitted alone', () => {
    checkBoth(
      'tool',
      { title: 5, annotations: { readOnlyHint: 'maybe', openWorldHint: true, title: {} } },
      without(
        [['title'], 'title is not a string'],
        [['annotations', 'title'], 'annotations.title is not a string'],
        [['annotations', 'readOnlyHint'], 'annotations.readOnlyHint is not a boolean'],
      ),
    );
  });
  it('null is not a value of an optional member', () => {
    checkBoth('tool', { description: null }, without([['description'], 'description is not a string']));
    checkBoth('tool', { annotations: null }, without([['annotations'], 'annotations is not an object']));
    checkBoth('prompt', { _meta: null }, without([['_meta'], '_meta is not an object']));
  });
  it('an array is not an object', () => {
    checkBoth('tool', { annotations: [] }, without([['annotations'], 'annotations is not an object']));
    checkBoth('resource', { _meta: [] }, without([['_meta'], '_meta is not an object']));
  });
  it('icons are omitted as a whole, because no path leads into an array', () => {
    checkBoth('tool', { icons: [ICON, { theme: 'dark' }] }, without([['icons'], 'icons[1].src is absent']));
    checkBoth(
      'prompt',
      { icons: [{ src: 'x', theme: 'red' }] },
      without([['icons'], 'icons[0].theme is not "light" or "dark"']),
    );
    checkBoth(
      'resource',
      { icons: [{ src: 'x', sizes: '1x1' }] },
      without([['icons'], 'icons[0].sizes is not an array']),
    );
    checkBoth('resource', { icons: { src: 'x' } }, without([['icons'], 'icons is not an array']));
  });
  it('arguments of a prompt are omitted as a whole', () => {
    checkBoth(
      'prompt',
      { arguments: [{ name: 'a', required: 'yes' }] },
      without([['arguments'], 'arguments[0].required is not a boolean']),
    );
    checkBoth('prompt', { arguments: ['a'] }, without([['arguments'], 'arguments[0] is not an object']));
  });
  it('annotations of resources lose their invalid members only', () => {
    checkBoth(
      'resource',
      { annotations: { audience: ['user', 'model'], priority: 1.5, lastModified: 'yesterday', more: 1 } },
      without(
        [['annotations', 'audience'], 'annotations.audience[1] is not "user" or "assistant"'],
        [['annotations', 'priority'], 'annotations.priority is not a number from 0 to 1'],
        [['annotations', 'lastModified'], 'annotations.lastModified is not a date and time with an offset'],
      ),
    );
  });
  it('a tool without a name, or with an invalid input schema, is withheld', () => {
    const { name: _, ...nameless } = VALID.tool;
    expect(checkListable('tool', 'legacy', nameless)).toEqual(withheld('name is absent'));
    checkBoth('tool', { name: 5 }, withheld('name is not a string'));
    checkBoth('tool', { inputSchema: {} }, withheld('inputSchema.type is absent'));
    checkBoth('tool', { inputSchema: { type: ['object'] } }, withheld('inputSchema.type is not "object"'));
    checkBoth('tool', { inputSchema: true }, withheld('inputSchema is not an object'));
    checkBoth('resource', { uri: null }, withheld('uri is not a string'));
    checkBoth('resourceTemplate', { uriTemplate: 1 }, withheld('uriTemplate is not a string'));
    for (const kind of KINDS)
      for (const junk of [null, 'a', 1, []])
        expect(checkListable(kind, 'modern', junk)).toEqual(withheld('the definition is not an object'));
  });
  it('for legacy clients, invalid parts of the input schema are omitted, and an invalid output schema entirely', () => {
    const bad = { type: 'object', properties: { any: true, path: {}, 'a b': 5 }, required: 'path' };
    check(
      'tool',
      { inputSchema: bad, outputSchema: bad },
      {
        legacy: without(
          [
            ['inputSchema', 'properties', 'any'],
            'inputSchema.properties.any is not an object of finite JSON values',
          ],
          [
            ['inputSchema', 'properties', 'a b'],
            'inputSchema.properties["a b"] is not an object of finite JSON values',
          ],
          [['inputSchema', 'required'], 'inputSchema.required is not an array'],
          [['outputSchema'], 'outputSchema.properties.any is not an object of finite JSON values'],
        ),
        modern: whole,
      },
    );
  });
  it('an output schema that Ajv cannot compile is omitted for legacy clients, which would reject the list', () => {
    const outputSchema = { type: 'object', properties: { id: { type: 'string', pattern: '[\\w\\-]+\\-' } } };
    check(
      'tool',
      { outputSchema },
      {
        legacy: without([
          ['outputSchema'],
          'outputSchema.properties.id.pattern is not a regular expression with the flag "u"',
        ]),
        modern: whole,
      },
    );
  });
  it('an output schema of any type is valid for modern clients only', () => {
    const legacy = without([['outputSchema'], 'outputSchema.type is not "object"']);
    check('tool', { outputSchema: { type: 'array' } }, { legacy, modern: whole });
    const absent = without([['outputSchema'], 'outputSchema.type is absent']);
    check('tool', { outputSchema: { anyOf: [] } }, { legacy: absent, modern: whole });
    checkBoth('tool', { outputSchema: [] }, without([['outputSchema'], 'outputSchema is not an object']));
  });
  it('modern clients require "$schema" to be a string, legacy ones require known task support', () => {
    check(
      'tool',
      { inputSchema: { type: 'object', $schema: 1 }, execution: { taskSupport: 'sometimes' } },
      {
        legacy: without([
          ['execution', 'taskSupport'],
          'execution.taskSupport is not "required" or "optional" or "forbidden"',
        ]),
        modern: without([['inputSchema', '$schema'], 'inputSchema.$schema is not a string']),
      },
    );
    check(
      'tool',
      { execution: 'x' },
      { legacy: without([['execution'], 'execution is not an object']), modern: whole },
    );
  });
  it('a key chosen by the upstream is escaped and truncated in a reason', () => {
    const key = `[\u001b\n"${'x'.repeat(100)}`;
    check(
      'tool',
      { inputSchema: { type: 'object', properties: { [key]: 1 } } },
      {
        legacy: without([
          ['inputSchema', 'properties', key],
          `inputSchema.properties["[\\u001b\\n\\"${'x'.repeat(60)}"] is not an object of finite JSON values`,
        ]),
        modern: whole,
      },
    );
  });
});

describe('compared with the official clients', () => {
  let peers: Readonly<Record<Era, readonly Peer[]>>;
  beforeAll(async () => {
    peers = {
      legacy: [await olderPeer(), await peer('legacy')],
      modern: [await peer('modern')],
    };
  });

  /** The names that each client lists, or why it rejected the whole list. */
  const outcomes = (
    kind: ListedKind,
    era: Era,
    definitions: readonly unknown[],
  ): Promise<readonly Outcome[]> => Promise.all(peers[era].map((one) => one(kind, definitions)));
  const accepted = async (kind: ListedKind, era: Era, definition: unknown): Promise<boolean> =>
    (await outcomes(kind, era, [definition])).every((outcome) => outcome.kind === 'listed');

  describe.each(ERAS)('%s', (era) => {
    it.each(KINDS)('%s: a valid definition is unchanged and listed', async (kind) => {
      expect(checkListable(kind, era, VALID[kind])).toEqual({ kind: 'whole' });
      expect(await accepted(kind, era, VALID[kind])).toBe(true);
    });

    it.each(KINDS)(
      '%s: clients list what the verdict keeps, and each part of the verdict is needed',
      async (kind) => {
        await fc.assert(
          fc.asyncProperty(corrupted(VALID[kind]), async (definition) => {
            const verdict = checkListable(kind, era, definition);
            if (verdict.kind === 'withheld') {
              expect(await accepted(kind, era, only(definition, LEAST[kind]))).toBe(false);
              return;
            }
            const paths = verdict.kind === 'whole' ? [] : verdict.paths;
            const mended = leaveOut(definition, paths);
            const listed = { kind: 'listed', count: 3 };
            const around = await outcomes(kind, era, [VALID[kind], mended, VALID[kind]]);
            expect(around).toEqual(around.map(() => listed));
            for (const path of paths) {
              const others = paths.filter((other) => other !== path);
              expect(
                await accepted(kind, era, leaveOut(definition, others)),
                `${path.join('.')} was left out for nothing`,
              ).toBe(false);
            }
          }),
          { numRuns: RUNS },
        );
      },
    );
  });

  it('a date is validated as by the clients', async () => {
    await fc.assert(
      fc.asyncProperty(dateLike(), async (lastModified) => {
        const definition = { uri: 'x', name: 'x', annotations: { lastModified } };
        expect(checkListable('resource', 'modern', definition).kind).toBe(
          (await accepted('resource', 'modern', definition)) ? 'whole' : 'without',
        );
      }),
      { numRuns: RUNS },
    );
  });
});

type Outcome =
  { readonly kind: 'listed'; readonly count: number } | { readonly kind: 'rejected'; readonly why: string };
type Peer = (kind: ListedKind, definitions: readonly unknown[]) => Promise<Outcome>;

const LISTS: Readonly<Record<ListedKind, { readonly method: string; readonly member: string }>> = {
  tool: { method: 'tools/list', member: 'tools' },
  prompt: { method: 'prompts/list', member: 'prompts' },
  resource: { method: 'resources/list', member: 'resources' },
  resourceTemplate: { method: 'resources/templates/list', member: 'resourceTemplates' },
};

const HELLO: JsonObject = {
  capabilities: { tools: {}, prompts: {}, resources: {} },
  serverInfo: { name: 'raw', version: '1' },
};
const MODERN: JsonObject = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** A handwritten server in place of a transport: it answers each list with the content of `holds`. */
class RawServer {
  onmessage?: (message: unknown) => void;
  onclose?: () => void;
  holds: readonly unknown[] = [];

  start(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
  send(message: unknown): Promise<void> {
    const { id, method } = message as { readonly id?: number; readonly method?: string };
    if (id === undefined) return Promise.resolve();
    queueMicrotask(() => this.onmessage?.({ jsonrpc: '2.0', id, result: this.#answer(method) }));
    return Promise.resolve();
  }
  #answer(method: string | undefined): unknown {
    if (method === 'initialize') return { ...HELLO, protocolVersion: '2025-11-25' };
    if (method === 'server/discover') return { ...HELLO, ...MODERN, supportedVersions: ['2026-07-28'] };
    const list = Object.values(LISTS).find((one) => one.method === method);
    return { ...MODERN, [list?.member ?? 'none']: this.holds };
  }
}

/** The client of SDK 1.x. */
async function olderPeer(): Promise<Peer> {
  const server = new RawServer();
  const client = new OlderClient({ name: 'test', version: '1' });
  await client.connect(server);
  return lister(server, client);
}

/** The client of SDK 2.x in one era. */
async function peer(era: Era): Promise<Peer> {
  const server = new RawServer();
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(server);
  expect(client.getProtocolEra()).toBe(era);
  return lister(server, client);
}

function lister(server: RawServer, client: Client | OlderClient): Peer {
  return async (kind, definitions) => {
    server.holds = definitions;
    try {
      return { kind: 'listed', count: (await list(client, kind)).length };
    } catch (error) {
      return { kind: 'rejected', why: String(error) };
    }
  };
}

async function list(client: Client | OlderClient, kind: ListedKind): Promise<readonly unknown[]> {
  switch (kind) {
    case 'tool':
      return (await client.listTools()).tools;
    case 'prompt':
      return (await client.listPrompts()).prompts;
    case 'resource':
      return (await client.listResources()).resources;
    case 'resourceTemplate':
      return (await client.listResourceTemplates()).resourceTemplates;
  }
}

/** Includes numbers that only JSON text can contain: `JSON.parse('1e400')` is Infinity. */
const junk = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      1,
      -1,
      0.5,
      Infinity,
      '',
      'x',
      'object',
      [],
      {},
      [[]],
      [{}],
      ['x'],
      [null],
    ),
    fc.constantFrom<unknown>(
      { type: 'object' },
      { x: Infinity },
      { __proto__: null, x: [{ y: -Infinity }] },
      { src: 'x' },
      { name: 'x' },
    ),
    fc.constant(JSON.parse('{"__proto__":1,"constructor":2}') as unknown),
    fc.jsonValue({ maxDepth: 3 }),
  );

/** A definition in which one to four values, at any depth, are replaced by junk, removed or added. */
function corrupted(valid: JsonObject): fc.Arbitrary<unknown> {
  const places = placesIn(valid);
  const change = fc.record({
    place: fc.constantFrom(...places),
    value: fc.oneof(junk(), fc.constant(undefined)),
  });
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    const definition = structuredClone(valid) as unknown;
    for (const { place, value } of changes) put(definition, place, value);
    return definition;
  });
}

function placesIn(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, inner]) => [
    [key],
    ...placesIn(inner).map((place) => [key, ...place]),
  ]);
  return [...below, [Array.isArray(value) ? String(value.length) : 'added']];
}

function put(target: unknown, [key, ...rest]: readonly string[], value: unknown): void {
  if (key === undefined || typeof target !== 'object' || target === null) return;
  const object = target as Record<string, unknown>;
  if (rest.length > 0) put(object[key], rest, value);
  else if (Array.isArray(target))
    target.splice(Number(key), 1, ...(value === undefined ? [] : [structuredClone(value)]));
  else if (value !== undefined) object[key] = structuredClone(value);
  else Reflect.deleteProperty(object, key);
}

function leaveOut(definition: unknown, paths: readonly (readonly string[])[]): unknown {
  const copy = structuredClone(definition);
  for (const path of paths) put(copy, path, undefined);
  return copy;
}

function only(definition: unknown, keys: readonly string[]): unknown {
  if (typeof definition !== 'object' || definition === null) return definition;
  return Object.fromEntries(Object.entries(definition).filter(([key]) => keys.includes(key)));
}

function dateLike(): fc.Arbitrary<string> {
  const number = (digits: number, max: number): fc.Arbitrary<string> =>
    fc.integer({ min: 0, max }).map((value) => String(value).padStart(digits, '0'));
  const year = fc.oneof(fc.constantFrom('0000', '1900', '2000', '2023', '2024', '2100'), number(4, 9999));
  const day = fc
    .tuple(year, number(2, 13), fc.oneof(number(2, 32), fc.constantFrom('28', '29', '30', '31')))
    .map((d) => d.join('-'));
  const seconds = fc.oneof(
    fc.constantFrom('', ':00', ':59.5', ':60', ':00.', ':0'),
    number(2, 60).map((s) => `:${s}`),
  );
  const time = fc.tuple(number(2, 24), number(2, 60), seconds).map(([h, m, s]) => `${h}:${m}${s}`);
  const offset = fc.constantFrom('Z', 'z', '', '+00:00', '-23:59', '+24:00', '+0100', '+01');
  const separator = fc.constantFrom('T', 'T', 'T', 't', ' ');
  return fc.tuple(day, separator, time, offset).map((parts) => parts.join(''));
}
