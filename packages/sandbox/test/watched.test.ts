import { expect, it } from 'vitest';
import { findDenials } from '../src/watched.ts';

it('says which refused changes may only have been reads, and which are logs and the like by their name', () => {
  const refused = (kind: 'write' | 'open_to_write', path: string) => ({
    ...{ kind, path, atMs: 1, pid: 7, call: 'openat', error: 'EROFS' as const },
  });
  const events = [
    refused('open_to_write', '/a/data.db'),
    refused('write', '/a/note'),
    refused('write', '/a/a.log'),
  ];
  expect(findDenials({ events, network: [] })).toEqual([
    { kind: 'write', target: '/a/note', atMs: 1 },
    { kind: 'write', target: '/a/a.log', atMs: 1, isNoise: true },
    { kind: 'write', target: '/a/data.db', atMs: 1, mayBeRead: true },
  ]);
});
