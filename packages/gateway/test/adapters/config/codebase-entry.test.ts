import { expect, it } from 'vitest';
import { readConfigText } from '../../../src/adapters/config/load-config.ts';
import { createEntryReader } from '../../../src/adapters/config/registered-entry.ts';
import { isAssay } from '../../../src/adapters/config/client-configs/own-entry.ts';
import { getSourceKind } from '../../../src/core/sources/source-kinds.ts';
import type { ServerSpec } from '../../../src/core/server-spec.ts';

const AROUND = {
  env: {
    ASSAY_HOME: '/data',
    ASSAY_CODEBASE_X: 'configEnvironment',
    ASSAY_CODEBASE_Y: 'configEnvironment',
    SECRET: 'x',
  },
  cwd: '/here',
  home: '/home/ada',
};

function read(entry: unknown): ServerSpec | undefined {
  const text = JSON.stringify({ mcpServers: { codebase: entry } });
  const config = readConfigText('/data/mcp.json', text, AROUND);
  return config.ok && config.value.problems.length === 0 && config.value.warnings.length === 0
    ? config.value.servers[0]
    : undefined;
}

it("one line of config runs this Assay's code-search server, with its home and settings", () => {
  const spec = read({ type: 'codebase', env: { ASSAY_CODEBASE_Y: 'entry' } });
  expect(spec).toEqual({
    name: 'codebase',
    transport: {
      kind: 'codebase',
      command: process.execPath,
      args: ['--home', '/data'],
      env: { ASSAY_CODEBASE_X: 'configEnvironment', ASSAY_CODEBASE_Y: 'entry' },
      cwd: '/here',
    },
    timeoutMs: 60_000,
    prefix: true,
    isolation: 'session',
    isFromConfig: true,
  });
  expect(read({ type: 'codebase', command: 'node' })).toBeUndefined();
  expect(read({ type: 'codebase', roots: ['src', '~/shop'] })?.transport).toMatchObject({
    args: expect.arrayContaining(['--root', '/data/src', '--root', '/home/ada/shop']) as string[],
    roots: ['/data/src', '/home/ada/shop'],
  });
  expect(read({ type: 'codebase', roots: 'src' })).toBeUndefined();
});

it('a registered entry also gets the home, and no variable of this process', () => {
  const readEntry = createEntryReader({ cwd: '/data', home: '/home/ada', assayHome: '/data' });
  expect(readEntry('codebase', { type: 'codebase' })).toMatchObject({
    value: {
      transport: { kind: 'codebase', env: {}, args: ['--home', '/data'] },
    },
  });
});

it('the server keeps its identity after an update of Node or Assay, and is trusted unless it may run other code', () => {
  const { transport } = read({ type: 'codebase' })!;
  const kind = getSourceKind(transport);
  const moved = { ...transport, command: '/other/node', args: ['/other/main.js'] } as typeof transport;
  expect(kind.identity(moved)).toEqual(kind.identity(transport));
  expect(kind.isOwn(transport)).toBe(true);
  const hooked = read({ type: 'codebase', env: { NODE_OPTIONS: '--import /tmp/hook.mjs' } })!.transport;
  expect(kind.identity(hooked)).not.toEqual(kind.identity(transport));
  expect(kind.isOwn(hooked)).toBe(false);
});

it("`assay codebase` in a client's config is a server to import, `assay stdio` is not", () => {
  const own = ['/usr/bin/node', '/opt/assay-mcp/dist/main.js'];
  expect(isAssay({ command: 'assay', args: ['codebase'] }, own)).toBe(false);
  expect(isAssay({ command: 'npx', args: ['-y', 'assay-mcp', 'codebase', '--home', '/h'] }, own)).toBe(false);
  expect(isAssay({ command: own[0], args: [own[1], 'codebase'] }, own)).toBe(false);
  expect(isAssay({ command: 'npx', args: ['-y', 'assay-codebase', '--home', '/h'] }, own)).toBe(false);
  expect(isAssay({ command: 'node', args: ['/opt/assay-codebase/dist/main.js'] }, own)).toBe(false);
  expect(isAssay({ command: 'assay', args: ['stdio'] }, own)).toBe(true);
  expect(isAssay({ command: 'npx', args: ['-y', 'assay-mcp', 'stdio'] }, own)).toBe(true);
});
