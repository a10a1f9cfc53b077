import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLocalApi } from '../../packages/gateway/src/app/local-api.ts';
import { serverIn } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { at, listAt, parseJson } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { sendTo, socketOf } from '../support/local-socket.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { bearer } from '../support/tokens.ts';

const modeOf = (path: string): string => (lstatSync(path).mode & 0o777).toString(8);
/** An in-process command cannot use this store; a gateway has its own. */
const NO_STORE = { ASSAY_DATABASE_URL: 'postgres://127.0.0.1:1/none' };
const ORDINARY = '65534';

describe('the socket of a home', () => {
  it('admits the local operator without a token, and only this user can reach it', async () => {
    const { home, port } = await startGateway();
    const socket = socketOf(home);
    expect(socket).toBe(join(home, 'run', 'serve.sock'));
    expect([modeOf(dirname(socket)), modeOf(socket)]).toEqual(['700', '600']);
    expect((await sendTo(socket, '/tokens')).status).toBe(200);
    const created = await sendTo(socket, '/tokens', {
      ...{ method: 'POST', body: { name: 'ci', scopes: ['execute', 'admin'] } },
    });
    expect(created.status).toBe(201);
    expect((await sendTo(socket, '/health')).text).toContain('"servers":[');
    expect((await send(`http://127.0.0.1:${port}/tokens`, { method: 'GET' })).status).toBe(401);
  });

  it('has a limited number of connections', async () => {
    const { home } = await startGateway();
    const open = Array.from({ length: 321 }, () => connect(socketOf(home)));
    const closed = open.map((one) => once(one, 'close'));
    await Promise.race(closed);
    for (const one of open) one.destroy();
    await Promise.all(closed);
    expect((await sendTo(socketOf(home), '/tokens')).status).toBe(200);
  });

  it('leaves no token in serve.json that can do more than read and call', async () => {
    const { home, port } = await startGateway();
    const token = String(at(parseJson(readFileSync(join(home, 'serve.json'), 'utf8')), 'token'));
    const url = `http://127.0.0.1:${port}/tokens`;
    const headers = { ...bearer(token), 'content-type': 'application/json' };
    expect((await send(url, { method: 'GET', headers })).status).toBe(200);
    expect((await send(url, { method: 'POST', headers, body: '{"name":"x"}' })).status).toBe(403);
  });

  it.each([
    ['the origin of a page', { origin: 'http://localhost:4444' }],
    ['the metadata of a page', { 'sec-fetch-site': 'same-origin' }],
    ['the host of a page', { host: 'evil.example' }],
  ])('refuses a request with %s', async (_what, headers) => {
    const { home } = await startGateway();
    expect((await sendTo(socketOf(home), '/tokens', { headers })).status).toBe(403);
    expect((await sendTo(socketOf(home), '/health', { headers })).status).toBe(403);
  });

  it.each(['/tokens', 'http://localhost/tokens', '//localhost/tokens', '/%2e%2e/tokens'])(
    'gives its identity to nothing that comes over TCP: %s',
    async (path) => {
      const { port, home } = await startGateway();
      for (const host of ['localhost', `127.0.0.1:${port}`, socketOf(home)]) {
        const answer = await new Promise<number>((resolve, reject) => {
          const { request } = process.getBuiltinModule('node:http');
          const asked = request({ ...{ host: '127.0.0.1', port, path, agent: false }, headers: { host } });
          asked.once('error', reject).once('response', ({ statusCode = 0 }) => resolve(statusCode));
          asked.end();
        });
        expect([400, 401, 403]).toContain(answer);
      }
    },
  );

  it('is replaced if its process died, and never taken from a live one', async () => {
    const home = tempDir();
    const path = join(home, 'run', 'serve.sock');
    mkdirSync(dirname(path));
    const listen = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['-e', listen]), 'exit');
    expect(lstatSync(path).isSocket()).toBe(true);
    const first = await startGateway({ home });
    expect(socketOf(home)).toBe(path);
    const second = await startGateway({ home });
    const other = socketOf(home);
    expect(other).toBe(join(home, 'run', 'serve-2.sock'));
    for (const one of [path, other]) expect((await sendTo(one, '/tokens')).status).toBe(200);
    await second.stop();
    expect(existsSync(other)).toBe(false);
    expect((await sendTo(path, '/tokens')).status).toBe(200);
    await first.stop();
    expect(existsSync(path)).toBe(false);
  });

  it('is not behind a link that somebody planted', async () => {
    const home = tempDir();
    const [run, victim] = [join(home, 'run'), join(tempDir(), 'victim')];
    mkdirSync(run, { mode: 0o755 });
    symlinkSync(victim, join(run, 'serve.sock'));
    await startGateway({ home });
    expect(socketOf(home)).toBe(join(run, 'serve-2.sock'));
    expect([existsSync(victim), modeOf(run)]).toEqual([false, '700']);
  });

  it('is missing if its folder is a link, and then commands work by themselves', async () => {
    const home = tempDir();
    const elsewhere = tempDir();
    symlinkSync(elsewhere, join(home, 'run'));
    const gateway = await startGateway({ home });
    expect(gateway.stderr()).toContain('is not a folder of this user');
    expect(existsSync(join(elsewhere, 'serve.sock'))).toBe(false);
    expect((await runAssay(['token', 'list', '--home', home])).code).toBe(0);
  });

  it('is in $XDG_RUNTIME_DIR if the path of the home is too long', async () => {
    const home = join(tempDir(), 'a-folder-with-a-long-name'.repeat(5));
    mkdirSync(home);
    const runtime = tempDir();
    const gateway = await startGateway({ home, env: { XDG_RUNTIME_DIR: runtime } });
    const socket = socketOf(home);
    expect(socket.startsWith(join(runtime, 'assay-'))).toBe(true);
    expect([modeOf(dirname(socket)), modeOf(socket)]).toEqual(['700', '600']);
    const listed = await runAssay(['token', 'list', '--json', '--home', home], { env: NO_STORE });
    expect([listed.code, listed.stderr]).toEqual([0, '']);
    await gateway.stop();
    expect(existsSync(dirname(socket))).toBe(false);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'cannot be reached by another user, not even if the home is open',
    async () => {
      const { home } = await startGateway();
      const socket = socketOf(home);
      for (let folder = home; folder !== '/'; folder = dirname(folder))
        if ((statSync(folder).mode & 0o005) === 0) chmodSync(folder, 0o755);
      const code = `require('net').connect(${JSON.stringify(socket)}, () => console.log('reached')).on('error', ({ code }) => console.log(code))`;
      const as = ['--reuid', ORDINARY, '--regid', ORDINARY, '--clear-groups', process.execPath, '-e', code];
      const child = spawn('setpriv', as, { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      await once(child, 'close');
      expect(output.trim()).toBe('EACCES');
    },
  );
});

/** A server whose tools connect to the socket, as a process that Assay confines. */
const CONNECTING = `const net = require('net'), [path] = process.argv.slice(2);
const tools = [['look', true], ['change', false]].map(([name, readOnlyHint]) => ({ name, annotations: { readOnlyHint }, inputSchema: { type: 'object' } }));
const reach = () => new Promise((done) => { try { net.connect(path, () => done('reached')).on('error', ({ code }) => done(code)); } catch ({ code }) { done(code); } });
require('readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: async () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }),
    'tools/list': async () => ({ tools }),
    'tools/call': async () => ({ content: [{ type: 'text', text: await reach() }] }),
  };
  const result = await results[method]?.();
  console.log(JSON.stringify(result ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
});`;

describe('a process that Assay confines', () => {
  it.skipIf(process.platform !== 'linux')('cannot connect to the socket of its home', async () => {
    const home = tempDir();
    const script = join(tempDir(), 'connecting.cjs');
    writeFileSync(script, CONNECTING);
    const args = [script, join(home, 'run', 'serve.sock')];
    const command = { command: process.execPath, args };
    const gateway = await startGateway({
      home,
      servers: {
        strict: { ...command, sandbox: 'strict' },
        twin: { ...command, sandbox: 'twin' },
        free: command,
      },
    });
    expect(at(serverIn(await gateway.settled(), 'strict'), 'state')).toBe('up');
    const session = await openSession(gateway.url);
    const reached = async (name: string): Promise<string> =>
      textOf(await session.ask('tools/call', { name, arguments: {} }));
    // Without a sandbox it may: it runs as the user.
    expect(await reached('free_look')).toBe('reached');
    for (const name of ['strict_look', 'strict_change', 'twin_look'])
      expect([name, await reached(name)]).toEqual([name, expect.not.stringMatching(/^reached$/)]);
  });
});

describe('token commands with a running gateway', () => {
  it('are answered by it, as the local operator', async () => {
    const { home, config } = { home: tempDir(), config: writeConfig({ plain: fixture('plain') }) };
    await startGateway({ home, config });
    const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
      runAssay(['token', ...args, '--home', home], { env: NO_STORE });
    const created = await run('create', 'ci', '--scopes', 'read, mcp', '--json');
    expect(created.code).toBe(0);
    const id = String(at(parseJson(created.stdout), 'id'));
    expect(
      listAt(parseJson((await run('list', '--json')).stdout), 'tokens').map((one) => at(one, 'name')),
    ).toContain('ci');
    expect((await run('link')).stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/admin\//);
    expect((await run('revoke', 'ci')).stdout).toBe(`Revoked "ci" (id ${id}).\n`);
    const audit = await sendTo(socketOf(home), `/activity?targetKind=token&targetId=${id}`);
    const events = listAt(parseJson(audit.text), 'activity');
    expect(events.map((one) => [at(one, 'subject'), at(one, 'action')])).toEqual([
      ['local', 'token.revoke'],
      ['local', 'token.create'],
    ]);
  });

  it('fail in the same words as without it', async () => {
    const alone = tempDir();
    const { home } = await startGateway();
    for (const args of [
      ['create', ''],
      ['create', 'ci', '--scopes', 'write,mcp,all'],
      ['create', 'ci', '--expires', 'soon'],
      ['revoke', 'nobody'],
      ['link', '--url', 'ftp://x'],
    ]) {
      const [one, other] = [
        await runAssay(['token', ...args, '--home', alone]),
        await runAssay(['token', ...args, '--home', home], { env: NO_STORE }),
      ];
      expect([args, other]).toEqual([args, one]);
      expect([one.code, one.stdout]).toEqual([2, '']);
    }
  });

  it('say that they do not use one of another version, and work by themselves', async () => {
    const { home } = await startGateway();
    const path = join(home, 'serve.json');
    const announced = readFileSync(path, 'utf8');
    writeFileSync(path, announced.replace(/"version":"[^"]+"/, '"version":"0.0.1"'));
    const listed = await runAssay(['token', 'list', '--json', '--home', home]);
    expect(listed.code).toBe(0);
    expect(listed.stderr.split('\n')[0]).toBe(
      'note: the running gateway of this home is not used: it is of version 0.0.1, not 0.1.0.',
    );
  });
});

it('a request that only a running gateway can answer says so without one', async () => {
  const api = openLocalApi({ home: tempDir() }, undefined);
  const refused = await api.send({ method: 'POST', path: '/gateways/plain/refresh' });
  await api.close();
  expect(refused).toMatchObject({ ok: false, error: { code: 'SERVER_UNREACHED' } });
});
