import { describe, expect, it } from 'vitest';
import { serverIn } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { startFakeIssuer } from '../support/fake-issuer.ts';
import { startGateway } from '../support/gateway.ts';
import { startGuarded } from '../support/guarded-server.ts';
import { send } from '../support/http.ts';
import { at, listAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { LOCAL_ISSUER, startSignIn } from '../support/sign-in.ts';

describe('a server that refuses only calls, with metadata for each tool', () => {
  it('stays usable, and `assay auth` starts from the challenge of the refused call', async () => {
    const issuer = await startFakeIssuer();
    const server = await startGuarded({ issuer, guards: 'calls', metadata: 'per_tool', openTools: ['read'] });
    const place = { config: writeConfig({ g: { url: server.url } }, LOCAL_ISSUER), home: tempDir() };
    const assay = await startGateway(place);
    expect(at(serverIn(await assay.settled(), 'g'), 'state')).toBe('up');
    const session = await openSession(assay.url);
    expect(await session.call('g_read')).toBe('done: read');
    const refused = await session.ask('tools/call', { name: 'g_write', arguments: {} });
    expect(at(refused, 'error', 'data')).toMatchObject({ code: 'AUTHORIZATION_NEEDED', server: 'g' });
    expect(JSON.stringify(refused)).not.toContain('resource_metadata');
    expect(await session.call('g_read')).toBe('done: read');
    expect(listAt(await session.ask('tools/list'), 'result', 'tools')).toHaveLength(3);

    const started = await startSignIn('g', { ...place, args: ['--explain'] });
    expect(server.lookups).toContain('/.well-known/oauth-protected-resource/mcp/write');
    const answer = await send(started.address, { method: 'GET' });
    await send(answer.headers.location ?? '', { method: 'GET' });
    expect(await started.ended).toBe(0);
    expect(started.stdout()).toMatch(/^1\. POST http.*\/mcp$/m);
    expect(started.stdout()).toMatch(/^ {3}code_verifier = \[masked\]$/m);
    await until('the call arrives', async () => {
      const again = await session.ask('tools/call', { name: 'g_write', arguments: {} });
      return at(again, 'error') === undefined ? true : undefined;
    });
    const listed = await runAssay(['auth', '--list', '--config', place.config, '--home', place.home]);
    expect(listed.stdout.trim().split('\n')).toHaveLength(2);
  });
});
