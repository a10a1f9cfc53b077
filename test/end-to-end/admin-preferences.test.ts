import { beforeAll, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../packages/gateway/src/core/settings.ts';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, type Json } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

let admin: AdminClient;
let assay: Gateway;
let token: string;
const home = tempDir();
const start = async (): Promise<void> => {
  assay = await startGateway({
    servers: {},
    home,
    env: { ASSAY_LIMITS_SESSIONS: '5', HYPERTOOL_ENABLE_CONFIG_TOOLS_MENU: 'false' },
    settings: { settings: { 'notes.review': 'always' } },
  });
  admin = adminClient(assay, token);
};
beforeAll(async () => {
  token = await keepToken(home, 'boss', { scopes: ['admin'] });
  await start();
});

const find = (preferences: Json, key: string): Json | undefined =>
  listAt(preferences, 'preferences').find((one) => at(one, 'key') === key);
const preference = async (key: string): Promise<Json | undefined> =>
  find((await admin.get('/preferences')).json(), key);

describe('/preferences', () => {
  it('shows every setting with its value, its source and what fixes it', async () => {
    const { preferences } = (await admin.get('/preferences')).json() as { readonly preferences: Json };
    expect(listAt(preferences).map((one) => at(one, 'key'))).toEqual(Object.keys(SETTINGS));
    const takesEffect = 'next start';
    const about = expect.any(String);
    expect(await preference('limits.sessions')).toEqual({
      ...{
        key: 'limits.sessions',
        value: 5,
        running: 5,
        default: 10_000,
        origin: 'environment',
        isFixed: true,
      },
      ...{
        fixedBy: 'ASSAY_LIMITS_SESSIONS',
        takesEffect,
        env: 'ASSAY_LIMITS_SESSIONS',
        changedBy: 'admin',
        about,
        kind: { type: 'whole', min: 1, max: 1_000_000 },
      },
    });
    expect(await preference('notes.review')).toMatchObject({
      kind: { type: 'choice', of: ['auto', 'always', 'never'] },
    });
    expect(await preference('enableConfigToolsMenu')).toMatchObject({
      value: false,
      isFixed: true,
      fixedBy: 'HYPERTOOL_ENABLE_CONFIG_TOOLS_MENU',
    });
    expect(await preference('notes.review')).toMatchObject({
      origin: 'config_file',
      fixedBy: 'settings["notes.review"]',
    });
    expect(await preference('limits.questionMs')).toMatchObject({
      value: 600_000,
      origin: 'default',
      isFixed: false,
    });
  });

  it('keeps a value for the next start, and resets it to its default', async () => {
    const put = await admin.put('/preferences', {
      preferences: { 'limits.drain_ms': 50, 'modes.names': 'toolset-menu' },
    });
    expect(verdictOf(put)).toBe('200');
    const changed = { value: 50, running: 10_000, origin: 'store', isFixed: false };
    expect(find(put.json(), 'limits.drainMs')).toMatchObject(changed);
    await assay.stop();
    await start();
    expect(await preference('limits.drainMs')).toMatchObject({ ...changed, running: 50 });
    const back = await admin.ask('PATCH', '/preferences', { body: { 'limits.drainMs': null } });
    expect(find(back.json(), 'limits.drainMs')).toMatchObject({
      value: 10_000,
      running: 50,
      origin: 'default',
    });
    expect(await preference('modes.names')).toMatchObject({ value: 'toolset-menu', running: 'toolset-menu' });
  });

  it('refuses what environment or config file fix, and says where', async () => {
    for (const [body, by] of [
      [{ limits: undefined, 'limits.sessions': 7 }, 'ASSAY_LIMITS_SESSIONS'],
      [{ 'notes.review': null }, 'settings["notes.review"]'],
    ] as const) {
      const put = await admin.put('/preferences', { 'limits.drainMs': 1_234, ...body });
      expect(verdictOf(put)).toBe('409 SETTING_OVERRIDDEN');
      expect(at(put.json(), 'detail')).toContain(by);
      expect(at(put.json(), 'errors', 0, 'pointer')).toBe(`/${Object.keys(body).at(-1)!}`);
      expect(await preference('limits.drainMs')).not.toMatchObject({ value: 1_234 });
    }
  });

  it('refuses everything if one value is invalid', async () => {
    const errorsOf = async (body: object): Promise<Json | undefined> => {
      const put = await admin.put('/preferences', { 'limits.drainMs': 4_321, ...body });
      expect(verdictOf(put)).toBe('422 BODY_INVALID');
      expect(await preference('limits.drainMs')).not.toMatchObject({ value: 4_321 });
      return at(put.json(), 'errors');
    };
    expect(await errorsOf({ 'limits.connections': 0 })).toEqual([
      { pointer: '/limits.connections', detail: 'it must be at least 1', code: 'invalid' },
    ]);
    expect(await errorsOf({ 'limits.connections': 1.5 })).toMatchObject([{ pointer: '/limits.connections' }]);
    expect(await errorsOf({ 'modes.names': 'x' })).toEqual([
      {
        pointer: '/modes.names',
        detail: 'it must be "configuration-mode" or "toolset-menu"',
        code: 'invalid',
      },
    ]);
    expect(await errorsOf({ 'limits.conections': 5 })).toEqual([
      {
        pointer: '/limits.conections',
        detail: 'there is no such field; did you mean "limits.connections"',
        code: 'unknown',
      },
    ]);
  });

  it('lets one of several concurrent writers win', async () => {
    const etag = (await admin.get('/preferences')).headers.etag!;
    const answers = await Promise.all(
      [1, 2, 3, 4].map((value) =>
        admin.put('/preferences', { 'limits.questionMs': value }, { 'if-match': etag }),
      ),
    );
    expect(answers.map(verdictOf).sort()).toEqual([
      '200',
      ...Array<string>(3).fill('412 PRECONDITION_FAILED'),
    ]);
  });
});
