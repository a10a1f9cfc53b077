import { describe, expect, it } from 'vitest';
import { checkSandbox } from '../../src/core/check-sandbox.ts';
import type { Claim, Hint } from '../../src/core/hints/hint.ts';
import { resolveHints } from '../../src/core/hints/resolve.ts';
import { guaranteeOf, isHeldToReading, type SandboxMode, twinRightsOf } from '../../src/core/sandbox.ts';

const DIGEST = 'd';

function claim(hint: Hint, value: boolean, kind: Claim['kind'] = 'declared'): Claim {
  const atMs = kind === 'observed' ? 1 : 0;
  return { hint, value, kind, source: 'server', origin: 's', atMs, digest: DIGEST, mayLower: false };
}

const reads = claim('readOnlyHint', true);
const closed = claim('openWorldHint', false);

describe('a call of a tool', () => {
  it.each<[what: string, expected: ReturnType<typeof twinRightsOf>, claims: readonly Claim[]]>([
    ['without hints goes to the server', undefined, []],
    ['that is only closed-world goes to the server', undefined, [closed]],
    ['that an untrusted server calls read-only goes to the twin', 'read_network', [reads]],
    ['that is closed-world, too, gets no network', 'read', [reads, closed]],
    [
      'that was seen to write stays on the twin',
      'read',
      [reads, closed, claim('readOnlyHint', false, 'observed')],
    ],
    [
      'that was seen to delete stays on the twin',
      'read',
      [reads, closed, claim('destructiveHint', true, 'observed')],
    ],
    [
      'that was seen to connect gets no network for that',
      'read',
      [reads, closed, claim('openWorldHint', true, 'observed')],
    ],
    [
      'that an operator calls no reader goes to the server',
      undefined,
      [reads, claim('readOnlyHint', false, 'override')],
    ],
  ])('%s', (_, expected, claims) => {
    expect(twinRightsOf(resolveHints(claims, DIGEST))).toBe(expected);
  });

  it('keeps the rights of the accepted definition until a review, unless an operator overrides the hint', () => {
    const [writes, open] = [claim('readOnlyHint', false), claim('openWorldHint', true)];
    const rightsOf = (claims: readonly Claim[], takenBack: readonly Hint[]): unknown =>
      twinRightsOf(resolveHints(claims, DIGEST, { takenBack }));
    expect(rightsOf([writes, open], ['readOnlyHint', 'openWorldHint'])).toBe('read');
    expect(rightsOf([writes, open], ['readOnlyHint'])).toBe('read_network');
    expect(rightsOf([reads, open], ['openWorldHint'])).toBe('read');
    expect(isHeldToReading(resolveHints([writes], DIGEST, { takenBack: ['readOnlyHint'] }))).toBe(true);
    expect(isHeldToReading(resolveHints([writes], DIGEST))).toBe(false);
    expect(rightsOf([writes, claim('readOnlyHint', false, 'override')], ['readOnlyHint'])).toBe(undefined);
  });
});

it.each<[kind: string, mode: SandboxMode | undefined, claims: readonly Claim[]]>([
  ['none', undefined, [reads, closed]],
  ['none', 'twin', []],
  ['read', 'twin', [reads, closed]],
  ['read_network', 'strict', [reads]],
  ['write_roots', 'strict', []],
])('guarantees "%s" with the sandbox %s', (kind, mode, claims) => {
  const hints = resolveHints(claims, DIGEST);
  expect(guaranteeOf(mode, hints, { canEnforce: true, lacks: [] }).kind).toBe(kind);
  const without = guaranteeOf(mode, hints, { canEnforce: false, gap: 'bubblewrap' });
  expect(without.kind).toBe(kind === 'none' ? 'none' : 'refused');
  if (kind !== 'none') expect(without.text).toContain('apt-get install bubblewrap');
});

it('warns of what a sandbox does without, and what to install', () => {
  const findings = checkSandbox(['files', 'notes'], { canEnforce: true, lacks: ['strace'] });
  expect(findings.map(({ level, about }) => [level, about])).toEqual([
    ['ok', 'files'],
    ['ok', 'notes'],
    ['warning', 'files, notes'],
  ]);
  expect(findings.at(-1)).toMatchObject({
    remedy: expect.stringContaining('apt-get install strace') as string,
  });
});
