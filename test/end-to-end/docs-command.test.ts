import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { ROOT } from '../support/paths.ts';

it('assay docs lists the topics, prints a guide, and proposes the nearest for an unknown one', async () => {
  const listed = await runAssay(['docs']);
  expect(listed.stdout).toMatch(/^policy +Approvals and rules$/m);
  const printed = await runAssay(['docs', 'Policy.md']);
  expect(printed.stdout).toBe(readFileSync(join(ROOT, 'docs', 'POLICY.md'), 'utf8'));
  const path = await runAssay(['docs', 'policy', '--path']);
  expect(readFileSync(path.stdout.trim(), 'utf8')).toBe(printed.stdout);
  const wrong = await runAssay(['docs', 'polciy']);
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
    2,
    '',
    expect.stringContaining('there is no topic "polciy"; did you mean policy?'),
  ]);
});
