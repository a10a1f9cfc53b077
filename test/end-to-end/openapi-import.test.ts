// An OpenAPI document that an operator imports, by the REST API and by the command line.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { documentedApi, LOOPBACK, PETS, type DocumentedApi } from '../support/documented-api.ts';
import { until } from '../support/endings.ts';
import { short, toolIn } from '../support/hints.ts';
import { at, listAt, namesAt, parseJson, textAt, type JsonObject } from '../support/json.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { meet } from '../support/toolsets.ts';

const SECRET = 'k3y-of-the-pets-0123456789abcdef';
const KEYED: JsonObject = {
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  security: [{ key: [] }],
};

describe('POST /gateways with a document', () => {
  let api: DocumentedApi;
  let other: DocumentedApi;
  let home: string;
  let assay: Gateway;
  let admin: AdminClient;
  let limited: AdminClient;
  beforeAll(async () => {
    api = await documentedApi(PETS, KEYED);
    other = await documentedApi(PETS, KEYED);
    home = tempDir();
    const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
    const less = await keepToken(home, 'limited', { scopes: ['admin'] });
    assay = await startGateway({ home, env: LOOPBACK });
    admin = adminClient(assay, token);
    limited = adminClient(assay, less);
  });

  it('by its URL creates its tools, and the response lists what was skipped', async () => {
    const made = await limited.post('/gateways', {
      name: 'pets',
      openapi: api.url,
      credentials: { key: SECRET },
    });
    expect([made.status, made.json()]).toMatchObject([
      201,
      {
        name: 'pets',
        origin: 'registered',
        transport: 'openapi',
        openapi: api.url,
        credentials: ['key'],
        reachable: true,
        toolCount: 3,
        trust: { value: false, origin: 'default' },
        skipped: [{ what: 'TRACE /pets' }],
      },
    ]);
    const { call } = await meet({ url: assay.url }, 'modern');
    expect(await call('pets_list_pets')).toMatchObject({ isError: false });
    expect(api.seen.at(-1)).toMatchObject({ line: 'GET /pets', key: `Bearer ${SECRET}` });
  });

  it('keeps its credentials secret: in responses, in the log, in audit events and on disk', async () => {
    const kept = ['assay.db', 'assay.db-wal', 'records.json'].map((file) => join(home, file));
    for (const path of kept) await until(`${path} is written`, () => existsSync(path) || undefined);
    const told = [
      (await admin.get('/gateways/pets')).text,
      (await admin.get('/activity?limit=100')).text,
      assay.stderr(),
      ...kept.map((path) => readFileSync(path, 'latin1')),
    ];
    expect(told.filter((text) => text.includes(SECRET))).toEqual([]);
  });

  it('by a path requires the scope execute, and so does changing it to one', async () => {
    const input = { name: 'filed', openapi: api.path };
    expect(verdictOf(await limited.post('/gateways', input))).toBe('403 SCOPE_MISSING');
    expect(
      verdictOf(
        await limited.ask('PATCH', '/gateways/pets', { body: { openapi: api.path, credentials: null } }),
      ),
    ).toBe('403 SCOPE_MISSING');
    const sneaked = [
      'file:///etc/hostname',
      ' /etc/hostname',
      'HTTPS.json',
      './x',
      'http:/../../etc/hostname',
      '${HOME:-/etc/hostname}',
    ];
    for (const openapi of sneaked)
      expect([openapi, verdictOf(await limited.post('/gateways', { name: 'sneaked', openapi }))]).toEqual([
        openapi,
        expect.stringMatching(/^(?:403 SCOPE_MISSING|422 BODY_INVALID)$/),
      ]);
    const made = await admin.post('/gateways', input);
    expect([made.status, at(made.json(), 'trust', 'value')]).toEqual([201, true]);
  });

  it.each<[says: string, body: JsonObject, pointer: string]>([
    ['another document', { openapi: 'http://127.0.0.1:9/pets.json' }, '/openapi'],
    ['another base', { baseUrl: 'http://127.0.0.1:9/' }, '/baseUrl'],
  ])('keeps its credentials for the origin that they were given for: %s', async (_, body, pointer) => {
    const refused = await admin.ask('PATCH', '/gateways/pets', { body });
    expect([verdictOf(refused), at(refused.json(), 'errors', 0, 'pointer')]).toEqual([
      '422 BODY_INVALID',
      pointer,
    ]);
  });

  it("keeps its credentials for its base URL, and not for the document's server when that is removed", async () => {
    const input = { name: 'based', openapi: other.url, baseUrl: api.origin, credentials: { key: SECRET } };
    expect(verdictOf(await admin.post('/gateways', input))).toBe('201');
    const refused = await admin.ask('PATCH', '/gateways/based', { body: { baseUrl: null } });
    expect(verdictOf(refused)).toBe('422 BODY_INVALID');
    const { call } = await meet({ url: assay.url }, 'modern');
    await call('based_list_pets');
    expect([api.seen.at(-1)?.key, other.seen]).toEqual([`Bearer ${SECRET}`, []]);
    const body = { baseUrl: null, credentials: { key: 'another-one' } };
    expect(verdictOf(await admin.ask('PATCH', '/gateways/based', { body }))).toBe('200');
    await call('based_list_pets');
    expect(other.seen.at(-1)?.key).toBe('Bearer another-one');
  });

  it.each<[says: string, body: JsonObject, pointer: string]>([
    ['a password in its URL', { openapi: 'https://a:b@example.com/x.json' }, '/openapi'],
    ['another scheme', { openapi: 'ftp://example.com/x.json' }, '/openapi'],
    ['no document', { openapi: '' }, '/openapi'],
    ['a base that is no URL', { openapi: 'https://example.com/x.json', baseUrl: 'here' }, '/baseUrl'],
    ['too many bytes', { openapi: 'https://example.com/x.json', maxBytes: 1e9 }, '/maxBytes'],
    ['a command beside it', { openapi: 'https://example.com/x.json', command: 'x' }, '/'],
  ])('is refused with %s, and nothing of it is stored', async (_, body, pointer) => {
    const refused = await admin.post('/gateways', { name: 'wrong', ...body });
    expect(verdictOf(refused)).toBe('422 BODY_INVALID');
    expect(textAt(refused.json(), 'errors', 0, 'pointer').startsWith(pointer)).toBe(true);
    expect(verdictOf(await admin.get('/gateways/wrong'))).toBe('404 SERVER_UNKNOWN');
  });

  it('can be deleted, and recreated with what was configured for its tools', async () => {
    const input = { name: 'filed', openapi: api.path };
    const path = `/tools/${textAt(await toolIn(admin, 'filed', 'drop_pet'), 'id')}`;
    await admin.put(path, { enabled: false });
    expect(verdictOf(await admin.delete('/gateways/filed'))).toBe('204');
    expect(verdictOf(await admin.get(path))).toBe('404 TOOL_UNKNOWN');
    await admin.post('/gateways', input);
    expect(at((await admin.get(path)).json(), 'enabled')).toBe(false);
  });
});

describe('assay openapi', () => {
  const home = tempDir();
  const config = writeConfig({});
  const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
    runAssay(['openapi', ...args, '--config', config, '--home', home], { env: LOOPBACK });
  let api: DocumentedApi;
  beforeAll(async () => {
    api = await documentedApi(PETS, KEYED);
  });

  it('reports the created tools with their hints, and what was skipped and why', async () => {
    const { code, stdout, stderr } = await run(api.path, '--credential', `key=${SECRET}`);
    expect([code, stdout.trim().split('\n').at(-1), stderr.trim()]).toEqual([
      0,
      'pets: 3 tools made, 1 skipped.',
      'skipped TRACE /pets: TRACE echoes the request, including secrets',
    ]);
    expect(stdout).toMatch(/pets_list_pets +read-only.* List the pets/);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it('--json prints the same as data', async () => {
    const { code, stdout } = await run(api.path, '--json');
    const told = parseJson(stdout);
    expect([code, at(told, 'source', 'name'), namesAt(told, 'tools')]).toEqual([
      0,
      'pets',
      ['pets_list_pets', 'pets_add_pet', 'pets_drop_pet'],
    ]);
    expect(listAt(told, 'skipped')).toHaveLength(1);
  });

  it('again imports again: what the document has now is there, and overrides are kept', async () => {
    const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
    const assay = await startGateway({ config, home, env: LOOPBACK });
    const admin = adminClient(assay, token);
    await assay.settled();
    const path = `/tools/${textAt(await toolIn(admin, 'pets', 'add_pet'), 'id')}`;
    await admin.put(path, { annotations: { idempotentHint: true } });
    api.have({ ...PETS, 'GET /toys': { operationId: 'list_toys' } }, KEYED);
    const { code, stdout } = await run(api.path);
    expect([code, stdout.trim().split('\n').at(-1)]).toEqual([0, 'pets: 4 tools made, 1 skipped.']);
    const { call, tools } = await meet({ url: assay.url }, 'legacy');
    await until('the running one has it too', async () =>
      (await tools()).includes('pets_list_toys') ? true : undefined,
    );
    const tool = (await admin.get(path)).json();
    expect(short((hint) => at(tool, 'annotations', hint))).toBe('--++');
    // What a later import does not name stays as it was set.
    await call('pets_list_toys');
    expect(api.seen.at(-1)).toEqual({ line: 'GET /toys', key: `Bearer ${SECRET}`, body: null });
    await assay.stop();
  });

  it('creates tools of the included operations only, also of a later version of the document', async () => {
    const trimmed = await documentedApi(PETS);
    const filter = ['--include', '/pets*', 'tag:toys', '--exclude', 'DELETE /*'];
    const namesOf = (stdout: string): readonly string[] => namesAt(parseJson(stdout), 'tools');
    expect(namesOf((await run(trimmed.url, '--name', 'trimmed', ...filter, '--json')).stdout)).toEqual([
      'trimmed_list_pets',
      'trimmed_add_pet',
    ]);
    trimmed.have({
      ...PETS,
      'GET /toys': { operationId: 'list_toys', tags: ['toys'] },
      'DELETE /toys': { operationId: 'drop_toys', tags: ['toys'] },
      'GET /prices': { operationId: 'list_prices' },
    });
    expect(namesOf((await run(trimmed.url, '--name', 'trimmed', '--json')).stdout)).toEqual([
      'trimmed_list_pets',
      'trimmed_add_pet',
      'trimmed_list_toys',
    ]);
    const wrong = await run(trimmed.url, '--name', 'trimmed', '--include', 'pets');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('"tag:pets", "/pets/*"')]);
  });

  it('by a URL is available in a running Assay at once, named and trusted as requested', async () => {
    const token = await keepToken(home, 'second', { scopes: ['admin'] });
    const assay = await startGateway({ config, home, env: LOOPBACK });
    const admin = adminClient(assay, token);
    const { code } = await run(api.url, '--name', 'zoo', '--trust');
    expect(code).toBe(0);
    const told = await until('it stands', async () => {
      const answer = await admin.get('/gateways/zoo');
      return at(answer.json(), 'reachable') === true ? answer.json() : undefined;
    });
    expect(told).toMatchObject({ openapi: api.url, trust: { value: true, origin: 'operator' } });
    // What a later import does not name stays.
    expect((await run(api.url, '--name', 'zoo')).code).toBe(0);
    expect(at((await admin.get('/gateways/zoo')).json(), 'trust', 'value')).toBe(true);
    const removed = await run('zoo', '--remove');
    expect([removed.code, removed.stdout.trim()]).toEqual([0, 'Removed zoo.']);
    await until('it is gone', async () =>
      (await admin.get('/gateways/zoo')).status === 404 ? true : undefined,
    );
  });

  it.each<[says: string, args: () => readonly string[], code: number, said: RegExp]>([
    ['is not there', () => ['/no/such/file.json'], 4, /no such file/],
    [
      'is at an address that no setting lets in',
      () => ['http://10.0.0.1/x.json'],
      2,
      /ASSAY_HTTP_ALLOW_PRIVATE/,
    ],
    ['has a credential that is none', () => [api.path, '--credential', 'key'], 2, /--credential/],
    ['has no scheme of that name', () => ['nobody', '--remove'], 2, /nobody/],
  ])('of a document that %s fails, says why, and stores nothing of it', async (_, args, code, said) => {
    const done = await run(...args());
    expect([done.code, done.stdout]).toEqual([code, '']);
    expect(done.stderr).toMatch(said);
    const again = await run('file', '--remove');
    expect(again.code).not.toBe(0);
  });

  it('of another document under the name of an existing source does not replace it', async () => {
    const namesake = await documentedApi({ 'GET /others': { operationId: 'list_others' } });
    const done = await run(namesake.path);
    expect([done.code, done.stdout]).toEqual([2, '']);
    expect(done.stderr).toContain('A gateway named "pets" already exists.');
    expect((await run(api.path)).stdout).toContain('pets_list_pets');
  });

  it('treats a key with a colon in it as a key', async () => {
    const keyed = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } };
    const colon = await documentedApi(PETS, { ...KEYED, components: keyed });
    expect((await run(colon.path, '--name', 'colon', '--credential', 'key=id:secret')).code).toBe(0);
    const done = await runAssay(['call', 'colon_list_pets', '{}', '--config', config, '--home', home], {
      env: LOOPBACK,
    });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(colon.seen.at(-1)).toMatchObject({ line: 'GET /pets', key: 'id:secret' });
  });

  it('of a document that no longer exists fails, and leaves its source unchanged', async () => {
    const bare = await documentedApi(PETS);
    expect((await run(bare.url, '--name', 'bare')).code).toBe(0);
    expect((await run(`${bare.origin}/gone.json`, '--name', 'bare')).code).toBe(4);
    const listed = await runAssay(['tools', '--config', config, '--home', home], { env: LOOPBACK });
    expect(listed.stdout).toContain('bare_list_pets');
    rmSync(api.path);
    const done = await run(api.path);
    expect([done.code, done.stderr]).toEqual([4, expect.stringContaining('no such file')]);
    expect((await run('pets', '--remove')).code).toBe(0);
  });
});
