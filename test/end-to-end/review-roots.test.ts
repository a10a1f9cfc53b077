import { mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startAssay } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';

it('`assay review --roots` shows where a root leads now, and --accept makes that its root', async () => {
  const [home, folder] = [tempDir(), realpathSync(tempDir())];
  const [before, after, link] = ['before', 'after', 'link'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(before);
  mkdirSync(after);
  symlinkSync(before, link);
  const config = writeConfig({ plain: fixture('plain', [], { sandbox: 'twin', roots: [link] }) });
  const first = await startAssay({ config, home });
  await first.stop();
  rmSync(link);
  symlinkSync(after, link);
  const review = async (...more: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await runAssay([
      ...['review', '--roots', 'plain', '--config', config, '--home', home],
      ...more,
    ]);
    expect(code, stderr).toBe(0);
    return more.includes('--json') ? JSON.parse(stdout) : stdout;
  };
  const shown = await review();
  expect(shown).toContain(`  - ${before}\n`);
  expect(shown).toContain(`  + ${after}\n`);
  expect(await review('--json')).toMatchObject({
    stored: expect.arrayContaining([before]) as unknown,
    now: expect.arrayContaining([after]) as unknown,
    accepted: false,
  });
  expect(await review('--accept')).toContain('Accepted the roots of plain.');
  expect(await review()).toContain(`  = ${after}\n`);
  const unknown = await runAssay(['review', '--roots', 'nobody', '--config', config, '--home', home]);
  expect([unknown.code === 0, unknown.stderr]).toEqual([false, expect.stringContaining('nobody')]);
});
