// `assay rest add | list | remove`, as run by people and scripts.
import { beforeAll, describe, expect, it } from 'vitest';
import { at, listAt, namesAt } from '../support/json.ts';
import { writeConfig } from '../support/paths.ts';
import { callText, listedTool, openRestWorld, serveApi } from '../support/rest-tools.ts';
import { newOperator, type Operator } from '../support/toolset-commands.ts';
import { runAssay } from '../support/commands.ts';

const SECRET = 'k3y-of-the-api';
const URL_OF = 'http://nowhere.invalid/x';

const configOf = (): string => writeConfig({}, { tools: { fixed: { url: URL_OF, method: 'GET' } } });

describe('assay rest', () => {
  let operator: Operator;
  beforeAll(() => {
    operator = newOperator(configOf());
  });

  it('add creates a tool and prints its hints', async () => {
    const { code, stdout, stderr } = await operator.run(
      'rest',
      'add',
      'get-user',
      `${URL_OF}/{id}`,
      '--method',
      'get',
    );
    expect([code, stdout, stderr]).toEqual([
      0,
      `get-user: GET ${URL_OF}/{id}. read-only (inferred: GET request)\n`,
      '',
    ]);
  });

  it('add without a method warns on stderr that POST is assumed', async () => {
    const { code, stdout, stderr } = await operator.run('rest', 'add', 'silent', URL_OF);
    expect([code, stdout]).toEqual([0, `silent: POST ${URL_OF}. destructive (default)\n`]);
    expect(stderr).toMatch(/^No method given, assuming POST.*destructive.*--method/);
  });

  it('add accepts everything that the config file supports', async () => {
    const entry = { filter: 'a', annotations: { openWorldHint: false }, timeoutMs: 1_000 };
    const made = await operator.json(
      ...['rest', 'add', 'full', URL_OF, '--method', 'PUT', '--title', 'Full', '--description', 'All of it.'],
      ...[
        '--header',
        'X-A: b',
        '--header',
        `X-Key:${SECRET}`,
        '--bearer',
        SECRET,
        '--entry',
        JSON.stringify(entry),
      ],
    );
    expect(made).toMatchObject({
      name: 'full',
      namespacedName: 'local.full',
      title: 'Full',
      description: 'All of it.',
      method: 'PUT',
      methodOrigin: 'given',
      headers: ['X-A', 'X-Key'],
      auth: { type: 'bearer' },
      filter: 'a',
      timeoutMs: 1_000,
      annotations: { openWorldHint: false, idempotentHint: true },
    });
    expect(JSON.stringify(made)).not.toContain(SECRET);
  });

  it('list shows tools from the config file and created ones, and so does assay tools', async () => {
    const { code, stdout, stderr } = await operator.run('rest', 'list');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n').map((line) => line.split(/\s{2,}/)[0])).toEqual([
      'TOOL',
      'fixed',
      'get-user',
      'silent',
      'full',
      '',
    ]);
    expect(namesAt(await operator.json('rest', 'list'), 'tools')).toEqual([
      'fixed',
      'get-user',
      'silent',
      'full',
    ]);
    const tools = listAt(await operator.json('tools'), 'tools').map((tool) => at(tool, 'namespacedName'));
    expect(tools).toEqual(['local.fixed', 'local.get-user', 'local.silent', 'local.full']);
  });

  it('remove deletes a tool by any of its names, and confirms it', async () => {
    expect(await operator.run('rest', 'remove', 'local.silent')).toMatchObject({
      code: 0,
      stdout: 'Removed local.silent.\n',
    });
    expect(await operator.json('rest', 'remove', 'get-user')).toEqual({ removed: 'get-user' });
    expect(namesAt(await operator.json('rest', 'list'), 'tools')).toEqual(['fixed', 'full']);
  });

  it.each<[what: string, args: readonly string[], sentence: string]>([
    ['a name in use', ['add', 'full', URL_OF], 'A tool named "full" already exists.'],
    ['a name in the config file', ['add', 'fixed', URL_OF], 'A tool named "fixed" already exists.'],
    ['an invalid name', ['add', 'a b', URL_OF], 'A name has 1 to 128 letters'],
    ['a missing URL', ['add', 'x'], "missing required argument 'url'"],
    ['a relative URL', ['add', 'x', '/y'], 'url: It is not an absolute URL'],
    ['an unknown method', ['add', 'x', URL_OF, '--method', 'SSE'], 'method: It must be one of GET'],
    ['a malformed header', ['add', 'x', URL_OF, '--header', SECRET], '--header: write it as name:value'],
    [
      'an entry that is not valid JSON',
      ['add', 'x', URL_OF, '--entry', `{"auth":{"token":"${SECRET}"`],
      '--entry: write it as a JSON object',
    ],
    [
      'an entry that is a list',
      ['add', 'x', URL_OF, '--entry', `["${SECRET}"]`],
      '--entry: write it as a JSON object',
    ],
    ['an unknown member', ['add', 'x', URL_OF, '--entry', '{"metod":"GET"}'], 'did you mean "method"'],
    [
      'an invalid filter',
      ['add', 'x', URL_OF, '--entry', '{"filter":"a["}'],
      'filter: It is not a JMESPath expression',
    ],
    [
      'a token with white space',
      ['add', 'x', URL_OF, '--bearer', `${SECRET} x`],
      'auth.token: It contains white space',
    ],
    ['to remove a tool of the config file', ['remove', 'fixed'], 'comes from the config file'],
    ['to remove an unknown tool', ['remove', 'nope'], 'Unknown tool "nope".'],
    ['an unknown command', ['shout'], 'shout'],
  ])('refuses %s with exit code 2 and a message without secrets on stderr', async (_, args, sentence) => {
    const { code, stdout, stderr } = await operator.run('rest', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toContain(SECRET);
    expect(stderr).not.toMatch(/at .*\.js:\d+/);
  });

  it('list explains on stderr how to create a tool if there are none', async () => {
    const { code, stdout, stderr } = await newOperator(writeConfig({})).run('rest', 'list', '--json');
    expect([code, JSON.parse(stdout), stderr]).toEqual([
      0,
      { tools: [] },
      'There are no REST tools. Add one with `assay rest add NAME URL`.\n',
    ]);
  });
});

it('changes by assay rest take effect in a running gateway within a second', async () => {
  const api = await serveApi();
  const config = configOf();
  const { assay, home } = await openRestWorld({ config });
  const env = { ASSAY_HOME: home, ASSAY_CONFIG: config };
  const added = await runAssay(
    ['rest', 'add', 'beside', `${api.url}/y`, '--method', 'GET', '--bearer', SECRET],
    { env },
  );
  expect([added.code, added.stderr]).toEqual([0, '']);
  await expect.poll(() => listedTool(assay.url, 'beside')).toBeDefined();
  expect(await callText(assay, 'beside')).toBe('{"ok":true}');
  expect(api.seen.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
  expect((await runAssay(['rest', 'remove', 'beside'], { env })).code).toBe(0);
  await expect.poll(() => listedTool(assay.url, 'beside')).toBeUndefined();
});
