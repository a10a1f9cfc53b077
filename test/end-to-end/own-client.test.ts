import { beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { fixture } from '../support/paths.ts';

const start = async (publicUrl?: string): Promise<string> => {
  const assay = await startGateway({
    servers: { plain: fixture('plain') },
    env: { ...(publicUrl !== undefined && { ASSAY_AUTH_PUBLIC_URL: publicUrl }), ASSAY_MCP_ACCESS: 'token' },
  });
  return `http://127.0.0.1:${assay.port}`;
};

describe('Assay as a client of authorization servers', () => {
  let base = '';
  beforeAll(async () => {
    base = await start('https://gw.example/assay');
  });

  it('is described at its public URL for everybody, and caches may keep that', async () => {
    for (const path of ['/oauth/client.json', '/assay/oauth/client.json']) {
      const answer = await send(base + path, { method: 'GET' });
      expect([answer.status, answer.type, answer.headers['cache-control']]).toEqual([
        ...[200, 'application/json', 'public, max-age=3600'],
      ]);
      expect(answer.json()).toMatchObject({
        client_id: 'https://gw.example/assay/oauth/client.json',
        redirect_uris: ['https://gw.example/assay/oauth/callback'],
        token_endpoint_auth_method: 'none',
      });
    }
    expect((await send(`${base}/oauth/client.json`, { method: 'POST' })).status).toBe(405);
  });

  it('has a page for the browser that repeats nothing of its address', async () => {
    const answer = await send(`${base}/oauth/callback?code=%3Cscript%3E&state=s`, { method: 'GET' });
    expect([answer.status, answer.headers['cache-control'], answer.headers['referrer-policy']]).toEqual([
      ...[200, 'no-store', 'no-referrer'],
    ]);
    expect(answer.text).toContain('assay auth');
    expect(answer.text).not.toContain('script');
  });

  it.each([undefined, 'http://gw.example', 'https://localhost:8443'])(
    'has neither if its public URL is %s',
    async (publicUrl) => {
      const other = await start(publicUrl);
      for (const path of ['/oauth/client.json', '/oauth/callback'])
        expect((await send(other + path, { method: 'GET' })).status, path).toBe(404);
    },
  );
});
