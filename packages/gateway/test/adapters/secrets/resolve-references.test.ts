import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { printValue } from '../../../src/adapters/secrets/print-value.ts';
import { ReferenceResolver } from '../../../src/adapters/secrets/resolve-references.ts';
import { readConfigText } from '../../../src/adapters/config/load-config.ts';
import { computeOriginIdentity } from '../../../src/core/server-identity.ts';
import type { SealedSecret } from '../../../src/core/record.ts';
import type { ServerSpec } from '../../../src/core/server-spec.ts';
import { ok } from '@assay-mcp/kit/result';
import { tempDir } from '../../../../../test/support/paths.ts';

/** A server read as from a config file in `dir`. */
function serverWith(dir: string, entry: Readonly<Record<string, unknown>>, env = {}): ServerSpec {
  const text = JSON.stringify({ mcpServers: { x: { command: 'c', ...entry } } });
  const config = readConfigText(join(dir, 'mcp.json'), text, { env, cwd: dir, home: dir, assayHome: dir });
  const [spec] = config.ok ? config.value.servers : [];
  if (spec === undefined) throw new Error(JSON.stringify(config));
  return spec;
}

function problemsOf(entry: Readonly<Record<string, unknown>>, env = {}): readonly string[] {
  const text = JSON.stringify({ mcpServers: { x: { command: 'c', ...entry } } });
  const config = readConfigText('/home/ada/mcp.json', text, {
    env,
    cwd: '/',
    home: '/home/ada',
    assayHome: '/a',
  });
  return config.ok ? config.value.problems.map(({ key, reason }) => `${key}: ${reason}`) : ['unreadable'];
}

function newResolver(
  stored: Readonly<Record<string, { readonly value: string; readonly by: readonly ServerSpec[] }>> = {},
) {
  const home = tempDir();
  const learnt: string[] = [];
  const resolver = new ReferenceResolver({
    findSecret: async (name) => {
      const found = stored[name];
      if (found === undefined) return ok(undefined);
      const uses = found.by.map((spec) => ({
        server: spec.name,
        identity: computeOriginIdentity(spec),
        what: 'c',
      }));
      const secret: SealedSecret = { keyId: 'k', sealed: found.value, savedMs: 0, uses };
      return ok(secret);
    },
    open: async (_, { sealed }) => ok(sealed),
    learn: (values) => learnt.push(...values),
    home,
  });
  const envOf = async (spec: ServerSpec): Promise<unknown> => {
    const resolved = await resolver.resolve(spec);
    if (!resolved.ok) return resolved.error;
    const { transport } = resolved.value;
    return transport.kind === 'stdio'
      ? transport.env
      : transport.kind === 'http'
        ? transport.headers
        : undefined;
  };
  return { home, learnt, resolver, envOf };
}

/** A program that counts its runs in a file. */
const counting = (file: string, then: string): readonly string[] => [
  process.execPath,
  '-e',
  `fs.appendFileSync(${JSON.stringify(file)}, 'x'); ${then}`,
];

it('secrets, files and what programs print stand in for values, alone and inside of a text', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'token'), 'from-a-file\n');
  const printing = [process.execPath, '-e', "console.log('from-a-program')"];
  const entry = {
    env: {
      A: '${secret:TOKEN}',
      B: 'Bearer ${file:token}',
      C: { command: printing },
      D: `x \${command:${JSON.stringify(printing)}} \${PLAIN}`,
      E: '${file:~/token}',
    },
  };
  const spec = serverWith(dir, entry, { PLAIN: 'plain' });
  const { envOf, learnt } = newResolver({ TOKEN: { value: 'from-the-store', by: [spec] } });
  expect(await envOf(spec)).toEqual({
    A: 'from-the-store',
    B: 'Bearer from-a-file',
    C: 'from-a-program',
    D: 'x from-a-program plain',
    E: 'from-a-file',
  });
  expect(new Set(learnt)).toEqual(
    new Set([
      'from-the-store',
      'from-a-file',
      'Bearer from-a-file',
      'from-a-program',
      'x from-a-program plain',
    ]),
  );
});

it('nothing is read or run when an entry is read', () => {
  const dir = tempDir();
  const ran = join(dir, 'ran');
  serverWith(dir, { env: { A: { command: counting(ran, '') }, B: '${file:absent}', C: '${secret:ABSENT}' } });
  expect(existsSync(ran)).toBe(false);
});

it('a secret reaches only the servers that may use it, with the command or origin that they had then', async () => {
  const dir = tempDir();
  const env = { A: '${secret:TOKEN}' };
  const spec = serverWith(dir, { env });
  const { envOf } = newResolver({ TOKEN: { value: 'value-of-it', by: [spec] } });
  const refused = { code: 'SECRET_NOT_ALLOWED', member: 'env.A', secret: 'TOKEN', server: 'x' };
  expect(await envOf(spec)).toEqual({ A: 'value-of-it' });
  expect(await envOf(serverWith(dir, { env, command: 'other' }))).toEqual(refused);
  expect(await envOf(serverWith(dir, { env, args: ['other'] }))).toEqual(refused);
  expect(await envOf({ ...spec, name: 'y' })).toEqual({ ...refused, server: 'y' });

  const headers = { Authorization: 'Bearer ${secret:TOKEN}' };
  const at = (url: string): ServerSpec => serverWith(dir, { command: undefined, url, headers });
  const web = newResolver({ TOKEN: { value: 'value-of-it', by: [at('https://a.example/mcp')] } });
  expect(await web.envOf(at('https://a.example/other'))).toEqual({ Authorization: 'Bearer value-of-it' });
  expect(await web.envOf(at('https://b.example/mcp'))).toEqual({
    ...refused,
    member: 'headers.Authorization',
  });
  expect(await envOf(serverWith(dir, { env: { A: '${secret:OTHER}' } }))).toEqual({
    ...{ code: 'SECRET_UNKNOWN', member: 'env.A', secret: 'OTHER' },
  });
});

it('a reference in the value of a variable is plain text', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, '.env'), 'B=${secret:TOKEN}\n');
  writeFileSync(join(dir, 'token'), '${secret:TOKEN}');
  const env = { A: '${FROM_OUTSIDE}', C: '${file:token}' };
  const spec = serverWith(dir, { env, envFile: '.env' }, { FROM_OUTSIDE: '${secret:TOKEN}' });
  const { envOf } = newResolver({ TOKEN: { value: 'value-of-it', by: [spec] } });
  expect(await envOf(spec)).toEqual({ A: '${secret:TOKEN}', B: '${secret:TOKEN}', C: '${secret:TOKEN}' });
});

it.each([
  [{ command: '${command:["sh"]}' }, 'mcpServers.x.command: a secret, file or command can only stand in'],
  [{ command: '${file:a}' }, 'mcpServers.x.command: a secret'],
  [{ args: ['${secret:A}'] }, 'mcpServers.x.args[0]: a secret'],
  [{ cwd: '${file:a}' }, 'mcpServers.x.cwd: a secret'],
  [{ envFile: '${secret:A}' }, 'mcpServers.x.envFile: a secret'],
  [{ command: undefined, url: 'https://${secret:A}.example' }, 'mcpServers.x.url: a secret'],
  [{ args: ['${A}'], env: { A: '${secret:A}' } }, 'mcpServers.x.args[0]: the value of A is a reference'],
  [{ env: { A: '${secret:../../etc}' } }, 'mcpServers.x.env.A: this is not the name of a secret'],
  [{ env: { A: '${secret:}' } }, 'mcpServers.x.env.A: this is not the name of a secret'],
  [{ env: { A: '${secret:${B}}' } }, 'mcpServers.x.env.A: a reference cannot contain another one'],
  [{ env: { A: '${file:${secret:B}}' } }, 'mcpServers.x.env.A: a reference cannot contain another one'],
  [{ env: { A: '${command:op read x}' } }, 'mcpServers.x.env.A: a command is a JSON array of strings'],
  [{ env: { A: '${command:[]}' } }, 'mcpServers.x.env.A: a command is a JSON array of strings'],
  [{ env: { A: { command: ['op', 1] } } }, 'mcpServers.x.env.A: a command is a JSON array of strings'],
  [{ env: { A: { command: ['op', '${secret:B}'] } } }, 'mcpServers.x.env.A: a word of a command'],
  [{ env: { A: { command: ['op'], cwd: '/' } } }, 'mcpServers.x.env.A: this object has other members'],
  [{ command: undefined, url: 'https://a.example', proxy: '${secret:A}' }, 'mcpServers.x.proxy: a secret'],
  [
    { command: undefined, url: 'https://a.example', proxy: 'http://u:p@${secret:A}:3128' },
    'mcpServers.x.proxy: a secret',
  ],
  [
    { command: undefined, url: 'https://a.example', proxy: 'http://${secret:A}@p.example/x' },
    'mcpServers.x.proxy: this is not the URL of a proxy: the URL of a proxy ends with its port',
  ],
  [
    { command: undefined, url: 'https://a.example', proxy: 'socks5://p.example' },
    'mcpServers.x.proxy: this is not the URL of a proxy: it does not begin with http:// or https://',
  ],
  [
    { command: undefined, url: 'https://a.example', proxy: 'me:password@p.example:3128' },
    'mcpServers.x.proxy: this is not the URL of a proxy: it does not begin with http:// or https://',
  ],
  [{ command: undefined, url: 'https://a.example', proxy: true }, 'mcpServers.x.proxy: this is not a string'],
  [
    { command: undefined, url: 'https://a.example', proxyResolves: 'yes' },
    'mcpServers.x.proxyResolves: it must be',
  ],
  [
    { command: undefined, openapi: 'https://a.example/o.json', headers: { A: '${secret:A}' } },
    'mcpServers.x: an entry of this type cannot refer to a secret, file or command',
  ],
])('is refused where it would hide what is started or called, or is not valid: %j', (entry, start) => {
  const [problem = 'none'] = problemsOf(entry, { B: 'b' });
  expect(problem).toContain(start);
});

it('a file is a regular file of at most 64 KiB of text', async () => {
  const { envOf } = newResolver();
  const dir = tempDir();
  writeFileSync(join(dir, 'large'), 'x'.repeat(65_537));
  writeFileSync(join(dir, 'binary'), Buffer.from([0xff, 0xfe]));
  writeFileSync(join(dir, 'empty'), '\n');
  if (process.platform !== 'win32') execFileSync('mkfifo', [join(dir, 'fifo')]);
  const reasonOf = async (path: string): Promise<unknown> =>
    envOf(serverWith(dir, { env: { A: `\${file:${path}}` } }));
  const unreadable = (path: string, reason: string) => ({
    code: 'VALUE_FILE_UNREADABLE',
    member: 'env.A',
    path,
    reason,
  });
  expect(await reasonOf('large')).toEqual(unreadable(join(dir, 'large'), 'it has more than 65536 bytes'));
  expect(await reasonOf('binary')).toEqual(unreadable(join(dir, 'binary'), 'it is not UTF-8 text'));
  expect(await reasonOf('fifo')).toEqual(unreadable(join(dir, 'fifo'), 'it is not a regular file'));
  expect(await reasonOf('/dev/zero')).toEqual(unreadable('/dev/zero', 'it is not a regular file'));
  expect(await reasonOf('.')).toEqual(unreadable(dir, 'it is a folder'));
  expect(await reasonOf('empty')).toEqual({ code: 'VALUE_INVALID', member: 'env.A', reason: 'it is empty' });
});

it('a value with a line break is refused in a header', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'two'), 'one\r\nX-Other: two');
  const { envOf } = newResolver();
  const spec = serverWith(dir, {
    command: undefined,
    url: 'https://a.example',
    headers: { A: '${file:two}' },
  });
  expect(await envOf(spec)).toMatchObject({ code: 'VALUE_INVALID', member: 'headers.A' });
});

it('a program runs once for all servers until what it printed is forgotten; a failure is not kept', async () => {
  const dir = tempDir();
  const runs = join(dir, 'runs');
  const spec = serverWith(dir, { env: { A: { command: counting(runs, "console.log('value-of-it')") } } });
  const { envOf, resolver } = newResolver();
  await Promise.all([envOf(spec), envOf({ ...spec, name: 'y' }), envOf(spec)]);
  expect(readFileSync(runs, 'utf8')).toBe('x');
  expect([resolver.forget(spec), resolver.forget(spec)]).toEqual([true, false]);
  expect(await envOf(spec)).toEqual({ A: 'value-of-it' });
  expect(readFileSync(runs, 'utf8')).toBe('xx');
  const failing = serverWith(dir, { env: { A: { command: counting(runs, 'process.exit(3)') } } });
  const cause = {
    code: 'VALUE_COMMAND_FAILED',
    member: 'env.A',
    program: process.execPath,
    reason: 'exited with code 3',
  };
  expect([await envOf(failing), await envOf(failing)]).toEqual([cause, cause]);
  expect(readFileSync(runs, 'utf8')).toBe('xxxx');
  // A server that always refuses does not make it run all the time.
  for (let times = 0; times < 50; times += 1) {
    await envOf(spec);
    resolver.forget(spec);
  }
  expect(readFileSync(runs, 'utf8').length).toBeLessThanOrEqual(14);
});

it('a program that prints too much, prints no text, takes too long or is missing is ended, and nothing of it is told', async () => {
  const run = (code: string, limitMs?: number) =>
    printValue([process.execPath, '-e', code], tempDir(), limitMs);
  const failed = (error: string) => ({ ok: false, error });
  expect(await run("process.stdout.write('x'.repeat(70_000))")).toEqual(failed('printed more than 64 KiB'));
  expect(await run("for (;;) fs.writeSync(1, 'secret'.repeat(1000))")).toEqual(
    failed('printed more than 64 KiB'),
  );
  expect(await run('process.stdout.write(Buffer.from([0xff]))')).toEqual(
    failed('printed something that is not UTF-8 text'),
  );
  expect(await run('setInterval(() => {}, 1000)', 300)).toEqual(
    failed('did not print it and exit within 0.3 s'),
  );
  expect(await run("console.error('the secret'); process.exit(1)")).toEqual(failed('exited with code 1'));
  expect(await printValue(['no-such-program-anywhere'], tempDir())).toEqual(failed('was not found'));
  // No shell, and no variables of this process.
  process.env['TEST_SECRET_OF_ASSAY'] = 'x';
  expect(await run("console.log(process.env.TEST_SECRET_OF_ASSAY ?? 'none', '$HOME')")).toEqual(
    ok('none $HOME\n'),
  );
});

it('a secret is the user or the password of a proxy, and cannot make its URL lead elsewhere', async () => {
  const dir = tempDir();
  const entry = {
    command: undefined,
    url: 'https://a.example',
    proxy: 'http://me:${secret:P}@p.example:3128',
  };
  const spec = serverWith(dir, entry);
  const value = 'a/b@evil.example:80#c%41';
  const { resolver, learnt } = newResolver({ P: { value, by: [spec] } });
  const resolved = await resolver.resolve(spec);
  const transport = resolved.ok ? resolved.value.transport : undefined;
  const proxy = transport?.kind === 'http' ? transport.proxy : undefined;
  const url = new URL(String(proxy));
  expect([url.host, url.username, decodeURIComponent(url.password)]).toEqual(['p.example:3128', 'me', value]);
  expect(learnt).toEqual(expect.arrayContaining([value, `me:${value}`]));
});

it('a program prints further headers, which replace those of the entry and are masked', async () => {
  const dir = tempDir();
  const { resolver, learnt } = newResolver();
  const resolve = async (printed: string): Promise<unknown> => {
    const headerCommand = [process.execPath, '-e', `process.stdout.write(${JSON.stringify(printed)})`];
    const url = 'https://e.org';
    const headers = { authorization: 'Bearer old', 'X-Own': 'own' };
    const resolved = await resolver.resolve(
      serverWith(dir, { command: undefined, url, headers, headerCommand }),
    );
    if (!resolved.ok) return resolved.error;
    const { transport } = resolved.value;
    return transport.kind === 'http' ? transport.headers : undefined;
  };
  expect(await resolve('{"Authorization":"Bearer new-token-1","X-Tenant":"t"}')).toEqual({
    ...{ Authorization: 'Bearer new-token-1', 'X-Own': 'own', 'X-Tenant': 't' },
  });
  expect(learnt).toContain('new-token-1');
  const invalid = (reason: string): unknown => ({ code: 'VALUE_INVALID', member: 'headerCommand', reason });
  expect(await resolve('Authorization: secret')).toEqual(invalid('it is not a JSON object'));
  expect(await resolve('["secret"]')).toEqual(invalid('it is not a JSON object'));
  expect(await resolve('{"A":1}')).toEqual(invalid('a value is not a string, or is empty'));
  expect(await resolve('{"A b":"c"}')).toEqual(invalid('a key is not a valid header name'));
  expect(await resolve('{"A":"b","a":"c"}')).toEqual(invalid('a header appears twice'));
  expect(await resolve('{"Mcp-Session-Id":"c"}')).toEqual(
    invalid('Assay sets the header mcp-session-id itself'),
  );
  expect(await resolve('{"A":"b\\r\\nC: d"}')).toEqual(
    invalid('a value contains a line break or another character that is not allowed in a header'),
  );
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`A${index}`, 'b']));
  expect(await resolve(JSON.stringify(many))).toEqual(invalid('it has more than 50 headers'));
});
