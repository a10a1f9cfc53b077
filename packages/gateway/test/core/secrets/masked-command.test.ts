import { expect, it } from 'vitest';
import { maskArgs, maskUrl, listNamedSecrets } from '../../../src/core/secrets/masked-command.ts';

function check(args: readonly string[], expected: readonly string[]): void {
  expect(maskArgs(args)).toEqual(expected);
}

it('ordinary arguments are shown unchanged', () => {
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
    ['--api-key', '[masked]', '--token=[masked]', '-e', 'GITHUB_TOKEN=[masked]'],
  );
  check(['--password', '--verbose'], ['--password', '--verbose']);
});

it('the name of a variable is not masked', () => {
  check(['--token', '${TOKEN}', 'KEY=${env:KEY}'], ['--token', '${TOKEN}', 'KEY=${env:KEY}']);
});

it('a header is shown by its name', () => {
  check(
    ['--header', 'X-Thing:abc', '-H', 'Authorization: Bearer abc'],
    ['--header', 'X-Thing: [masked]', '-H', 'Authorization: [masked]'],
  );
});

it('a token of a known format, and a long random-looking word, are masked anywhere', () => {
  check(
    ['ghp_0123456789abcdef', 'sk-live-0123456789abcdef', 'Bearer abc'],
    ['[masked]', '[masked]', 'Bearer [masked]'],
  );
  check(['0123456789abcdef0123456789abcdef'], ['[masked]']);
});

it('only scheme and host of a URL are shown', () => {
  check(
    ['https://user:pw@mcp.example.com/key/sse?a=b', 'postgres://u:p@db:5432/x', 'https://a.example'],
    ['https://mcp.example.com/…', 'postgres://db:5432/…', 'https://a.example'],
  );
  expect(maskUrl('https://user:pw@mcp.example.com:8443/key?a=b')).toBe('https://mcp.example.com:8443');
  expect(maskUrl('${BASE}/mcp')).toBe('(an address with variables in it)');
});

it("a secret from the entry's variables is masked everywhere", () => {
  const secrets = listNamedSecrets([
    ['PASSWORD', 'hunter2hunter2'],
    ['DB_PASS', 'abc'],
    ['SEED', 'x7$kk!20'],
    ['Authorization', 'Bearer opaque'],
    ['DB', 'postgres://ada:lovelace@db/x'],
  ]);
  expect(
    maskArgs(['run', 'hunter2hunter2', 'abc', 'abcd', 'a:hunter2hunter2', 'x7$kk!20', 'opaque'], secrets),
  ).toEqual(['run', '[masked]', '[masked]', 'abcd', 'a:[masked]', '[masked]', '[masked]']);
  expect(maskArgs(['lovelace'], secrets)).toEqual(['[masked]']);
});

it('words, paths and variable names are not masked', () => {
  expect(
    listNamedSecrets([
      ['MODE', 'production'],
      ['REGION', 'us-east-1'],
      ['MODEL', 'claude-sonnet-4-20250514'],
      ['CLUSTER', 'k8s-main'],
      ['ROOT', '/home/ada/a1b2c3d4e5'],
      ['SSH_KEY', '~/.ssh/id_ed25519'],
      ['BASE', 'https://a.example/b'],
      ['TOKEN', '${TOKEN}'],
      ['Authorization', 'Bearer ${TOKEN}'],
      ['API_KEY', ''],
    ]),
  ).toEqual([]);
});

it('a value is masked after -p unless clearly no password, and after other short options if it looks like one', () => {
  check(
    ['-p', 'hunter2hunter2', '-p', 'secret', '-phunter2'],
    ['-p', '[masked]', '-p', '[masked]', '-p[masked]'],
  );
  check(['-t', 'hunter2hunter2', '-k', 'p4ssw0rd'], ['-t', '[masked]', '-k', '[masked]']);
  const plain = [
    ...['-p', '8080:80', '-p', '127.0.0.1:80:80/tcp', '-p', './a', '-p', 'tsconfig.json', '-p', '3.12'],
    ...[
      '-p',
      '--verbose',
      '-p',
      '${PORT}',
      '-p8080',
      '-project',
      '-t',
      'mcp/server:latest',
      '-y',
      'mcp-k8s-server',
    ],
  ];
  check(plain, plain);
});

it('a value named as a secret within an argument is masked', () => {
  check(
    [
      'host=h password=hunter2hunter2 dbname=d',
      "host=h password='a b' dbname=d",
      'Server=s;Pwd=abc;Database=d',
      '{"apiKey":"abc","region":"eu"}',
      'psql postgres://ada:pw@db/x',
      'a password=${PASSWORD} b',
    ],
    [
      'host=h password=[masked] dbname=d',
      'host=h password=[masked] dbname=d',
      'Server=s;Pwd=[masked];Database=d',
      '{"apiKey":"[masked]","region":"eu"}',
      'psql postgres://[masked]@db/x',
      'a password=${PASSWORD} b',
    ],
  );
});
