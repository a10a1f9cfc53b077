import { beforeAll, describe, expect, it } from 'vitest';
import { verdictOf } from '../support/admin.ts';
import { connectClient } from '../support/clients.ts';
import { textAt, at, type Json } from '../support/json.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { callText, listedTool, openRestWorld, serveApi, type RestWorld } from '../support/rest-tools.ts';

/** How long a replica on a busy machine may take to see what another one wrote; it polls four times a second. */
const WITHIN_MS = scaledMs(10_000);
const POLL = { timeout: WITHIN_MS, interval: 20 };
const KEY = Buffer.alloc(32, 5).toString('base64');

/** Two replicas on one store: with PostgreSQL, separate homes and the same key; with SQLite, one home. */
async function twoReplicas(kind: 'SQLite' | 'PostgreSQL'): Promise<readonly [RestWorld, RestWorld]> {
  const isShared = kind === 'PostgreSQL';
  const env: Record<string, string> = isShared
    ? { ASSAY_DATABASE_URL: await newDatabase(), ASSAY_ENCRYPTION_KEY: KEY }
    : {};
  const home = tempDir();
  const servers = { plain: fixture('plain') };
  const one = await openRestWorld({ servers, home, env });
  return [one, await openRestWorld({ servers, home: isShared ? tempDir() : home, env })];
}

describe.each(['SQLite', 'PostgreSQL'] as const)('two replicas on one store in %s', (kind) => {
  let replicas: readonly [RestWorld, RestWorld];
  beforeAll(async () => {
    replicas = await twoReplicas(kind);
  });

  it("see each other's REST tools being created, changed and deleted", async () => {
    const api = await serveApi();
    const [one, two] = replicas;
    let changes = 0;
    const client = await connectClient(two.assay, 'legacy', {}, (unconnected) =>
      unconnected.setNotificationHandler('notifications/tools/list_changed', () => {
        changes += 1;
      }),
    );
    const listed = async (): Promise<boolean> =>
      (await client.listTools()).tools.some(({ name }) => name === 'shared');
    expect(await listed()).toBe(false);
    const auth = { type: 'bearer', token: 'bearer-Qw92Er73' };
    const made = await one.admin.post('/tools', {
      name: 'shared',
      url: `${api.url}/one`,
      method: 'GET',
      auth,
    });
    expect(verdictOf(made)).toBe('201');
    const id = textAt(made.json(), 'id');
    const there = (): Promise<Json | undefined> => listedTool(two.assay.url, 'shared');
    await expect.poll(there, POLL).toMatchObject({ annotations: { readOnlyHint: true } });
    await expect.poll(() => changes, POLL).toBe(1);
    expect(await listed()).toBe(true);
    expect(await callText(two.assay, 'shared')).toBe('{"ok":true}');
    expect(api.seen.at(-1)).toMatchObject({
      target: '/one',
      headers: { authorization: 'Bearer bearer-Qw92Er73' },
    });
    expect(at((await two.admin.get(`/tools/${id}`)).json(), 'url')).toBe(`${api.url}/one`);

    expect(verdictOf(await two.admin.post('/tools', { name: 'shared', url: `${api.url}/x` }))).toBe(
      '409 TOOL_EXISTS',
    );
    expect(verdictOf(await two.admin.put(`/tools/${id}`, { url: `${api.url}/two`, method: 'DELETE' }))).toBe(
      '200',
    );
    await expect
      .poll(async () => at(await listedTool(one.assay.url, 'shared'), 'annotations', 'destructiveHint'), POLL)
      .toBe(true);
    expect(await callText(one.assay, 'shared')).toBe('{"ok":true}');
    expect(api.seen.at(-1)).toMatchObject({ method: 'DELETE', target: '/two' });

    await two.admin.delete(`/tools/${id}`);
    await expect.poll(async () => (await one.admin.get(`/tools/${id}`)).status, POLL).toBe(404);
    expect(await listed()).toBe(false);
  });

  it('let only one of two concurrent requests create a tool with the same name', async () => {
    const [one, two] = replicas;
    const answers = await Promise.all(
      [one, two].map(({ admin }, index) =>
        admin.post('/tools', { name: 'raced', url: `http://nowhere.invalid/${index}`, method: 'GET' }),
      ),
    );
    expect(answers.map(verdictOf).toSorted()).toEqual(['201', '409 TOOL_EXISTS']);
    const kept = answers.find(({ status }) => status === 201)!.json();
    for (const { admin } of [one, two])
      await expect
        .poll(async () => at((await admin.get(`/tools/${textAt(kept, 'id')}`)).json(), 'url'), POLL)
        .toBe(at(kept, 'url'));
  });
});
