import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, listAt, parseJson } from '../support/json.ts';
import { tempDir, writeText } from '../support/paths.ts';
import { newOperator, refIdOf } from '../support/toolset-commands.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const times = { createdAt: TIME, lastModified: TIME };

describe('assay toolset export and import', () => {
  it('move all toolsets to another home, with their times, notes and the equipped one', async () => {
    const from = newOperator();
    const refId = await refIdOf(from, 'plain.echo');
    await from.run('toolset', 'create', 'dev', refId, 'plain.add', '--description', '\u001b[2J', '--equip');
    await from.run('toolset', 'create', 'ops');
    await from.run('notes', 'add', 'dev', 'plain.add', 'hint', 'Say "it"\u001b[31m\nTwice.');
    const file = join(tempDir(), 'toolsets.json');
    const written = await from.run('toolset', 'export', '--file', file);
    expect(written.stdout).toBe(`Wrote 2 toolsets to ${JSON.stringify(file)}.\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const exported = await from.run('toolset', 'export');
    expect(readFileSync(file, 'utf8')).toBe(exported.stdout);

    const to = newOperator();
    expect(await to.run('toolset', 'import', file)).toEqual({
      code: 0,
      stdout: 'Imported 2 toolsets: "dev", "ops". "dev" is equipped.\n',
      stderr: '',
    });
    expect((await to.run('toolset', 'export')).stdout).toBe(exported.stdout);
  });

  it('export a single toolset, without mentioning another one that is equipped', async () => {
    const { run, json } = newOperator();
    await run('toolset', 'create', 'dev', '--equip');
    await run('toolset', 'create', 'ops');
    expect(await json('toolset', 'export', 'ops')).toEqual({
      toolsets: [{ name: 'ops', version: '1.0.0', ...times, tools: [], toolNotes: [] }],
    });
  });

  it('refuse a name in use and import nothing, unless --replace is given', async () => {
    const { run, json } = newOperator();
    await run('toolset', 'create', 'dev', 'plain.echo', '--equip');
    const tools = [{ namespacedName: 'plain.add' }];
    const file = writeText(
      JSON.stringify({
        toolsets: [
          { name: 'new', tools },
          { name: 'dev', tools },
        ],
        equipped: 'new',
      }),
    );
    expect(await run('toolset', 'import', file)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'assay: A toolset named "dev" already exists. Choose another name, or change or delete that one.\nnote: --replace replaces toolsets of the same names with those in the file.\n',
    });
    expect(listAt(await json('toolset', 'list'), 'toolsets')).toHaveLength(1);
    expect(await run('toolset', 'import', file, '--replace')).toEqual({
      code: 0,
      stdout: 'Imported 2 toolsets: "new", "dev" (replaced).\n',
      stderr: 'note: the file has "new" equipped; here "dev" stays equipped.\n',
    });
    expect(await json('toolset', 'show', 'dev')).toMatchObject({ tools, isEquipped: true });
  });

  it('refuse an invalid file and name the field', async () => {
    const { run } = newOperator();
    const file = writeText('{"toolsets":[{"name":"dev","tools":[{"namespacedName":7}]}]}');
    expect(await run('toolset', 'import', file)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'assay: Invalid params: toolsets.0.tools.0.namespacedName: it must be a string.\n',
    });
  });

  it('keep tools whose servers cannot be checked, and say so', async () => {
    const { run, json } = newOperator(join(tempDir(), 'absent.json'));
    const file = writeText('{"name":"dev","tools":[{"namespacedName":"git.status"}]}');
    const { code, stderr } = await run('toolset', 'import', file);
    expect(code).toBe(0);
    expect(stderr).toContain(
      'note: whether servers have these tools could not be determined: There is no config file',
    );
    expect(at(await json('toolset', 'show', 'dev'), 'tools')).toEqual([{ namespacedName: 'git.status' }]);
  });
});

describe("assay toolset import of HyperTool's config.json", () => {
  const hash = 'ab'.repeat(32);
  const ESCAPE = '\u001b]0;owned\u0007';
  const file = writeText(
    JSON.stringify({
      toolsets: {
        'old-one': {
          ...{ name: 'old-one', version: '1.0.0', createdAt: '2025-08-01T10:00:00.000Z' },
          tools: [{ namespacedName: 'plain.echo', refId: hash }],
        },
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

  it('imports toolsets, notes and the equipped one, and reports skipped items and missing tools', async () => {
    const { run, json } = newOperator();
    expect(await run('toolset', 'import', file)).toEqual({
      code: 0,
      stdout: 'Imported 2 toolsets: "old-one", "dev". "dev" is equipped.\n',
      stderr:
        `left out: the tool "refId ${hash}" of the toolset "dev": it has only a refId, and refIds of other programs are not valid here.\n` +
        'left out: the note "BAD\\u001b]0;owned\\u0007" on "plain.add" of the toolset "dev": as the name of a note it may contain only lowercase letters, digits and hyphens.\n' +
        'note: the tool "linear.create_issue" of the toolset "dev" is kept, but not served now: there is no such server.\n',
    });
    expect(await json('toolset', 'export', 'dev')).toEqual({
      toolsets: [
        {
          ...{ name: 'dev', description: 'Coding', version: '1.0.0' },
          ...{ createdAt: '2025-08-01T10:00:00.000Z', lastModified: '2025-08-02T10:00:00.000Z' },
          tools: [{ namespacedName: 'plain.add' }, { namespacedName: 'linear.create_issue' }],
          toolNotes: [
            {
              toolRef: { namespacedName: 'plain.add' },
              notes: [
                {
                  ...{ name: 'units', note: 'Only whole numbers.', author: 'local', by: 'operator' },
                  writtenAt: '2025-08-02T10:00:00.000Z',
                },
              ],
            },
          ],
        },
      ],
      equipped: 'dev',
    });
  });

  it('--json prints the same information as data', async () => {
    const { run } = newOperator();
    const { stdout } = await run('toolset', 'import', file, '--json');
    expect(parseJson(stdout)).toEqual({
      imported: [
        { name: 'old-one', outcome: 'created' },
        { name: 'dev', outcome: 'created' },
      ],
      equipped: 'dev',
      leftOut: [
        { toolset: 'dev', tool: `refId ${hash}`, reason: expect.any(String) },
        { toolset: 'dev', tool: 'plain.add', note: `BAD${ESCAPE}`, reason: expect.any(String) },
      ],
      missing: [{ toolset: 'dev', tool: 'linear.create_issue', reason: 'server_unknown' }],
    });
  });
});
