// Every combination of claims by every party: the reason is that of the deciding claim, and of no other.
import { describe, expect, it } from 'vitest';
import { DEFAULTS, HINTS } from '@assay-mcp/kit/hint';
import type { Claim, ClaimSource } from '../../../src/core/hints/claim.ts';
import { toClaimReason, toReason } from '../../../src/core/hints/reason.ts';
import { resolveHints } from '../../../src/core/hints/resolve.ts';

type Kind = Claim['kind'];

const SOURCES: Readonly<Record<Kind, readonly ClaimSource[]>> = {
  declared: ['server', 'operator', 'config_file', 'document', 'module'],
  inferred: ['rule'],
  override: ['operator'],
  observed: ['verification'],
};

/** Everything that one party may claim about both related hints, or nothing. */
function claimSets(kind: Kind, source: ClaimSource): readonly (readonly Claim[])[] {
  const values = [undefined, true, false].flatMap((readOnly) =>
    [undefined, true, false].map((destructive) => ({ readOnly, destructive })),
  );
  return values.flatMap(({ readOnly, destructive }) =>
    [true, false].flatMap((mayLower) =>
      (kind === 'override' ? [undefined, 'it changed'] : [undefined]).map((suspended) => {
        const claim = { kind, source, origin: `${kind}-${source}`, digest: 'd', mayLower, suspended };
        const atMs = kind === 'observed' ? 2 : 1;
        return [
          ...(readOnly === undefined
            ? []
            : [{ ...claim, atMs, hint: 'readOnlyHint' as const, value: readOnly }]),
          ...(destructive === undefined
            ? []
            : [{ ...claim, atMs, hint: 'destructiveHint' as const, value: destructive }]),
        ];
      }),
    ),
  );
}

const one = <T>(all: readonly T[], at: number): T => all[at % all.length]!;

describe('the reason of a hint', () => {
  it.each(SOURCES.declared)('is that of the deciding claim if %s declares it', (source) => {
    const declared = claimSets('declared', source);
    const inferred = claimSets('inferred', 'rule').filter((claims) => claims.length !== 1);
    const overrides = claimSets('override', 'operator').filter((claims) => claims[0]?.mayLower !== false);
    const observed = claimSets('observed', 'verification').filter((_, at) => at % 2 === 0);
    let count = 0;
    for (const first of declared)
      for (const second of overrides)
        for (const third of inferred)
          for (const isMade of [true, false]) {
            count += 1;
            const claims = [...first, ...second, ...third, ...one(observed, count)];
            const resolved = resolveHints(claims, 'd', { isMade });
            for (const hint of HINTS)
              for (const { value, by } of [resolved[hint].effective, resolved[hint].decision]) {
                const { code, text } = toReason(by);
                const named = by.kind === 'claim' ? by.claim : by.kind === 'implied' ? by.by : undefined;
                if (named === undefined) {
                  if (code !== 'default' || value !== DEFAULTS[hint]) expect.fail(`${hint}: ${text}`);
                  continue;
                }
                const isTrue =
                  claims.includes(named) &&
                  named.suspended === undefined &&
                  text.includes(toClaimReason(named).text) &&
                  (by.kind === 'claim' ? named.hint === hint && named.value === value : named.value);
                if (!isTrue) expect.fail(`${hint} ${value}: ${text}, of ${JSON.stringify(claims)}`);
              }
          }
    expect(count).toBeGreaterThan(1_000);
  });

  it('names each party', () => {
    const claim = (kind: Kind, source: ClaimSource, reason?: string): Claim => ({
      ...{ kind, source, origin: 'x', hint: 'readOnlyHint', value: true, reason },
      ...{ atMs: 0, digest: 'd', mayLower: true },
    });
    const reasons = [
      ...SOURCES.declared.map((source) => claim('declared', source)),
      claim('inferred', 'rule', 'GET request'),
      claim('override', 'operator', 'it only lists'),
      claim('observed', 'verification'),
    ].map((one_) => Object.values(toClaimReason(one_)).join(' | '));
    expect(reasons).toEqual([
      'declared_by_server | the server "x" declares it',
      'declared_by_operator | "x" set it when creating the tool',
      'declared_by_config_file | the config file declares it',
      'declared_by_document | x-mcp in the OpenAPI document of "x" declares it',
      'declared_by_module | the function module "x" declares it',
      'inferred | inferred: GET request',
      'override | "x" set it: it only lists',
      'observed | observed by "x"',
    ]);
  });
});
