import { describe, expect, it } from 'vitest';
import type { Hint } from '@assay-mcp/kit/hint';
import type { Claim } from '../../../src/core/hints/claim.ts';
import { resolveHints } from '../../../src/core/hints/resolve.ts';
import {
  mergeVerification,
  toObservedClaims,
  type ObservedHint,
  type ToolVerification,
} from '../../../src/core/hints/tool-verification.ts';
import { readRecord } from '../../../src/core/read-record.ts';
import { toToolVerification } from '../../../src/core/hints/tool-verification-of.ts';
import type { Evidence } from '@assay-mcp/kit/verification/verdict';

const NOW = 'a'.repeat(64);
const EVIDENCE = [
  { effect: 'added', message: 'created /x', target: '/x', call: 1, args: '{}', atMs: 5 },
] as const;
const CONTRADICTED: ObservedHint = { kind: 'contradicted', atMs: 5, evidence: EVIDENCE };
const CONSISTENT: ObservedHint = { kind: 'consistent', atMs: 5, calls: 2, shapes: 1 };

function verification(
  hints: ToolVerification['hints'],
  more: Partial<ToolVerification> = {},
): ToolVerification {
  const server = { name: 'files', version: '1', packageDigest: 'p' };
  return { digest: NOW, atMs: 5, author: 'boss', server, mechanisms: ['overlay'], hints, ...more };
}

function declared(hint: Hint, value: boolean, more: Partial<Claim> = {}): Claim {
  const about = { source: 'server', origin: 'files', atMs: 0, digest: NOW, mayLower: true } as const;
  return { kind: 'declared', hint, value, ...about, ...more };
}

describe('the observation of a verification', () => {
  it('raises caution in both lists and decisions, with the effect as the reason', () => {
    const claims = [
      declared('readOnlyHint', true),
      ...toObservedClaims(verification({ readOnlyHint: CONTRADICTED })),
    ];
    const { readOnlyHint, destructiveHint } = resolveHints(claims, NOW);
    expect([readOnlyHint.effective.value, readOnlyHint.decision.value, readOnlyHint.emitted]).toEqual([
      false,
      false,
      false,
    ]);
    expect(readOnlyHint.contradiction).toMatchObject({ origin: 'boss', reason: 'created /x', atMs: 5 });
    expect(destructiveHint.decision.value).toBe(true);
  });

  it('no longer applies to a changed definition or after a later override', () => {
    const observed = toObservedClaims(verification({ readOnlyHint: CONTRADICTED }));
    const claims = [declared('readOnlyHint', true), ...observed];
    expect(resolveHints(claims, 'b'.repeat(64)).readOnlyHint.decision.value).toBe(true);
    const override = declared('readOnlyHint', true, { kind: 'override', source: 'operator', atMs: 6 });
    expect(resolveHints([...claims, override], NOW).readOnlyHint.decision.value).toBe(true);
    const earlier = { ...override, atMs: 4 };
    expect(resolveHints([...claims, earlier], NOW).readOnlyHint.decision.value).toBe(false);
  });

  it('lowers nothing if consistent, and contradicts an override if cautious', () => {
    const consistent = toObservedClaims(verification({ destructiveHint: CONSISTENT }));
    expect(consistent).toMatchObject([{ value: false, reason: '2 calls did nothing else' }]);
    expect(resolveHints(consistent, NOW).destructiveHint.decision.value).toBe(true);
    const supported = toObservedClaims(
      verification({ readOnlyHint: { ...CONTRADICTED, kind: 'supported' } }),
    );
    const override = declared('readOnlyHint', true, { kind: 'override', source: 'operator' });
    expect(resolveHints([...supported, override], NOW).readOnlyHint).toMatchObject({
      decision: { value: false },
      contradiction: { reason: 'created /x' },
    });
  });

  it('claims nothing if nothing was observed', () => {
    const unobserved = { kind: 'unobserved', atMs: 5, reason: 'skipped' } as const;
    expect(
      toObservedClaims(
        verification({ readOnlyHint: unobserved, openWorldHint: { kind: 'not_exercised', atMs: 5 } }),
      ),
    ).toEqual([]);
    expect(toObservedClaims(undefined)).toEqual([]);
  });
});

describe('a later verification', () => {
  it('keeps a contradiction that it did not reproduce, unless the definition changed', () => {
    const before = verification({ readOnlyHint: CONTRADICTED, openWorldHint: CONSISTENT });
    const hints = { readOnlyHint: { ...CONSISTENT, atMs: 9 }, openWorldHint: { ...CONTRADICTED, atMs: 9 } };
    const after = verification(hints, { atMs: 9 });
    expect(mergeVerification(before, after)).toEqual({
      ...after,
      hints: { readOnlyHint: CONTRADICTED, openWorldHint: hints.openWorldHint },
    });
    const other = { ...after, digest: 'b'.repeat(64) };
    expect(mergeVerification(before, other)).toEqual(other);
    expect(mergeVerification(undefined, after)).toEqual(after);
  });
});

describe('the stored part of a report', () => {
  const effect: Evidence = {
    effect: 'network',
    message: `looked up hunter2.${'x'.repeat(5_000)}`,
    target: 'y'.repeat(5_000),
    call: 1,
    args: { key: 'hunter2', text: 'z'.repeat(100_000) },
    atMs: 7,
  };
  const many = { kind: 'contradicted', evidence: Array.from({ length: 50 }, () => effect) } as const;
  const kept = toToolVerification(
    {
      digest: NOW,
      verdicts: { readOnlyHint: many, destructiveHint: many, idempotentHint: many, openWorldHint: many },
      signals: [{ kind: 'in_process_state', isJudged: false }],
    },
    {
      report: {
        server: { name: 'n'.repeat(5_000), version: '1', command: ['x'], packageDigest: 'p' },
        startedMs: 5,
        mechanisms: ['overlay'],
      },
      author: 'boss',
      mask: (text) => text.replaceAll('hunter2', '***'),
    },
  );

  it('is bounded, and contains no secrets', () => {
    const text = JSON.stringify(kept);
    expect(text.length).toBeLessThan(20_000);
    expect(text).not.toContain('hunter2');
    expect(kept.hints.openWorldHint?.evidence).toHaveLength(3);
  });

  it('includes state in memory until the definition changes', () => {
    const { keepsState: _, ...later } = kept;
    expect(kept.keepsState).toBe(true);
    expect(mergeVerification(kept, later).keepsState).toBe(true);
    expect(mergeVerification(kept, { ...later, digest: 'other' }).keepsState).toBe(undefined);
  });

  it('is read back from the store, and refused if it is damaged', () => {
    const body = { id: 't', server: 's', identity: 'i', name: 'n', overrides: {}, verification: kept };
    expect(readRecord({ kind: 'tool', version: 1, body })).toEqual({
      ok: true,
      value: { kind: 'tool', body },
    });
    const hints = { readOnlyHint: { kind: 'safe', atMs: 5 } };
    const damaged = { ...body, verification: { ...kept, hints } };
    expect(readRecord({ kind: 'tool', version: 1, body: damaged })).toMatchObject({ ok: false });
  });
});
