import { bundleWith } from '../support/bundles.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { at, listAt, namesAt, type Json } from '../support/json.ts';
import { writeText } from '../support/paths.ts';
import { newOperator, type Operator } from '../support/toolset-commands.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const WRITTEN = '2026-01-02T03:04:05.006Z';
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u2028\u202e\r\noperator  local';
// eslint-disable-next-line no-control-regex -- controls are what this is about
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

interface GivenNote {
  readonly name: string;
  readonly note?: string;
  readonly by?: 'model' | 'operator';
  readonly author?: string;
  readonly isHeld?: boolean;
}

/** A home whose toolset `dev` has these notes on `plain.echo`. */
async function operatorWith(...given: readonly GivenNote[]): Promise<Operator> {
  const operator = newOperator();
  const notes = given.map((note) => ({
    ...{
      note: `About ${note.name}.`,
      author: 'ci',
      by: 'model',
      writtenMs: Date.parse(WRITTEN),
      isHeld: false,
    },
    ...note,
  }));
  const tools = [{ namespacedName: 'plain.echo' }, { namespacedName: 'plain.add' }];
  const toolNotes = [{ namespacedName: 'plain.echo', notes }];
  const toolset = { name: 'dev', createdMs: 0, changedMs: 0, tools, toolNotes };
  await operator.run('import', writeText(JSON.stringify(bundleWith({ toolset: [toolset] }))), '--apply');
  return operator;
}

async function noteNames(operator: Operator): Promise<readonly string[]> {
  return namesAt(await operator.json('notes'), 'notes');
}

const TWO = { toolset: 'dev', tool: 'plain.echo' };
const model = (name: string, isHeld: boolean): Json => ({
  ...TWO,
  ...{ name, note: `About ${name}.`, author: 'ci', by: 'model', writtenAt: WRITTEN, isHeld },
});

describe('assay notes', () => {
  it('shows every note with its author, its time, and whether models read it', async () => {
    const operator = await operatorWith({ name: 'one' }, { name: 'two', isHeld: true });
    await operator.run('toolset', 'create', 'ops', 'plain.add');
    await operator.run('notes', 'add', 'ops', 'plain.add', 'mine', 'Only whole numbers.');
    const mine = {
      ...{ toolset: 'ops', tool: 'plain.add', name: 'mine', note: 'Only whole numbers.' },
      ...{ author: 'local', by: 'operator', writtenAt: TIME, isHeld: false },
    };
    const all = { notes: [model('one', false), model('two', true), mine] };
    expect(await operator.json('notes')).toEqual(all);
    expect(await operator.json('notes', 'list')).toEqual(all);
    expect(await operator.json('notes', '--toolset', 'ops')).toEqual({ notes: [mine] });
    const { code, stdout, stderr } = await operator.run('notes', '--toolset', 'dev');
    expect([code, stderr, stdout.split('\n').map((line) => line.split(/ {2,}/))]).toEqual([
      0,
      '',
      [
        ['TOOLSET', 'TOOL', 'NAME', 'WRITER', 'AUTHOR', 'WRITTEN', 'STATE', 'NOTE'],
        ['dev', 'plain.echo', 'one', 'model', 'ci', WRITTEN, 'read', 'About one.'],
        ['dev', 'plain.echo', 'two', 'model', 'ci', WRITTEN, 'held', 'About two.'],
        [''],
      ],
    ]);
  });

  it('shows control characters escaped, on one line each, and unchanged in --json', async () => {
    const operator = await operatorWith({ name: 'one', note: `N.${HOSTILE}`, author: `A.${HOSTILE}` });
    for (const args of [['notes'], ['toolset', 'show', 'dev']]) {
      const { stdout, stderr } = await operator.run(...args);
      expect(stdout).toContain('N.\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u2028\\u202e\\u000d\\u000a');
      expect(stdout + stderr).not.toMatch(OBEYED);
      expect(stdout.split('\n').filter((line) => line.startsWith('operator'))).toEqual([]);
    }
    expect(at(await operator.json('notes'), 'notes', 0)).toMatchObject({
      ...{ note: `N.${HOSTILE}`, author: `A.${HOSTILE}` },
    });
  });

  it('reports if there is none', async () => {
    const { code, stderr } = await newOperator().run('notes');
    expect([code, stderr]).toEqual([
      0,
      'There are no notes. Add one with `assay notes add TOOLSET TOOL NAME NOTE`.\n',
    ]);
  });
});

describe('a note on the command line', () => {
  it('is added after the others, and models read it at once', async () => {
    const operator = await operatorWith({ name: 'one' });
    const added = await operator.run('notes', 'add', 'dev', 'plain.echo', 'two', 'Twice.');
    expect(added).toEqual({
      ...{ code: 0, stderr: '', stdout: 'Added: the note "two" on "plain.echo" in "dev".\n' },
    });
    expect(listAt(await operator.json('notes'), 'notes').at(-1)).toEqual({
      ...TWO,
      ...{ name: 'two', note: 'Twice.', author: 'local', by: 'operator', writtenAt: TIME, isHeld: false },
    });
  });

  it("becomes the operator's when the operator edits a model's note, and is no longer held", async () => {
    const operator = await operatorWith({ name: 'one', isHeld: true }, { name: 'two' });
    expect(await operator.json('notes', 'edit', 'dev', 'plain.echo', 'one', 'Once.')).toEqual({
      notes: [
        {
          ...TWO,
          ...{ name: 'one', note: 'Once.', author: 'local', by: 'operator', writtenAt: TIME, isHeld: false },
        },
        model('two', false),
      ],
    });
  });

  it('is moved, counted from position one, and deleted', async () => {
    const operator = await operatorWith({ name: 'one' }, { name: 'two' }, { name: 'three' });
    await operator.run('notes', 'move', 'dev', 'plain.echo', 'three', '1');
    expect(await noteNames(operator)).toEqual(['three', 'one', 'two']);
    await operator.run('notes', 'move', 'dev', 'plain.echo', 'three', '3');
    expect(await noteNames(operator)).toEqual(['one', 'two', 'three']);
    expect((await operator.run('notes', 'delete', 'dev', 'plain.echo', 'two')).stdout).toBe(
      'Deleted: the note "two" on "plain.echo" in "dev".\n',
    );
    expect(await noteNames(operator)).toEqual(['one', 'three']);
  });
});

describe('notes held for review', () => {
  it('are listed separately, and accepted or rejected one by one', async () => {
    const operator = await operatorWith(
      ...[{ name: 'read' }, { name: 'good', isHeld: true }, { name: 'bad', isHeld: true }],
    );
    const reviewed = await operator.run('notes', 'review');
    expect(reviewed.stderr).toContain('2 notes held for review.');
    expect(await operator.json('notes', 'review')).toEqual({
      notes: [model('good', true), model('bad', true)],
    });
    await operator.run('notes', 'accept', 'dev', 'plain.echo', 'good');
    await operator.run('notes', 'reject', 'dev', 'plain.echo', 'bad');
    expect(await operator.json('notes')).toEqual({ notes: [model('read', false), model('good', false)] });
    expect((await operator.run('notes', 'review')).stderr).toBe('No note is held for review.\n');
  });

  it('are all accepted at once, and shown as accepted', async () => {
    const operator = await operatorWith({ name: 'one', isHeld: true }, { name: 'two', isHeld: true });
    const { code, stdout, stderr } = await operator.run('notes', 'review', '--accept-all');
    expect([code, stderr]).toEqual([0, 'Accepted 2 notes: models read them from now on.\n']);
    expect(stdout).toContain('About two.');
    expect(await operator.json('notes')).toEqual({ notes: [model('one', false), model('two', false)] });
  });
});

describe('assay notes refuses', () => {
  const on = ['dev', 'plain.echo'];
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['an unknown toolset', ['add', 'nope', 'plain.echo', 'n', 'x'], 'Unknown toolset "nope".'],
    ['an unknown toolset to list', ['--toolset', 'nope'], 'Unknown toolset "nope".'],
    ['a tool that is not in it', ['add', 'dev', 'plain.big', 'n', 'x'], 'is not in the toolset "dev"'],
    [
      'a name that is none',
      ['add', ...on, 'BAD NAME!', 'x'],
      'name: it may contain only lowercase letters, digits and hyphens',
    ],
    ['a long name', ['add', ...on, 'n'.repeat(65), 'x'], 'name: it may have at most 64 characters'],
    ['a name that is taken', ['add', ...on, 'one', 'x'], 'The tool "plain.echo" already has a note "one".'],
    ['an empty text', ['add', ...on, 'n', ' '], 'note: it must not be empty'],
    [
      'a long text',
      ['edit', ...on, 'one', 'x'.repeat(2_001)],
      'note: it may have at most 2000 characters; this has 2001',
    ],
    ['an unknown note to edit', ['edit', ...on, 'n', 'x'], 'has no note "n"'],
    ['an unknown note to delete', ['delete', ...on, 'n'], 'has no note "n"'],
    ['an unknown note to move', ['move', ...on, 'n', '1'], 'has no note "n"'],
    ['position 0', ['move', ...on, 'one', '0'], 'position: it must be a whole number from 1 to 1'],
    ['a position behind the last', ['move', ...on, 'one', '2'], 'position: it must be a whole number'],
    ['a position that is none', ['move', ...on, 'one', 'first'], 'position: it must be a whole number'],
    [
      'to accept what is not held',
      ['accept', ...on, 'one'],
      'The note "one" on the tool "plain.echo" is not held for review.',
    ],
    [
      'to reject what is not held',
      ['reject', ...on, 'one'],
      'The note "one" on the tool "plain.echo" is not held for review.',
    ],
    ['an unknown note to accept', ['accept', ...on, 'n'], 'has no note "n"'],
    ['a text that is missing', ['add', ...on, 'n'], "missing required argument 'note'"],
    ['what is no command', ['shout'], 'shout'],
  ];

  let operator: Operator;
  beforeAll(async () => {
    operator = await operatorWith({ name: 'one' });
  });

  it.each(cases)('%s: code 2, a message on stderr, nothing on stdout', async (_what, args, sentence) => {
    const { code, stdout, stderr } = await operator.run('notes', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/at .*\.js:\d+/);
  });

  it('without changing anything', async () => {
    expect(await operator.json('notes')).toEqual({ notes: [model('one', false)] });
  });

  it('a 51st note of a tool', async () => {
    const notes = Array.from({ length: 50 }, (_, index) => ({ name: `n${index}` }));
    const full = await operatorWith(...notes);
    const { code, stderr } = await full.run('notes', 'add', ...on, 'more', 'x');
    expect([code, stderr]).toEqual([
      2,
      'assay: The tool "plain.echo" would exceed the maximum of 50 notes. An operator can remove some with `assay notes delete`.\n',
    ]);
  });
});
