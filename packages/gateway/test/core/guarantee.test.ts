import { describe, expect, it } from 'vitest';
import { checkSandbox, checkSharedNetwork, checkState } from '../../src/core/check-sandbox.ts';
import type { Hint } from '@assay-mcp/kit/hint';
import type { Claim } from '../../src/core/hints/claim.ts';
import type { ToolRecord } from '../../src/core/hints/tool-record.ts';
import { resolveHints } from '../../src/core/hints/resolve.ts';
import { computeOriginIdentity } from '../../src/core/server-identity.ts';
import { computeGuarantee, isHeldToReading, computeTwinRights } from '../../src/core/guarantee.ts';
import type { SandboxMode } from '@assay-mcp/sandbox/rights';

const DIGEST = 'd';

function claim(hint: Hint, value: boolean, kind: Claim['kind'] = 'declared'): Claim {
  const atMs = kind === 'observed' ? 1 : 0;
  return { hint, value, kind, source: 'server', origin: 's', atMs, digest: DIGEST, mayLower: false };
}

const reads = claim('readOnlyHint', true);
const closed = claim('openWorldHint', false);

describe('a tool call', () => {
  it.each<[what: string, expected: ReturnType<typeof computeTwinRights>, claims: readonly Claim[]]>([
    ['goes to the server if the tool has no hints', undefined, []],
    ['goes to the server if the tool is only closed-world', undefined, [closed]],
    ['goes to the twin if an untrusted server declares the tool read-only', 'read_network', [reads]],
    ['gets no network if the tool is closed-world, too', 'read', [reads, closed]],
    [
      'stays on the twin if the tool was seen to write',
      'read',
      [reads, closed, claim('readOnlyHint', false, 'observed')],
    ],
    [
      'stays on the twin if the tool was seen to delete',
      'read',
      [reads, closed, claim('destructiveHint', true, 'observed')],
    ],
    [
      'gets no network even if the tool was seen to connect',
      'read',
      [reads, closed, claim('openWorldHint', true, 'observed')],
    ],
    [
      'goes to the server if an operator overrides read-only',
      undefined,
      [reads, claim('readOnlyHint', false, 'override')],
    ],
  ])('%s', (_, expected, claims) => {
    expect(computeTwinRights(resolveHints(claims, DIGEST))).toBe(expected);
  });

  it('keeps the permissions of the accepted definition until a review, unless an operator overrides the hint', () => {
    const [writes, open] = [claim('readOnlyHint', false), claim('openWorldHint', true)];
    const rightsOf = (claims: readonly Claim[], takenBack: readonly Hint[]): unknown =>
      computeTwinRights(resolveHints(claims, DIGEST, { takenBack }));
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
])('a server gets the guarantee "%s" with the sandbox %s', (kind, mode, claims) => {
  const hints = resolveHints(claims, DIGEST);
  expect(computeGuarantee(mode, hints, { canEnforce: true, lacks: [] }).kind).toBe(kind);
  const onNode = computeGuarantee(mode, hints, { canEnforce: false, gap: 'bubblewrap', isOnNode: true });
  expect(onNode.kind).toBe({ none: 'none', write_roots: 'refused' }[kind] ?? 'node_permission');
  const without = computeGuarantee(mode, hints, { canEnforce: false, gap: 'bubblewrap' });
  expect(without.kind).toBe(kind === 'none' ? 'none' : 'refused');
  if (kind !== 'none') expect(without.text).toContain('apt-get install bubblewrap');
});

it('a warning says what a sandbox lacks, and what to install', () => {
  const findings = checkSandbox(
    ['files', 'notes'].map((name) => ({ name, isOnNode: false })),
    { canEnforce: true, lacks: ['strace'] },
  );
  expect(findings.map(({ level, about }) => [level, about])).toEqual([
    ['ok', 'files'],
    ['ok', 'notes'],
    ['warning', 'files, notes'],
  ]);
  expect(findings.at(-1)).toMatchObject({
    remedy: expect.stringContaining('apt-get install strace') as string,
  });
});

it.each<
  [sandbox: SandboxMode, network: readonly string[] | undefined, access: 'open' | 'token', findings: number]
>([
  ['strict', ['*'], 'open', 1],
  ['strict', ['*'], 'token', 0],
  ['strict', ['localhost'], 'open', 0],
  ['strict', undefined, 'open', 0],
  ['twin', ['*'], 'open', 0],
])(
  'a %s sandbox with the network %j, where access is %s, has %d findings',
  (sandbox, network, access, findings) => {
    const transport = { kind: 'stdio', command: 'a', args: [], env: {}, cwd: '/', sandbox } as const;
    const spec = { name: 'x', timeoutMs: 1, prefix: true, isolation: 'shared' } as const;
    const server = { ...spec, transport: { ...transport, ...(network && { network }) } };
    expect(checkSharedNetwork([server], access)).toHaveLength(findings);
  },
);

describe('a server whose tools were seen to keep state', () => {
  const transport = { kind: 'stdio', command: 'a', args: [], env: {}, cwd: '/', sandbox: 'twin' } as const;
  const spec = { name: 'x', transport, timeoutMs: 1, prefix: true, isolation: 'shared' } as const;
  const record = (digest: string, drift?: string): ToolRecord => ({
    ...{ id: 'i', server: 'x', identity: computeOriginIdentity(spec), name: 'count', overrides: {} },
    verification: {
      ...{ digest, atMs: 0, author: '', server: { name: '', version: '', packageDigest: '' } },
      ...{ mechanisms: [], hints: {}, keepsState: true },
    },
    ...(drift !== undefined && { drift: { digest: drift, sinceMs: 0, changes: [], risks: [] } }),
  });

  it('is a problem until its operator accepts that, or the definition changes', () => {
    const [found] = checkState([spec], [record('d')]);
    expect(found).toMatchObject({ level: 'problem', about: 'x', code: 'SANDBOX_UNAVAILABLE' });
    expect(found?.message).toMatch(/\(count\)\.$/);
    expect(checkState([spec], [record('d', 'd')])).toHaveLength(1);
    expect(checkState([spec], [record('d', 'new')])).toEqual([]);
    const accepting = { ...spec, transport: { ...transport, sandboxAccepts: ['separate_state'] as const } };
    expect(checkState([accepting], [record('d')])).toEqual([]);
    expect(checkState([{ ...spec, name: 'y' }], [record('d')])).toEqual([]);
  });
});
