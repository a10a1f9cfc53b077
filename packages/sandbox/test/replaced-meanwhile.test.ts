// What docs/SANDBOX.md says that a sandbox does not cover: what other programs replace while a process runs in it.
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { confineWith } from '../src/confine.ts';
import type { SandboxRights } from '../src/rights.ts';
import { Child } from '@assay-mcp/kit/platform/child';
import { tempDir } from '../../../test/support/paths.ts';

const WAIT = `
import os, sys, time
def attempt(what, path, mode):
  try:
    with open(path, mode) as file: print(what, file.read() if mode == 'r' else 'written')
  except OSError as error: print(what, os.strerror(error.errno))
`;

interface Run {
  readonly root: string;
  readonly rights: SandboxRights;
  readonly own?: readonly string[];
  readonly others?: readonly string[];
  /** What the process tries before and after the change, in Python. */
  readonly attempts: string;
  readonly change: () => void;
}

async function printed({
  root,
  rights,
  own = [],
  others = [],
  attempts,
  change,
}: Run): Promise<readonly string[]> {
  const code = `${WAIT}
def attempts():
${attempts}
attempts()
print('ready', flush=True)
sys.stdin.readline()
attempts()`;
  const command = { command: '/usr/bin/python3', args: ['-c', code], env: {}, cwd: '/', roots: [root] };
  const confine = confineWith(own, { others: () => Promise.resolve(others) });
  const confined = await confine(command, { rights, namedReaches: new Set() });
  if (!confined.ok) throw new Error(JSON.stringify(confined.error));
  const child = new Child(confined.value);
  let output = '';
  child.onErrorOutput((chunk) => (output += chunk.toString()));
  child.onOutput((chunk) => {
    output += chunk.toString();
    if (!chunk.toString().includes('ready')) return;
    change();
    child.write([Buffer.from('\n')]);
  });
  await child.ended;
  await Promise.all([child.outputRead, child.errorOutputRead]);
  return output.trim().split('\n');
}

describe.skipIf(process.platform !== 'linux')('while a process runs in a sandbox', () => {
  it('protection moves along with a folder that another program renames', async () => {
    const root = realpathSync(tempDir());
    const [kept, old] = [join(root, 'kept'), join(root, 'old')];
    mkdirSync(kept);
    const attempts = `
  attempt('kept', '${kept}/x', 'w')
  attempt('old', '${old}/x', 'w')`;
    const change = (): void => {
      renameSync(kept, old);
      mkdirSync(kept);
    };
    expect(await printed({ root, rights: 'write_roots', others: [kept], attempts, change })).toEqual([
      'kept Read-only file system',
      'old No such file or directory',
      'ready',
      'kept written',
      'old Read-only file system',
    ]);
  });

  it('a twin can read a config file in its root that another program replaces', async () => {
    const root = realpathSync(tempDir());
    const path = join(root, 'mcp.json');
    writeFileSync(path, 'first');
    const change = (): void => {
      writeFileSync(`${path}.new`, 'second');
      renameSync(`${path}.new`, path);
    };
    const attempts = `
  attempt('read', '${path}', 'r')`;
    const lines = await printed({ root, rights: 'read', own: [path], attempts, change });
    expect(lines).toEqual(['read Permission denied', 'ready', 'read second']);
    expect(readFileSync(path, 'utf8')).toBe('second');
  });
});
