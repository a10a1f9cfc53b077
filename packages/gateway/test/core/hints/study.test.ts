import { expect, it } from 'vitest';
import { findPackageStart } from '../../../src/core/hints/started-package.ts';
import { readStudy, type StartedPackage, toStudyClaims } from '../../../src/core/hints/study.ts';
import type { Claim } from '../../../src/core/hints/claim.ts';
import { resolveHints } from '../../../src/core/hints/resolve.ts';

const TEXT = JSON.stringify({
  ...{ format: 1, study: '2026-11', date: '2026-11-29' },
  packages: {
    studied: [
      {
        ...{ version: '1.2.3', installation: 'files' },
        tools: {
          reads: {
            digest: 'd',
            calls: 14,
            consistent: ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'],
          },
          writes: {
            ...{ digest: 'd', calls: 4, consistent: [] },
            contradicted: { readOnlyHint: 'created /tmp/assay-verify/a.txt' },
          },
        },
      },
    ],
  },
});
const study = readStudy(TEXT)!;
const SAME = { version: '1.2.3', digest: 'files' };

const claimsOf = (started: StartedPackage, name: string, digest = 'd'): readonly string[] =>
  toStudyClaims(study, started, { name, digest }).map(
    ({ hint, value, origin, reason = '' }) => `${hint} ${String(value)}, ${origin}: ${reason}`,
  );

it('a consistency is claimed only of the files, the version and the definition that were studied', () => {
  expect(claimsOf({ name: 'studied', installation: SAME }, 'reads')).toEqual([
    'readOnlyHint true, study of 2026-11: version 1.2.3 was seen to only read in 14 calls',
    'destructiveHint false, study of 2026-11: version 1.2.3 was seen to destroy no data in 14 calls',
    'idempotentHint true, study of 2026-11: version 1.2.3 had no further effect when 14 calls were repeated',
    'openWorldHint false, study of 2026-11: version 1.2.3 contacted no other host in 14 calls',
  ]);
  for (const installation of [undefined, { ...SAME, digest: 'changed' }, { ...SAME, version: '1.2.4' }])
    expect(claimsOf({ name: 'studied', installation }, 'reads')).toEqual([]);
  expect(claimsOf({ name: 'studied', installation: SAME }, 'reads', 'changed')).toEqual([]);
  expect(claimsOf({ name: 'other', installation: SAME }, 'reads')).toEqual([]);
  expect(claimsOf({ name: 'studied', installation: SAME }, 'constructor')).toEqual([]);
});

it('a contradiction is claimed of every version with the same definition, and of no other definition', () => {
  const expected = ['readOnlyHint false, study of 2026-11: version 1.2.3 created /tmp/assay-verify/a.txt'];
  expect(claimsOf({ name: 'studied' }, 'writes')).toEqual(expected);
  expect(claimsOf({ name: 'studied', installation: { ...SAME, version: '9.0.0' } }, 'writes')).toEqual(
    expected,
  );
  expect(claimsOf({ name: 'studied' }, 'writes', 'changed')).toEqual([]);
});

it('the contradictions of all studied versions are claimed', () => {
  const tools = (version: string, hint: string): object => ({
    ...{ version, installation: version },
    tools: { t: { digest: 'd', calls: 1, consistent: [], contradicted: { [hint]: 'did more' } } },
  });
  const packages = { studied: [tools('1.0.0', 'idempotentHint'), tools('1.0.1', 'readOnlyHint')] };
  const both = readStudy(JSON.stringify({ format: 1, study: '2026-11', date: '2026-11-29', packages }))!;
  const claims = toStudyClaims(both, { name: 'studied' }, { name: 't', digest: 'd' });
  expect(claims.map(({ hint, reason }) => `${hint}: ${reason ?? ''}`)).toEqual([
    'readOnlyHint: version 1.0.1 did more',
    'idempotentHint: version 1.0.0 did more',
  ]);
});

it('a contradiction raises caution; a consistency lowers none, even where nothing is declared', () => {
  const about = (name: string) =>
    toStudyClaims(study, { name: 'studied', installation: SAME }, { name, digest: 'd' });
  const declared: Claim = {
    hint: 'readOnlyHint',
    value: true,
    kind: 'declared',
    source: 'server',
    origin: 's',
    atMs: 0,
    digest: 'd',
    mayLower: true,
  };
  expect([...about('reads'), ...about('writes')].some(({ mayLower }) => mayLower)).toBe(false);
  expect(resolveHints([declared, ...about('writes')], 'd').readOnlyHint).toMatchObject({
    ...{ effective: { value: false }, decision: { value: false }, emitted: false },
    contradiction: { source: 'study' },
  });
  const consistent = resolveHints(about('reads'), 'd');
  expect(consistent.readOnlyHint).toMatchObject({ effective: { value: false }, decision: { value: false } });
  expect(consistent.openWorldHint).toMatchObject({ effective: { value: true }, decision: { value: true } });
});

it.each([
  ['not JSON', '{'],
  ['another format', TEXT.replace('"format":1', '"format":2')],
  ['a date that is none', TEXT.replace('2026-11-29', 'soon')],
  ['a list', '[]'],
])('%s is no study', (_, text) => {
  expect(readStudy(text)).toBeUndefined();
});

it('parts that are not as expected claim nothing', () => {
  const broken = TEXT.replace('"calls":14', '"calls":"14"').replace(
    '"installation":"files"',
    '"installation":7',
  );
  expect([...readStudy(broken)!.packages.get('studied')!]).toEqual([]);
});

it.each([
  ['npx', ['-y', 'studied'], { kind: 'npx', name: 'studied' }],
  ['npx', ['studied@latest', '--flag'], { kind: 'npx', name: 'studied' }],
  [
    '/usr/bin/npx',
    ['--yes', '@scope/studied@1.2.3'],
    { kind: 'npx', name: '@scope/studied', version: '1.2.3' },
  ],
  ['npx', ['studied@^1.2.3'], { kind: 'npx', name: 'studied' }],
  ['node', ['/a/node_modules/studied/index.js'], { kind: 'script', name: 'studied' }],
  ['node', ['node_modules/@scope/studied/dist/index.js'], { kind: 'script', name: '@scope/studied' }],
  ['node', ['/a/node_modules/studied/node_modules/inner/index.js'], { kind: 'script', name: 'inner' }],
  ['C:\\node.exe', ['C:\\a\\node_modules\\studied\\index.js'], { kind: 'script', name: 'studied' }],
  ['/a/node_modules/studied/bin/run', [], { kind: 'script', name: 'studied' }],
])('%s %j starts a package', (command, args, expected) => {
  expect(findPackageStart({ command, args, env: {} })).toMatchObject(expected);
});

it.each([
  ['npx', ['-y', 'github:someone/studied']],
  ['npx', ['someone/studied']],
  ['npx', ['studied@npm:other@1.2.3']],
  ['npx', ['./studied']],
  ['npx', ['https://example.org/studied.tgz']],
  ['npx', ['-p', 'studied', 'other']],
  ['npx', ['--registry=https://example.org', 'studied@1.2.3']],
  ['npx', ['-y', '--package=other', 'studied']],
  ['node', ['/srv/studied/index.js']],
  ['node', ['--require', '/evil.js', '/a/node_modules/studied/index.js']],
  ['node', ['--import=/a/node_modules/studied/index.js', '/srv/other.js']],
  ['/usr/bin/studied', []],
  ['bash', ['/a/node_modules/studied/index.js']],
])('%s %j names no package', (command, args) => {
  expect(findPackageStart({ command, args, env: {} })).toBeUndefined();
});

it.each(['NODE_OPTIONS', 'node_path', 'npm_config_registry', 'NPM_CONFIG_CACHE', 'PATH', 'LD_PRELOAD'])(
  'an entry that sets %s may load other code, too',
  (name) => {
    const start = { command: 'npx', args: ['studied@1.2.3'], env: { [name]: 'x' } };
    expect(findPackageStart(start)).toMatchObject({ name: 'studied', loadsMore: true });
  },
);
