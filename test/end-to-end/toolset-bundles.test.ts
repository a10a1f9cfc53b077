// `assay export --toolset` and `assay import` of toolsets.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, listAt, parseJson, textAt, type Json } from '../support/json.ts';
import { tempDir, writeText } from '../support/paths.ts';
import { newOperator, refIdOf } from '../support/toolset-commands.ts';

const namesIn = (bundle: Json): readonly string[] =>
  listAt(bundle, 'records').map((one) => `${textAt(one, 'kind')} ${String(at(one, 'body', 'name'))}`);

describe('assay export --toolset', () => {
  it('moves toolsets to another home, with their times, notes and definitions, and equips none there', async () => {
    const from = newOperator();
    const refId = await refIdOf(from, 'plain.echo');
    await from.run('toolset', 'create', 'dev', refId, 'plain.add', '--description', '\u001b[2J', '--equip');
    await from.run('toolset', 'create', 'ops');
    await from.run('toolset', 'create', 'other');
    await from.run('notes', 'add', 'dev', 'plain.add', 'hint', 'Say "it"\u001b[31m\nTwice.');
    const file = join(tempDir(), 'toolsets.json');
    const written = await from.run('export', '--toolset', 'dev', 'ops', '--file', file);
    expect(written).toEqual({ code: 0, stdout: '', stderr: `Wrote ${JSON.stringify(file)}.\n` });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const bundle = parseJson(readFileSync(file, 'utf8'));
    expect(namesIn(bundle)).toEqual(['toolset dev', 'toolset ops']);

    const to = newOperator();
    const { code, stdout } = await to.run('import', file, '--apply');
    expect([code, stdout.trim().split('\n').at(-1)]).toEqual([0, '2 created, 0 updated, 0 unchanged.']);
    const again = parseJson((await to.run('export', '--toolset', 'dev', 'ops')).stdout);
    expect(listAt(again, 'records')).toEqual(listAt(bundle, 'records'));
    expect(listAt(await to.json('toolset', 'list'), 'toolsets').map((one) => at(one, 'isEquipped'))).toEqual([
      ...[false, false],
    ]);
  });

  it('refuses a name without a toolset', async () => {
    const { run } = newOperator();
    await run('toolset', 'create', 'dev');
    const { code, stdout, stderr } = await run('export', '--toolset', 'dev', 'nope');
    expect([code, stdout, stderr]).toEqual([2, '', 'assay: Unknown toolset "nope". There are: "dev".\n']);
  });
});

describe("assay import of HyperTool's config.json", () => {
  const hash = 'ab'.repeat(32);
  const ESCAPE = '\u001b]0;owned\u0007';
  const file = writeText(
    JSON.stringify({
      toolsets: {
        dev: {
          ...{ name: 'dev', description: 'Coding', version: '1.0.0' },
          ...{ createdAt: '2025-08-01T10:00:00.000Z', lastModified: '2025-08-02T10:00:00.000Z' },
          tools: [
            { namespacedName: 'plain.add' },
            { refId: hash },
            { namespacedName: 'linear.create_issue' },
          ],
          toolNotes: [
            {
              toolRef: { namespacedName: 'plain.add', refId: hash },
              notes: [
                { name: 'units', note: 'Only whole numbers.' },
                { name: `BAD${ESCAPE}`, note: 'x' },
              ],
            },
          ],
        },
        'old-one': {
          ...{ name: 'old-one', version: '1.0.0', createdAt: '2025-08-01T10:00:00.000Z' },
          tools: [{ namespacedName: 'plain.echo', refId: hash }],
        },
      },
      mcpConfigPath: '/home/me/.toolprint/hypertool-mcp/mcp.json',
      lastEquippedToolset: 'dev',
      personaDir: null,
      applications: {},
      version: '1.0.0',
      lastUpdated: '2025-08-02T10:00:00.000Z',
    }),
    'config.json',
  );

  it('plans first, says what is left out, and then makes toolsets, notes and the equipped one', async () => {
    const { run, json } = newOperator();
    const planned = await run('import', file);
    expect(planned.code).toBe(0);
    expect(planned.stdout).toContain('3 to create, 0 to update, 0 unchanged.');
    expect(planned.stderr).toBe(
      `note: toolset dev: The tool with the refId "${hash}" is left out: it has only a refId, and refIds of other programs are not valid here.\n` +
        'note: toolset dev: The note "BAD\\u001b]0;owned\\u0007" on "plain.add" is left out: as the name of a note it may contain only lowercase letters, digits and hyphens.\n' +
        'Nothing was changed; --apply does it.\n',
    );
    expect(listAt(await json('toolset', 'list'), 'toolsets')).toEqual([]);
    expect((await run('import', file, '--apply')).code).toBe(0);
    const writtenAt = '2025-08-02T10:00:00.000Z';
    const note = { name: 'units', note: 'Only whole numbers.', author: 'local', by: 'operator', writtenAt };
    expect(await json('toolset', 'show', 'dev')).toMatchObject({
      ...{ name: 'dev', description: 'Coding', isEquipped: true },
      ...{ createdAt: '2025-08-01T10:00:00.000Z', lastModified: writtenAt },
      tools: [{ namespacedName: 'plain.add' }, { namespacedName: 'linear.create_issue' }],
      toolNotes: [{ toolRef: { namespacedName: 'plain.add' }, notes: [note] }],
    });
    expect((await run('import', file)).stdout).toBe('0 to create, 0 to update, 3 unchanged.\n');
  });
});

it('assay import refuses a document of toolsets from an earlier build, and says what to do', async () => {
  const { run } = newOperator();
  const { code, stderr } = await run('import', writeText('{"toolsets":[{"name":"dev","tools":[]}]}'));
  expect(code).toBe(2);
  expect(stderr).toContain(
    'this is a document of toolsets as earlier builds wrote it, which is not read. Export the toolsets again, with `assay export --toolset NAME`',
  );
});
