import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adminClient, verdictOf } from '../support/admin.ts';
import { startAssay } from '../support/assay.ts';
import { documentedApi, PETS } from '../support/documented-api.ts';
import { at, listAt, textAt } from '../support/json.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture } from '../support/paths.ts';
import { listedTool, startRestWorld } from '../support/rest-tools.ts';
import { rawRows } from '../support/stores.ts';

const POLL = { timeout: scaledMs(10_000), interval: 20 };

/** The maximum file size of a process: the effect of a full disk, without another user. */
function limitFiles(pid: number, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
}

function hasPrlimit(): boolean {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(hasPrlimit())('a serve that can no longer write', () => {
  it('revokes rights at once, says that this is not stored, and grants none', async () => {
    const { assay, admin, home } = await startRestWorld(startAssay, { servers: { plain: fixture('plain') } });
    const made = (await admin.post('/tokens', { name: 'leaked', scopes: ['read'] })).json();
    const leaked = adminClient(assay, textAt(made, 'token'));
    // It is known as soon as the gate has read it.
    await expect.poll(async () => verdictOf(await leaked.get('/tools')), POLL).toBe('200');
    const tools = listAt((await leaked.get('/tools')).json(), 'tools');
    const toolId = textAt(tools[0], 'id');
    const toolName = textAt(tools[0], 'name');
    expect(verdictOf(await admin.ask('PATCH', '/gateways/plain', { body: { trust: true } }))).toBe('200');
    expect(await listedTool(assay.url, toolName)).toBeDefined();
    const own = await admin.post('/tools', { name: 'own', url: 'http://127.0.0.1:9/one', method: 'GET' });
    const more = { name: 'more', openapi: (await documentedApi(PETS)).url, trust: true };
    expect(verdictOf(await admin.post('/gateways', more))).toBe('201');

    limitFiles(assay.pid, 1);
    const revoking = `/tokens/${textAt(made, 'id')}`;
    const disabling = [`/tools/${toolId}`, { enabled: false }] as const;
    const distrusting = ['/gateways/plain', { trust: false }] as const;
    const together = [
      [`/tools/${textAt(own.json(), 'id')}`, { url: 'http://127.0.0.1:9/two', enabled: false }],
      ['/gateways/more', { timeoutMs: 5_000, trust: false }],
    ] as const;
    for (const asked of ['first', 'again']) {
      const revoked = await admin.delete(revoking);
      expect([asked, verdictOf(revoked)]).toEqual([asked, '503 REVOCATION_UNSAVED']);
      expect(textAt(revoked.json(), 'detail')).toContain(
        'until this process ends, but that could not be stored',
      );
      for (const [path, body] of [disabling, distrusting, ...together])
        expect([path, verdictOf(await admin.ask('PATCH', path, { body }))]).toEqual([
          path,
          '503 REVOCATION_UNSAVED',
        ]);
      expect(verdictOf(await leaked.get('/tools'))).toBe('401 TOKEN_REQUIRED');
      expect(await listedTool(assay.url, toolName)).toBeUndefined();
      expect(await listedTool(assay.url, 'own')).toBeUndefined();
      for (const name of ['plain', 'more']) {
        const gateway = (await admin.get(`/gateways/${name}`)).json();
        expect([name, at(gateway, 'trust', 'value')]).toEqual([name, false]);
      }
      // Nothing that depends on it is valid.
      expect(at((await admin.get('/gateways/more')).json(), 'timeoutMs')).not.toBe(5_000);
      expect(at((await admin.get(together[0][0])).json(), 'url')).toBe('http://127.0.0.1:9/one');
    }
    expect(verdictOf(await admin.post('/tokens', { name: 'more' }))).toBe('503 STORE_UNAVAILABLE');
    expect(listAt((await admin.get('/tokens')).json(), 'tokens')).toHaveLength(2);

    limitFiles(assay.pid, 'unlimited');
    expect(verdictOf(await admin.delete(revoking))).toBe('204');
    for (const [path, body] of [disabling, distrusting])
      expect(verdictOf(await admin.ask('PATCH', path, { body }))).toBe('200');
    const actions = listAt((await admin.get('/activity')).json(), 'activity').map((one) =>
      textAt(one, 'action'),
    );
    expect(actions.slice(0, 3)).toEqual(['gateway.trust', 'tool.update', 'token.revoke']);
    expect(verdictOf(await leaked.get('/tools'))).toBe('401 TOKEN_REQUIRED');
    const rows = await rawRows(
      { home, databaseUrl: undefined },
      "select revoked_ms from assay_tokens where name = 'leaked'",
    );
    expect(rows).toEqual([{ revoked_ms: expect.any(Number) as unknown }]);
  });

  it('refuses what would be lost if its store is deleted, and says so in /health', async () => {
    const { assay, admin, home } = await startRestWorld(startAssay, { servers: { plain: fixture('plain') } });
    const made = (await admin.post('/tokens', { name: 'known', scopes: ['read'] })).json();
    execFileSync('rm', [join(home, 'assay.db')]);
    const refused = await admin.post('/toolsets', { name: 'lost' });
    expect(verdictOf(refused)).toBe('503 STORE_MOVED');
    expect(textAt(refused.json(), 'detail')).toContain('was deleted or moved while Assay was running');
    const health = (await admin.get('/health')).json();
    expect([at(health, 'status'), textAt(health, 'storeFault')]).toEqual([
      'degraded',
      textAt(refused.json(), 'detail'),
    ]);
    // The known state stays valid.
    expect(verdictOf(await adminClient(assay, textAt(made, 'token')).get('/tools'))).toBe('200');
  });
});
