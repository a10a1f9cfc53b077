import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findFile, findRegistrations } from '../../src/platform/find-registrations.ts';
import { tempDir } from '../../../../test/support/paths.ts';

function project(files: Readonly<Record<string, string>>): string {
  const folder = tempDir();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function find(files: Readonly<Record<string, string>>, name: string): Promise<unknown> {
  return (await findRegistrations(project(files), [name])).get(name);
}

it.each([
  ['src/a.ts', "\nserver.registerTool(\n  'peek',\n  {}", 3],
  ['a.js', "server.tool('peek', async () => ({}))", 1],
  ['a.mjs', "if (name === 'peek') run();\nexport const tools = [{ name: 'peek' }];", 2],
  ['a.py', '@mcp.tool()\nasync def peek(path: str):\n    pass', 2],
  ['b.py', 'types.Tool(\n    name="peek",', 2],
  ['a.go', 'tool := mcp.NewTool("peek",', 1],
  ['a.rs', '#[tool(description = "x")]\nasync fn peek(&self) {}', 2],
])('finds the line where %s registers a tool', async (file, text, line) => {
  expect(await find({ [file]: text }, 'peek')).toEqual({ file, line });
});

it('prefers the registration to a mention, and a source to a test', async () => {
  const files = {
    'a.ts': "const names = ['peek'];",
    'src/tools.ts': "// peek\nserver.registerTool('peek', {});",
    'test/a.ts': "server.registerTool('peek', {});",
  };
  expect(await find(files, 'peek')).toEqual({ file: 'src/tools.ts', line: 2 });
});

it('reads neither what is installed or built, nor other files, nor through links', async () => {
  const text = "server.registerTool('peek', {});";
  const files = { 'node_modules/a/a.js': text, 'dist/a.js': text, '.x/a.js': text, 'a.txt': text };
  const folder = project(files);
  const elsewhere = project({ 'a.ts': text });
  symlinkSync(elsewhere, join(folder, 'linked'));
  symlinkSync(join(elsewhere, 'a.ts'), join(folder, 'a.ts'));
  expect(await findRegistrations(folder, ['peek'])).toEqual(new Map());
});

it('says files relative to the repository, and looks in the rest of it second', async () => {
  const root = project({
    '.git/HEAD': '',
    'packages/a/package.json': '{}',
    'packages/a/a.ts': "tool('one')",
    'packages/b/b.ts': "tool('one')\ntool('two')",
  });
  const folder = join(root, 'packages', 'a');
  expect(await findRegistrations(folder, ['one', 'two', 'three'])).toEqual(
    new Map([
      ['one', { file: 'packages/a/a.ts', line: 1 }],
      ['two', { file: 'packages/b/b.ts', line: 2 }],
    ]),
  );
  expect(await findFile(folder, ['go.mod', 'package.json'])).toBe('packages/a/package.json');
});

it('stops at its limits, whatever a tool is called', async () => {
  const large = project({ 'a.js': `${' '.repeat(600_000)}tool('peek')` });
  expect(await findRegistrations(large, ['peek'])).toEqual(new Map());
  const odd = ['', '(', '$&', "'", 'x'.repeat(100_000)];
  expect(await findRegistrations(project({ 'a.js': "tool('x') // '' ((" }), odd)).toEqual(new Map());
});
