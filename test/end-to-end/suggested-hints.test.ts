// Hints that the names of tools suggest, and the short form of `assay lint`, which points to them.
import { expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { at, parseJson } from '../support/json.ts';
import { tempDir, writeConfig } from '../support/paths.ts';

it('nothing counts before an operator accepts it; then it is an override for the definitions that were shown', async () => {
  const tools = ['get_a', 'get_b', 'write_c'].map((name) => toolNamed(name));
  const server = filedServer(tools, { quiet: true });
  const place = ['--config', writeConfig({ filed: server.entry }), '--home', tempDir()];
  const run = (...args: string[]): ReturnType<typeof runAssay> => runAssay([...args, ...place]);

  const linted = await run('lint');
  expect(linted).toMatchObject({ code: 0 });
  expect(linted.stdout.split('\n')).toEqual([
    'filed',
    expect.stringMatching(
      /^ {2}warning {2}3 tools without some hints, .*\(missing-hints\): get_a, get_b, write_c$/,
    ),
    '3 tools: 0 errors, 3 warnings.',
    '',
  ]);
  expect(linted.stderr).toContain(
    '3 tools of filed declare no hints; 2 read, by their names: `assay hints filed --suggested`',
  );
  expect((await run('lint', '--verbose')).stdout).toMatch(/^ {2}get_a\n {4}warning .*\(missing-hints\)$/m);

  const shown = await run('hints', 'filed', '--suggested');
  expect([shown.code, shown.stdout.match(/get_a|get_b|write_c/g)]).toEqual([0, ['get_a', 'get_b']]);
  expect(shown.stderr).toContain('Nothing was changed.');
  const before = await run('hints', 'filed_get_a', '--json');
  expect(at(parseJson(before.stdout), 'hints', 'readOnlyHint', 'effective')).toBe(false);

  expect(await run('hints', 'filed', '--suggested', '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Set the hints of 2 tools.') as unknown,
  });
  const after = await run('hints', 'filed_get_a', '--json');
  expect(at(parseJson(after.stdout), 'hints', 'readOnlyHint')).toMatchObject({
    effective: true,
    decidedBy: 'override',
    reason: '"local" set it: suggested by name',
  });
  expect((await run('hints', 'filed', '--suggested')).stderr).toContain('Nothing is suggested');
  expect((await run('hints', 'fild', '--suggested')).stderr).toContain('There are: "filed"');
});
