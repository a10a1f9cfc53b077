import { describe, expect, it } from 'vitest';
import {
  buildClientDocument,
  computeOwnClient,
  findClientDocumentFault,
  findOwnClientPart,
} from '../../src/core/own-client.ts';

describe('the client metadata document of a gateway', () => {
  it('exists only at a public https URL', () => {
    for (const url of [
      '',
      'http://gw.example',
      'https://localhost',
      'https://127.0.0.1:8443',
      'https://[::1]/x',
    ])
      expect(computeOwnClient(url), url).toBeUndefined();
    expect(computeOwnClient('https://gw.example:8443/assay/')).toEqual({
      url: 'https://gw.example:8443/assay/oauth/client.json',
      redirectUri: 'https://gw.example:8443/assay/oauth/callback',
    });
  });

  it('names itself and the one address that Assay uses with it', () => {
    const own = computeOwnClient('https://gw.example');
    expect(own && buildClientDocument(own)).toEqual({
      client_id: 'https://gw.example/oauth/client.json',
      client_name: 'Assay',
      redirect_uris: ['https://gw.example/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'web',
      token_endpoint_auth_method: 'none',
    });
  });

  it('is found with the path of the public URL, and without it, as a proxy may remove that', () => {
    const own = computeOwnClient('https://gw.example/assay') ?? { url: '', redirectUri: '' };
    const paths = [
      '/oauth/client.json',
      '/assay/oauth/client.json',
      '/assay/oauth/callback',
      '/oauth/callback',
    ];
    expect(paths.map((path) => findOwnClientPart(path, own))).toEqual([
      ...['document', 'document', 'callback', 'callback'],
    ]);
    for (const path of ['/', '/oauth', '/oauth/client.json/x', '/x/oauth/client.json'])
      expect(findOwnClientPart(path, own)).toBeUndefined();
  });
});

describe('the URL of a client metadata document', () => {
  it.each([
    ['https://c.example/client.json', undefined],
    ['https://c.example:8443/a/b?v=1', undefined],
    ['http://c.example/client.json', 'it must be an https URL'],
    ['client.json', 'it must be an https URL'],
    ['https://c.example/a b', 'it must be an https URL'],
    ['https://c.example', 'it must have a path'],
    ['https://c.example/', 'it must have a path'],
    ['https://u:p@c.example/x', 'it must not contain a user name or password'],
    ['https://c.example/x#f', 'it must not have a fragment'],
    ['https://c.example/a/../x', 'its path must not contain "." or ".."'],
    ['https://c.example/a/%2E/x', 'its path must not contain "." or ".."'],
  ])('%s: %s', (text, fault) => {
    expect(findClientDocumentFault(text)).toBe(fault);
  });
});
