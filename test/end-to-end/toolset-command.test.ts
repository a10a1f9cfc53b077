import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { listAt, at } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { newOperator, refIdOf } from '../support/toolset-commands.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const NOTE = { name: 'hint', note: 'Twice.', author: 'local', by: 'operator', writtenAt: TIME };
const times = { createdAt: TIME, lastModified: TIME };

describe('assay toolset create', () => {
  it('saves a toolset of tools by their names, and equips it on request', async () => {
    const { run, json } = newOperator();
    const made = await run(
      ...['toolset', 'create', 'dev', 'plain.echo', 'plain.add', '--description', 'For work', '--equip'],
    );
    expect(made).toEqual({
      code: 0,
      stdout: 'Saved the toolset "dev" with 2 tools. It is equipped.\n',
      stderr: '',
    });
    expect(await json('toolset', 'show', 'dev')).toEqual({
      name: 'dev',
      tokens: 55,
      description: 'For work',
      ...times,
      tools: [{ namespacedName: 'plain.echo' }, { namespacedName: 'plain.add' }],
      toolNotes: [],
      isEquipped: true,
    });
  });

  it('pins a tool to its current definition if selected by refId', async () => {
    const operator = newOperator();
    const refId = await refIdOf(operator, 'plain.echo');
    const made = await operator.json('toolset', 'create', 'dev', refId);
    expect(at(made, 'tools')).toEqual([{ namespacedName: 'plain.echo', refId }]);
    const { stdout } = await operator.run('toolset', 'show', 'dev');
    expect(stdout).toContain(`plain.echo  ${refId}`);
  });

  it('needs no servers if it names no tool', async () => {
    const { run } = newOperator(join(tempDir(), 'absent.json'));
    expect(await run('toolset', 'create', 'empty')).toEqual({
      ...{ code: 0, stdout: 'Saved the toolset "empty" with 0 tools.\n', stderr: '' },
    });
  });
});

describe('assay toolset', () => {
  it('prints toolsets on stdout, and a hint on stderr if there are none', async () => {
    const { run, json } = newOperator();
    const none = await run('toolset', 'list');
    expect([none.code, none.stdout]).toEqual([0, 'NAME  TOOLS  TOKENS  NOTES  EQUIPPED  DESCRIPTION\n']);
    expect(none.stderr).toContain('assay toolset create');
    await run('toolset', 'create', 'dev', 'plain.echo', '--description', 'For work');
    await run('toolset', 'create', 'ops');
    await run('toolset', 'equip', 'ops');
    await run('notes', 'add', 'dev', 'plain.echo', 'hint', 'Twice.');
    expect((await run('toolset', 'list')).stdout).toBe(
      'NAME  TOOLS  TOKENS  NOTES  EQUIPPED  DESCRIPTION\ndev   1      22      1      no        For work\nops   0      0       0      yes\n',
    );
    expect(await json('toolset', 'list')).toEqual({
      toolsets: [
        {
          ...{ name: 'dev', tokens: 22, description: 'For work', isEquipped: false, ...times },
          tools: [{ namespacedName: 'plain.echo' }],
          toolNotes: [{ toolRef: { namespacedName: 'plain.echo' }, notes: [NOTE] }],
        },
        { name: 'ops', tokens: 0, isEquipped: true, ...times, tools: [], toolNotes: [] },
      ],
    });
  });

  it('adds and removes tools; notes are kept, and return with their tool', async () => {
    const { run, json } = newOperator();
    await run('toolset', 'create', 'dev', 'plain.echo', 'plain.add');
    await run('notes', 'add', 'dev', 'plain.echo', 'hint', 'Twice.');
    expect(await run('toolset', 'remove', 'dev', 'plain.echo')).toEqual({
      code: 0,
      stdout: 'Removed 1 tool from the toolset "dev", which has 1 tool now.\n',
      stderr: 'note: 1 note on "plain.echo" are kept, and apply again once the tool is added.\n',
    });
    expect((await run('toolset', 'add', 'dev', 'plain.echo', 'plain.add')).stdout).toBe(
      'Added 1 tool to the toolset "dev", which has 2 tools now.\n',
    );
    const shown = await json('toolset', 'show', 'dev');
    expect(at(shown, 'tools')).toEqual([{ namespacedName: 'plain.add' }, { namespacedName: 'plain.echo' }]);
    expect(at(shown, 'toolNotes', 0, 'notes', 0, 'note')).toBe('Twice.');
  });

  it('reports a tool that is no longer pinned to a definition', async () => {
    const operator = newOperator();
    await operator.run('toolset', 'create', 'dev', await refIdOf(operator, 'plain.echo'));
    const { code, stderr } = await operator.run('toolset', 'add', 'dev', 'plain.echo');
    expect([code, stderr]).toEqual([
      0,
      'note: "plain.echo" is no longer pinned to a definition, because it was given without its refId.\n',
    ]);
  });

  it('renames and describes an equipped toolset, which stays equipped', async () => {
    const { run, json } = newOperator();
    await run('toolset', 'create', 'dev', '--equip');
    expect((await run('toolset', 'rename', 'dev', 'ops')).stdout).toBe(
      'The toolset "dev" is called "ops" now.\n',
    );
    await run('toolset', 'describe', 'ops', 'At night');
    expect(await json('toolset', 'show', 'ops')).toMatchObject({ description: 'At night', isEquipped: true });
    expect(await json('toolset', 'describe', 'ops', '')).not.toHaveProperty('description');
    expect(await json('toolset', 'unequip')).toEqual({ equipped: null });
    expect(await json('toolset', 'show', 'ops')).toMatchObject({ isEquipped: false });
  });

  it('deletes a toolset only with --yes', async () => {
    const { run, json } = newOperator();
    await run('toolset', 'create', 'dev', 'plain.echo');
    await run('notes', 'add', 'dev', 'plain.echo', 'hint', 'Twice.');
    expect(await run('toolset', 'delete', 'dev')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'assay: The arguments are not valid: to delete the toolset "dev", add --yes; 1 note would be lost with it.\n',
    });
    expect((await run('toolset', 'delete', 'dev', '--yes')).stdout).toBe('Deleted the toolset "dev".\n');
    expect(await json('toolset', 'list')).toEqual({ toolsets: [] });
  });
});

describe('assay toolset refuses', () => {
  const { run, json } = newOperator();
  const name = 'it takes 2 to 50 lowercase letters, digits and hyphens';
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['an invalid name', ['create', 'Dev!'], `name: ${name}`],
    ['the reserved name "all"', ['create', 'all'], '"all" means all tools and cannot name a toolset'],
    ['a name in use', ['create', 'dev', 'plain.echo'], 'A toolset named "dev" already exists.'],
    [
      'a long description',
      ['create', 'ops', '--description', 'x'.repeat(201)],
      'description: it must have at most 200 characters',
    ],
    ['an unknown tool', ['create', 'ops', 'plain.ecko'], 'Did you mean "plain.echo"?'],
    ['an unknown refId', ['add', 'dev', 'ab'.repeat(16)], `"refId ${'ab'.repeat(16)}"`],
    ['to add to an unknown toolset', ['add', 'nope', 'plain.echo'], 'There are: "dev".'],
    ['to add without a tool', ['add', 'dev'], "missing required argument 'refs'"],
    [
      'to remove a tool that is not in the toolset',
      ['remove', 'dev', 'plain.add'],
      'is not in the toolset "dev"',
    ],
    ['an invalid new name', ['rename', 'dev', 'x'], `name: ${name}`],
    [
      'a long new description',
      ['describe', 'dev', 'x'.repeat(201)],
      'description: it must have at most 200 characters',
    ],
    ['to show an unknown toolset', ['show', 'nope'], 'Unknown toolset "nope".'],
    ['to equip an unknown toolset', ['equip', 'nope'], 'Unknown toolset "nope".'],
    ['to delete an unknown toolset', ['delete', 'nope', '--yes'], 'Unknown toolset "nope".'],
    ['to review an unknown toolset', ['review', 'nope'], 'Unknown toolset "nope".'],
    ['to accept a tool that is not pinned', ['accept', 'dev', 'plain.echo'], 'is not pinned to a definition'],
    [
      'to accept a tool that is not in the toolset',
      ['accept', 'dev', 'plain.add'],
      'is not in the toolset "dev"',
    ],
    ['an unknown command', ['destroy', 'dev'], 'destroy'],
  ];

  beforeAll(async () => {
    await run('toolset', 'create', 'dev', 'plain.echo');
  });

  it.each(cases)(
    '%s with code 2, a message on stderr and nothing on stdout',
    async (_what, args, sentence) => {
      const { code, stdout, stderr } = await run('toolset', ...args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(sentence);
      expect(stderr).not.toMatch(/at .*\.js:\d+/);
    },
  );

  it('without changing anything', async () => {
    expect(listAt(await json('toolset', 'list'), 'toolsets')).toEqual([
      {
        ...{ name: 'dev', tokens: 22, isEquipped: false, ...times },
        ...{ tools: [{ namespacedName: 'plain.echo' }], toolNotes: [] },
      },
    ]);
  });

  it('a file that cannot be written, or a config that cannot be read, with code 3', async () => {
    const absent = join(tempDir(), 'no', 'file.json');
    const written = await run('export', '--toolset', 'dev', '--file', absent);
    expect([written.code, written.stdout]).toEqual([3, '']);
    const config = await run('toolset', 'create', 'ops', 'a.b', '--config', absent);
    expect([config.code, config.stdout]).toEqual([3, '']);
  });
});
