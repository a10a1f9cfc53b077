import { describe, expect, it } from 'vitest';
import { toField } from '@assay-mcp/kit/json-position';
import { readFunctionModule } from '../../../src/core/sources/read-function-module.ts';

const absolute = (path: string): string => `/home/${path}`;

it('a module of functions is read with its defaults', () => {
  const entry = { module: 'a.ts', env: { A: '1' }, reads: ['b'], memoryMb: null };
  expect(readFunctionModule(entry, absolute)).toEqual({
    ok: true,
    value: {
      path: '/home/a.ts',
      env: { A: '1' },
      reads: ['/home/b'],
      writes: [],
      memoryMb: 256,
      timeoutMs: 60_000,
    },
  });
});

describe('a module of functions', () => {
  it.each([
    [{}, 'module', 'it must be the path of a .js, .mjs or .ts file'],
    [{ module: 'a.py' }, 'module', 'a module of functions is a .js, .mjs, .ts or .mts file'],
    [{ module: 'a.js', env: { 'A.B': 1 } }, 'env.A.B', 'it must be a string'],
    [{ module: 'a.js', env: null }, 'env', 'it must be an object'],
    [
      { module: 'a.js', env: { NODE_OPTIONS: '' } },
      'env.NODE_OPTIONS',
      'it could loosen what confines the module; take it out',
    ],
    [{ module: 'a.js', reads: ['b', ''] }, 'reads.1', 'it is empty'],
    [{ module: 'a.js', writes: 'b' }, 'writes', 'it must be a list'],
    [{ module: 'a.js', memoryMb: 15 }, 'memoryMb', 'it must be a whole number from 16 to 65536'],
    [{ module: 'a.js', timeoutMs: 0.5 }, 'timeoutMs', 'it must be a whole number from 1 to 2147483647'],
    [{ module: 'a.js', read: [] }, 'read', 'there is no such member; did you mean "reads"?'],
  ])('cannot be %j', (entry, field, reason) => {
    const read = readFunctionModule(entry, absolute);
    const faults = read.ok ? [] : read.error;
    expect(faults.map((fault) => [toField(fault.pointer), fault.reason])).toEqual([[field, reason]]);
  });
});
