import { expect, it } from 'vitest';
import { computeCacheMs, isKnownReadOnly } from '../../../src/core/policy/cacheable.ts';
import { ALL_HINTS, claimsOf, toolWith } from './tools.ts';

const DEFAULT_MS = 5;

it.each(['trusted', 'override'] as const)(
  'results are cached for tools that are read-only, idempotent and closed-world, and for any read-only one if an operator enabled it: %s',
  (source) => {
    for (const hints of ALL_HINTS) {
      const reads = hints.readOnlyHint === true && hints.destructiveHint !== true;
      const isPlain = reads && hints.idempotentHint !== false && hints.openWorldHint === false;
      const claims = claimsOf(hints, source);
      const kept = [undefined, 9, 0, 'suspended' as const].map((cacheMs) =>
        computeCacheMs(toolWith(claims, { cacheMs }), DEFAULT_MS),
      );
      expect.soft(kept, JSON.stringify(hints)).toEqual([isPlain ? DEFAULT_MS : 0, reads ? 9 : 0, 0, 0]);
      expect.soft(isKnownReadOnly(toolWith(claims))).toBe(reads);
    }
  },
);

it.each(['untrusted', 'observed'] as const)('a hint that is %s never makes a result cacheable', (source) => {
  for (const hints of ALL_HINTS)
    for (const trusted of ALL_HINTS) {
      const alone = toolWith(claimsOf(trusted, 'trusted'), { cacheMs: 9 });
      const both = toolWith([...claimsOf(hints, source), ...claimsOf(trusted, 'trusted')], { cacheMs: 9 });
      expect(computeCacheMs(both, DEFAULT_MS)).toBeLessThanOrEqual(computeCacheMs(alone, DEFAULT_MS));
      const [bothByDefault, byDefault] = [both, alone].map((tool) =>
        computeCacheMs({ ...tool, cacheMs: undefined }, DEFAULT_MS),
      );
      expect(bothByDefault).toBeLessThanOrEqual(byDefault ?? 0);
    }
});
