import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process, { execPath } from 'node:process';
import { beforeAll, describe, expect, it } from 'vitest';
import { tempDir } from '../../../test/support/paths.ts';
import { ESCAPES, STRICT_CONNECTIONS, STRICT_ESCAPES, STRICT_WORK } from './escapes.ts';
import { NODE_ESCAPES } from './node-escapes.ts';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
const isX64 = process.arch === 'x64';
const ORDINARY = 65_534;

interface Tried {
  readonly uid: number;
  readonly results: Readonly<Record<string, string>>;
  /** Of a server that may change its root. */
  readonly strict: Readonly<Record<string, string>>;
  readonly bomb?: string;
  readonly survival?: string;
  /** The content of the root afterwards. */
  readonly left?: readonly string[];
}

interface Trying {
  readonly script?: string;
  /** Other than that of the tests, which takes root. */
  readonly uid?: number;
  /** A rule to leave out. */
  readonly without?: string;
}

async function tried({ script = 'try-escapes.ts', uid, without }: Trying): Promise<Tried> {
  const own = [execPath, join(import.meta.dirname, script), ...(without === undefined ? [] : [without])];
  const [command = '', ...args] =
    uid === undefined
      ? own
      : ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups', ...own];
  // A variable inherited from the shell that starts Assay.
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

describe.skipIf(!isLinux).each(USERS)("an escape from a twin's sandbox, as user %s,", (uid) => {
  let outcome: Tried;
  beforeAll(async () => {
    outcome = await tried({ ...(uid !== undefined && { uid }) });
  });

  it.each(Object.entries(ESCAPES))('does not reach %s', (name, { stoppedBy }) => {
    expect(stoppedBy).toContain(outcome.results[name]);
  });

  it.each(Object.entries({ ...STRICT_ESCAPES, ...STRICT_CONNECTIONS }))(
    'does not reach %s if the server may change the root around it',
    (name, { stoppedBy }) => {
      expect(stoppedBy).toContain(outcome.strict[name]);
    },
  );

  it.each(Object.keys(STRICT_WORK))('is no reason why a server could not %s in its root', (name) => {
    expect(outcome.strict[name]).toBe('got out');
  });

  it('cannot start many processes', () => {
    expect(outcome.bomb).toBe('EAGAIN');
  });

  it.skipIf(!isX64)('does not outlive Assay, even if it rewrites the first process', () => {
    expect(outcome.survival).toBe('rewritten, ended');
  });
});

describe.skipIf(!isLinux)('without one rule of the sandbox,', () => {
  const gotOut = async (without: string): Promise<readonly string[]> =>
    Object.entries((await tried({ without })).results).flatMap(([name, result]) =>
      ESCAPES[name]?.stoppedBy.includes(result) === true ? [] : [name],
    );

  it('outer namespace, a server outlives Assay, and root can start any number of processes', async () => {
    const { bomb, survival } = await tried({ without: 'outer namespace' });
    expect([bomb, survival]).toEqual([isRoot ? 'got out' : 'EAGAIN', isX64 ? 'got out' : undefined]);
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

it.skipIf(!isLinux)(
  'without mount points between a root and a protected path, a server replaces it',
  async () => {
    const { strict } = await tried({ without: 'pins' });
    expect(strict['the name of the folder above']).toBe('got out');
    expect(strict['the name of the folder above the home']).toBe('got out');
  },
);

const ON_NODE = 'node-escapes.ts';

describe.skipIf(!isLinux).each(USERS)("an escape from Node's permission model, as user %s,", (uid) => {
  let outcome: Tried;
  beforeAll(async () => {
    outcome = await tried({ script: ON_NODE, ...(uid !== undefined && { uid }) });
  });

  it.each(Object.entries(NODE_ESCAPES))('does not reach %s', (name, { stoppedBy }) => {
    expect(outcome.results[name]).toMatch(stoppedBy);
  });

  it('leaves no file behind', () => {
    expect(outcome.left).toEqual(['link', 'note', 'server.mjs']);
  });
});

describe.skipIf(!isLinux)('without one part of the Node confinement,', () => {
  it.each([
    // V8 ends a process that sets flags which are frozen.
    [
      '--import,--freeze-flags',
      [
        'files of V8',
        ...(process.allowedNodeEnvironmentFlags.has('--allow-net')
          ? []
          : ['the endpoint of Assay', 'a socket with a path']),
        'ending a process outside',
      ],
    ],
    ['--no-experimental-sqlite', ['a database']],
  ])('%s, an escape succeeds', async (without, expected) => {
    const { results } = await tried({ script: ON_NODE, without });
    expect(expected.map((name) => [name, results[name]])).toEqual(expected.map((name) => [name, 'got out']));
  });
});
