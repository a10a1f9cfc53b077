import { describe, expect, it } from 'vitest';
import { listEnvironmentSecrets, listServerSecrets } from '../../../src/core/secrets/secret-values.ts';
import type { Transport } from '../../../src/core/server-spec.ts';

const RANDOM = 'q7Zk29xPm41LvB83tRw6';

function secretsOf(transport: Transport): readonly string[] {
  return listServerSecrets({ name: 'a', transport, timeoutMs: 1, prefix: true, isolation: 'shared' });
}

function ofVariable(name: string, value: string): readonly string[] {
  return secretsOf({ kind: 'stdio', command: 'x', args: [], cwd: '/', env: { [name]: value } });
}

function ofArguments(...args: readonly string[]): readonly string[] {
  return secretsOf({ kind: 'stdio', command: 'x', args, cwd: '/', env: {} });
}

function ofHttp(url: string, headers: Readonly<Record<string, string>> = {}): readonly string[] {
  return secretsOf({ kind: 'http', flavour: 'auto', url: new URL(url), headers });
}

describe("a variable's value is secret", () => {
  it.each(['API_KEY', 'KEY', 'apiKey', 'GITHUB_PAT', 'DB_PASSWORD', 'CLIENT_SECRET', 'AUTH', 'accesstoken'])(
    'if the variable is called %s',
    (name) => expect(ofVariable(name, 'not-random')).toEqual(['not-random']),
  );
  it('if it looks random, whatever the variable is called', () => {
    expect(ofVariable('VALUE', RANDOM)).toEqual([RANDOM]);
    expect(ofVariable('VALUE', `ghp_${RANDOM}`)).toEqual([`ghp_${RANDOM}`]);
  });
  it('in part, if it is a URL with a password or key', () => {
    expect(ofVariable('DATABASE_URL', 'postgres://me:hunter2hunter2@db/x?sslmode=disable')).toEqual([
      'me:hunter2hunter2',
      'hunter2hunter2',
    ]);
    expect(ofVariable('HOOK', `https://hooks.example.com/services/T0/${RANDOM}`)).toEqual([RANDOM]);
    expect(ofVariable('TOKEN_URL', 'https://example.com/oauth/token')).toEqual([]);
  });
  it('with and without a scheme that precedes it', () => {
    expect(ofVariable('AUTH', 'Bearer abcdefgh')).toEqual(['Bearer abcdefgh', 'abcdefgh']);
  });
});

describe("a variable's value is not secret", () => {
  it.each([
    ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/bin'],
    ['NODE_ENV', 'production'],
    ['PORT', '8080808080'],
    ['HOST', 'localhost'],
    ['API_KEY', 'short'],
    ['PASSWORD', 'password'],
    ['TOKEN_FILE', '/run/secrets/token'],
    ['GOOGLE_CREDENTIALS', '/home/me/google.json'],
    ['KEY_COUNT', '1234567890'],
    ['MAX_TOKENS_LIMIT', '1234567890'],
    ['ENDPOINT', 'https://api.example.com/v1/long-enough-path'],
    ['TENANT', '0b8f1a52-8f0e-4c55-9f1d-3f4a3b1c2d4e'],
    ['PACKAGE', '@modelcontextprotocol/server-filesystem@2026.8.31'],
    ['TITLE', 'A sentence of several words, with 3 digits: 123'],
  ])('in %s=%s', (name, value) => expect(ofVariable(name, value)).toEqual([]));
});

describe('an argument is secret', () => {
  it('after an option that implies it, in either form', () => {
    expect(ofArguments('--api-key', 'not-random', '--verbose', 'all-of-it')).toEqual(['not-random']);
    expect(ofArguments('--api-key=not-random', '--root=/srv/somewhere')).toEqual(['not-random']);
    expect(ofArguments('--header', 'Authorization: Bearer abcdefgh')).toContain('abcdefgh');
  });
  it('unless it is a package or a folder', () => {
    expect(ofArguments('-y', '@modelcontextprotocol/server-memory', '/home/me/notes')).toEqual([]);
  });
});

describe('a server at a URL', () => {
  it('has secrets in all headers except common ones', () => {
    expect(ofHttp('http://a/mcp', { 'User-Agent': 'assay-tests', 'X-Team': 'team-seven' })).toEqual([
      'team-seven',
    ]);
    const basic = Buffer.from('me:hunter2hunter2').toString('base64');
    expect(ofHttp('http://a/mcp', { Authorization: `Basic ${basic}` })).toEqual([
      `Basic ${basic}`,
      basic,
      'me:hunter2hunter2',
      'hunter2hunter2',
    ]);
  });
  it('has secrets in its query and path if their name or shape implies it', () => {
    expect(ofHttp(`http://a/mcp/${RANDOM}?key=hidden-query&page=long-enough`)).toEqual([
      'hidden-query',
      RANDOM,
    ]);
  });
});

describe('Assay’s own environment', () => {
  it('has secrets if a name or URL implies it, but not if a value only looks random', () => {
    const env = {
      ASSAY_TOKEN: 'token-of-assay',
      ASSAY_DATABASE_URL: 'postgres://assay:hidden-password@db/assay',
      HTTPS_PROXY: 'http://me:proxy-password@proxy:3128',
      http_proxy: 'me:other-password@proxy:3128',
      GIT_COMMIT: RANDOM,
      HOME: '/home/somebody',
      EMPTY: undefined,
    };
    expect(listEnvironmentSecrets(env)).toEqual([
      'token-of-assay',
      'assay:hidden-password',
      'hidden-password',
      'me:proxy-password',
      'proxy-password',
      'me:other-password',
      'other-password',
    ]);
  });
});
