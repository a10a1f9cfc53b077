import { expect, it } from 'vitest';
import { listClearChanges } from '../src/denial.ts';
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

it('counts a refused change that no text reports only if it is clear and belongs to the call', () => {
  const denied = (target: string, atMs: number, more: object = {}) => ({
    ...{ kind: 'write' as const, target, atMs },
    ...more,
  });
  const clear = denied('/a/note', 5);
  const denials = [
    ...[denied('/a/state', 1), denied('/a/state', 5), denied('/a/early', 1), clear],
    ...[denied('/a/data.db', 5, { mayBeRead: true }), denied('/a/a.log', 5, { isNoise: true })],
    { kind: 'connect' as const, target: 'example.com', atMs: 5 },
  ];
  expect(listClearChanges({ sentMs: 3, denials })).toEqual([clear]);
});
