import { describe, expect, it } from 'vitest';
import { readMessage } from '../../../../src/adapters/sources/functions/read-message.ts';
import {
  openedModule,
  moduleOf,
  type OpenedModule,
} from '../../../../../../test/support/function-modules.ts';

/** Code that tampers with built-ins of the whole process when the tool runs. */
const POISONS: Readonly<Record<string, string>> = {
  stringify: "JSON.stringify = () => '{';",
  parse: 'JSON.parse = () => 7;',
  from: 'Buffer.from = () => new Uint8Array(3);',
  toJSON: "Object.prototype.toJSON = () => 'x';",
  arrays: 'Array.prototype.toJSON = () => 5;',
  wait: 'Atomics.wait = () => { throw 1; };',
};

const TOOLS = {
  ...Object.fromEntries(
    Object.entries(POISONS).map(([name, poison]) => [
      name,
      `(_, ctx) => { ${poison} ctx.progress(1); ctx.log('info', {}); return { spoiled: true }; }`,
    ]),
  ),
  add: '({ a, b }) => a + b',
};

const open = (): OpenedModule => openedModule(moduleOf(TOOLS));

describe('a module that tampers with built-ins', () => {
  it.each(['stringify', 'parse', 'from', 'wait'])(
    'is served as before, since the runner uses the original built-ins (%s)',
    async (tool) => {
      const module = open();
      expect(await module.say(tool)).toBe('{"spoiled":true}');
      expect(await module.say('add', { a: 1, b: 2 })).toBe('3');
    },
  );

  it.each(['toJSON', 'arrays'])('never ends more than its own process (%s)', async (tool) => {
    const module = open();
    await module.say(tool);
    expect((await module.say('add', { a: 1, b: 2 })).length).toBeGreaterThan(0);
    expect((await module.read()).tools).toHaveLength(Object.keys(TOOLS).length);
  });

  it('that sends a malformed message is stopped, with the reason, and restarted', async () => {
    const module = openedModule(
      moduleOf({
        pid: '() => process.pid',
        spoil: `() => { Object.prototype.toJSON = () => 'forged'; return 'spoiled'; }`,
      }),
    );
    const other = open();
    const [pid, otherPid] = [await module.say('pid'), await other.say('add', { a: 1, b: 2 })];
    expect(await module.say('spoil')).toBe(
      '! The process of the functions in tools.mjs wrote invalid data to its channel to Assay (a "done" of another shape), and was stopped. The next call restarts it.',
    );
    expect(await module.say('pid')).toMatch(/^\d+$/);
    expect(await module.say('pid')).not.toBe(pid);
    expect(await other.say('add', { a: 1, b: 2 })).toBe(otherPid);
  });

  it.each<[what: string, message: string, found: string]>([
    ['half a text', '{"kind":', 'no JSON'],
    ['a text', '"done"', 'no message'],
    ['a kind of every object', '{"kind":"toString"}', 'no message'],
    ['an end without a result', '{"kind":"done","id":1}', 'a "done" of another shape'],
    ['a result without content', '{"kind":"done","id":1,"result":{}}', 'a "done" of another shape'],
    ['a result of null', '{"kind":"done","id":1,"result":{"content":[null]}}', 'a "done" of another shape'],
    ['tools that are no list', '{"kind":"ready","tools":5,"skipped":[]}', 'a "ready" of another shape'],
    ['a path that is no text', '{"kind":"file","path":5}', 'a "file" of another shape'],
    ['progress of null', '{"kind":"progress","id":1,"progress":null}', 'a "progress" of another shape'],
    [
      'a note that is nested too deeply',
      `{"kind":"log","id":1,"level":"info","data":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      'a "log" that is nested too deeply',
    ],
  ])('that sends a message no runner would send (%s) gets the matching cause', (_, message, found) => {
    expect(readMessage(message)).toEqual({ ok: false, error: found });
  });
});

describe('a tool that returns a malformed result', () => {
  it('gets an error that says so, and its process continues', async () => {
    const module = openedModule(
      moduleOf({
        pid: '() => process.pid',
        structured: '() => ({ content: [], structuredContent: 5 })',
        json: `() => ({ content: [{ type: 'text', toJSON: () => 3 }] })`,
        nan: `(_, ctx) => { ctx.progress(NaN); }`,
        total: `(_, ctx) => { ctx.progress(1, 'all', 7); return 'told'; }`,
      }),
    );
    const pid = await module.say('pid');
    for (const tool of ['structured', 'json'])
      expect(await module.say(tool)).toMatch(/^! What the tool returned is not a valid MCP result: /);
    expect(await module.say('nan')).toMatch(/^! TypeError: ctx\.progress wants a number first/);
    expect(await module.say('total')).toBe('told');
    expect(await module.say('pid')).toBe(pid);
  });
});
