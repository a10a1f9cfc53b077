import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/adapters/config/load-config.ts';
import type { Transport } from '../../../src/core/server-spec.ts';

const HOME = '/home/ada';
const CWD = '/somewhere';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-config-'));
  file = join(folder, 'mcp.json');
});
afterAll(() => rm(folder, { recursive: true }));

type Env = Readonly<Record<string, string>>;

async function load(text: string, env: Env = {}): Promise<ReturnType<typeof loadConfig>> {
  await writeFile(file, text);
  return loadConfig(file, { env, cwd: CWD, home: HOME });
}

/** A complaint as "line:column key: reason. remedy" */
async function complaints(
  text: string,
  env: Env = {},
): Promise<{ servers: string[]; problems: string[]; warnings: string[] }> {
  const config = await load(text, env);
  if (!config.ok) throw new Error(`refused: ${JSON.stringify(config.error)}`);
  const { servers, problems, warnings } = config.value;
  const lines = (list: typeof problems): string[] =>
    list.map(({ line, column, key, reason }) => `${line}:${column} ${key}: ${reason}`);
  return { servers: servers.map(({ name }) => name), problems: lines(problems), warnings: lines(warnings) };
}

/** One entry `x` beside a good one, which must always stay. */
async function checkProblems(entry: unknown, expected: readonly string[], env: Env = {}): Promise<void> {
  const found = await complaints(
    JSON.stringify({ mcpServers: { x: entry, good: { command: 'true' } } }),
    env,
  );
  expect({ ...found, problems: found.problems.map((text) => text.replace(/^\d+:\d+ /, '')) }).toEqual({
    servers: ['good'],
    problems: expected,
    warnings: found.warnings,
  });
}

const stdio = (over: Partial<Extract<Transport, { kind: 'stdio' }>>): Transport => ({
  kind: 'stdio',
  command: 'npx',
  args: [],
  env: {},
  cwd: CWD,
  ...(over.cwd !== undefined && { isCwdGiven: true }),
  ...over,
});

async function checkTransport(entry: unknown, expected: Transport, env: Env = {}): Promise<void> {
  const config = await load(JSON.stringify({ mcpServers: { x: entry } }), env);
  expect(config).toEqual({
    ok: true,
    value: {
      path: file,
      servers: [
        {
          name: 'x',
          transport: expected,
          timeoutMs: 60_000,
          prefix: true,
          isFromConfig: true,
          isolation: expected.kind === 'stdio' ? 'shared' : 'session',
        },
      ],
      rejected: [],
      settings: new Map(),
      rules: [],
      problems: [],
      warnings: [],
    },
  });
}

describe('the file', () => {
  it('is unreadable, with the reason, if it does not exist, is a folder or is not text', async () => {
    await mkdir(join(folder, 'dir'), { recursive: true });
    await writeFile(join(folder, 'latin'), Buffer.from([0x7b, 0xe4, 0x7d]));
    const check = async (name: string, reason: string): Promise<void> => {
      const path = join(folder, name);
      expect(loadConfig(path, { env: {}, cwd: CWD, home: HOME })).toEqual({
        ok: false,
        error: { code: 'CONFIG_UNREADABLE', path, reason },
      });
    };
    await check('none.json', 'there is no such file or folder');
    await check('dir', 'it is a folder');
    await check('latin', 'it is not UTF-8 text');
  });
  it('is invalid, with the position, if it is not a JSON object', async () => {
    const check = async (text: string, reason: string): Promise<void> => {
      expect(await load(text)).toEqual({ ok: false, error: { code: 'CONFIG_INVALID', path: file, reason } });
    };
    await check('', 'line 1, column 1: a value is expected here');
    await check('[1]', 'line 1, column 1: the file must contain one JSON object');
    await check('null', 'line 1, column 1: the file must contain one JSON object');
    await check(
      '{\n  "mcpServers": {\n    "a": {} "b": {}\n  }\n}',
      'line 3, column 13: a comma is expected here',
    );
    await check('{"mcpServers": {', 'line 1, column 17: a closing brace is missing');
    await check('{\r\n  mcpServers: {}\r\n}', 'line 2, column 3: this is not a JSON value');
    await check('{} {}', 'line 1, column 4: the file should end here');
    await check('{"a": "x', 'line 1, column 7: a string is not closed');
  });
  it('may have comments, trailing commas and a byte order mark', async () => {
    const text = '\uFEFF// mine\n{ "mcpServers": { /* one */ "a": { "command": "x", "args": ["1",], }, }, }';
    expect(await complaints(text)).toEqual({ servers: ['a'], problems: [], warnings: [] });
  });
  it('may be given relative to the working directory', async () => {
    await writeFile(file, '{}');
    const config = loadConfig('mcp.json', { env: {}, cwd: folder, home: HOME });
    expect(config).toEqual({
      ok: true,
      value: {
        path: file,
        servers: [],
        rejected: [],
        settings: new Map(),
        rules: [],
        problems: [],
        warnings: [],
      },
    });
  });
  it(`keeps the order of its servers, which VS Code's format calls "servers"`, async () => {
    const text =
      '{"servers": {"b": {"command": "x"}}, "inputs": [], "mcpServers": {"c": {"command": "x"}, "a": {"command": "x"}}}';
    expect(await complaints(text)).toEqual({ servers: ['b', 'c', 'a'], problems: [], warnings: [] });
  });
  it('may hold settings and feature flags; an unknown key is a warning', async () => {
    const text = '{"$schema": "x", "settings": {}, "featureFlags": {},\n "hooks": {"a": {}}}';
    expect(await complaints(text)).toEqual({
      servers: [],
      problems: [],
      warnings: ['2:2 hooks: this key is unknown and has no effect'],
    });
  });
  it.each([
    ['mcpservers', {}, 'Did you mean "mcpServers"?'],
    ['mcp_servers', {}, 'Did you mean "mcpServers"?'],
    ['mcp-server', {}, 'Did you mean "mcpServers"?'],
    ['servers ', {}, 'Did you mean "servers"?'],
    ['Settings', {}, 'Did you mean "settings"?'],
    ['mcp', { servers: {} }, 'Move "mcpServers" or "servers" to the top level of the file.'],
    ['git', { command: 'x' }, 'Move it there: { "mcpServers": { "git": … } }.'],
  ])('reports servers under %j, which are not read, and how to write them', async (key, value, remedy) => {
    const config = await load(JSON.stringify({ [key]: value }));
    expect(config.ok && config.value.problems.map((problem) => problem.remedy)).toEqual([remedy]);
  });
  it('keeps its other parts if one is not an object or appears twice', async () => {
    const text =
      '{"settings": [], "servers": null, "mcpServers": {"a": {"command": "x"}},\n"mcpServers": {}}';
    expect(await complaints(text)).toEqual({
      servers: ['a'],
      problems: [
        '1:14 settings: this is not an object',
        '1:29 servers: this is not an object',
        '2:1 mcpServers: this key appears twice',
      ],
      warnings: [],
    });
  });
});

describe('an entry for a child process', () => {
  it('is recognized by its command', async () => {
    await checkTransport({ command: 'npx' }, stdio({}));
    await checkTransport(
      { type: 'stdio', command: 'npx', args: ['-y', 'a b'], env: { A: '1', B: '' }, cwd: '/tmp' },
      stdio({ args: ['-y', 'a b'], env: { A: '1', B: '' }, cwd: '/tmp' }),
    );
  });
  it('may have numbers in its environment, and null for a variable to unset', async () => {
    await checkTransport(
      { command: 'npx', env: { PORT: 8080, NONE: null } },
      stdio({ env: { PORT: '8080' } }),
    );
  });
  it("starts in Assay's working directory; a relative folder is resolved against the config file", async () => {
    await checkTransport({ command: 'npx', cwd: 'sub/x' }, stdio({ cwd: join(folder, 'sub/x') }));
    await checkTransport({ command: 'npx', cwd: '.' }, stdio({ cwd: folder }));
  });
  it('expands a leading tilde in command, arguments and folder', async () => {
    await checkTransport(
      { command: '~/bin/x', args: ['~', '~/a', 'a~/b', '~bob', '--d=~/x'], cwd: '~/w' },
      stdio({
        command: '/home/ada/bin/x',
        args: ['/home/ada', '/home/ada/a', 'a~/b', '~bob', '--d=~/x'],
        cwd: '/home/ada/w',
      }),
    );
  });
  it('has its variables expanded once', async () => {
    const env = { BIN: 'node', EMPTY: '', DIR: '/d', TRICK: '${BIN}' };
    await checkTransport(
      {
        command: '${BIN}',
        args: [
          '${DIR}/x/${BIN}',
          '${NONE:-a:-b}',
          '${EMPTY:-no}',
          '${NONE:-}',
          '${NONE:-${DIR}/y}',
          '${TRICK}',
          '$BIN',
          '${',
        ],
        env: { A: '${env:BIN}', B: '${userHome}', C: '${configDir}' },
        cwd: '${DIR}',
      },
      stdio({
        command: 'node',
        args: ['/d/x/node', 'a:-b', '', '', '/d/y', '${BIN}', '$BIN', '${'],
        env: { A: 'node', B: '/home/ada', C: folder },
        cwd: '/d',
      }),
      env,
    );
  });
  it('is reported with the wrong key if it is invalid', async () => {
    await checkProblems({ type: 'stdio' }, ['mcpServers.x: the key "command" is missing']);
    await checkProblems({ command: 5 }, ['mcpServers.x.command: this is not a string']);
    await checkProblems({ command: ' ' }, ['mcpServers.x.command: the command is empty']);
    await checkProblems({ command: 'a\0b' }, ['mcpServers.x.command: this text contains a NUL character']);
    await checkProblems({ command: 'a', args: '-y' }, ['mcpServers.x.args: this is not an array']);
    await checkProblems({ command: 'a', args: ['a', 1, null] }, [
      'mcpServers.x.args[1]: this is not a string',
      'mcpServers.x.args[2]: this is not a string',
    ]);
    await checkProblems({ command: 'a', sandboxAccepts: 'state' }, [
      'mcpServers.x.sandboxAccepts: this is not an array',
    ]);
    await checkProblems({ command: 'a', sandboxAccepts: ['separate_state', 'all'] }, [
      'mcpServers.x.sandboxAccepts: "all" is nothing that can be accepted of a sandbox',
    ]);
    await checkProblems({ command: 'a', env: [] }, ['mcpServers.x.env: this is not an object']);
    await checkProblems({ command: 'a', env: { A: true, 'B=': '', '': '' } }, [
      'mcpServers.x.env.A: this is not a string',
      'mcpServers.x.env["B="]: this cannot be the name of a variable',
      'mcpServers.x.env[""]: this cannot be the name of a variable',
    ]);
    await checkProblems({ command: 'a', cwd: '' }, ['mcpServers.x.cwd: the folder is empty']);
  });
  it('may use variables of its own "env" in "args", before those of Assay', async () => {
    await checkTransport(
      {
        command: 'npx',
        args: ['mcp-remote', '--header', 'Authorization:${AUTH}', '${B}'],
        env: { AUTH: 'Bearer ${TOKEN}' },
      },
      stdio({
        args: ['mcp-remote', '--header', 'Authorization:Bearer t', 'b'],
        env: { AUTH: 'Bearer t' },
      }),
      { TOKEN: 't', AUTH: 'another', B: 'b' },
    );
  });
  it('is a warning that shows the correct form if its "command" contains arguments', async () => {
    const config = await load('{"mcpServers": {"a": {"command": "npx -y foo"}}}');
    expect(config.ok && config.value.warnings).toMatchObject([
      {
        key: 'mcpServers.a.command',
        reason: 'the command seems to contain its arguments',
        remedy: 'Write "command": "npx", "args": ["-y", "foo"].',
      },
    ]);
  });
  it('is reported with the name of a variable that has no value', async () => {
    await checkProblems(
      { command: '${A}', args: ['${B}${env:C}', '${D:-${E}}'], env: { T: 'Bearer ${TOKEN}' }, cwd: '${F}' },
      [
        'mcpServers.x.command: the environment variable A is not set',
        'mcpServers.x.env.T: the environment variable TOKEN is not set',
        'mcpServers.x.args[0]: the environment variable B is not set',
        'mcpServers.x.args[0]: the environment variable C is not set',
        'mcpServers.x.args[1]: the environment variable E is not set',
        'mcpServers.x.cwd: the environment variable F is not set',
      ],
    );
    await checkProblems({ command: 'a', env: { K: '${input:key}' } }, [
      'mcpServers.x.env.K: "${input:…}" prompts a person, which Assay cannot do here',
    ]);
    await checkProblems({ command: '${constructor}' }, [
      'mcpServers.x.command: the environment variable constructor is not set',
    ]);
  });
  it("never gets a variable of Assay's own, wherever it is written", async () => {
    const env = { ASSAY_TOKEN: 'secret', HYPERTOOL_X: 'secret', assay_key: 'secret', MINE: 'mine' };
    const entries: readonly (readonly [string, unknown])[] = [
      [
        'headers.Authorization',
        { url: 'https://a.example/', headers: { Authorization: 'Bearer ${env:ASSAY_TOKEN}' } },
      ],
      ['headers.X', { url: 'https://a.example/', headers: { X: '${MINE}${NONE:-${ASSAY_TOKEN}}' } }],
      ['headers.X', { url: 'https://a.example/', headers: { X: '${ASSAY_TOKEN:-x}' } }],
      ['url', { url: 'https://a.example/${HYPERTOOL_X}' }],
      ['command', { command: '${assay_key}' }],
      ['args[0]', { command: 'a', args: ['${ASSAY_TOKEN}'] }],
      ['env.A', { command: 'a', env: { A: '${ASSAY_TOKEN}' } }],
      ['cwd', { command: 'a', cwd: '${ASSAY_TOKEN}' }],
      [
        'auth.clientSecret',
        {
          url: 'https://a.example/',
          auth: { issuer: 'https://i.example', clientId: 'c', clientSecret: '${ASSAY_TOKEN}' },
        },
      ],
      ['openapi', { openapi: 'https://a.example/${ASSAY_TOKEN}' }],
    ];
    for (const [key, entry] of entries) {
      const { servers, problems } = await complaints(JSON.stringify({ mcpServers: { x: entry } }), env);
      expect([servers, problems]).toEqual([[], [expect.stringMatching(/^\S+ mcpServers\.x\./) as string]]);
      expect(problems[0]).toContain(`mcpServers.x.${key}: the variable `);
      expect(problems[0]).toContain("is Assay's own and is never passed on");
      expect(problems[0]).not.toContain('secret');
    }
    const own = { command: 'a', args: ['${ASSAY_TOKEN}'], env: { ASSAY_TOKEN: 'of the entry' } };
    const config = await load(JSON.stringify({ mcpServers: { x: own } }), env);
    expect(config.ok && config.value.servers[0]?.transport).toMatchObject({ args: ['of the entry'] });
  });

  it('keeps text that only looks like a variable, with a warning', async () => {
    const text = '{"mcpServers": {"a": {"command": "sh", "args": ["${X%%.*}"]}}}';
    expect(await complaints(text)).toEqual({
      servers: ['a'],
      problems: [],
      warnings: ['1:49 mcpServers.a.args[0]: a "${…}" in this text is not a variable and is left unchanged'],
    });
  });
});

describe('an env file', () => {
  it('sets what the entry itself does not, and is resolved against the folder of the config file', async () => {
    await writeFile(join(folder, 'my.env'), '# mine\nA=from file\nexport B="two words"\nC=${A}\n');
    await checkTransport(
      { command: 'npx', envFile: './my.env', env: { A: 'own' } },
      stdio({ env: { A: 'own', B: 'two words', C: '${A}' }, envFile: join(folder, 'my.env') }),
    );
  });

  it('makes the entry invalid if it cannot be read, as the server would start without its keys', async () => {
    await checkProblems(
      { command: 'npx', envFile: '${NAME}.env' },
      ['mcpServers.x.envFile: the file cannot be read: there is no such file, or it may not be read'],
      { NAME: 'none' },
    );
    await checkProblems({ command: 'npx', envFile: '.' }, [
      'mcpServers.x.envFile: the file cannot be read: it is a folder',
    ]);
  });
});

describe('an entry for a server at a URL', () => {
  const http = (
    flavour: 'auto' | 'streamable' | 'sse',
    url = 'https://e.org/mcp',
    headers = {},
  ): Transport => ({
    kind: 'http',
    flavour,
    url: new URL(url),
    headers,
  });
  it('is recognized by its URL; its type selects the transport', async () => {
    const url = 'https://e.org/mcp';
    await checkTransport({ url }, http('auto'));
    await checkTransport({ type: 'http', url }, http('auto'));
    await checkTransport({ type: 'streamable-http', url }, http('streamable'));
    await checkTransport({ type: 'streamableHttp', url }, http('streamable'));
    await checkTransport({ type: 'sse', url }, http('sse'));
  });
  it('configures the sign-in under "auth", with variables expanded', async () => {
    const issuer = 'https://id.example';
    const auth = { clientId: 'a', clientSecret: '${S}', issuer, scope: 'x y', shared: false };
    const config = await load(JSON.stringify({ mcpServers: { x: { url: 'https://e.org', auth } } }), {
      S: 's',
    });
    const [found] = config.ok ? config.value.servers : [];
    expect(found?.transport).toMatchObject({
      auth: { clientId: 'a', clientSecret: 's', issuer, scope: 'x y', isPersonal: true },
    });
  });

  it('names the authorization server, the resource and parameters under "auth"', async () => {
    const place = 'https://id.example/x';
    const auth = {
      ...{ clientId: 'a', clientSecret: 'b', authorizationServer: place, metadataUrl: place },
      ...{ authorizationEndpoint: place, tokenEndpoint: place, resource: false as const },
      ...{ parameters: { prompt: 'consent' }, redirectUri: 'http://127.0.0.1:8765/callback' },
    };
    for (const one of [auth, { resource: 'api://own' }]) {
      const entry = { url: 'https://e.org', auth: one };
      const config = await load(JSON.stringify({ mcpServers: { x: entry } }));
      expect(config.ok && config.value.servers[0]?.transport).toMatchObject({ auth: one });
    }
  });

  it('is reported with what is wrong with its certificates', async () => {
    const clientCertificate = { certFile: 'a', keyFile: 'b' };
    await checkProblems({ url: 'http://e.org', clientCertificate }, [
      'mcpServers.x.clientCertificate: the "url" begins with http://, so no certificate is used',
    ]);
    const url = 'https://e.org';
    await checkProblems({ url, clientCertificate: 'a' }, [
      'mcpServers.x.clientCertificate: this is not an object',
    ]);
    await checkProblems({ url, clientCertificate: { certFile: ' ' }, ca: '${secret:A}' }, [
      'mcpServers.x.ca: a secret, file or command can only stand in the values of "env" and "headers", and for the user and the password in "proxy"',
      'mcpServers.x.clientCertificate: "keyFile" is missing',
      'mcpServers.x.clientCertificate.certFile: the path is empty',
    ]);
  });

  it('is reported with the wrong member of "auth"', async () => {
    const url = 'https://e.org';
    await checkProblems({ url, auth: 'a' }, ['mcpServers.x.auth: this is not an object']);
    await checkProblems({ url, auth: { clientSecret: 'a', shared: 'no', scope: ' ' } }, [
      'mcpServers.x.auth.scope: this is empty, or contains a line break or another character that is not allowed',
      'mcpServers.x.auth.shared: it must be true or false',
      'mcpServers.x.auth.clientSecret: there is a "clientSecret" without a "clientId"',
      'mcpServers.x.auth.clientSecret: there is a "clientSecret" without an "issuer", so the server could send it anywhere',
    ]);
    const secret = { clientId: 'a', clientSecret: 'b' };
    await checkProblems({ url, auth: { ...secret, issuer: 'http://id.example' } }, [
      expect.stringContaining('mcpServers.x.auth.issuer: the "issuer" is not valid: '),
    ]);
    const place = 'https://id.example/x';
    await checkProblems(
      { url, auth: { tokenEndpoint: place, metadataUrl: 'file:///x', redirectUri: `${place}#f` } },
      [
        expect.stringContaining('mcpServers.x.auth.metadataUrl: the "metadataUrl" is not valid: it must be'),
        expect.stringContaining(
          'mcpServers.x.auth.redirectUri: the "redirectUri" is not valid: it must not have',
        ),
        'mcpServers.x.auth.tokenEndpoint: "authorizationEndpoint" and "tokenEndpoint" need each other',
      ],
    );
    await checkProblems({ url, auth: { tokenEndpoint: place, authorizationEndpoint: place } }, [
      expect.stringContaining('mcpServers.x.auth.authorizationEndpoint: there is an'),
    ]);
    await checkProblems(
      { url, auth: { resource: 'x', parameters: { Request_URI: 'a', 'a b': 'a', ok: 'ä' } } },
      [
        expect.stringContaining(
          'mcpServers.x.auth.resource: the "resource" is not valid: it must be an absolute URI',
        ),
        'mcpServers.x.auth.parameters.Request_URI: Assay sets this parameter itself',
        'mcpServers.x.auth.parameters["a b"]: this cannot be the name of a parameter',
        'mcpServers.x.auth.parameters.ok: the value must be printable ASCII',
      ],
    );
    const entry = { mcpServers: { x: { url, auth: { token: 'a' } } } };
    expect((await complaints(JSON.stringify(entry))).warnings).toEqual([
      expect.stringContaining('mcpServers.x.auth.token: this key is unknown and has no effect'),
    ]);
  });

  it('may use the key names of Gemini CLI and Windsurf', async () => {
    await checkTransport({ httpUrl: 'https://e.org/mcp' }, http('auto'));
    await checkTransport({ serverUrl: 'https://e.org/mcp' }, http('auto'));
  });
  it('has variables in its URL and headers expanded', async () => {
    await checkTransport(
      { url: '${BASE:-http://localhost:1}/mcp?a=b#c', headers: { Authorization: 'Bearer ${T}', 'X-N': 5 } },
      http('auto', 'http://localhost:1/mcp?a=b', { Authorization: 'Bearer s3cret', 'X-N': '5' }),
      { T: 's3cret' },
    );
  });
  it('is reported with the wrong key if it is invalid', async () => {
    await checkProblems({ type: 'http' }, ['mcpServers.x: the key "url" is missing']);
    await checkProblems({ url: 'e.org/mcp' }, ['mcpServers.x.url: this is not a URL']);
    await checkProblems({ url: 'ftp://e.org' }, ['mcpServers.x.url: this is not an http or https URL']);
    await checkProblems({ url: 'https://e.org', headers: 'A: b' }, [
      'mcpServers.x.headers: this is not an object',
    ]);
    await checkProblems(
      { url: 'https://e.org', headers: { 'A b': '1', A: '1', a: '2', '': '3', Host: '€' } },
      [
        'mcpServers.x.headers["A b"]: this cannot be the name of a header',
        'mcpServers.x.headers.a: this header appears twice',
        'mcpServers.x.headers[""]: this cannot be the name of a header',
        'mcpServers.x.headers.Host: the value contains a line break or another character that is not allowed in a header',
      ],
    );
    await checkProblems({ url: 'https://e.org', headers: { 'Mcp-Session-Id': '1', 'content-length': '1' } }, [
      'mcpServers.x.headers.Mcp-Session-Id: Assay sets this header itself',
      'mcpServers.x.headers.content-length: Assay sets this header itself',
    ]);
  });
});

describe('an entry', () => {
  it("has Assay's options", async () => {
    const entry = {
      command: 'x',
      timeoutMs: 5,
      prefix: false,
      trust: true,
      tags: ['private', 'mail'],
      isolation: 'session',
      keepAlive: true,
      stopTimeoutMs: 6_000,
      tools: { allow: ['a*'], deny: ['ab'] },
    };
    const config = await load(JSON.stringify({ mcpServers: { x: { ...entry, disabled: false } } }));
    expect(config).toEqual({
      ok: true,
      value: {
        path: file,
        servers: [
          {
            name: 'x',
            transport: stdio({ command: 'x' }),
            timeoutMs: 5,
            prefix: false,
            isolation: 'session',
            keepAlive: true,
            stopTimeoutMs: 6_000,
            trust: true,
            tags: ['private', 'mail'],
            toolFilter: { allow: ['a*'], deny: ['ab'] },
            isFromConfig: true,
          },
        ],
        rejected: [],
        settings: new Map(),
        rules: [],
        problems: [],
        warnings: [],
      },
    });
  });
  it('is skipped silently if it is disabled, even if it is invalid', async () => {
    expect(
      await complaints('{"mcpServers": {"a": {"disabled": true, "command": "${NONE}", "x": 1}}}'),
    ).toEqual({
      servers: [],
      problems: [],
      warnings: [],
    });
  });
  it('may keep its process running, which has no effect without a process', async () => {
    expect(
      await complaints('{"mcpServers": {"a": {"url": "https://e.org", "keepAlive": true}}}'),
    ).toMatchObject({
      problems: [],
      warnings: [
        expect.stringContaining('mcpServers.a.keepAlive: this key has no effect on a server of this type'),
      ],
    });
    await checkProblems({ command: 'x', keepAlive: 'yes' }, [
      'mcpServers.x.keepAlive: it must be true or false',
    ]);
  });
  it('may say how long its process takes to stop, which has no effect without a process', async () => {
    const range = 'mcpServers.x.stopTimeoutMs: it must be a whole number from 1 to 60000';
    for (const stopTimeoutMs of [0, 60_001, 1.5, '10 s', null])
      await checkProblems({ command: 'x', stopTimeoutMs }, [range]);
    expect(
      await complaints('{"mcpServers": {"a": {"url": "https://e.org", "stopTimeoutMs": 1}}}'),
    ).toMatchObject({
      problems: [],
      warnings: [
        expect.stringContaining(
          'mcpServers.a.stopTimeoutMs: this key has no effect on a server of this type',
        ),
      ],
    });
  });
  it('may have a list of allowed tools only', async () => {
    const config = await load(JSON.stringify({ mcpServers: { x: { command: 'x', tools: ['a'] } } }));
    expect(config).toMatchObject({ value: { servers: [{ toolFilter: { allow: ['a'] } }] } });
  });
  it.each([
    [{}, ': it must have "allow", "deny" or both'],
    [{ allow: 'a' }, '.allow: it must be a list'],
    [{ allow: [''] }, '.allow[0]: it must have 1 to 200 characters'],
    [{ deny: [1] }, '.deny[0]: it must be a string'],
    [{ alow: ['a'] }, '.alow: there is no such member; did you mean "allow"?'],
    [[['a']], '[0]: it must be a string'],
    [true, ': it must be an object'],
  ])('is invalid with the tools %j', (tools, fault) =>
    checkProblems({ command: 'x', tools }, [`mcpServers.x.tools${fault}`]),
  );
  it('is invalid with unknown options', async () => {
    await checkProblems({ command: 'x', timeoutMs: 0 }, [
      'mcpServers.x.timeoutMs: it must be a whole number from 1 to 2147483647',
    ]);
    await checkProblems({ command: 'x', timeoutMs: '5' }, [
      'mcpServers.x.timeoutMs: it must be a whole number from 1 to 2147483647',
    ]);
    await checkProblems(
      { command: 'x', disabled: 'no', prefix: null, trust: 1, isolation: 'process', tools: true, tags: [''] },
      [
        'mcpServers.x.disabled: it must be true or false',
        'mcpServers.x.isolation: it must be one of session, shared',
        'mcpServers.x.tools: it must be an object',
        'mcpServers.x.trust: it must be true or false',
        'mcpServers.x.tags[0]: it must have 1 to 50 characters',
        'mcpServers.x.prefix: it must be true or false',
      ],
    );
  });
  it('is invalid if it defines no transport, or two', async () => {
    await checkProblems(5, ['mcpServers.x: this is not an object']);
    await checkProblems({}, ['mcpServers.x: "command", "url" or "openapi" is missing']);
    await checkProblems({ command: 'x', url: 'https://e.org' }, [
      'mcpServers.x: there are both a "command" and a "url"',
    ]);
    await checkProblems({ type: 'websocket', url: 'https://e.org' }, [
      'mcpServers.x.type: it must be one of stdio, http, streamable-http, streamableHttp, sse, openapi, codebase',
    ]);
  });
  it('runs with a warning if it has unknown keys, or keys of the other transport', async () => {
    const text =
      '{"mcpServers": {"a": {"type": "http", "url": "http://e.org", "command": "x", "timeout": 5}}}';
    expect(await complaints(text)).toEqual({
      servers: ['a'],
      problems: [],
      warnings: [
        '1:73 mcpServers.a.command: this key has no effect on a server of this type',
        '1:89 mcpServers.a.timeout: this key is unknown and has no effect',
      ],
    });
  });
  it('is invalid with a duplicate key', async () => {
    expect(await complaints('{"mcpServers": {"a": {"command": "x",\n "command": "y"}}}')).toEqual({
      servers: [],
      problems: ['2:2 mcpServers.a.command: this key appears twice'],
      warnings: [],
    });
  });
  it('is left out if its name cannot be used, and the others go on', async () => {
    for (const [name, key, reason] of [
      ['g$(id)', '["g$(id)"]', 'the name of the server cannot be used: it holds "$"'],
      ['a/b', '["a/b"]', 'the name of the server cannot be used: it holds "/"'],
      ['', '[""]', 'the name of the server cannot be used: it takes 1 to 64'],
      ['local', '.local', 'the name "local" is reserved for tools of your own'],
    ] as const)
      expect(
        await complaints(
          `{"mcpServers": {${JSON.stringify(name)}: {"command": "x"}, "Good one": {"command": "x"}}}`,
        ),
      ).toEqual({
        servers: ['Good one'],
        problems: [expect.stringContaining(`1:17 mcpServers${key}: ${reason}`)],
        warnings: [],
      });
  });
  it('is invalid if an earlier entry has its name; the first one runs', async () => {
    const text =
      '{"servers": {"a": {"command": "x"}}, "mcpServers": {"a": {"command": "y"},\n"b": {"command": "x"}, "b": {}}}';
    expect(await complaints(text)).toEqual({
      servers: ['a', 'b'],
      problems: [
        '1:53 mcpServers.a: another server above has this name',
        '2:24 mcpServers.b: another server above has this name',
      ],
      warnings: [],
    });
  });
});

describe('a problem', () => {
  it('has file, line, column, key, reason and remedy', async () => {
    const config = await load(
      '{\n  "mcpServers": {\n    "git": {\n      "command": "${GIT_SERVER}"\n    }\n  }\n}',
    );
    expect(config).toEqual({
      ok: true,
      value: {
        path: file,
        servers: [],
        rejected: [
          {
            name: 'git',
            cause: {
              code: 'ENTRY_INVALID',
              line: 4,
              key: 'mcpServers.git.command',
              reason: 'the environment variable GIT_SERVER is not set',
              remedy: 'Set GIT_SERVER, or give it a default: ${GIT_SERVER:-…}.',
            },
          },
        ],
        settings: new Map(),
        rules: [],
        problems: [
          {
            file,
            line: 4,
            column: 18,
            key: 'mcpServers.git.command',
            reason: 'the environment variable GIT_SERVER is not set',
            remedy: 'Set GIT_SERVER, or give it a default: ${GIT_SERVER:-…}.',
          },
        ],
        warnings: [],
      },
    });
  });
  it('never quotes a value of the environment, a header or a URL', async () => {
    const secret = 's3cret';
    const entries = {
      a: { command: 'x', env: { A: [secret], B: `${secret}\0`, C: `\${NONE}${secret}` } },
      b: { url: `https://user:${secret}@e.org/` },
      c: {
        url: `${secret} is no URL`,
        headers: { Authorization: `Bearer \${T}\r\n`, X: `${secret}€`, Y: { z: secret } },
      },
      d: { url: 'ftp://${T}', headers: { A: '${NONE:-${T}}\n' } },
      e: { command: 5, env: { A: `\${${secret} x}\${input:${secret}}` }, args: secret },
    };
    const config = await load(JSON.stringify({ mcpServers: entries }), { T: secret });
    if (!config.ok) throw new Error('refused');
    const names = [...new Set(config.value.problems.map(({ key }) => key.split('.')[1]))];
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(JSON.stringify(config)).not.toContain(secret);
  });
});
