import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminClient } from '../support/admin.ts';
import { serverIn, startAssay, type Gateway } from '../support/assay.ts';
import { kill, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { toolsOf, untilContradicted } from '../support/hints.ts';
import { at, parseJson, textAt, type Json, type JsonObject } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { fixture, ROOT, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { CORPUS } from '../../packages/verify/test/corpus.ts';

const isLinux = process.platform === 'linux';

/** Processes whose command line names a folder, including those that start a sandbox. */
function processesAbout(folder: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
      } catch {
        return false;
      }
    })
    .map(Number);
}

describe.skipIf(!isLinux)('a server with "sandbox": "twin"', () => {
  let assay: Gateway;
  let session: LegacySession;
  const folder = tempDir();
  const site = createServer((_, answer) => answer.end('a page'));
  const listening = async (): Promise<number> => {
    if (!site.listening) await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    return (site.address() as AddressInfo).port;
  };
  afterAll(() => site.close());
  beforeAll(async () => {
    writeFileSync(join(folder, 'note'), 'a note');
    const env = { SECRET_OF_IT: 'its own' };
    const network = [`localhost:${await listening()}`];
    assay = await startGateway({
      servers: { two: fixture('twofaced', [folder], { sandbox: 'twin', network, env }) },
      env: { SECRET_OF_ASSAY: 'not for servers' },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });

  const call = (tool: string, args: JsonObject): Promise<Json> =>
    session.ask('tools/call', { name: `two_${tool}`, arguments: args });

  it('starts no second process before a read-only tool is called', () => {
    expect(processesAbout(folder)).toHaveLength(1);
  });

  it('can read but not write with its read-only tools', async () => {
    expect(textOf(await call('look', { do: 'read', path: 'note' }))).toBe('a note');
    const written = await call('look', { do: 'write', path: 'loot' });
    expect(at(written, 'result', 'isError')).toBe(true);
    expect(textOf(written)).toContain(
      `stopped tool "look" of server "two" from changing "${join(folder, 'loot')}": a read-only tool cannot`,
    );
    expect(at(written, 'result', '_meta', 'assay/refusal')).toMatchObject({
      ...{ code: 'SANDBOX_DENIED', rights: 'read' },
      denial: { kind: 'write', target: join(folder, 'loot') },
    });
    expect(existsSync(join(folder, 'loot'))).toBe(false);
  });

  it('stores a denied write as evidence against the hint, and records an audit event', async () => {
    const admin = adminClient(assay, readFileSync(join(assay.home, 'admin-token'), 'utf8').trim());
    const hint = await untilContradicted(admin, 'two', 'look');
    expect(at(hint, 'evidence', 0)).toMatchObject({
      ...{ effect: 'denied', target: join(folder, 'loot') },
      args: JSON.stringify({ do: 'write', path: 'loot' }),
    });
    const { activity } = parseJson((await admin.get('/activity?targetKind=tool')).text) as {
      readonly activity: readonly JsonObject[];
    };
    expect(activity.map(({ action, after }) => [action, after])).toEqual([
      ['tool.deny', { kind: 'write', target: join(folder, 'loot'), isObserved: true }],
    ]);
  });

  it('relays an error that only resembles a sandbox denial', async () => {
    const message = "EROFS: read-only file system, open '/etc/x'";
    expect(textOf(await call('search', { do: 'fail', path: message }))).toBe(message);
  });

  it('is found to be refused a change that its text does not speak of; its own error is passed on', async () => {
    const message = 'The note could not be saved.';
    expect(textOf(await call('search', { do: 'save', path: 'loot' }))).toBe(message);
    const admin = adminClient(assay, readFileSync(join(assay.home, 'admin-token'), 'utf8').trim());
    const hint = await untilContradicted(admin, 'two', 'search');
    expect(at(hint, 'evidence', 0)).toMatchObject({ effect: 'denied', target: join(folder, 'loot') });
  });

  it('can write with its other tools, and its read-only tools see the change at once', async () => {
    expect(textOf(await call('change', { do: 'write', path: 'new' }))).toBe('written');
    expect(textOf(await call('look', { do: 'read', path: 'new' }))).toBe('x');
  });

  it('has network access only in its open-world tools', async () => {
    const closed = await call('look', { do: 'connect', port: assay.port });
    expect(at(closed, 'result', 'isError')).toBe(true);
    expect(textOf(closed)).toContain('ECONNREFUSED');
    const site = `http://localhost:${await listening()}/`;
    expect(textOf(await call('search', { do: 'fetch', path: site }))).toBe('a page');
    expect(textOf(await call('look', { do: 'fetch', path: 'http://example.com/' }))).toContain(
      'from connecting to "example.com": a closed-world tool has no network',
    );
  });

  it('reaches only allowed hosts with its open-world tools, and no port of this machine', async () => {
    expect(textOf(await call('search', { do: 'connect', port: assay.port }))).toContain('ECONNREFUSED');
    for (const host of [`localhost:${assay.port}`, '169.254.169.254:80', 'example.com:80']) {
      const refused = await call('search', { do: 'fetch', path: `http://${host}/` });
      expect(at(refused, 'result', '_meta', 'assay/refusal')).toMatchObject({
        ...{ code: 'SANDBOX_DENIED', rights: 'read_network' },
        denial: { kind: 'connect', target: host },
      });
    }
  });

  it("cannot see Assay's home or environment variables that its entry does not set", async () => {
    expect(textOf(await call('look', { do: 'exists', path: assay.home }))).toBe('false');
    expect(textOf(await call('look', { do: 'exists', path: folder }))).toBe('true');
    const seen = textOf(await call('look', { do: 'environment' }));
    expect(at(parseJson(seen), 'SECRET_OF_IT')).toBe('its own');
    expect(Object.keys(parseJson(seen) as JsonObject).sort()).toEqual(
      expect.not.arrayContaining(['SECRET_OF_ASSAY', 'USER']),
    );
  });

  it("shows each tool's guarantee in the REST API", async () => {
    const token = readFileSync(join(assay.home, 'admin-token'), 'utf8').trim();
    const admin = adminClient(assay, token);
    const { tools } = parseJson((await admin.get('/tools')).text) as {
      readonly tools: readonly JsonObject[];
    };
    const kinds = await Promise.all(
      tools.map(async ({ id, originalName }) => {
        const one = parseJson((await admin.get(`/tools/${String(id)}`)).text);
        return [originalName, at(one, 'guarantee', 'kind')];
      }),
    );
    expect(Object.fromEntries(kinds)).toEqual({ look: 'read', search: 'read_network', change: 'none' });
  });
});

describe.skipIf(!isLinux)('the twin of a server', () => {
  const start = async (): Promise<{ assay: Gateway; session: LegacySession; folder: string }> => {
    const folder = tempDir();
    const servers = { two: fixture('twofaced', [folder], { sandbox: 'twin' }) };
    const assay = await startGateway({ servers });
    await assay.settled();
    return { assay, session: await openSession(assay.url), folder };
  };
  const call = (session: LegacySession, tool: string, args: JsonObject): Promise<Json> =>
    session.ask('tools/call', { name: `two_${tool}`, arguments: args });
  const hasBoth = (folder: string): Promise<true> =>
    until('the server and its twin run', () => (processesAbout(folder).length > 1 ? true : undefined));
  const onlyServer = (folder: string): Promise<number> =>
    until('only the server runs', () => {
      const [pid, ...others] = processesAbout(folder);
      return others.length === 0 ? pid : undefined;
    });

  it('fails the call with the cause if it crashes, and is restarted by the next call', async () => {
    const { session, folder } = await start();
    const crashed = await call(session, 'look', { do: 'crash' });
    expect(at(crashed, 'error', 'data')).toMatchObject({
      ...{ code: 'SERVER_ENDED', causeCode: 'PROCESS_EXITED' },
      sent: { effect: 'unknown', times: 1 },
    });
    await onlyServer(folder);
    expect(textOf(await call(session, 'look', { do: 'pid' }))).toMatch(/^\d+$/);
  });

  it('is restarted after a crash on a denied late write, which is reported with its path', async () => {
    const { assay, session, folder } = await start();
    expect(textOf(await call(session, 'look', { do: 'write_later', path: 'late' }))).toBe('soon');
    const admin = adminClient(assay, readFileSync(join(assay.home, 'admin-token'), 'utf8').trim());
    const event = await until('the refused write is reported', async () => {
      const page = parseJson((await admin.get('/activity?targetKind=tool')).text);
      return at(page, 'activity', 0);
    });
    expect(at(event, 'after')).toEqual({ kind: 'write', target: join(folder, 'late'), isObserved: true });
    expect(textOf(await call(session, 'look', { do: 'pid' }))).toMatch(/^\d+$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('ends with its server, and its pending call fails', async () => {
    const { session, folder } = await start();
    await call(session, 'look', { do: 'pid' });
    const hanging = call(session, 'look', { do: 'hang' });
    // The hanging call was sent before this one, so it has arrived.
    await call(session, 'look', { do: 'pid' });
    const pid = Number(textOf(await call(session, 'change', { do: 'pid' })));
    kill(pid, 'SIGKILL');
    const failed = await hanging;
    expect(at(failed, 'error', 'data')).toMatchObject({ code: 'SERVER_ENDED', causeCode: 'SERVER_GONE' });
    await onlyServer(folder);
  });

  it('keeps running a tool that stopped being read-only until an operator has reviewed the change', async () => {
    const annotations = { readOnlyHint: true, openWorldHint: false };
    const server = filedServer([toolNamed('act', { annotations })]);
    const filed = { ...server.entry, sandbox: 'twin' };
    const home = tempDir();
    const token = await keepToken(home, 'boss', { scopes: ['admin'] });
    const assay = await startGateway({ servers: { filed }, home });
    await assay.settled();
    const admin = adminClient(assay, token);
    const guaranteeIs = (kind: string, drift: string): Promise<JsonObject> =>
      until(`the guarantee is ${kind}`, async () => {
        const act = (await toolsOf(admin, `server=filed&drift=${drift}`)).get('act');
        const view = act && (await admin.get(`/tools/${textAt(act, 'id')}`)).json();
        return view !== undefined && at(view, 'guarantee', 'kind') === kind
          ? (view as JsonObject)
          : undefined;
      });
    await guaranteeIs('read', 'none');
    server.have([toolNamed('act', { annotations: { readOnlyHint: false, openWorldHint: true } })]);
    await admin.post('/gateways/filed/refresh');
    const act = await guaranteeIs('read', 'any');
    await admin.post(`/tools/${textAt(act, 'id')}/review`);
    await guaranteeIs('none', 'none');
  });

  const MOMENTS = ['starting', 'calling', 'idle'] as const;

  it.each(['twin', 'server'])(
    'leaves no call pending and runs none twice if the %s is killed, and later calls work',
    async (victim) => {
      const { session, folder } = await start();
      writeFileSync(join(folder, 'note'), 'a note');
      for (const moment of MOMENTS) {
        const pid = Number(textOf(await call(session, 'change', { do: 'pid' })));
        if (moment !== 'starting') await call(session, 'look', { do: 'pid' });
        const doing = moment === 'calling' ? { do: 'hang' } : { do: 'read', path: 'note' };
        const called = moment === 'idle' ? undefined : call(session, 'look', doing);
        await hasBoth(folder);
        // This call was sent after the hanging one, so that has arrived.
        if (moment === 'calling') await call(session, 'look', { do: 'pid' });
        const killed = victim === 'server' ? [pid] : processesAbout(folder).filter((one) => one !== pid);
        for (const one of killed) kill(one, 'SIGKILL');
        const answer = await called;
        if (moment === 'calling') expect(at(answer, 'error', 'data', 'code')).toBe('SERVER_ENDED');
        if (at(answer, 'error') !== undefined)
          expect(at(answer, 'error', 'data', 'sent', 'times') ?? 1).toBe(1);
        // A call that still reaches the killed process fails, too.
        const next = await until('a call works', async () => {
          const again = await call(session, 'look', { do: 'read', path: 'note' });
          return at(again, 'error') === undefined ? again : undefined;
        });
        expect(textOf(next)).toBe('a note');
        await until('the killed processes are gone', () =>
          processesAbout(folder).some((one) => killed.includes(one)) ? undefined : true,
        );
      }
    },
  );

  it.each(MOMENTS)('ends if Assay is killed while the twin is %s', async (moment) => {
    const folder = tempDir();
    const servers = { two: fixture('twofaced', [folder], { sandbox: 'twin' }) };
    const assay = await startAssay({ servers });
    await assay.settled();
    const session = await openSession(assay.url);
    if (moment !== 'starting') await call(session, 'look', { do: 'pid' });
    const hanging =
      moment === 'idle' ? 'failed' : call(session, 'look', { do: 'hang' }).catch(() => 'failed');
    await hasBoth(folder);
    kill(assay.pid, 'SIGKILL');
    expect(await hanging).toBe('failed');
    await until('nothing is left', () => (processesAbout(folder).length === 0 ? true : undefined));
  });

  it('blocks every write of dishonest tools in the `assay verify` corpus to its folder', async () => {
    const folder = tempDir();
    for (const name of ['notes.txt', 'table.csv', 'page.md']) writeFileSync(join(folder, name), `${name}\n`);
    const script = join(ROOT, 'test', 'verify', 'corpus-server.ts');
    const env = { CORPUS_ANYWHERE: '1' };
    const corpus = { command: process.execPath, args: [script, folder], sandbox: 'twin', env };
    const assay = await startGateway({ servers: { corpus } });
    await assay.settled();
    const session = await openSession(assay.url);
    const liars = CORPUS.filter(({ hints, lies }) => hints.readOnlyHint === true && lies.length > 0);
    expect(liars.length).toBeGreaterThan(8);
    for (const { name } of liars) {
      const repeats = name === 'writes_at_the_fourth_call' ? 5 : 1;
      for (let n = 0; n < repeats; n += 1)
        await session.ask('tools/call', { name: `corpus_${name}`, arguments: { force: true } });
      // A late write ends the twin.
      if (name === 'writes_late') await onlyServer(folder);
    }
    expect(readdirSync(folder).sort()).toEqual(['notes.txt', 'page.md', 'table.csv']);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('notes.txt\n');
  });
});

it.skipIf(!isLinux)(
  'a twin is refused if its server keeps state in memory, until an operator accepts that',
  async () => {
    const home = tempDir();
    const [folder, token] = [tempDir(), await keepToken(home, 'boss', { scopes: ['admin', 'execute'] })];
    const assay = await startGateway({ home });
    const admin = adminClient(assay, token);
    const { command, args } = fixture('twofaced', [folder]);
    const env = { DOES: 'count' };
    await admin.post('/gateways', { name: 'two', ...{ command, args: args ?? [], env, sandbox: 'twin' } });
    const view = async (): Promise<JsonObject> => (await admin.get('/gateways/two')).json() as JsonObject;
    const isUp = (): Promise<unknown> =>
      until('the server is up', async () => ((await view())['state'] === 'up' ? true : undefined));
    await isUp();
    const session = await openSession(assay.url);
    const look = (): Promise<Json> => session.ask('tools/call', { name: 'two_look', arguments: {} });
    expect([textOf(await look()), (await view())['stateful']]).toEqual(['1', undefined]);
    await admin.post('/gateways/two/verify');
    await until('the state is reported', async () => (await view())['stateful']);
    expect((await view())['stateful']).toEqual(['look', 'search', 'change']);
    const refused = await look();
    expect(at(refused, 'result', '_meta', 'assay/refusal')).toMatchObject({
      ...{ code: 'SANDBOX_UNAVAILABLE', gap: 'state' },
    });
    expect(textOf(refused)).toContain('add "separate_state" to "sandboxAccepts"');
    const found = (await toolsOf(admin, 'server=two')).get('look') ?? {};
    const guarantee = async (): Promise<unknown> =>
      at((await admin.get(`/tools/${textAt(found, 'id')}`)).json(), 'guarantee', 'kind');
    expect(await guarantee()).toBe('refused');
    // Its other tools are not affected: they run in the server itself.
    expect(textOf(await session.ask('tools/call', { name: 'two_change', arguments: {} }))).toBe('1');
    await admin.ask('PATCH', '/gateways/two', { body: { sandboxAccepts: ['separate_state'] } });
    await isUp();
    expect([await guarantee(), (await view())['sandboxAccepts']]).toEqual(['read', ['separate_state']]);
    expect(textOf(await look())).toBe('1');
  },
);

it.skipIf(!isLinux)(
  'with "sandbox": "strict", a server can change only its roots, and its read-only tools cannot write',
  async () => {
    const [folder, outside] = [tempDir(), tempDir()];
    const servers = { two: fixture('twofaced', [folder], { sandbox: 'strict' }) };
    const assay = await startGateway({ servers });
    await assay.settled();
    const session = await openSession(assay.url);
    const call = (tool: string, path: string): Promise<Json> =>
      session.ask('tools/call', { name: `two_${tool}`, arguments: { do: 'write', path } });
    expect(textOf(await call('change', 'new'))).toBe('written');
    const refused = await call('change', join('..', basename(outside), 'loot'));
    expect(at(refused, 'result', 'isError')).toBe(true);
    expect(textOf(refused)).toContain(join(outside, 'loot'));
    expect(at(await call('look', 'loot'), 'result', '_meta', 'assay/refusal', 'code')).toBe('SANDBOX_DENIED');
    expect([readdirSync(folder), readdirSync(outside)]).toEqual([['new'], []]);
  },
);

it.skipIf(!isLinux)(
  'with "sandbox": "strict", a server does not widen its roots by a link that it made',
  async () => {
    const [folder, victim] = [tempDir(), tempDir()];
    writeFileSync(join(victim, 'note'), 'a secret');
    const args = [folder, join(folder, 'data')];
    const assay = await startGateway({ servers: { two: fixture('twofaced', args, { sandbox: 'strict' }) } });
    await assay.settled();
    const session = await openSession(assay.url);
    const call = (tool: string, given: JsonObject): Promise<Json> =>
      session.ask('tools/call', { name: `two_${tool}`, arguments: given });
    const pid = (): Promise<string> =>
      until('the server answers', async () => {
        const answer = await call('change', {});
        return at(answer, 'error') === undefined ? textOf(answer) : undefined;
      });
    const to = join('..', basename(victim));
    expect(textOf(await call('change', { do: 'link', path: 'data', to }))).toBe('linked');
    const before = await pid();
    await call('change', { do: 'crash' });
    expect(await pid()).not.toBe('');
    expect(before).not.toBe('');
    expect(at(await call('change', { do: 'write', path: join('data', 'loot') }), 'result', 'isError')).toBe(
      true,
    );
    for (const tool of ['change', 'look'])
      expect(textOf(await call(tool, { do: 'read', path: join('data', 'note') }))).toContain('ENOENT');
    expect(readdirSync(victim)).toEqual(['note']);
  },
);

it.skipIf(!isLinux)(
  'with "sandbox": "strict", a root may contain the home of Assay with its config file',
  async () => {
    const root = tempDir();
    const home = join(root, '.assay');
    mkdirSync(home, { mode: 0o700 });
    const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
    const config = join(home, 'mcp.json');
    writeFileSync(config, '{"mcpServers":{}}', { mode: 0o600 });
    const assay = await startGateway({ home, config });
    const { command, args } = fixture('twofaced', [root]);
    const entry = { name: 'two', command, args: args ?? [], sandbox: 'strict' };
    expect((await adminClient(assay, token).post('/gateways', entry)).status).toBe(201);
    const session = await openSession(assay.url);
    const call = (given: JsonObject): Promise<Json> =>
      session.ask('tools/call', { name: 'two_change', arguments: given });
    await until('the server is up', async () => {
      const answer = await call({ do: 'write', path: 'new' });
      return at(answer, 'error') === undefined ? answer : undefined;
    });
    expect(readdirSync(root).sort()).toEqual(['.assay', 'new']);
    expect(textOf(await call({ do: 'read', path: join('.assay', 'store.db') }))).toContain('ENOENT');
    expect(textOf(await call({ do: 'write', path: join('.assay', 'mcp.json') }))).toContain('EROFS');
  },
);

it('a sandboxed server refuses read-only calls without bubblewrap, and says what to install', async () => {
  const folder = tempDir();
  const servers = {
    twin: fixture('twofaced', [folder], { sandbox: 'twin' }),
    strict: fixture('twofaced', [folder], { sandbox: 'strict' }),
    node: fixture('twofaced', [folder], { sandbox: 'twin', sandboxAccepts: ['node_permission'] }),
  };
  const assay = await startAssay({ servers, env: { PATH: tempDir() } });
  for (const name of ['twin', 'node'])
    await until('the one without a sandbox is up', async () =>
      at(serverIn(await assay.health(), name), 'state') === 'up' ? true : undefined,
    );
  const session = await openSession(assay.url);
  const call = (name: string): Promise<Json> =>
    session.ask('tools/call', { name, arguments: { do: 'write', path: name } });
  const refused = await call('twin_look');
  expect(at(refused, 'result', 'isError')).toBe(true);
  expect(at(refused, 'result', '_meta', 'assay/refusal', 'code')).toBe('SANDBOX_UNAVAILABLE');
  expect(textOf(refused)).toMatch(isLinux ? /Install bubblewrap: "apt-get install bubblewrap"/ : /Linux/);
  expect(textOf(await call('twin_change'))).toBe('written');
  const strict = serverIn(await assay.health(), 'strict');
  expect(at(strict, 'causeCode')).toBe('SANDBOX_UNAVAILABLE');
  expect(readdirSync(folder)).toEqual(['twin_change']);
  // If the operator accepts that, Node's permission model replaces the sandbox.
  const look = (args: JsonObject): Promise<Json> =>
    session.ask('tools/call', { name: 'node_look', arguments: args });
  expect(textOf(await look({ do: 'read', path: 'twin_change' }))).toBe('x');
  expect(at(await look({ do: 'write', path: 'loot' }), 'result', '_meta', 'assay/refusal')).toMatchObject({
    ...{ code: 'SANDBOX_DENIED', rights: 'read', denial: { kind: 'write' } },
  });
  expect(
    at(await look({ do: 'connect', port: assay.port }), 'result', '_meta', 'assay/refusal'),
  ).toMatchObject({
    ...{ code: 'SANDBOX_DENIED', denial: { kind: 'connect' } },
  });
  expect(readdirSync(folder)).toEqual(['twin_change']);
  const admin = adminClient(assay, readFileSync(join(assay.home, 'admin-token'), 'utf8').trim());
  const kinds = [...(await toolsOf(admin, 'server=node'))].map(async ([name, tool]) => {
    const one = parseJson((await admin.get(`/tools/${textAt(tool, 'id')}`)).text);
    return [name, at(one, 'guarantee', 'kind')];
  });
  expect(Object.fromEntries((await Promise.all(kinds)) as [string, Json][])).toEqual({
    ...{ look: 'node_permission', search: 'node_permission', change: 'none' },
  });
  await until('serve says so', () =>
    assay
      .stdout()
      .includes('Calls that must run in a sandbox of twin, strict are refused, as none can start: ')
      ? true
      : undefined,
  );
});
