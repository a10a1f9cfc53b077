import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { beforeAll, describe, expect, it } from 'vitest';
import { tempDir } from '../../support/paths.ts';
import { ESCAPES } from './escapes.ts';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
const ORDINARY = 65_534;

interface Tried {
  readonly uid: number;
  readonly results: Readonly<Record<string, string>>;
  readonly bomb?: string;
}

/** `uid`: other than that of the tests, which takes root. `without`: a rule to leave out. */
async function tried({ uid, without }: { uid?: number; without?: string }): Promise<Tried> {
  const own = [
    execPath,
    join(import.meta.dirname, 'try-escapes.ts'),
    ...(without === undefined ? [] : [without]),
  ];
  const [command = '', ...args] =
    uid === undefined
      ? own
      : ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups', ...own];
  // What Assay inherits from the shell that starts it.
  const inherited = openSync(join(tempDir(), 'inherited'), 'w');
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', TMPDIR: tmpdir() },
    stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'ignore', 'ignore', 'ignore', inherited],
  });
  closeSync(inherited);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  return JSON.parse(output) as Tried;
}

const USERS = isRoot ? [undefined, ORDINARY] : [undefined];

describe.skipIf(!isLinux).each(USERS)('out of the sandbox of a twin, with the user %s', (uid) => {
  let outcome: Tried;
  beforeAll(async () => {
    outcome = await tried({ ...(uid !== undefined && { uid }) });
  });

  it.each(Object.entries(ESCAPES))('does not lead %s', (name, { stoppedBy }) => {
    expect(stoppedBy).toContain(outcome.results[name]);
  });

  it('lead not many processes', () => {
    expect(outcome.bomb).toBe('EAGAIN');
  });
});

describe.skipIf(!isLinux)('without one rule of the sandbox', () => {
  const gotOut = async (without: string): Promise<readonly string[]> =>
    Object.entries((await tried({ without })).results).flatMap(([name, result]) =>
      ESCAPES[name]?.stoppedBy.includes(result) === true ? [] : [name],
    );

  it.skipIf(!isRoot)('process limit, root can start any number of processes', async () => {
    expect((await tried({ without: 'process limit' })).bomb).toBe('got out');
  });

  it.each([
    ['filter', ['a socket with a path', 'clone3, whose flags no filter can read', 'tracing a process']],
    ['network', ['the endpoint of Assay']],
    ['files', ['writing a file', 'creating a file', 'writing by a hard link']],
    ['hidden', ['the home of Assay in a root']],
  ])('%s, an escape succeeds', async (rule, expected) => {
    expect(await gotOut(rule)).toEqual(expect.arrayContaining(expected));
  });
});
