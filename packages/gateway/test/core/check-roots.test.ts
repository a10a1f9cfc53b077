import { expect, it } from 'vitest';
import { checkRoots } from '../../src/core/check-roots.ts';

const FINE = {
  name: 'files',
  unsafe: undefined,
  readOnly: [],
  exposed: [],
  ignored: [],
  ownsHome: false,
};

it('roots without anything of others are no finding', () => {
  expect(checkRoots([FINE])).toEqual([]);
});

it('a server that does not start is a problem, and what it could change is a warning', () => {
  const paths = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `/srv/${name}`);
  const findings = checkRoots([
    { ...FINE, unsafe: { reason: 'in_root', path: '/srv/mcp.json' } },
    { ...FINE, readOnly: paths, exposed: ['/srv/openapi.json'], ignored: ['/victim'], ownsHome: true },
  ]);
  expect(findings.map(({ level, code }) => [level, code])).toEqual([
    ['problem', 'SANDBOX_UNSAFE'],
    ['note', undefined],
    ['warning', undefined],
    ['warning', undefined],
    ['warning', undefined],
  ]);
  expect(findings[0]?.message).toBe(
    'It does not start, because the config file "/srv/mcp.json" is directly in one of its roots, so the server could replace it.',
  );
  expect(findings[1]?.message).toMatch(/"\/srv\/e" and 2 more\.$/);
  expect(findings[4]).toMatchObject({ remedy: expect.stringContaining('review --roots files') as string });
});

it('a server without a sandbox that is given the folder of the token is a warning', () => {
  const [finding, ...more] = checkRoots([{ ...FINE, seesToken: '/home/ada' }]);
  expect([finding?.level, more]).toEqual(['warning', []]);
  expect(finding?.message).toContain('"/home/ada" contains the data folder of Assay');
});
