import { expect, it } from 'vitest';
import { maskedArgs, maskedUrl } from '../../src/core/masked.ts';

function check(args: readonly string[], expected: readonly string[]): void {
  expect(maskedArgs(args)).toEqual(expected);
}

it('ordinary arguments are shown as they are', () => {
  const plain = [
    'npx',
    '-y',
    '@modelcontextprotocol/server-filesystem@2026.8.31',
    '/home/ada/notes 1',
    '--port',
    '8080',
  ];
  check(plain, plain);
});

it('the value of a flag or a variable that sounds like a secret is masked', () => {
  check(
    ['--api-key', 'abc', '--token=abc', '-e', 'GITHUB_TOKEN=abc'],
    ['--api-key', '***', '--token=***', '-e', 'GITHUB_TOKEN=***'],
  );
  check(['--password', '--verbose'], ['--password', '--verbose']);
});

it('the name of a variable is no secret', () => {
  check(['--token', '${TOKEN}', 'KEY=${env:KEY}'], ['--token', '${TOKEN}', 'KEY=${env:KEY}']);
});

it('a header is shown by its name', () => {
  check(
    ['--header', 'X-Thing:abc', '-H', 'Authorization: Bearer abc'],
    ['--header', 'X-Thing: ***', '-H', 'Authorization: ***'],
  );
});

it('a token of known make, and a long word without meaning, are masked anywhere', () => {
  check(['ghp_0123456789abcdef', 'sk-live-1234', 'Bearer abc'], ['***', '***', 'Bearer ***']);
  check(['0123456789abcdef0123456789abcdef'], ['***']);
});

it('of an address only scheme and host are shown', () => {
  check(
    ['https://user:pw@mcp.example.com/key/sse?a=b', 'postgres://u:p@db:5432/x', 'https://a.example'],
    ['https://mcp.example.com/…', 'postgres://db:5432/…', 'https://a.example'],
  );
  expect(maskedUrl('https://user:pw@mcp.example.com:8443/key?a=b')).toBe('https://mcp.example.com:8443');
  expect(maskedUrl('${BASE}/mcp')).toBe('(an address with variables in it)');
});
