import { expect, it } from 'vitest';
import type { TwinRights } from '../src/rights.ts';
import { type Denial, findDenial } from '../src/denial.ts';

it.each<[text: string, rights: TwinRights, denial: Denial | undefined]>([
  ["EROFS: read-only file system, open '/data/x'", 'read', { kind: 'write', target: '/data/x' }],
  ["EROFS: read-only file system, rename '/a b' -> '/c'", 'read', { kind: 'write', target: '/a b' }],
  ["OSError: [Errno 30] Read-only file system: '/data/x'", 'read', { kind: 'write', target: '/data/x' }],
  ['open /data/x: read-only file system', 'read_network', { kind: 'write', target: '/data/x' }],
  ["touch: cannot touch '/data/x': Read-only file system", 'read', { kind: 'write', target: '/data/x' }],
  [
    "fatal: Unable to create '/r/.git/index.lock': Read-only file system",
    'read',
    { kind: 'write', target: '/r/.git/index.lock' },
  ],
  ['SQLITE_READONLY: attempt to write a readonly database', 'read', { kind: 'write', target: undefined }],
  [
    'Access to this API has been restricted. Use --allow-fs-write to manage permissions.',
    'read',
    { kind: 'write', target: undefined },
  ],
  ['connect ENETUNREACH 192.0.2.1:443 - Local', 'read', { kind: 'connect', target: '192.0.2.1:443' }],
  ['getaddrinfo EAI_AGAIN api.example.com', 'read', { kind: 'connect', target: 'api.example.com' }],
  ['curl: (6) Could not resolve host: example.com', 'read', { kind: 'connect', target: 'example.com' }],
  ['TypeError: fetch failed', 'read', { kind: 'connect', target: undefined }],
  ['getaddrinfo ENOTFOUND api.example.com', 'read_network', undefined],
  ['EACCES: permission denied, open /data/x', 'read', undefined],
  [`${' '.repeat(20_000)}EROFS`, 'read', undefined],
])('finds the denied access in %j with the permissions "%s"', (text, rights, denial) => {
  expect(findDenial(text, rights)).toEqual(denial);
});
