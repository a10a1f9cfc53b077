import { describe, expect, it } from 'vitest';
import { formatChallenge } from '../../src/core/challenge.ts';
import {
  computeBaseUrls,
  isWithin,
  findMetadata,
  listGrantedPaths,
  computeProtection,
  type ProtectedResource,
} from '../../src/core/protected-resource.ts';

const GATEWAY: ProtectedResource = {
  issuer: 'https://id.example/',
  bases: ['https://gw.example'],
  audience: '',
};

function opened(audience: string, resource: ProtectedResource = GATEWAY): readonly string[] {
  return listGrantedPaths([audience], resource);
}

describe('an audience', () => {
  it('matches the endpoint with that URL, with or without a trailing slash', () => {
    for (const slash of ['', '/']) {
      expect(opened(`https://gw.example${slash}`)).toEqual(['']);
      expect(opened(`https://gw.example/mcp${slash}`)).toEqual(['/mcp']);
      expect(opened(`https://gw.example/mcp/toolsets/review${slash}`)).toEqual(['/mcp/toolsets/review']);
    }
  });

  it('matches nothing else, however similar', () => {
    for (const audience of [
      '',
      '/',
      '/mcp',
      'https://gw.example.evil.example',
      'https://gw.example@evil.example/mcp',
      'https://gw.example:444/mcp',
      'http://gw.example/mcp',
      'https://gw.example/mcp//all',
      'https://gw.example/tokens',
      'https://gw.example/mcp/servers/a/b',
    ])
      expect([audience, opened(audience)]).toEqual([audience, []]);
  });

  it('is only the configured one, if there is one', () => {
    const named = { ...GATEWAY, audience: 'api://assay' };
    expect(opened('api://assay', named)).toEqual(['']);
    expect(opened('api://assay/', named)).toEqual([]);
    expect(opened('https://gw.example', named)).toEqual([]);
  });

  it('may be one of several', () => {
    const audiences = ['https://a.example', 'https://gw.example/mcp', 'https://gw.example/mcp/all'];
    expect(listGrantedPaths(audiences, GATEWAY)).toEqual(['/mcp', '/mcp/all']);
    expect(listGrantedPaths([], GATEWAY)).toEqual([]);
  });
});

it('a path is matched by itself and by parent paths, never by a mere text prefix', () => {
  expect(isWithin('/mcp/all', ['/mcp'])).toBe(true);
  expect(isWithin('/mcp', ['/mcp'])).toBe(true);
  expect(isWithin('/tools', [''])).toBe(true);
  expect(isWithin('/mcpx', ['/mcp'])).toBe(false);
  expect(isWithin('/mcp', ['/mcp/all'])).toBe(false);
  expect(isWithin('/mcp', [])).toBe(false);
});

describe('the addresses at which clients reach Assay', () => {
  it('are the configured one, or else the address at which it listens', () => {
    expect(computeBaseUrls('https://gw.example/', 'http://0.0.0.0:4444')).toEqual(['https://gw.example']);
    expect(computeBaseUrls('https://GW.example:443/a/', 'http://0.0.0.0:4444')).toEqual([
      'https://gw.example/a',
    ]);
    expect(computeBaseUrls('', 'http://10.0.0.7:4444')).toEqual(['http://10.0.0.7:4444']);
  });

  it('are three names on this machine, at the port where it listens only', () => {
    expect(computeBaseUrls('', 'http://localhost:4444')).toEqual([
      'http://localhost:4444',
      'http://127.0.0.1:4444',
      'http://[::1]:4444',
    ]);
    expect(computeBaseUrls('http://localhost:9', 'http://127.0.0.1:4444')).toEqual(['http://localhost:9']);
  });
});

describe('metadata', () => {
  const behind = { ...GATEWAY, bases: ['https://gw.example/tools'] };
  const resourceAt = (path: string): unknown =>
    findMetadata(`/.well-known/oauth-protected-resource${path}`, 'gw.example', behind)?.['resource'];

  it('are at a path between the host and path of the resource, whether or not a proxy strips that path', () => {
    expect(resourceAt('/tools/mcp')).toBe('https://gw.example/tools/mcp');
    expect(resourceAt('/mcp')).toBe('https://gw.example/tools/mcp');
    expect(resourceAt('/tools')).toBe('https://gw.example/tools');
    expect(resourceAt('')).toBe('https://gw.example/tools');
    expect(resourceAt('/toolsmcp')).toBeUndefined();
    expect(findMetadata('/mcp', 'gw.example', behind)).toBeUndefined();
  });

  it('are at the URL that a challenge names', () => {
    const asked = { path: '/mcp/all', method: 'POST', host: 'gw.example' };
    const protection = computeProtection(behind, asked);
    expect(protection).toEqual({
      metadataUrl: 'https://gw.example/.well-known/oauth-protected-resource/tools/mcp/all',
      scope: 'mcp',
    });
    const reason = 'it has expired';
    expect(
      formatChallenge({ code: 'TOKEN_REQUIRED', reason }, { authorization: 'Bearer x', protection }),
    ).toBe(
      `Bearer error="invalid_token", error_description="it has expired", scope="mcp", resource_metadata="${protection.metadataUrl}"`,
    );
    expect(formatChallenge({ code: 'TOKEN_REQUIRED' }, { authorization: undefined })).toBe('Bearer');
  });

  it('never contain what a client sends as Host header', () => {
    const host = 'evil.example"';
    const { metadataUrl } = computeProtection(GATEWAY, { path: '/mcp"x', method: 'POST', host });
    expect(metadataUrl).toBe('https://gw.example/.well-known/oauth-protected-resource');
  });
});
