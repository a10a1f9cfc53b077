import { expect, it } from 'vitest';
import { moduleOf, openedModule } from '../../../../../../test/support/function-modules.ts';

const HEAD = `
import fs from 'node:fs';
const MARK = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/;
const seen = [];
const look = (value) => {
  const text = typeof value === 'string' ? value : ArrayBuffer.isView(value) ? latin1(value) : '';
  const found = MARK.exec(text);
  if (found) seen.push(found[0]);
};
const chars = String.fromCharCode;
const latin1 = (view) => { let text = ''; for (let i = 0; i < Math.min(view.length ?? 0, 200); i++) text += chars(view[i]); return text; };
const spy = (owner, name) => {
  const given = Object.getOwnPropertyDescriptor(owner, name);
  if (typeof given?.value === 'function')
    owner[name] = function (...args) { look(this); args.forEach(look); return given.value.apply(this, args); };
  else if (given?.get)
    Object.defineProperty(owner, name, { ...given, get() { const value = given.get.call(this); return value; } });
};
const views = Object.getPrototypeOf(Uint8Array.prototype);
const byteLength = Object.getOwnPropertyDescriptor(views, 'byteLength').get;
let isLooking = false;
Object.defineProperty(views, 'byteLength', { configurable: true, get() {
  if (!isLooking) { isLooking = true; look(this); isLooking = false; }
  return byteLength.call(this);
} });
for (const name of ['utf8Write', 'latin1Write', 'write', 'subarray', 'slice', 'toString']) spy(Buffer.prototype, name);
for (const name of ['subarray', 'slice', 'set']) spy(views, name);
spy(TextEncoder.prototype, 'encode'); spy(TextEncoder.prototype, 'encodeInto');
spy(Reflect, 'apply'); spy(Buffer, 'from'); spy(Buffer, 'concat');
spy(fs, 'writeSync'); spy(fs, 'write');
const pool = () => {
  const found = [];
  for (let time = 0; time < 50; time++) {
    const text = String.fromCharCode(...new Uint8Array(Buffer.from('x').buffer));
    const match = MARK.exec(text);
    if (match) found.push(match[0]);
  }
  return found;
};
`;

const module = openedModule(
  moduleOf(
    {
      warm: `(_, { log }) => { log('info', 'a'.repeat(100)); return 'warm'; }`,
      found: `() => [...new Set([...seen, ...pool()])].length`,
      snapshot: `() => process.getBuiltinModule('node:v8').getHeapSnapshot()`,
    },
    HEAD,
  ),
);

it("the module's code cannot obtain the runner's secret marker: through no memory pool, replaced function or snapshot", async () => {
  for (let time = 0; time < 5; time += 1) expect(await module.say('warm')).toBe('warm');
  expect(await module.say('found')).toBe('0');
  expect(await module.say('snapshot')).toContain('! A function may not use v8.getHeapSnapshot.');
});
