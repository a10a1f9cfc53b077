import { expect, it } from 'vitest';
import { isOpenWith } from '../../src/app/environment.ts';

const SETTINGS = { 'mcp.access': 'open', 'auth.issuer': '', 'auth.publicUrl': '' } as const;

it.each([
  [{}, {}, true],
  [{ 'auth.publicUrl': 'http://127.0.0.1:4444' }, {}, true],
  // A proxy on this machine could pass on any Host.
  [{ 'auth.publicUrl': 'https://assay.example.com' }, {}, false],
  [{ 'mcp.access': 'token' }, {}, false],
  [{ 'auth.issuer': 'https://issuer.example' }, {}, false],
  [{}, { ASSAY_TOKEN: 'assay_x' }, false],
] as const)('with %j and %j, clients on this machine need no token: %s', (settings, env, expected) => {
  expect(isOpenWith({ ...SETTINGS, ...settings }, { env })).toBe(expected);
});
