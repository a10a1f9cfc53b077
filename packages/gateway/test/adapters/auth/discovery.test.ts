import { describe, expect, it } from 'vitest';
import { openFetchFor } from '../../../src/adapters/auth/authorization-server.ts';
import { discover } from '../../../src/adapters/auth/discovery.ts';
import { startFakeIssuer } from '../../../../../test/support/fake-issuer.ts';
import { RULES } from '../../../../../test/support/sign-in-place.ts';

describe('the configured issuer', () => {
  it('counts also if the server names none and has metadata of its own', async () => {
    const [issuer, server] = [await startFakeIssuer(), await startFakeIssuer()];
    const auth = { clientId: 'own', clientSecret: 'secret', issuer: issuer.url };
    const url = new URL(`${server.url}/mcp`);
    const fetching = await openFetchFor({ url, chooser: 'config', auth }, RULES);
    const found = await discover({ url, auth, challenge: undefined, fetching });
    await fetching.close();
    expect(found.metadata?.token_endpoint).toBe(`${issuer.url}/token`);
    expect(found.authorizationServer).toBe(issuer.url);
  });
});
