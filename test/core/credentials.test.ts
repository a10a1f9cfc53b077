import { expect, it } from 'vitest';
import { looksLikeCredential, secretsOf, withoutSecrets } from '../../src/core/credentials.ts';
import type { ServerSpec, Transport } from '../../src/core/server-spec.ts';

it.each([
  ['API_KEY', 'abc'],
  ['OPENAI_API_KEY', 'abc'],
  ['github_token', '1'],
  ['DB_PASSWORD', 'x'],
  ['PGPASSWORD', 'x'],
  ['Authorization', 'whatever'],
  ['X-Auth', 'whatever'],
  ['Cookie', 'a=b'],
  ['ANYTHING', 'Bearer abc'],
  ['ANYTHING', 'ghp_abcdef'],
  ['ANYTHING', 'sk-abcdef'],
])('%s with the value %j looks like a credential', (name, value) => {
  expect(looksLikeCredential(name, value)).toBe(true);
});

it.each([
  ['API_KEY', ''],
  ['API_KEY', '${API_KEY}'],
  ['Authorization', 'Bearer ${TOKEN}'],
  ['LOG_LEVEL', 'debug'],
  ['KEYBOARD', 'de'],
  ['AUTHOR', 'me'],
  ['PATH', '/usr/bin'],
  ['MONKEY', 'banana'],
])('%s with the value %j does not', (name, value) => {
  expect(looksLikeCredential(name, value)).toBe(false);
});

function spec(transport: Transport): ServerSpec {
  return { name: 'x', transport, timeoutMs: 1, prefix: true };
}

it('What env says, and options for secrets, is hidden in what a server says; the longest first', () => {
  const transport: Transport = {
    kind: 'stdio',
    command: 'x',
    args: ['--verbose', '--api-key', 'first-secret', '--token=second-secret', 'harmless.js'],
    env: { ONE: 'third', TWO: 'third-and-more', SHORT: 'abc' },
    cwd: '/',
  };
  const secrets = secretsOf(spec(transport));
  expect(withoutSecrets('first-secret second-secret third-and-more third abc harmless.js', secrets)).toBe(
    '[hidden] [hidden] [hidden] [hidden] abc harmless.js',
  );
});

it('So are headers, also without their scheme, and the query of a URL', () => {
  const secrets = secretsOf(
    spec({
      kind: 'http',
      flavour: 'auto',
      url: new URL('http://example.com/mcp?key=from-the-query'),
      headers: { Authorization: 'Bearer from-a-header' },
    }),
  );
  expect(withoutSecrets('token from-a-header, key from-the-query', secrets)).toBe(
    'token [hidden], key [hidden]',
  );
});
