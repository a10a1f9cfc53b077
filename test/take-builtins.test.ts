import { expect, it } from 'vitest';
import { takeBuiltins, toAscii } from '../scripts/take-builtins.ts';

const taken = (name: string): string => `globalThis.process.getBuiltinModule("node:${name}")`;

it.each([
  ['import os from "node:os";', `const os = ${taken('os')};`],
  ['import * as os from "node:os";', `const os = ${taken('os')};`],
  [
    'import { join, sep as separator } from "node:path";',
    `const { join, sep: separator } = ${taken('path')};`,
  ],
  [
    'import path, {\n\tjoin\n} from "node:path";',
    `const path = ${taken('path')};\nconst { join } = ${taken('path')};`,
  ],
  [
    'import childProcess from "node:child_process";',
    `const childProcess = new Proxy({}, { get: (_, member) => ${taken('child_process')}[member] });`,
  ],
  ['import{join}from"node:path"', `const { join } = ${taken('path')};`],
  ['import "node:os";', ''],
  ['const os = await import("node:os");', `const os = await Promise.resolve(${taken('os')});`],
  [
    'import { hash as digest, Hash } from "node:crypto";',
    `let digest = (...given) => (digest = ${taken('crypto')}.hash)(...given);\nconst { Hash } = ${taken('crypto')};`,
  ],
])('the build takes a module of Node without an import: %s', (code, expected) => {
  expect(takeBuiltins(`${code}\nimport { kept } from "./other.js";`)).toBe(
    `${expected}\nimport { kept } from "./other.js";`,
  );
});

it.each(['export { join } from "node:path";', 'export * from "node:path";'])(
  'the build ends at a form that it cannot take: %s',
  (code) => {
    expect(() => takeBuiltins(code)).toThrow('a module of Node is exported on');
  },
);

it('a function of a module that is loaded late returns what the module returns', async () => {
  const code = takeBuiltins('import { hash, randomUUID } from "node:crypto";');
  const url = `data:text/javascript,${encodeURIComponent(`${code}\nexport const said = [hash("sha256", "a"), hash("sha256", "a"), randomUUID().length];`)}`;
  const { said } = (await import(url)) as { said: unknown };
  const digest = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb';
  expect(said).toEqual([digest, digest, 36]);
});

it('the code of the build is ASCII and means the same', async () => {
  const code = 'export const said = ["’🎉", `’${1}`, /^[‘’🎉]$/u.test("🎉"), "\\u2019"]; // ’';
  const ascii = toAscii(code);
  expect(toAscii('/*! © ä */ // ä')).toBe('/*! © ä */ // \\u00e4');
  expect(toAscii('["/*!", "ä", "*/"]')).toBe('["/*!", "\\u00e4", "*/"]');
  expect(ascii).toMatch(/^[\0-\u007f]+$/);
  const { said } = (await import(`data:text/javascript,${encodeURIComponent(ascii)}`)) as { said: unknown };
  expect(said).toEqual(['’🎉', '’1', true, '’']);
});
