import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { confineWith } from '../src/confine.ts';
import { SEARCHED, tryEnforcement } from '../src/enforcement.ts';
import type { SandboxRights } from '../src/rights.ts';
import { Child, type ChildOptions } from '@assay-mcp/kit/platform/child';
import { findCommand } from '@assay-mcp/kit/platform/machine';
import { ROOT, tempDir } from '../../../test/support/paths.ts';

/** The output of a Python program run in `cwd` with these permissions. */
async function printed(code: string, { rights, cwd, roots = [] }: Confinement): Promise<string> {
  const command = { command: '/usr/bin/python3', args: ['-c', code], env: {}, cwd, roots };
  const confined = await confineWith([])(command, { rights, namedReaches: new Set() });
  if (!confined.ok) throw new Error(JSON.stringify(confined.error));
  return outputOf(confined.value);
}

async function outputOf(options: ChildOptions): Promise<string> {
  const child = new Child(options);
  let output = '';
  child.onOutput((chunk) => (output += chunk.toString()));
  child.onErrorOutput((chunk) => (output += chunk.toString()));
  await child.ended;
  await Promise.all([child.outputRead, child.errorOutputRead]);
  return output.trim();
}

interface Confinement {
  readonly rights: SandboxRights;
  readonly cwd: string;
  readonly roots?: readonly string[];
}

const LIMITS = `
try: bytes(9 << 30); size = 'got'
except MemoryError: size = 'too much'
print(size, open('/proc/self/oom_score_adj').read().strip())`;

describe.skipIf(process.platform !== 'linux')('a confined process', () => {
  it.each(['read', 'read_network'] as const)(
    'that may %s has limited memory and is stopped first',
    async (rights) => {
      expect(await printed(LIMITS, { rights, cwd: '/' })).toBe('too much 1000');
    },
  );

  it('with roots can change only these, and an error names the path', async () => {
    const [root, outside] = [tempDir(), tempDir()];
    for (const folder of [root, outside]) writeFileSync(join(folder, 'note'), 'a note');
    mkdirSync(join(root, 'inner'));
    const attempt = (path: string): string => `
try: open(${JSON.stringify(path)}, 'w'); print('written')
except OSError as error: print(error)`;
    const paths = [join(root, 'inner', 'new'), join(outside, 'loot'), join(outside, 'note'), '/usr/loot'];
    const code = `print(open(${JSON.stringify(join(root, 'note'))}).read())${paths.map(attempt).join('')}`;
    expect((await printed(code, { rights: 'write_roots', cwd: '/', roots: [root] })).split('\n')).toEqual([
      'a note',
      'written',
      `[Errno 2] No such file or directory: '${join(outside, 'loot')}'`,
      `[Errno 2] No such file or directory: '${join(outside, 'note')}'`,
      "[Errno 30] Read-only file system: '/usr/loot'",
    ]);
    expect([readdirSync(join(root, 'inner')), readdirSync(outside)]).toEqual([['new'], ['note']]);
    expect(await printed(attempt(join(root, 'more')), { rights: 'read', cwd: '/', roots: [root] })).toBe(
      `[Errno 30] Read-only file system: '${join(root, 'more')}'`,
    );
  });
});

/** Starts a Python program below a folder of this user that another may not enter; prints its working folder. */
const ELSEWHERE = `
import { confineWith } from ${JSON.stringify(join(ROOT, 'packages/sandbox/src/confine.ts'))};
import { Child } from ${JSON.stringify(join(ROOT, 'packages/kit/src/platform/child.ts'))};
const [cwd, isOwn] = process.argv.slice(1);
const confinement = isOwn === 'own' ? { rights: 'read', reads: [], links: {}, hidden: [] } : undefined;
const command = { command: '/usr/bin/python3', args: ['-c', 'import os; print(os.getcwd())'], env: {}, cwd, confinement };
const confined = await confineWith([])(command, { rights: 'read', namedReaches: new Set() });
if (!confined.ok) throw new Error(JSON.stringify(confined.error));
const child = new Child(confined.value);
child.onOutput((chunk) => process.stdout.write(chunk));
child.onErrorOutput((chunk) => process.stdout.write(chunk));
await child.ended;`;

const OTHER_USER = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];

describe.skipIf(process.platform !== 'linux')('the working folder of a confined process', () => {
  const startedIn = async (
    cwd: string,
    as: { home: string; user?: 'other'; code?: 'own' },
  ): Promise<string> => {
    const program = [process.execPath, '--input-type=module', '-e', ELSEWHERE, cwd, as.code ?? ''];
    const [command = '', ...args] = as.user === undefined ? program : [...OTHER_USER, ...program];
    const env = { PATH: process.env['PATH'] ?? SEARCHED, HOME: as.home };
    return outputOf({ command, args, cwd: '/', env });
  };

  it('is kept if it is shown', async () => {
    const cwd = realpathSync(tempDir());
    expect(await startedIn(cwd, { home: '/nonexistent' })).toBe(cwd);
    expect(await startedIn('/tmp', { home: '/tmp/home' })).toBe('/tmp');
  });

  it('is the private home if it is hidden, also below a temporary folder', async () => {
    const cwd = realpathSync(tempDir());
    expect(await startedIn(cwd, { home: '/nonexistent', code: 'own' })).toBe('/nonexistent');
    expect(await startedIn(cwd, { home: join(cwd, 'home') })).toBe('/home/user');
  });

  it.skipIf(process.getuid?.() !== 0)('is the private home if the user may not enter it', async () => {
    const cwd = join(realpathSync(tempDir()), 'private', 'work');
    mkdirSync(cwd, { recursive: true });
    chmodSync(dirname(cwd), 0o700);
    expect(await startedIn(cwd, { home: '/nonexistent', user: 'other' })).toBe('/nonexistent');
  });
});

describe.skipIf(process.platform !== 'linux')("a process of Assay's own code", () => {
  it('changes one folder of the hidden home, puts no links into it, and only reads its roots', async () => {
    const root = realpathSync(tempDir());
    const home = join(root, 'home');
    const own = join(home, 'codebase');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(home, 'secret'), 'of Assay');
    writeFileSync(join(root, 'note'), 'a note');
    const attempts = [
      `open('${own}/index', 'w')`,
      `os.symlink('${home}/secret', '${own}/index-wal')`,
      `os.link('${own}/index', '${own}/other')`,
      `os.mkfifo('${own}/pipe')`,
      `os.rename('${own}', '${home}/moved')`,
      `open('${home}/secret')`,
      `open('${home}/new', 'w')`,
      `open('${root}/note', 'w')`,
      `os.link('${root}/note', '${own}/note')`,
      `socket.socket(socket.AF_UNIX)`,
      `socket.create_connection(('127.0.0.1', 9))`,
    ];
    const code = `
import os, socket
def attempt(work):
  try: work(); print('done')
  except OSError as error: print(os.strerror(error.errno))
${attempts.map((one) => `attempt(lambda: ${one})`).join('\n')}`;
    const confinement = {
      rights: 'read',
      ...{ reads: [root], links: {}, hidden: [] },
      writes: { path: own, from: own },
    } as const;
    const command = { command: '/usr/bin/python3', args: ['-c', code], env: {}, cwd: '/', confinement };
    const confined = await confineWith([home])(command, { rights: 'read', namedReaches: new Set() });
    if (!confined.ok) throw new Error(JSON.stringify(confined.error));
    expect((await outputOf(confined.value)).split('\n')).toEqual([
      'done',
      ...['Operation not permitted', 'Operation not permitted', 'Operation not permitted'],
      'Read-only file system',
      'No such file or directory',
      ...['Read-only file system', 'Read-only file system'],
      'Operation not permitted',
      'Permission denied',
      'Connection refused',
    ]);
    expect([readdirSync(home).toSorted(), readdirSync(own)]).toEqual([['codebase', 'secret'], ['index']]);
  });
});

describe.skipIf(process.platform !== 'linux')('the report of missing sandbox features', () => {
  const lacksOf = async (facts: { readonly path?: string; readonly kernel?: string }): Promise<unknown> => {
    const machine = {
      platform: 'linux',
      architecture: process.arch,
      path: SEARCHED,
      kernel: '6.14.0',
    } as const;
    const found = await tryEnforcement({ ...machine, ...facts });
    return found.ok && found.value.lacks;
  };

  it('names strace and overlays if only bubblewrap is installed', async () => {
    const folder = tempDir();
    const bwrap = await findCommand('bwrap', { cwd: '/', path: SEARCHED });
    if (bwrap.kind === 'found') symlinkSync(bwrap.path, join(folder, 'bwrap'));
    expect(await lacksOf({})).toEqual([]);
    expect(await lacksOf({ path: folder })).toEqual(['strace', 'overlay']);
  });

  it('names the end of processes if one namespace cannot contain another', async () => {
    const folder = tempDir();
    const [bwrap, strace, unshare] = await Promise.all(
      ['bwrap', 'strace', 'unshare'].map((name) => findCommand(name, { cwd: '/', path: SEARCHED })),
    );
    if (strace?.kind === 'found') symlinkSync(strace.path, join(folder, 'strace'));
    if (unshare?.kind === 'found') symlinkSync(unshare.path, join(folder, 'unshare'));
    const program = bwrap?.kind === 'found' ? bwrap.path : '';
    const script = `#!/bin/sh\ncase "$*" in *--dev-bind*) exit 1;; esac\nexec ${program} "$@"\n`;
    writeFileSync(join(folder, 'bwrap'), script, { mode: 0o755 });
    const limit = process.getuid?.() === 0 ? ['process_limit'] : [];
    expect(await lacksOf({ path: folder })).toEqual([...limit, 'process_end']);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'names a process limit for root on an older kernel, and leaves the machine-wide limit alone',
    async () => {
      const limit = (): string => readFileSync('/proc/sys/kernel/pid_max', 'utf8');
      const before = limit();
      expect(await lacksOf({ kernel: '6.8.0-45-generic' })).toEqual(['process_limit']);
      expect(limit()).toBe(before);
    },
  );
});
