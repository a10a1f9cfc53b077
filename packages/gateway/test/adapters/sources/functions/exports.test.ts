import { describe, expect, it } from 'vitest';
import { moduleOf, openedModule } from '../../../../../../test/support/function-modules.ts';

const NO_ARGUMENTS = { type: 'object', additionalProperties: false };

describe('a module', () => {
  it('imports assay-mcp and zod without having them installed, and has its arguments parsed', async () => {
    const module = openedModule({
      'greet.ts': `
        import { defineTool } from 'assay-mcp';
        import { z } from 'zod';
        export default defineTool({
          name: 'greet',
          title: 'Greet',
          description: 'Greets somebody.',
          input: z.object({ who: z.string().trim().default('world'), times: z.number().int().optional() }),
          annotations: { readOnlyHint: true },
          timeoutMs: 1500,
          run: ({ who, times = 1 }) => \`Hello \${who}! \`.repeat(times),
        });`,
    });
    const { tools, skipped } = await module.read();
    expect(skipped).toEqual([]);
    expect(tools.map(({ definition, facts, timeoutMs }) => ({ definition, facts, timeoutMs }))).toEqual([
      {
        definition: {
          name: 'greet',
          title: 'Greet',
          description: 'Greets somebody.',
          inputSchema: {
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            type: 'object',
            properties: {
              who: { default: 'world', type: 'string' },
              times: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
            },
          },
          annotations: { readOnlyHint: true },
        },
        facts: { kind: 'function', module: expect.stringMatching(/^[0-9a-f]{8}$/) as string },
        timeoutMs: 1500,
      },
    ]);
    expect(await module.say('greet')).toBe('Hello world! ');
    expect(await module.say('greet', { who: ' Ada ', times: 2 })).toBe('Hello Ada! Hello Ada! ');
    expect(await module.say('greet', { who: 3, times: 'x' })).toBe(
      '! The argument "who" does not fit: Invalid input: expected string, received number\n' +
        'The argument "times" does not fit: Invalid input: expected number, received string',
    );
  });

  it('accepts JSON Schema or no input, and may be plain JavaScript, ESM or CommonJS', async () => {
    const add = `{ name: 'add', input: { type: 'object', properties: { a: { type: 'number' } } }, run: ({ a }) => a + 1 }`;
    const esm = openedModule({
      'a.mjs': `import { defineTool } from 'assay-mcp'; export const add = defineTool(${add}); export const other = 3;`,
    });
    const cjs = openedModule({ 'a.cjs': `module.exports = require('assay-mcp').defineTool(${add});` });
    const bare = openedModule({ 'a.js': `export default [${add}, { name: 'none', run: () => 'none' }];` });
    for (const module of [esm, cjs, bare]) expect(await module.say('add', { a: 4 })).toBe('5');
    const schemas = (await bare.read()).tools.map(({ definition }) => definition.inputSchema);
    expect(schemas).toEqual([{ type: 'object', properties: { a: { type: 'number' } } }, NO_ARGUMENTS]);
  });

  it('uses the zod of its own folder', async () => {
    const module = openedModule({
      'tools/a.ts': `import { z } from 'zod'; export default { name: 'which', run: () => z };`,
      'node_modules/zod/package.json': '{"name":"zod","exports":"./index.js"}',
      'node_modules/zod/index.js': 'exports.z = "its own zod";',
    });
    expect(await module.say('which')).toBe('its own zod');
  });

  it('keeps its valid tools if others are invalid, and says why each was skipped', async () => {
    const module = openedModule({
      'tools.ts': `
        import { defineTool } from 'assay-mcp';
        import { z } from 'zod';
        const run = () => 'x';
        export const good = defineTool({ name: 'good', run });
        export const again = good;
        export default {
          good,
          twin: defineTool({ name: 'good', run }),
          three: 3,
          odd: { name: 'a b', run },
          idle: { name: 'idle' },
          date: defineTool({ name: 'date', input: z.object({ at: z.date() }), run }),
          text: defineTool({ name: 'text', input: z.string(), run }),
          schema: defineTool({ name: 'schema', input: { type: 'array' }, run }),
          round: defineTool({ name: 'round', input: (() => { const a = { type: 'object' }; a.a = a; return a; })(), run }),
          trap: new Proxy({}, { get() { throw new Error('no'); } }),
        };`,
    });
    const { tools, skipped } = await module.read();
    expect(tools.map(({ definition }) => definition.name)).toEqual(['good']);
    expect(skipped.map(({ what, why }) => `${what} ${why}`)).toEqual([
      'default.twin another tool of the module is called "good"',
      'default.three is not a tool: make it with defineTool',
      'default.odd has the name "a b"; a name has 1 to 128 letters, digits, "_", "-" or "."',
      'default.idle has no function "run"',
      'default.date has an input that cannot be told as JSON Schema: Date cannot be represented in JSON Schema',
      'default.text has an input that is not a schema of an object: its "type" is not "object"',
      'default.schema has an input that is not a schema of an object: its "type" is not "object"',
      'default.round has an input that cannot be written as JSON',
      'default.trap cannot be looked at',
    ]);
  });

  it.each<[what: string, files: Readonly<Record<string, string>>, fault: string]>([
    ['throws while it is loaded', { 'a.ts': `\nthrow new Error('no key');` }, 'no key\n    at a.ts:2:7'],
    [
      'throws in a file that it imports',
      { 'a.ts': `import './b.ts';`, 'b.ts': `null.x;` },
      "TypeError: Cannot read properties of null (reading 'x')\n    at b.ts:1:6",
    ],
    [
      'has a fault of syntax',
      { 'a.ts': `let a = 1;\nlet b = ;` },
      'SyntaxError: Expression expected (a.ts:2:9)',
    ],
    [
      'has a fault of syntax in JavaScript',
      { 'a.mjs': `let a = 1;\nlet b = ;` },
      "SyntaxError: Unexpected token ';' (a.mjs:2:9)",
    ],
    [
      'imports what is not there',
      { 'a.ts': `import './b.ts';` },
      "Cannot find module 'b.ts' imported from a.ts",
    ],
    [
      'exports nothing',
      { 'a.ts': `export const a = 1;` },
      'it exports no tool: make one with defineTool, and export it',
    ],
    [
      'ends its process',
      { 'a.ts': `\n process.exit(2);` },
      'its process called process.exit(2) (a.ts:2:10) while it was loaded',
    ],
    [
      'needs more than types to be taken away',
      { 'a.ts': `enum Kind { a }` },
      'TypeScript enum is not supported in strip-only mode. Node strips types and generates no code: write what is left when types are taken away, such as a const object in place of an enum (a.ts:1:1)',
    ],
  ])('that %s is reported with the line', async (_, files, fault) => {
    expect((await openedModule(files).fault()).replace(/^SyntaxError \[\w+\]/, 'SyntaxError')).toBe(fault);
  });

  it('may be in a folder with an unusual name', async () => {
    const run = "() => { throw new Error('here'); }";
    const module = openedModule({ 'a (b)/ü #1%/to ols.ts': `export default { name: 'x', run: ${run} };` });
    expect(await module.say('x')).toBe('! here\n    at Object.run (to ols.ts:1:48)');
  });

  it('that does not exist is named', async () => {
    const module = openedModule({ 'a.ts': '' }, { path: '/no/such.ts' });
    expect(await module.fault()).toBe('the file "/no/such.ts" does not exist');
  });

  it('that never finishes loading is given up after ten seconds', async () => {
    const module = openedModule({ 'a.ts': 'await new Promise((resolve) => setInterval(resolve, 1e9));' });
    expect(await module.fault()).toBe('it did not load within 10 s');
  });
});

it.each(['export const gone', 'export default'])(
  'a revoked proxy exported by a module (%s) affects none of its tools',
  async (gives) => {
    const tool =
      "import { defineTool } from 'assay-mcp';\nexport const kept = defineTool({ name: 'kept', description: 'd', input: { type: 'object' }, run: () => 'here' });";
    const gone = 'const { proxy, revoke } = Proxy.revocable({}, {});\nrevoke();';
    const given = gives === 'export default' ? 'export default proxy;' : `${gives} = proxy;`;
    const module = openedModule({ 'tools.ts': `${tool}\n${gone}\n${given}\n` });
    expect(await module.say('kept')).toBe('here');
  },
);

const returns = openedModule(
  moduleOf({
    text: `() => 'plain'`,
    nothing: '() => {}',
    nul: '() => null',
    list: '() => [1, "a"]',
    object: '() => ({ a: 1, b: new Date(0) })',
    late: 'async () => ({ late: true })',
    whole: `() => ({ content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }], structuredContent: { a: 1 }, _meta: { b: 2 } })`,
    round: '() => { const a = {}; a.a = a; return a; }',
    big: '() => 10n',
    gone: '() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; }',
    code: '() => () => 1',
    huge: `() => 'x'.repeat(100_000_000)`,
    trap: '() => new Proxy({}, { get() { throw new Error("no"); }, ownKeys() { throw new Error("no"); } })',
    error: `() => { throw new RangeError('too far', { cause: new Error('a wall') }); }`,
    later: `() => new Promise(() => { setTimeout(() => { throw new Error('later'); }, 1); })`,
    nought: '() => { throw undefined; }',
    none: '() => { throw null; }',
    word: `() => { throw 'a word'; }`,
    thing: '() => { throw { code: 3 }; }',
    mute: '() => { throw { toString() { throw 1; }, toJSON() { throw 2; } }; }',
    circle: '() => { const a = {}; a.a = a; throw a; }',
    proxy:
      '() => { throw new Proxy(new Error("x"), { get() { throw 1; }, getPrototypeOf() { throw 2; } }); }',
    lying: `() => { const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 1; } }); Object.defineProperty(e, 'message', { get() { throw 1; } }); throw e; }`,
    long: `() => { throw new Error('x'.repeat(50_000_000)); }`,
  }),
  { memoryMb: 600 },
);

describe('the return value of a tool', () => {
  it.each<[tool: string, result: object]>([
    ['text', { content: [{ type: 'text', text: 'plain' }] }],
    ['nothing', { content: [{ type: 'text', text: 'Done.' }] }],
    ['nul', { content: [{ type: 'text', text: 'null' }] }],
    ['list', { content: [{ type: 'text', text: '[1,"a"]' }] }],
    [
      'object',
      {
        content: [{ type: 'text', text: '{"a":1,"b":"1970-01-01T00:00:00.000Z"}' }],
        structuredContent: { a: 1, b: '1970-01-01T00:00:00.000Z' },
      },
    ],
    ['late', { content: [{ type: 'text', text: '{"late":true}' }], structuredContent: { late: true } }],
    [
      'whole',
      {
        content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }],
        structuredContent: { a: 1 },
        _meta: { b: 2 },
      },
    ],
  ])('%s', async (tool, result) => {
    expect(await returns.call(tool)).toEqual(result);
  });

  it.each<[tool: string, text: RegExp]>([
    [
      'round',
      /^! What the tool returned cannot be written as JSON: TypeError: Converting circular structure/,
    ],
    ['gone', /^! TypeError: Cannot perform 'get' on a proxy that has been revoked$/],
    [
      'big',
      /^! What the tool returned cannot be written as JSON: TypeError: Do not know how to serialize a BigInt$/,
    ],
    ['code', /^! What the tool returned cannot be written as JSON: TypeError: it is a function$/],
    ['trap', /^! no\n {4}at /],
    [
      'huge',
      /^! What the tool returned is too large: it is 95.4 MiB of JSON, and at most 4 MiB are passed on\.$/,
    ],
    [
      'error',
      /^! RangeError: too far\n {4}at Object\.run \(tools\.mjs:\d+:\d+\)\nCaused by: a wall\n {4}at Object\.run \(tools\.mjs:\d+:\d+\)$/,
    ],
    ['later', /^! later\n {4}at Timeout\._onTimeout \(tools\.mjs:\d+:\d+\)$/],
    ['nought', /^! It threw undefined\.$/],
    ['none', /^! It threw null\.$/],
    ['word', /^! a word$/],
    ['thing', /^! It threw \{"code":3\}$/],
    ['mute', /^! It threw something that cannot be shown\.$/],
    ['circle', /^! It threw \[object Object\]$/],
    ['proxy', /^! It threw something that cannot be shown\.$/],
    ['lying', /^! It threw an Error without a message\.$/],
    ['long', /^! x{16000}…$/],
  ])('%s breaks nothing', async (tool, text) => {
    expect(await returns.say(tool)).toMatch(text);
    expect(await returns.say('text')).toBe('plain');
  });

  it('matches its output schema, or becomes an error that says what does not', async () => {
    const module = openedModule({
      'tools.ts': `
        import { defineTool } from 'assay-mcp';
        import { z } from 'zod';
        const output = z.object({ sum: z.number() });
        const returning = (name, value) => defineTool({ name, output, run: () => value });
        export default [returning('good', { sum: 3, more: 1 }), returning('bad', { sum: 'x' }), returning('text', 'x'),
          returning('failed', { content: [], isError: true })];`,
    });
    const [good] = (await module.read()).tools;
    expect(good?.definition.outputSchema).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { sum: { type: 'number' } },
      required: ['sum'],
      additionalProperties: false,
    });
    expect((await module.call('good')).structuredContent).toEqual({ sum: 3 });
    expect(await module.say('bad')).toBe(
      '! What the tool returned is not what its output says.\nThe member "sum" does not fit: Invalid input: expected number, received string',
    );
    expect(await module.say('text')).toBe(
      '! The tool says what its output looks like, and returned no object: it must return one.',
    );
    expect(await module.call('failed')).toEqual({ content: [], isError: true });
  });
});

describe('a running tool', () => {
  const module = openedModule({
    'tools.ts': `
      import { defineTool } from 'assay-mcp';
      import { z } from 'zod';
      export const ask = defineTool({ name: 'ask', run: async (_, ctx) => {
        ctx.progress(1, 3, 'first');
        ctx.progress(2);
        ctx.log('warning', { low: true });
        const circle = {}; circle.circle = circle;
        ctx.log('info', circle);
        const answer = await ctx.ask({ message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
        return answer;
      } });`,
  });

  it('sends progress and log messages to its own client, and can ask it', async () => {
    const told: unknown[] = [];
    const result = await module.call(
      'ask',
      {},
      {
        progress: (...progress) => told.push(progress),
        log: (...note) => told.push(note),
        ask: async (...asked) => {
          told.push(asked);
          return { ok: true, value: { action: 'accept', content: { sure: true } } };
        },
      },
    );
    expect(result.structuredContent).toEqual({ action: 'accept', content: { sure: true } });
    expect(told).toEqual([
      [1, 3, 'first'],
      [2, undefined, undefined],
      ['warning', { low: true }],
      ['info', 'something that cannot be written as JSON'],
      [
        'elicitation/create',
        {
          message: 'Sure?',
          requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] },
        },
      ],
    ]);
  });

  it('gets an error if its client cannot be asked', async () => {
    expect(await module.say('ask')).toMatch(
      /^! Nobody can be asked\.\n {4}at async Object\.run \(tools\.ts:\d+:\d+\)$/,
    );
  });
});
