import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/endings.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { toolIn } from '../support/hints.ts';
import { at, listAt, namesAt, textAt, type Json } from '../support/json.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { overStdio } from '../support/toolsets.ts';
import { startHttp, type HttpFixture } from '../fixtures/http.ts';

const HOSTED = ['legacy', 'sse'] as const;
const SECRET = 'Bearer s3cr3t-of-the-gateway-0123456789';

interface World {
  readonly assay: Gateway;
  readonly admin: AdminClient;
  /** May administer, and run no command. */
  readonly limited: AdminClient;
  readonly home: string;
}

async function openWorld(servers = {}, home = tempDir()): Promise<World> {
  const token = await keepToken(home, `boss-${Date.now()}`, { scopes: ['admin', 'execute'] });
  const less = await keepToken(home, `limited-${Date.now()}`, { scopes: ['admin'] });
  const assay = await startGateway({ servers, home });
  await assay.settled();
  return { assay, admin: adminClient(assay, token), limited: adminClient(assay, less), home };
}

function statesOf(gateways: Json): readonly string[] {
  return listAt(gateways, 'gateways').map(
    (one) => `${textAt(one, 'name')} ${textAt(one, 'origin')} ${textAt(one, 'state')}`,
  );
}

describe('a registered gateway', () => {
  let world: World;
  const upstreams: HttpFixture[] = [];
  beforeAll(async () => {
    world = await openWorld({ plain: fixture('plain') });
    return async () => {
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    };
  });

  it.each(HOSTED)(
    'with a URL is detected to speak %s, and its tools exist when the request is answered',
    async (mode) => {
      const upstream = await startHttp(mode);
      upstreams.push(upstream);
      const made = await world.admin.post('/gateways', { name: `by-${mode}`, url: upstream.url });
      expect([made.status, at(made.json(), 'state'), at(made.json(), 'origin')]).toEqual([
        201,
        'up',
        'registered',
      ]);
      expect(Number(at(made.json(), 'toolCount'))).toBeGreaterThan(0);
      const listed = (await world.admin.get(`/tools?server=by-${mode}`)).json();
      expect(at(listed, 'total')).toBe(at(made.json(), 'toolCount'));
    },
  );

  it('with a command requires the scope execute, and is masked, encrypted and revealed to nobody', async () => {
    const { admin, limited, home } = world;
    const { entry } = filedServer([toolNamed('act')], { env: { TOKEN_OF_IT: SECRET } });
    const input = { name: 'made', ...entry };
    expect(verdictOf(await limited.post('/gateways', input))).toBe('403 SCOPE_MISSING');
    const codeSearch = { name: 'code', transport: 'codebase' };
    expect(verdictOf(await limited.post('/gateways', codeSearch))).toBe('403 SCOPE_MISSING');
    expect(verdictOf(await admin.post('/gateways', input))).toBe('201');
    expect(verdictOf(await limited.put('/gateways/made', { args: ['x'] }))).toBe('403 SCOPE_MISSING');
    expect(verdictOf(await limited.put('/gateways/made', { trust: true }))).toBe('200');
    const told = [
      (await admin.get('/gateways/made')).text,
      (await admin.get('/activity?limit=100')).text,
      world.assay.stderr(),
    ];
    expect(told.filter((text) => text.includes(SECRET))).toEqual([]);
    expect(at((await admin.get('/gateways/made')).json(), 'env')).toEqual(['TOKEN_OF_IT']);
    for (const file of ['assay.db', 'assay.db-wal', 'records.json'])
      await until(`${file} is written`, () => readFileSync(join(home, file)).length > 0 || undefined);
    const kept = ['assay.db', 'assay.db-wal', 'records.json'].map((file) =>
      readFileSync(join(home, file), 'latin1'),
    );
    expect(kept.some((text) => text.includes(SECRET))).toBe(false);
  });

  it('has a secret in its arguments masked in messages from the start', async () => {
    const input = {
      name: 'argued',
      command: 'no-such-command-anywhere',
      args: ['--api-key', 'Zx81Qw92Er73Ty64Ui55'],
    };
    const made = await world.admin.post('/gateways', input);
    const told = (await world.admin.get('/activity?limit=5')).text;
    expect([made.status, made.text.includes('Zx81'), told.includes('Zx81')]).toEqual([201, false, false]);
  });

  it('keeps a credential for the origin that it was given for', async () => {
    const [here, there] = [await startHttp('legacy'), await startHttp('legacy')];
    upstreams.push(here, there);
    const { admin } = world;
    await admin.post('/gateways', { name: 'moved', url: here.url, headers: { Authorization: SECRET } });
    const refused = await admin.put('/gateways/moved', { url: there.url });
    expect([verdictOf(refused), at(refused.json(), 'errors', 0, 'pointer')]).toEqual([
      '422 BODY_INVALID',
      '/url',
    ]);
    expect(there.seen).toEqual([]);
    const path = await admin.put('/gateways/moved', { url: `${here.url}?key=2` });
    expect(verdictOf(path)).toBe('200');
    expect(verdictOf(await admin.put('/gateways/moved', { url: there.url, headers: null }))).toBe('200');
    await until('the other one is asked', () => (there.seen.length > 0 ? true : undefined));
    expect(there.seen.map(({ headers }) => headers['authorization'])).toEqual(
      there.seen.map(() => undefined),
    );
  });

  it('keeps what was configured for it and its tools if its path or key changes', async () => {
    const upstream = await startHttp('legacy');
    upstreams.push(upstream);
    const { admin } = world;
    await admin.post('/gateways', { name: 'keyed', url: upstream.url, trust: true });
    const [tool] = listAt((await admin.get('/tools?server=keyed&limit=1')).json(), 'tools');
    const path = `/tools/${textAt(tool, 'id')}`;
    await admin.put(path, { enabled: false });
    expect(verdictOf(await admin.put('/gateways/keyed', { url: `${upstream.url}?key=2` }))).toBe('200');
    const there = (await admin.get(path)).json();
    expect([at(there, 'enabled'), at(there, 'trust')]).toEqual([false, { value: true, origin: 'operator' }]);
  });

  it('cannot have a name that is in use; one of the config file can be trusted, and nothing more', async () => {
    const { admin } = world;
    expect(verdictOf(await admin.post('/gateways', { name: 'plain', url: 'http://127.0.0.1:9/' }))).toBe(
      '409 GATEWAY_EXISTS',
    );
    expect(verdictOf(await admin.put('/gateways/plain', { url: 'http://127.0.0.1:9/' }))).toBe(
      '409 GATEWAY_READ_ONLY',
    );
    expect(verdictOf(await admin.delete('/gateways/plain'))).toBe('409 GATEWAY_READ_ONLY');
    expect(at((await admin.put('/gateways/plain', { trust: true })).json(), 'trust')).toEqual({
      value: true,
      origin: 'operator',
    });
  });
});

describe('a registration', () => {
  it('survives a restart, and is in the first list on stdio too', async () => {
    const { entry } = filedServer([toolNamed('act')]);
    const { admin, assay, home } = await openWorld();
    expect(verdictOf(await admin.post('/gateways', { name: 'made', ...entry }))).toBe('201');
    const { id } = await toolIn(admin, 'made', 'act');
    await assay.stop();
    const model = await overStdio({ servers: {}, home, view: { all: true } }, 'legacy');
    expect(await model.tools()).toEqual(['made_act']);
    await model.client.close();
    const again = await openWorld({}, home);
    expect((await toolIn(again.admin, 'made', 'act'))['id']).toBe(id);
  });

  it('yields to the config file if that has its name, and can be deleted', async () => {
    const { entry } = filedServer([toolNamed('act')]);
    const { admin, assay, home } = await openWorld();
    await admin.post('/gateways', { name: 'made', ...entry });
    await assay.stop();
    const again = await openWorld({ made: fixture('plain') }, home);
    const gateways = (await again.admin.get('/gateways')).json();
    expect(statesOf(gateways)).toEqual(['made config_file up']);
    expect(at(gateways, 'gateways', 0, 'shadows')).toBe(true);
    expect(verdictOf(await again.admin.delete('/gateways/made'))).toBe('204');
    expect(at((await again.admin.get('/gateways/made')).json(), 'shadows')).toBeUndefined();
  });

  it('is refused with its cause if its key is lost, until everything is given again', async () => {
    const { entry } = filedServer([toolNamed('act')]);
    const { admin, assay, home } = await openWorld();
    await admin.post('/gateways', { name: 'made', ...entry });
    await assay.stop();
    writeFileSync(join(home, 'encryption.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
    const again = await openWorld({}, home);
    const lost = (await again.admin.get('/gateways/made')).json();
    expect([at(lost, 'state'), at(lost, 'cause')]).toEqual([
      'refused',
      expect.stringContaining('another encryption key'),
    ]);
    const mended = await again.admin.put('/gateways/made', entry);
    expect([verdictOf(mended), at(mended.json(), 'state')]).toEqual(['200', 'up']);
    expect(namesAt((await again.admin.get('/tools')).json(), 'tools')).toEqual(['made_act']);
  });

  it('does not prevent a start if its copy in the home is damaged', async () => {
    const { admin, assay, home } = await openWorld({ plain: fixture('plain') });
    const { id } = await toolIn(admin, 'plain', 'echo');
    await admin.put(`/tools/${String(id)}`, { title: 'Said' });
    await assay.stop();
    const path = join(home, 'records.json');
    const text = readFileSync(path, 'utf8');
    for (const damaged of [text.replace('"records":[', '"records":[null,5,'), '{', ''] as const) {
      writeFileSync(path, damaged);
      const model = await overStdio(
        { servers: { plain: fixture('plain') }, home, view: { all: true } },
        'legacy',
      );
      expect(await model.tools()).toContain('plain_echo');
      await model.client.close();
    }
  });
});
