import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inspectConfig } from '../../../src/adapters/config/inspect-config.ts';
import { looksSecret } from '../../../src/app/diagnostics.ts';
import { tempDir } from '../../../../../test/support/paths.ts';

const GITHUB = `ghp_${'a1B2'.repeat(9)}`;

async function secretArgumentsOf(args: readonly unknown[]): Promise<unknown> {
  const folder = tempDir();
  const path = join(folder, 'mcp.json');
  writeFileSync(path, JSON.stringify({ mcpServers: { x: { command: 'npx', args } } }), { mode: 0o600 });
  const around = { env: { T: 't' }, cwd: folder, home: folder };
  const { facts } = await inspectConfig({ path, origin: '--config' }, around, looksSecret);
  return facts.reading.kind === 'read' && facts.reading.secretArguments;
}

it.each<[string, readonly unknown[], readonly number[]]>([
  ['a token of a known kind', ['-y', 'server', GITHUB], [2]],
  ['one within an argument', [`--token=${GITHUB}`, 'xoxb-1234-abcdefgh', 'sk-abc123def456ghi789'], [0, 1, 2]],
  ['the value of an option that is named like a secret', ['--api-key', 'hunter2'], [1]],
  ['a header', ['--header', 'Authorization: Bearer abcdef'], [1]],
  ['a password in a URL', ['postgresql://ada:hunter2@localhost/db'], [0]],
])('%s in arguments looks like a secret', async (_, args, at) => {
  expect(await secretArgumentsOf(args)).toEqual(at.map((index) => `mcpServers.x.args[${index}]`));
});

it.each<[string, readonly unknown[]]>([
  ['a variable', ['--token', '${T}', 'Authorization:${T}']],
  ['a path', ['--key', '/etc/key.pem', '--token-file=./token']],
  ['a flag', ['--token', '--verbose']],
  ['a package, a URL and what is not text', ['-y', 'mcp-remote@1.2.3', 'https://example.com/mcp', 7]],
])('%s in arguments does not look like a secret', async (_, args) => {
  expect(await secretArgumentsOf(args)).toEqual([]);
});
