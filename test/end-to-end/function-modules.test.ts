// Modules of functions as operators have them: by the config file, the REST API and the command line, and while they are edited.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { startGateway } from '../support/gateway.ts';
import { until, untilLogged } from '../support/endings.ts';
import { claimsIn, toolIn } from '../support/hints.ts';
import { at, listAt, parseJson, textAt, type Json, type JsonObject } from '../support/json.ts';
import { serveFunctions, type Functions } from '../support/served-functions.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { meet } from '../support/toolsets.ts';

const SECRET = 's3cr3t-of-the-module-0123456789';

endAfterEach();

/** A module with one tool that returns a word at once, and another that returns it later. */
function sayer(word: string, more: JsonObject = {}): string {
  return `
import { defineTool } from 'assay-mcp';
const extra = ${JSON.stringify(more)};
export const say = defineTool({ name: 'say', run: () => ${JSON.stringify(word)}, ...extra });
export const sayLater = defineTool({
  name: 'say-later',
  run: () => new Promise((resolve) => setTimeout(() => resolve(${JSON.stringify(word)}), 1_500)),
});
`;
}

/** A module with one tool of this name, which returns the value of the expression. */
function single(name: string, expression = '1'): string {
  return `import { defineTool } from 'assay-mcp';
export default defineTool({ name: '${name}', run: () => ${expression} });
`;
}

const modulesIn = async ({ admin }: Pick<Functions, 'admin'>): Promise<readonly Json[]> =>
  listAt((await admin.get('/functions')).json(), 'functions');

describe('an edited module', () => {
  it.each(['legacy', 'modern'] as const)(
    'serves its new version, and a running call ends in the old one: before a %s client',
    async (era) => {
      const served = await serveFunctions({
        files: { 'say.mjs': sayer('old') },
        functions: ['./say.mjs'],
      });
      const [one, other] = await Promise.all([served.meet(era), served.meet(era)]);
      expect((await one.call('say')).text).toBe('old');
      const under = other.call('say-later');
      served.write('say.mjs', sayer('new'));
      await until('it serves as it is now', async () =>
        (await one.call('say')).text === 'new' ? true : undefined,
      );
      expect((await under).text).toBe('old');
      // Only changed tools are announced.
      expect(one.changes()).toBe(0);
      served.write(
        'say.mjs',
        `${sayer('new')}export const more = defineTool({ name: 'more', run: () => 1 });`,
      );
      await until('the client is told', () => (one.changes() > 0 ? true : undefined));
      expect(await one.tools()).toEqual(['more', 'say', 'say-later']);
    },
  );

  it('that cannot be loaded continues in its old version, with its calls, and its line is reported', async () => {
    const served = await serveFunctions({ files: { 'say.mjs': sayer('old') }, functions: ['./say.mjs'] });
    const [one, other] = await Promise.all([served.meet('modern'), served.meet('legacy')]);
    const under = other.call('say-later');
    served.write('say.mjs', sayer('broken') + '\nthrow new Error("no such luck");\n');
    await until('its fault is logged', () =>
      served.assay.stderr().includes('no such luck') ? true : undefined,
    );
    await untilLogged(served.assay, /say\.mjs:10/);
    expect([(await one.call('say')).text, (await under).text, one.changes()]).toEqual(['old', 'old', 0]);
    const [module] = await modulesIn(served);
    expect(textAt(module, 'faults', 0)).toMatch(
      /^say\.mjs: it was changed, and cannot be loaded: no such luck\n +at say\.mjs:10/,
    );
    served.write('say.mjs', sayer('mended'));
    await until('it is mended', async () => ((await one.call('say')).text === 'mended' ? true : undefined));
    await until('no fault is told any more', async () =>
      listAt((await modulesIn(served))[0], 'faults').length === 0 ? true : undefined,
    );
  });

  it('keeps what operators configured for its tools, also with another description, which waits for a review', async () => {
    const served = await serveFunctions({
      files: { 'say.mjs': sayer('old', { description: 'Says it.' }) },
      functions: ['./say.mjs'],
    });
    const { admin } = served;
    const path = `/tools/${textAt(await toolIn(admin, 'local', 'say'), 'id')}`;
    await admin.post('/gateways/local/refresh');
    await admin.put(path, { annotations: { readOnlyHint: true, idempotentHint: false } });
    served.write('say.mjs', sayer('new', { description: 'Says it at once.' }));
    const tool = await until('the change is found', async () => {
      const found = (await admin.get(path)).json();
      return at(found, 'drift') === undefined ? undefined : found;
    });
    expect(at(tool, 'drift')).toMatchObject({
      severity: 'review',
      flags: ['its description was rewritten'],
      suspends: [],
    });
    expect(claimsIn(at((await admin.get(path)).json(), 'hints'))).toEqual(['o+', '', 'o-', '']);
  });

  it('does not affect the process of any other module', async () => {
    const served = await serveFunctions({
      files: { 'say.mjs': sayer('old'), 'pid.mjs': single('pid', 'process.pid') },
      functions: ['./say.mjs', './pid.mjs'],
    });
    const { call } = await served.meet('modern');
    const pid = (await call('pid')).text;
    served.write('say.mjs', sayer('new'));
    await until('it serves as it is now', async () =>
      (await call('say')).text === 'new' ? true : undefined,
    );
    served.configure({ mcpServers: {}, functions: ['./pid.mjs'] });
    await until('the other one is gone', async () =>
      (await modulesIn(served)).length === 1 ? true : undefined,
    );
    expect((await call('pid')).text).toBe(pid);
  });
});

describe('modules of the config file', () => {
  it('come and go with it, and an invalid one affects no other', async () => {
    const served = await serveFunctions({
      files: {
        'one.mjs': single('one'),
        'two.mts': single('two', '2 as number'),
        'twin.mjs': single('one', '3'),
      },
      functions: ['./one.mjs'],
    });
    const model = await served.meet('modern');
    expect(await model.tools()).toEqual(['one']);
    served.configure({
      mcpServers: {},
      functions: [
        './one.mjs',
        './gone.mjs',
        { module: './two.mts', env: { WORD: '${NOBODY_SAYS_THIS:-hidden}' } },
        './twin.mjs',
        { module: './one.py' },
        { module: './one.mjs', memory: 5 },
        7,
      ],
    });
    await until('the client is told', () => (model.changes() > 0 ? true : undefined));
    await until('both are there', async () => ((await model.tools()).includes('two') ? true : undefined));
    expect(await model.tools()).toEqual(['one', 'two']);
    expect((await model.call('one')).text).toBe('1');
    expect(
      (await modulesIn(served)).map((one) => [at(one, 'path'), at(one, 'env'), at(one, 'faults')]),
    ).toEqual([
      [served.path('one.mjs'), [], []],
      [served.path('gone.mjs'), [], [expect.stringMatching(/^the file ".*gone\.mjs" does not exist$/)]],
      [served.path('two.mts'), ['WORD'], []],
      [served.path('twin.mjs'), [], ['one: an earlier tool has the same name']],
    ]);
    for (const place of ['functions[4]', 'functions[5]', 'functions[6]'])
      await untilLogged(served.assay, place);
  });
});

describe('POST /functions', () => {
  let served: Functions;
  beforeAll(async () => {
    served = await serveFunctions({
      files: {
        'fixed.mjs': single('fixed'),
        'env.mjs': single('word', 'process.env.WORD'),
        'bad.mjs': 'export default [;',
        'more.mjs': single('more'),
      },
      functions: ['./fixed.mjs'],
    });
  });

  it('requires the scope execute', async () => {
    const input = { module: served.path('env.mjs') };
    expect(verdictOf(await served.limited.post('/functions', input))).toBe('403 SCOPE_MISSING');
    expect(await modulesIn(served)).toHaveLength(1);
  });

  it('requires an Assay that listens on loopback', async () => {
    const token = await keepToken(served.home, 'far', { scopes: ['admin', 'execute'] });
    const far = await startGateway({ home: served.home, host: '0.0.0.0' });
    const admin = adminClient(far, token);
    const refused = await admin.post('/functions', { module: served.path('env.mjs') });
    expect(verdictOf(refused)).toBe('403 EXECUTE_OFF');
    await far.stop();
  });

  it('creates tools at once, and reveals its environment to nobody', async () => {
    const model = await served.meet('modern');
    const made = await served.admin.post('/functions', {
      module: served.path('env.mjs'),
      env: { WORD: SECRET },
      memoryMb: 100,
    });
    expect([made.status, made.json()]).toEqual([
      201,
      {
        path: served.path('env.mjs'),
        origin: 'registered',
        env: ['WORD'],
        reads: [],
        writes: [],
        memoryMb: 100,
        timeoutMs: 60_000,
        faults: [],
      },
    ]);
    await until('the client is told', () => (model.changes() > 0 ? true : undefined));
    expect(await model.tools()).toEqual(['fixed', 'word']);
    expect((await model.call('word')).text).toBe(SECRET);
    const told = [
      (await served.admin.get('/functions')).text,
      (await served.admin.get('/activity?limit=100')).text,
      (await served.admin.get('/tools')).text,
      readFileSync(join(served.home, 'assay.db'), 'latin1'),
      readFileSync(join(served.home, 'assay.db-wal'), 'latin1'),
      served.assay.stderr(),
    ];
    expect(told.filter((text) => text.includes(SECRET))).toEqual([]);
  });

  it.each<[says: string, input: (path: (file: string) => string) => unknown, verdict: string]>([
    ['that is there', (path) => ({ module: path('env.mjs') }), '409 MODULE_EXISTS'],
    ['that the config file has', (path) => ({ module: path('fixed.mjs') }), '409 MODULE_EXISTS'],
    ['that is no module', () => ({ module: '/etc/hostname' }), '422 BODY_INVALID'],
    ['with a member that there is not', (path) => ({ module: path('more.mjs'), cpu: 1 }), '422 BODY_INVALID'],
    [
      'whose environment loosens what confines it',
      (path) => ({ module: path('more.mjs'), env: { NODE_OPTIONS: '--allow-worker' } }),
      '422 BODY_INVALID',
    ],
    ['with too little memory', (path) => ({ module: path('more.mjs'), memoryMb: 1 }), '422 BODY_INVALID'],
  ])('with a module %s is refused', async (_, input, verdict) => {
    expect(
      verdictOf(
        await served.admin.post(
          '/functions',
          input((file) => served.path(file)),
        ),
      ),
    ).toBe(verdict);
  });

  it('of a module that cannot be loaded says why, and affects no other', async () => {
    const made = await served.admin.post('/functions', { module: served.path('bad.mjs') });
    expect([made.status, textAt(made.json(), 'faults', 0)]).toEqual([
      201,
      expect.stringMatching(/bad\.mjs:1/),
    ]);
    const { call } = await served.meet('legacy');
    expect((await call('fixed')).text).toBe('1');
  });

  it('of a missing file or of a folder adds nothing', async () => {
    const before = await modulesIn(served);
    for (const path of [served.path('nosuch.ts'), served.path('folder.ts')]) {
      if (path.endsWith('folder.ts')) mkdirSync(path);
      expect(verdictOf(await served.admin.post('/functions', { module: path }))).toBe('422 BODY_INVALID');
    }
    expect(await modulesIn(served)).toEqual(before);
  });

  it('survives a restart; DELETE removes what was added, but not what the config file has', async () => {
    await served.assay.stop();
    const token = await keepToken(served.home, 'again', { scopes: ['admin', 'execute'] });
    const assay = await startGateway({ config: served.config, home: served.home });
    const admin = adminClient(assay, token);
    const model = await meet({ url: assay.url }, 'legacy');
    expect((await model.call('word')).text).toBe(SECRET);
    const remove = async (file: string): Promise<string> =>
      verdictOf(await admin.delete(`/functions?path=${encodeURIComponent(served.path(file))}`));
    expect([await remove('fixed.mjs'), await remove('more.mjs')]).toEqual([
      '409 MODULE_READ_ONLY',
      '404 MODULE_UNKNOWN',
    ]);
    expect([await remove('env.mjs'), await remove('bad.mjs')]).toEqual(['204', '204']);
    expect(await model.tools()).toEqual(['fixed']);
    expect((await modulesIn({ admin })).map((one) => at(one, 'origin'))).toEqual(['config_file']);
    const done = (await admin.get('/activity?limit=100')).text;
    for (const action of ['function.add', 'function.remove']) expect(done).toContain(action);
  });
});

describe('a module that replaces another', () => {
  it('inherits nothing configured for tools of the same names', async () => {
    const files = { 'one.ts': single('shared'), 'other.ts': single('shared') };
    const served = await serveFunctions({ files, functions: [] });
    const { admin } = served;
    const add = (file: string): Promise<unknown> => admin.post('/functions', { module: served.path(file) });
    await add('one.ts');
    const path = `/tools/${textAt(await toolIn(admin, 'local', 'shared'), 'id')}`;
    await admin.put(path, { title: 'Safe one', annotations: { readOnlyHint: true } });
    await admin.delete(`/functions?path=${encodeURIComponent(served.path('one.ts'))}`);
    await add('other.ts');
    const tool = (await admin.get(path)).json();
    expect([at(tool, 'title'), at(tool, 'annotations', 'readOnlyHint')]).toEqual(['Shared', false]);
  });
});

describe('assay function', () => {
  let served: Functions;
  const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
    runAssay(['function', ...args, '--config', served.config, '--home', served.home]);
  beforeAll(async () => {
    served = await serveFunctions({
      files: { 'fixed.mjs': single('fixed'), 'word.ts': single('word', 'process.env.WORD'), 'half.mjs': '' },
      functions: ['./fixed.mjs'],
    });
  });

  it('add creates tools, lists them, and a running Assay has them at once', async () => {
    const model = await served.meet('modern');
    const { code, stdout, stderr } = await run('add', served.path('word.ts'), '--env', 'WORD=so');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/word\.ts: 1 tool\.\n(?:.*\n)*word +/);
    await until('the client is told', () => (model.changes() > 0 ? true : undefined));
    expect((await model.call('word')).text).toBe('so');
  });

  it('list shows all of them, and --json the same as data', async () => {
    const { code, stdout } = await run('list');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/fixed\.mjs +config file(?:.*\n)+.*word\.ts +registered/),
    ]);
    const told = parseJson((await run('list', '--json')).stdout);
    expect(listAt(told, 'functions').map((one) => [at(one, 'path'), at(one, 'env')])).toEqual([
      [served.path('fixed.mjs'), []],
      [served.path('word.ts'), ['WORD']],
    ]);
  });

  it.each<[says: string, args: (path: (file: string) => string) => readonly string[], said: RegExp]>([
    ['adds one that is there', (path) => ['add', path('word.ts')], /word\.ts/],
    ['adds what is no module', () => ['add', '/etc/hostname'], /\.js, \.mjs/],
    ['gives no environment', (path) => ['add', path('half.mjs'), '--env', 'WORD'], /--env/],
    ['removes one of the config file', (path) => ['remove', path('fixed.mjs')], /config/],
    ['removes one that there is not', (path) => ['remove', path('half.mjs')], /half\.mjs/],
  ])('that %s fails and says why', async (_, args, said) => {
    const done = await run(...args((file) => served.path(file)));
    expect([done.code, done.stdout]).toEqual([2, '']);
    expect(done.stderr).toMatch(said);
  });

  it('add warns of a module without tools', async () => {
    const done = await run('add', served.path('half.mjs'));
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('half.mjs: 0 tools.')]);
    expect(done.stderr).toMatch(/warning: .*exports no tool/);
    await run('remove', served.path('half.mjs'));
  });

  it('remove removes its tools, also from a running Assay', async () => {
    const model = await served.meet('legacy');
    const removed = await run('remove', served.path('word.ts'));
    expect([removed.code, removed.stdout.trim()]).toEqual([0, `Removed ${served.path('word.ts')}.`]);
    await until('they are gone', async () => ((await model.tools()).includes('word') ? undefined : true));
    expect(await model.tools()).toEqual(['fixed']);
  });
});

it('a read-only function cannot write, whoever declared it read-only', async () => {
  const out = tempDir();
  const write = (name: string, more: JsonObject = {}): string =>
    `export const ${name} = defineTool({ name: '${name}', run: () => fs.writeFileSync(${JSON.stringify(join(out, name))}, ''), ...${JSON.stringify(more)} });`;
  const file = [
    `import fs from 'node:fs';\nimport { defineTool } from 'assay-mcp';`,
    write('declared', { annotations: { readOnlyHint: true } }),
    write('overridden'),
    write('free'),
  ].join('\n');
  const served = await serveFunctions({
    files: { 'write.mjs': file },
    functions: [{ module: './write.mjs', writes: [out] }],
  });
  const tool = `/tools/${textAt(await toolIn(served.admin, 'local', 'overridden'), 'id')}`;
  await served.admin.put(tool, { annotations: { readOnlyHint: true } });
  const { call } = await served.meet('modern');
  const answers = [(await call('declared')).text, (await call('overridden')).text, (await call('free')).text];
  expect(answers).toEqual([
    expect.stringContaining('nothing in a read-only tool'),
    expect.stringContaining('nothing in a read-only tool'),
    'Done.',
  ]);
  expect(readdirSync(out)).toEqual(['free']);
  expect(textAt((await served.admin.get(tool)).json(), 'guarantee', 'text')).toBe(
    'No sandbox, but Node keeps its process from writing files.',
  );
});
