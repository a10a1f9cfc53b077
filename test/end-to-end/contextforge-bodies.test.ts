// Bodies as ContextForge's clients send them, and as GET returns them.
import { beforeAll, describe, expect, it } from 'vitest';
import { verdictOf } from '../support/admin.ts';
import { at, isObject, listAt, textAt, type Json } from '../support/json.ts';
import { fixture } from '../support/paths.ts';
import { openRestWorld, type RestWorld } from '../support/rest-tools.ts';
import { startHttp } from '../fixtures/http.ts';
import { endLater } from '../support/endings.ts';

let world: RestWorld;
let url: string;
beforeAll(async () => {
  const upstream = await startHttp('modern');
  endLater(() => upstream.close());
  ({ url } = upstream);
  world = await openRestWorld({ servers: { plain: fixture('plain') } });
});

const warned = (answer: Json): readonly string[] =>
  listAt(answer, 'warnings').map((one) => `${textAt(one, 'code')} ${textAt(one, 'pointer')}`);

const without = (answer: Json, ...names: readonly string[]): Json =>
  isObject(answer)
    ? Object.fromEntries(Object.entries(answer).filter(([name]) => !names.includes(name)))
    : answer;

describe('a gateway', () => {
  it('is registered with ignored fields, which the response lists', async () => {
    const made = await world.admin.post('/gateways', {
      name: 'theirs',
      url,
      description: 'A server',
      transport: 'STREAMABLEHTTP',
      auth_type: 'bearer',
      auth_token: 'a-token-of-theirs-0123456789',
      tags: ['a'],
      team_id: null,
      visibility: 'public',
    });
    expect(verdictOf(made)).toBe('201');
    expect(warned(made.json())).toEqual(['ignored /description', 'ignored /visibility']);
    expect(at(made.json(), 'tags')).toEqual(['a']);
    expect(at(made.json(), 'headers')).toEqual(['Authorization']);
    expect(made.text).not.toContain('a-token-of-theirs');
  });

  it('is still refused with a field that no gateway uses', async () => {
    const refused = await world.admin.post('/gateways', { name: 'x', url, visiblity: 'public' });
    expect([verdictOf(refused), at(refused.json(), 'errors', 0, 'pointer')]).toEqual([
      '422 BODY_INVALID',
      '/visiblity',
    ]);
  });

  it('accepts a complete GET response back, and changes what was edited', async () => {
    const read = (await world.admin.get('/gateways/theirs')).json();
    const same = await world.admin.put('/gateways/theirs', read);
    expect([verdictOf(same), same.json()]).toEqual(['200', read]);
    const edited = await world.admin.put('/gateways/theirs', { ...(read as object), timeoutMs: 5_000 });
    expect([verdictOf(edited), at(edited.json(), 'timeoutMs')]).toEqual(['200', 5_000]);
  });

  it('that is disabled stays stored without a connection, through changes, until it is enabled', async () => {
    const off = (await world.admin.put('/gateways/theirs', { enabled: false })).json();
    expect([at(off, 'enabled'), at(off, 'state'), at(off, 'toolCount'), at(off, 'url')]).toEqual([
      false,
      'disabled',
      0,
      url,
    ]);
    expect((await world.admin.get('/tools?server=theirs')).json()).toMatchObject({ tools: [] });
    expect(verdictOf(await world.admin.post('/gateways/theirs/refresh', {}))).toBe('502 SERVER_UNAVAILABLE');
    expect(verdictOf(await world.admin.post('/gateways', { name: 'theirs', url }))).toBe(
      '409 GATEWAY_EXISTS',
    );
    expect(at((await world.admin.put('/gateways/theirs', { timeoutMs: 6_000 })).json(), 'enabled')).toBe(
      false,
    );
    const on = (await world.admin.put('/gateways/theirs', { enabled: true })).json();
    expect([at(on, 'enabled'), at(on, 'state'), at(on, 'timeoutMs')]).toEqual([true, 'up', 6_000]);
  });
});

describe('a tool', () => {
  it("is created from a wrapped body with ContextForge's fields, and the response lists ignored ones", async () => {
    const made = await world.admin.post('/tools', {
      tool: {
        name: 'their-tool',
        displayName: 'Their tool',
        url: 'http://127.0.0.1:1/x',
        integration_type: 'REST',
        request_type: 'GET',
        auth_type: 'basic',
        auth_username: 'ada',
        auth_password: 'a-password-0123456789',
        tags: [],
      },
      team_id: 'team',
      visibility: 'team',
    });
    expect(verdictOf(made)).toBe('201');
    expect(warned(made.json())).toEqual([
      'ignored /team_id',
      'ignored /visibility',
      'ignored /tool/displayName',
    ]);
    expect([at(made.json(), 'method'), at(made.json(), 'headers')]).toEqual(['GET', ['Authorization']]);
  });

  it('accepts a GET response back, without treating its hints as overrides', async () => {
    for (const name of ['their-tool', 'plain.echo']) {
      const read = (await world.admin.get(`/tools/${name}`)).json();
      const same = await world.admin.put(`/tools/${name}`, read);
      expect([verdictOf(same), same.json()]).toEqual(['200', read]);
    }
  });

  it('is found by its id, its public name and its namespaced name', async () => {
    const { admin } = world;
    const ids = await Promise.all(
      ['plain_echo', 'plain.echo'].map(async (name) =>
        textAt((await admin.get(`/tools/${name}`)).json(), 'id'),
      ),
    );
    expect(new Set([...ids, textAt((await admin.get(`/tools/${ids[0]}`)).json(), 'id')]).size).toBe(1);
    const put = await admin.put('/tools/plain_echo', {
      annotations: { readOnlyHint: true },
      visibility: 'team',
    });
    expect([at(put.json(), 'annotations', 'readOnlyHint'), warned(put.json())]).toEqual([
      true,
      ['ignored /visibility'],
    ]);
    expect(without(put.json(), 'warnings')).toEqual((await admin.get('/tools/plain.echo')).json());
    expect(verdictOf(await admin.delete('/tools/local.their-tool'))).toBe('204');
  });
});
