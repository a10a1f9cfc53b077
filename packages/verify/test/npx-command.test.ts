import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listHosts } from '../src/judge/contacts.ts';
import { isInstalled, parseNpx } from '../src/package/npx-command.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { dns, observation } from './observations.ts';

it.each([
  ['npx -y example', { spec: 'example', name: 'example', bin: undefined, args: [] }],
  [
    '/usr/bin/npx @a/b@^1.2 --flag x',
    { spec: '@a/b@^1.2', name: '@a/b', bin: undefined, args: ['--flag', 'x'] },
  ],
  ['npx --package=a@latest b -y', { spec: 'a@latest', name: 'a', bin: 'b', args: ['-y'] }],
  ['npx -p a -- b c', { spec: 'a', name: 'a', bin: 'b', args: ['c'] }],
])('%s names a package', (line, value) => {
  expect(parseNpx(line.split(' '))).toEqual({ ok: true, value });
});

it.each([
  'npx ../evil',
  'npx /etc',
  'npx file:../evil',
  'npx git+ssh://host/repo',
  'npx user/repo',
  'npx https://example.com/a.tgz',
  'npx a@npm:b',
  'npx a@file:../b',
  'npx @../b',
  'npx',
  'npx -p a',
  'npx -p a -p b c',
  'npx -c whoami',
  'npx --registry=https://example.com a',
])('%s is refused: it names no package of the registry, or does more', (line) => {
  expect(parseNpx(line.split(' '))).toMatchObject({ ok: false });
});

it('other programs are not those of npx', () => {
  expect([parseNpx(['node', 'npx']), parseNpx([])]).toEqual([undefined, undefined]);
});

it('a package that is installed around the folder is not fetched, unless a version is asked for', async () => {
  const root = tempDir();
  mkdirSync(join(root, 'node_modules', 'a'), { recursive: true });
  mkdirSync(join(root, 'inner'));
  writeFileSync(join(root, 'node_modules', 'a', 'package.json'), '{}');
  const command = { spec: 'a', name: 'a', bin: undefined, args: [] };
  expect(await isInstalled(command, join(root, 'inner'))).toBe(true);
  expect(await isInstalled({ ...command, spec: 'a@2' }, root)).toBe(false);
  expect(await isInstalled({ ...command, spec: 'b', name: 'b' }, root)).toBe(false);
});

it('the hosts that a server asked for are listed once, however it asked', () => {
  const seen = observation({
    network: [
      dns('a.example'),
      { kind: 'http', url: 'http://a.example/x', atMs: 6 },
      { kind: 'tcp', host: 'a.example', port: 443, atMs: 7, pid: 1 },
      { kind: 'tcp', host: '203.0.113.5', port: 443, atMs: 7, pid: 1 },
    ],
  });
  expect(listHosts([seen, seen])).toEqual(['a.example', '203.0.113.5']);
});
