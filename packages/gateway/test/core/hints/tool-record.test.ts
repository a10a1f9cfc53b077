// Which overrides apply to which definition: never one that makes a tool look safer than its source does, unless an
// operator accepted a definition of the same behavior.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashDefinition } from '@assay-mcp/kit/digest';
import { computeAspects } from '../../../src/core/hints/aspects.ts';
import { type Hint, HINTS, isCautious, pickDeclaredHints } from '@assay-mcp/kit/hint';
import type { Claim } from '../../../src/core/hints/claim.ts';
import { serializeDeclared } from '../../../src/core/hints/tool-facts.ts';
import { compareDefinitions, isProseAlone, type ProsePolicy } from '../../../src/core/hints/drift.ts';
import { resolveHints, type ResolvedHints } from '../../../src/core/hints/resolve.ts';
import {
  isInForce,
  isVolatile,
  markReviewed,
  computeVolatility,
  type CurrentDefinition,
  type Override,
  type ToolRecord,
  type Volatility,
} from '../../../src/core/hints/tool-record.ts';

interface Tool {
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly description: string;
  readonly inputSchema: unknown;
}

const SOURCE = { isMade: false };
const textOf = (tool: Tool): string => JSON.stringify({ name: 't', ...tool });

function nowOf(tool: Tool, prose: ProsePolicy = 'flag'): CurrentDefinition {
  const text = textOf(tool);
  return { digest: hashDefinition(text), aspects: () => computeAspects(text, SOURCE), prose, isOwn: false };
}

/** An override by an operator who saw this definition. */
function overrideOn(tool: Tool, value: boolean): Override {
  const { digest, aspects } = nowOf(tool);
  return { value, author: 'boss', atMs: 1, digest, seen: aspects() };
}

type Overrides = Readonly<Partial<Record<Hint, Override>>>;

function resolved(tool: Tool, overrides: Overrides, now = nowOf(tool)): ResolvedHints {
  const annotated = pickDeclaredHints(tool.annotations);
  const claims = HINTS.flatMap((hint): readonly Claim[] => {
    const claim = { hint, origin: 'x', digest: now.digest, mayLower: true };
    const [declared, override] = [annotated[hint], overrides[hint]];
    return [
      ...(declared === undefined
        ? []
        : [{ ...claim, kind: 'declared', source: 'server', value: declared, atMs: 0 } as const]),
      ...(override === undefined || !isInForce(hint, override, now)
        ? []
        : [{ ...claim, kind: 'override', source: 'operator', value: override.value, atMs: 1 } as const]),
    ];
  });
  return resolveHints(claims, now.digest);
}

const anyTool: fc.Arbitrary<Tool> = fc.record({
  annotations: fc.dictionary(
    fc.constantFrom(...HINTS, 'ReadOnlyHint', 'title'),
    fc.constantFrom(true, false, 'x'),
    { maxKeys: 5 },
  ),
  description: fc.constantFrom('a', 'b'),
  inputSchema: fc.constantFrom(
    { type: 'object' },
    { type: 'object', description: 'x' },
    { properties: { a: {} } },
  ),
});
const anyValues = fc.dictionary(fc.constantFrom(...HINTS), fc.boolean());
const anyPolicy = fc.constantFrom<ProsePolicy[]>('flag', 'suspend');

function overridesOn(tool: Tool, values: Readonly<Record<string, boolean>>): Overrides {
  return Object.fromEntries(Object.entries(values).map(([hint, value]) => [hint, overrideOn(tool, value)]));
}

describe('an override', () => {
  it('can make a tool look safer than its source only for behavior that its author reviewed', () => {
    fc.assert(
      fc.property(anyTool, anyTool, anyValues, anyPolicy, (seen, now, values, prose) => {
        const overrides = overridesOn(seen, values);
        const [plain, with_] = [resolved(now, {}), resolved(now, overrides, nowOf(now, prose))];
        const isLowered = HINTS.some(
          (hint) =>
            isCautious(hint, plain[hint].effective.value) && !isCautious(hint, with_[hint].effective.value),
        );
        if (!isLowered) return;
        const [before, after] = [textOf(seen), textOf(now)].map((text) => ({
          text,
          digest: hashDefinition(text),
        }));
        const drift = compareDefinitions(before!, after!, { nowMs: 0, ...SOURCE });
        expect(
          drift === undefined || drift.risks.length === 0 || (isProseAlone(drift) && prose === 'flag'),
        ).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  const READS: Tool = {
    annotations: { readOnlyHint: true, destructiveHint: false },
    description: 'a',
    inputSchema: { type: 'object' },
  };
  const values = (tool: Tool, overrides: Overrides, prose?: ProsePolicy): readonly boolean[] => {
    const hints = resolved(tool, overrides, nowOf(tool, prose));
    return [hints.readOnlyHint.effective.value, hints.destructiveHint.effective.value];
  };
  const SAFE = overridesOn(READS, { readOnlyHint: true, destructiveHint: false });

  it('no longer applies to a tool that turns destructive', () => {
    const turned = { ...READS, annotations: { readOnlyHint: false, destructiveHint: true } };
    expect(values(turned, SAFE)).toEqual([false, true]);
  });

  it('survives changed text, unless the setting says otherwise', () => {
    const writes = { ...READS, annotations: {} };
    const overrides = overridesOn(writes, { readOnlyHint: true });
    const reworded = { ...writes, description: 'at 12:01, pid 4711' };
    expect(values(reworded, overrides)).toEqual([true, false]);
    expect(values(reworded, overrides, 'suspend')).toEqual([false, true]);
  });

  it('always applies if it asks for more caution', () => {
    const overrides = overridesOn(READS, { destructiveHint: true });
    expect(values({ ...READS, inputSchema: {} }, overrides, 'suspend')).toEqual([false, true]);
  });

  it('applies only to the exact definition if what its author saw is not recorded', () => {
    const { seen: _, ...older } = overrideOn(READS, true);
    expect(isInForce('readOnlyHint', older, nowOf(READS))).toBe(true);
    expect(isInForce('readOnlyHint', older, nowOf({ ...READS, description: 'b' }))).toBe(false);
  });

  it('applies to the definition that an operator reviewed', () => {
    const record: ToolRecord = { id: 'i', server: 's', identity: 'x', name: 't', overrides: SAFE };
    const turned = { ...READS, annotations: {} };
    const { overrides } = markReviewed(record, nowOf(turned));
    expect(values(turned, overrides)).toEqual([true, false]);
    expect(values({ ...turned, inputSchema: {} }, overrides)).toEqual([false, true]);
  });

  it("no longer applies if the request's target changed, unless the operator changed it", () => {
    const made = (target: string): string =>
      serializeDeclared('{"name":"t"}', { kind: 'openapi', method: 'POST', target });
    const now = (target: string, isTargetChosen: boolean): CurrentDefinition => ({
      digest: hashDefinition(made(target)),
      aspects: () => computeAspects(made(target), { isMade: true, isTargetChosen }),
      prose: 'suspend',
      isOwn: false,
    });
    const { digest, aspects } = now('a', false);
    const override: Override = { value: true, author: 'b', atMs: 1, digest, seen: aspects() };
    const inForce = [now('b', false), now('b', true), now('a', true)].map((one) =>
      isInForce('readOnlyHint', override, one),
    );
    expect(inForce).toEqual([false, true, true]);
  });
});

describe('the text of a definition', () => {
  const after = (...found: readonly ('same' | 'prose' | 'behaviour')[]): Volatility | undefined =>
    found.reduce<Volatility | undefined>(computeVolatility, undefined);

  it('is volatile once it differs in three consecutive connections, and not earlier', () => {
    const times = [1, 2, 3, 4].map((count) =>
      isVolatile({ volatility: after(...Array<'prose'>(count).fill('prose')) }),
    );
    expect(times).toEqual([false, false, true, true]);
    expect(isVolatile({ volatility: after('prose', 'prose', 'same', 'prose') })).toBe(false);
    expect(isVolatile({ volatility: after('prose', 'prose', 'prose', 'same') })).toBe(true);
  });

  it('is no longer volatile when the behavior changes', () => {
    expect(after('prose', 'prose', 'prose', 'behaviour')).toBeUndefined();
    expect(computeVolatility({ connects: 3, isAccepted: true }, 'behaviour')).toBeUndefined();
  });
});
