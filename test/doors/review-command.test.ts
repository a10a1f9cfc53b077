// What changed upstream, reviewed at a terminal, and hints that are shown and set there.
import { describe, expect, it } from 'vitest';
import { runAssay } from '../support/assay.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { at, parseJson, type JsonObject } from '../support/json.ts';
import { tempDir, writeConfig } from '../support/place.ts';

const ACT = toolNamed('act', { annotations: { readOnlyHint: true, destructiveHint: false } });
const TURNED: JsonObject = {
  ...ACT,
  description: 'Does act.\u001b[2J',
  annotations: { readOnlyHint: false, destructiveHint: true },
};

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function openPlace(): { readonly have: (tool: JsonObject) => void; run(...args: string[]): Promise<Run> } {
  const server = filedServer([ACT], { quiet: true });
  const home = tempDir();
  const config = writeConfig({ filed: server.entry });
  return {
    have: (tool) => server.have([tool]),
    run: (...args) => runAssay([...args, '--config', config, '--home', home]),
  };
}

describe('assay review and assay hints', () => {
  it('show what a tool has become, suspend what was said of it, and accept it', async () => {
    const place = openPlace();
    const set = ['--set', 'readOnlyHint=true', '--set', 'destructiveHint=false', '--reason', 'it lists'];
    expect(await place.run('hints', 'filed_act', ...set)).toMatchObject({ code: 0 });
    expect(await place.run('review')).toMatchObject({ code: 0, stderr: 'Nothing waits for a review.\n' });
    place.have(TURNED);
    const listed = await place.run('review', '--json');
    expect(at(parseJson(listed.stdout), 'review', 0)).toMatchObject({
      kind: 'tool',
      name: 'filed_act',
      severity: 'dangerous',
      suspends: ['readOnlyHint', 'destructiveHint'],
    });
    const held = await place.run('hints', 'filed_act');
    expect(held.stdout).toMatch(/readOnlyHint +false +the server "filed" declares it/);
    expect(held.stdout).toContain('suspended');
    expect((await place.run('tools')).stderr).toContain('note: 1 tool to review');
    const shown = await place.run('review', 'filed.act');
    expect(shown.stdout).toContain('- false');
    expect(shown.stdout).toContain('\\u001b[2J');
    expect(shown.stdout).not.toContain('\u001b[2J');
    const accepted = await place.run('review', 'filed_act', '--accept');
    expect([accepted.code, accepted.stdout]).toEqual([0, 'Accepted the definition of filed_act.\n']);
    const after = parseJson((await place.run('hints', 'filed_act', '--json')).stdout);
    expect([
      at(after, 'hints', 'readOnlyHint', 'effective'),
      at(after, 'hints', 'readOnlyHint', 'reason'),
    ]).toEqual([true, expect.stringContaining('set it: it lists')]);
    expect(await place.run('review', 'filed_act')).toMatchObject({
      stdout: 'filed_act: nothing waits for a review.\n',
    });
  });

  it('say what they cannot do, and change nothing', async () => {
    const place = openPlace();
    const failures: readonly (readonly [args: readonly string[], says: RegExp])[] = [
      [['review', 'filed_akt'], /Did you mean "filed_act"/],
      [['review', '--accept'], /--accept: name the tool/],
      [['hints', 'filed_act', '--set', 'readOnlyHint=maybe'], /write HINT=true/],
      [['hints', 'filed_act', '--set', 'destructiveHint=true'], /readOnlyHint true and destructiveHint true/],
    ];
    for (const [args, says] of failures) {
      const { code, stderr } = await place.run(...args);
      expect([args, code]).toEqual([args, 2]);
      expect(stderr).toMatch(says);
    }
    const { stdout } = await place.run('hints', 'filed_act', '--json');
    expect(at(parseJson(stdout), 'hints', 'destructiveHint', 'decidedBy')).toBe('declared');
  });
});
