import { execPath } from 'node:process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findForeignFiles } from '../../src/app/foreign-files.ts';
import type { ServerSpec, Transport } from '../../src/core/server-spec.ts';
import type { Command } from '@assay-mcp/sandbox/rights';
import { tempDir } from '../../../../test/support/paths.ts';

it('what others run or read includes their projects, modules, documents and variables, PATH, clients and Assay', async () => {
  const root = realpathSync(tempDir());
  for (const folder of ['project', 'modules', 'bin']) mkdirSync(join(root, folder));
  for (const name of ['project/package.json', 'project/server.mjs', 'own.mjs'])
    writeFileSync(join(root, name), '');
  const at = (name: string): string => join(root, name);
  const commandOf = (name: string): Command => ({ command: execPath, args: [at(name)], env: {}, cwd: root });
  const spec = (name: string, transport: Transport): ServerSpec => ({
    ...{ name, transport, timeoutMs: 1, prefix: true, isolation: 'shared' },
  });
  const command = commandOf('own.mjs');
  const rest = { headers: {}, credentials: {}, maxBytes: 1, outputValidation: 'warn' } as const;
  const module = { path: at('modules/one.ts'), env: {}, reads: [], writes: [], memoryMb: 1, timeoutMs: 1 };
  const servers = [
    spec('own', { kind: 'stdio', ...command }),
    spec('other', { kind: 'stdio', ...commandOf('project/server.mjs'), envFile: at('other.env') }),
    spec('api', { kind: 'openapi', document: at('openapi.json'), ...rest }),
    spec('web', { kind: 'openapi', document: 'https://example.com/openapi.json', ...rest }),
    spec('local', { kind: 'local', tools: [], modules: [module] }),
  ];
  const configEnvironment = { env: { PATH: `relative:${at('bin')}` }, cwd: root, home: root };
  const found = await findForeignFiles({ command, writable: [root], servers, configEnvironment });
  expect(found.filter((path) => path.startsWith(`${root}/`))).toEqual(
    expect.arrayContaining(
      [
        ...['project', 'project/server.mjs', 'other.env', 'openapi.json', 'modules', 'modules/one.ts', 'bin'],
        ...['.claude.json', '.cursor/mcp.json', '.mcp.json', '.vscode/mcp.json'],
      ].map(at),
    ),
  );
  expect(found).not.toContain(at('own.mjs'));
  expect(found).toContain(join(import.meta.dirname, '../../src/app'));
  // Another entry runs the same program without a sandbox.
  const twice = [...servers, spec('again', { kind: 'stdio', ...command })];
  expect(await findForeignFiles({ command, writable: [root], servers: twice, configEnvironment })).toContain(
    at('own.mjs'),
  );
});
