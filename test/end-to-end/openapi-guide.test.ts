import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adminClient } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { LOOPBACK } from '../support/documented-api.ts';
import { listAt, parseJson, textAt, at } from '../support/json.ts';
import { ROOT, tempDir } from '../support/paths.ts';
import { serveWeb } from '../support/web-server.ts';

const GUIDE = readFileSync(join(ROOT, 'docs', 'OPENAPI.md'), 'utf8');

interface Block {
  readonly kind: string;
  readonly text: string;
}

const BLOCKS: readonly Block[] = [...GUIDE.matchAll(/```([a-z ]+)\n([^]*?)\n```/g)].map(
  ([, kind = '', text = '']) => ({ kind, text }),
);

function blockOf(kind: string): string {
  const block = BLOCKS.find((one) => one.kind === kind);
  if (block === undefined) throw new Error(`docs/OPENAPI.md has no ${kind}`);
  return block.text;
}

/** The document of the page in its own folder, next to the page's config. */
function folderOfPage(): string {
  const folder = tempDir();
  writeFileSync(join(folder, 'petstore.yaml'), blockOf('yaml'));
  writeFileSync(join(folder, 'mcp.json'), blockOf('json config'));
  return folder;
}

/** Lines without the spaces that make columns of them. */
const lines = (text: string): readonly string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, ' | '));

it('every request of docs/OPENAPI.md gets the response shown below it', async () => {
  const home = tempDir();
  const port = await serveWeb((_, response) => {
    response.writeHead(200, { 'content-type': 'application/yaml' }).end(blockOf('yaml'));
  });
  const assay = await startGateway({ home, env: LOOPBACK });
  const admin = adminClient(assay, readFileSync(join(home, 'admin-token'), 'utf8').trim());
  const asked: string[] = [];
  for (const [index, { kind, text }] of BLOCKS.entries()) {
    if (kind !== 'sh' || !text.startsWith('curl')) continue;
    const line = text.replaceAll('\\\n', ' ').replace('$PETSTORE_URL', `http://127.0.0.1:${port}/pets.yaml`);
    expect(line).toContain('Authorization: Bearer $TOKEN');
    const [, method = 'GET'] = / -X (\w+)/.exec(line) ?? [];
    const [, path = ''] = /\$ASSAY([^\s"]*)/.exec(line) ?? [];
    const [, body] = / -d '([^']*)'/.exec(line) ?? [];
    const answer = await admin.ask(method, path, body === undefined ? {} : { body });
    const what = `${method} ${path}`;
    asked.push(what);
    const next = BLOCKS[index + 1];
    if (next?.kind === 'json')
      expect({ what, answer: answer.json() }).toMatchObject({ what, answer: parseJson(next.text) });
    else expect([what, answer.status < 300 ? 'done' : answer.text]).toEqual([what, 'done']);
  }
  expect(asked).toHaveLength(5);
});

it('its document yields the tools shown there, and its commands work', async () => {
  const folder = folderOfPage();
  const common = ['--home', tempDir(), '--config', join(tempDir(), 'none.json')];
  writeFileSync(common[3] ?? '', '{"mcpServers":{}}');
  const made = await runAssay(['openapi', join(folder, 'petstore.yaml'), ...common]);
  expect([made.code, lines(made.stdout)]).toEqual([0, lines(blockOf('text'))]);
  expect(GUIDE).toContain(`\`${made.stderr.trim()}\``);
  const removed = await runAssay(['openapi', 'petstore', '--remove', ...common]);
  expect([removed.code, removed.stderr]).toEqual([0, '']);
});

it('its config is valid, and has its tools', async () => {
  const folder = folderOfPage();
  const { code, stdout, stderr } = await runAssay([
    'tools',
    '--json',
    '--config',
    join(folder, 'mcp.json'),
    '--home',
    tempDir(),
  ]);
  const tools = listAt(parseJson(stdout), 'tools').map((tool) => textAt(tool, 'name'));
  expect([code, tools, stderr]).toEqual([0, ['petstore_list_pets', 'petstore_add_pet'], '']);
});

it('its x-mcp example takes effect', async () => {
  const folder = folderOfPage();
  const [, extension] = BLOCKS.filter(({ kind }) => kind === 'yaml');
  const path = join(folder, 'petstore.yaml');
  const text = readFileSync(path, 'utf8');
  const own = (extension?.text ?? '').replace(/^/gm, '      ');
  writeFileSync(
    path,
    text.replace('      summary: List the pets\n', (line) => `${line}${own}\n`),
  );
  copyFileSync(path, join(folder, 'found.yaml'));
  const options = ['--home', tempDir(), '--config', join(folder, 'mcp.json'), '--json'];
  const made = await runAssay(['openapi', join(folder, 'found.yaml'), ...options]);
  const [tool] = listAt(parseJson(made.stdout), 'tools');
  expect(tool).toMatchObject({
    name: 'found_find_pets',
    title: 'Find pets',
    description: 'What the model reads.',
  });
  expect(at(tool, 'hints', 'readOnlyHint', 'decidedBy')).toBe('declared');
});
