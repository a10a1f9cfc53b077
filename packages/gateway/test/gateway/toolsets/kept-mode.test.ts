import { expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import { until } from '../../../../../test/support/endings.ts';
import { createKeptMode } from '../../../src/gateway/services/configuration-tools/client-views.ts';

it('has one write of its mode under way, and then writes the latest', async () => {
  const written: (string | undefined)[] = [];
  const pending: (() => void)[] = [];
  const kept = createKeptMode(
    {
      of: () => ({}),
      change: async (_, change) => {
        written.push(change.kind === 'mode' ? change.mode : 'other');
        await new Promise<void>((resolve) => pending.push(resolve));
        return ok(undefined);
      },
    },
    'a',
  );
  for (let count = 0; count < 50; count += 1)
    for (const mode of ['configuration', 'normal'] as const) kept.save(mode);
  expect([written, kept.current]).toEqual([['configuration'], 'normal']);
  pending.shift()?.();
  await until('the latest is written', () => (written.length > 1 ? true : undefined));
  pending.shift()?.();
  await until('nothing is unsaved', () => (kept.current === undefined ? true : undefined));
  expect(written).toEqual(['configuration', 'normal']);
  kept.save(undefined);
  expect(written).toEqual(['configuration', 'normal', undefined]);
});
