import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { execPath } from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenSandbox } from '../src/open-sandbox.ts';
import { type Machine, probe } from '../src/probe.ts';
import { formatVerifyFault } from '@assay-mcp/kit/verification/verify-fault';
import type { StateEntry, TracedEvent } from '../src/observation.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { readColumn, useCopy } from '../../../test/support/sqlite.ts';
import { until } from '../../../test/support/endings.ts';
import { changesIn, observed } from './observed.ts';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
const PYTHON = '/usr/bin/python3';
/** Seconds; a number that no other process has. */
const SLEEP = `1000.${process.pid}`;

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'assay-test-'));
  for (const name of ['kept', 'gone', 'moved']) writeFileSync(join(cwd, name), `${name}\n`);
  for (const name of ['old', 'swept']) {
    mkdirSync(join(cwd, name));
    writeFileSync(join(cwd, name, 'a'), 'a\n');
  }
});
afterAll(() => rmSync(cwd, { recursive: true }));

const about = (events: readonly TracedEvent[], path: string): string[] =>
  events
    .filter((event) => 'path' in event && event.path === path)
    .map((event) => [event.kind, event.error].filter((part) => part !== undefined).join(' '));

describe.skipIf(!isLinux)('a server in a sandbox', () => {
  it('is reported as incomplete if it makes names that are not UTF-8, or sparse files that take long to read', async () => {
    const incompleteAfter = async (code: string): Promise<unknown> =>
      (await observed(cwd, `const fs = require('fs'); const name = Buffer.from([0xff]); ${code}`)).observation
        .incomplete;
    for (const code of [
      'fs.mkdirSync(name);',
      "fs.symlinkSync('kept', name);",
      "fs.closeSync(fs.openSync(name, 'w'));",
      "for (const one of ['s', 't', 'u']) { fs.writeFileSync(one, ''); fs.truncateSync(one, 255 * 1024 * 1024); }",
    ])
      expect(await incompleteAfter(code), code).toEqual(['changes']);
    expect(await incompleteAfter('')).toEqual([]);
  }, 60_000);

  it('changes a copy of its files, and every change is reported with its content', async () => {
    const { observation, stderr } = await observed(
      cwd,
      `const fs = require('fs');
      fs.writeFileSync('new', 'x'); fs.appendFileSync('kept', 'more\\n'); fs.unlinkSync('gone');
      fs.renameSync('moved', 'there'); fs.rmSync('old', { recursive: true }); fs.mkdirSync('old');
      fs.rmSync('swept', { recursive: true }); fs.symlinkSync('/etc/passwd', 'swept');
      fs.mkdirSync('deep/er', { recursive: true }); fs.writeFileSync('deep/er/b', ''); fs.chmodSync('new', 0o600);`,
    );
    expect(stderr).toBe('');
    expect(observation.incomplete).toEqual([]);
    expect(changesIn(cwd, observation)).toEqual([
      'created deep',
      'created deep/er',
      'created deep/er/b',
      'deleted gone',
      'modified kept',
      'deleted moved',
      'created new',
      'deleted old/a',
      'replaced swept',
      'created there',
    ]);
    const kept = observation.changes.find(({ path }) => path.endsWith('/kept'));
    expect(kept).toMatchObject({
      before: { content: Buffer.from('kept\n'), size: 5 },
      after: { content: Buffer.from('kept\nmore\n'), size: 10 },
    });
    expect(readdirSync(cwd)).toEqual(['gone', 'kept', 'moved', 'old', 'swept']);
    expect(readFileSync(join(cwd, 'kept'), 'utf8')).toBe('kept\n');
  });

  it('is traced where the changes leave nothing to see', async () => {
    const { observation, stderr } = await observed(
      cwd,
      `const fs = require('fs');
      fs.writeFileSync('transient', 'x'); fs.unlinkSync('transient');
      const file = fs.openSync('kept', 'r'); try { fs.writeFileSync('/proc/self/fd/' + file, 'through'); } catch {}
      try { fs.writeFileSync('/run/x', ''); } catch {}
      const { Worker } = require('worker_threads');
      new Worker("require('fs').writeFileSync('thread', '')", { eval: true });
      require('child_process').spawn('sh', ['-c', 'sleep 0.2; echo late > late'], { stdio: 'ignore' });`,
    );
    expect(stderr).toBe('');
    expect(about(observation.events, join(cwd, 'transient'))).toEqual(['write', 'content', 'delete']);
    expect(about(observation.events, '/run/x')).toEqual(['write EROFS']);
    expect(about(observation.events, join(cwd, 'kept'))).toContain('write');
    expect(changesIn(cwd, observation)).toEqual(['modified kept', 'created late', 'created thread']);
    const executed = observation.events.filter((event) => event.kind === 'execute');
    expect(executed.map(({ argv }) => argv[0])).toEqual([execPath, 'sh', 'sleep']);
  });

  it('has no io_uring, which would allow unobserved writes', async () => {
    const { stdout, stderr } = await observed(
      cwd,
      `import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for call in (425, 426, 427):
    print(libc.syscall(call, 1, ctypes.create_string_buffer(120)), errno.errorcode[ctypes.get_errno()])`,
      { command: PYTHON },
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('-1 ENOSYS\n'.repeat(3));
  });

  it.runIf(process.arch === 'x64')('has no way out that a namespace would leave open', async () => {
    const { stdout, stderr } = await observed(
      cwd,
      `import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
context = ctypes.c_long()
calls = {'io_setup': (206, 1, ctypes.byref(context)), 'AF_VSOCK': (41, 40, 1, 0), 'AF_UNIX': (41, 1, 1, 0),
  'add_key': (248, b'user', b'assay', b'x', 1, -3), 'keyctl': (250, 0, -3, 0)}
for name, arguments in calls.items():
    print(name, libc.syscall(*arguments) >= 0 or errno.errorcode[ctypes.get_errno()])`,
      { command: PYTHON },
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('io_setup ENOSYS\nAF_VSOCK EACCES\nAF_UNIX True\nadd_key EPERM\nkeyctl EPERM\n');
  });

  it('cannot reach the outside, and what it tried to reach is named', async () => {
    const { observation, stdout } = await observed(
      cwd,
      // With an interface to the outside nothing is sent: the isolation is broken.
      `const outside = Object.keys(require('os').networkInterfaces()).filter((name) => name !== 'lo');
      if (outside.length > 0) throw new Error('there is ' + outside.join(', '));
      require('dns').lookup('example.test', () => {
        const socket = require('net').connect(443, '203.0.113.5', () => console.log('connected'));
        socket.on('error', (error) => console.log(error.code));
        require('net').connect('/var/run/docker.sock').on('error', (error) => console.log(error.code));
        const udp = require('dgram').createSocket('udp4');
        udp.send('x', 5353, '203.0.113.7', () => udp.close());
      });`,
    );
    expect(stdout).toContain('ENETUNREACH');
    expect(stdout).not.toContain('connected');
    expect(observation.network).toContainEqual(
      expect.objectContaining({ kind: 'dns', name: 'example.test' }),
    );
    expect(observation.network).toContainEqual(
      expect.objectContaining({ kind: 'tcp', host: '203.0.113.5', port: 443 }),
    );
    expect(observation.network).toContainEqual(
      expect.objectContaining({ kind: 'udp', host: '203.0.113.7', port: 5353 }),
    );
    expect(observation.events).toContainEqual(
      expect.objectContaining({ kind: 'connect', address: { family: 'unix', path: '/var/run/docker.sock' } }),
    );
  });

  it('gets an answer without reaching the outside, so that its request reveals host, address and path', async () => {
    const { observation, stdout } = await observed(
      cwd,
      `fetch('http://example.test/path?key=1').then(({ status }) => console.log(status))
        .then(() => fetch('https://secure.test/')).catch((error) => console.log(error.cause.code));`,
    );
    expect(stdout).toBe('503\nECONNREFUSED\n');
    const asked = observation.network.map(({ atMs: _, ...request }) => ({ ...request, pid: 0 }));
    expect(asked).toEqual([
      { kind: 'dns', name: 'example.test', pid: 0 },
      { kind: 'tcp', host: 'example.test', port: 80, pid: 0 },
      { kind: 'http', url: 'http://example.test/path', pid: 0 },
      { kind: 'dns', name: 'secure.test', pid: 0 },
      { kind: 'tcp', host: 'secure.test', port: 443, pid: 0 },
    ]);
    expect(observation.events.some(({ kind }) => kind === 'listen')).toBe(false);
  });

  it('finds fake secrets in a private home folder, and reading one is reported', async () => {
    const { observation, stdout } = await observed(
      cwd,
      `const fs = require('fs'), { join } = require('path');
      require('child_process').execSync('cat "$HOME/.aws/credentials"');
      console.log(JSON.stringify({ home: process.env.HOME, files: fs.readdirSync(process.env.HOME),
        top: fs.readdirSync('/'), tmp: fs.readdirSync('/tmp'), self: process.pid, mounts: fs.readFileSync('/proc/mounts', 'utf8') }));`,
      { homeFiles: { 'notes.txt': 'hello' } },
    );
    const seen = JSON.parse(stdout) as Record<'home' | 'mounts', string> &
      Record<'files' | 'top' | 'tmp', string[]>;
    const events = observation.events.filter((event) => event.kind === 'read_secret');
    expect(events).toMatchObject([{ path: join(seen.home, '.aws/credentials'), isCanary: true }]);
    expect(seen.files).toContain('notes.txt');
    expect(seen.files).not.toEqual(readdirSync(homedir()));
    for (const hidden of ['mnt', 'boot']) expect(seen.top).not.toContain(hidden);
    // Of the real folder for temporary files, only the working folder, and the program if it is there.
    const shown = [cwd, execPath].map((path) => relative('/tmp', path).split('/')[0]);
    expect(seen.tmp.filter((name) => !shown.includes(name))).toEqual([]);
    expect(observation.changes.filter(({ noise }) => noise === undefined)).toEqual([]);
  });

  it('may write to the folder of its own package, which is reported', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-test-'));
    writeFileSync(join(folder, 'package.json'), '{}');
    writeFileSync(join(folder, 'server.cjs'), "require('fs').writeFileSync(__dirname + '/data.json', '{}')");
    try {
      const { observation, stderr } = await observed(cwd, join(folder, 'server.cjs'), { isScript: true });
      expect(stderr).toBe('');
      expect(changesIn(folder, observation)).toEqual(['created data.json']);
      expect(readdirSync(folder)).toEqual(['package.json', 'server.cjs']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('works for Python as for Node', async () => {
    const { observation, stderr } = await observed(
      cwd,
      `import os, threading, sqlite3
def write(name):
    with open(name, 'w') as file: file.write(name)
threads = [threading.Thread(target=write, args=(f't{n}',)) for n in range(4)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
os.truncate('kept', 1)
sqlite3.connect('x.db').executescript('create table t (a); insert into t values (1)')`,
      { command: PYTHON },
    );
    expect(stderr).toBe('');
    expect(changesIn(cwd, observation)).toEqual([
      'modified kept',
      ...['t0', 't1', 't2', 't3', 'x.db'].map((name) => `created ${name}`),
    ]);
  });

  it("reveals rows that are only in a database's write-ahead log", async () => {
    const database = openDatabase(join(cwd, 'rows.db'), { mode: 'create' });
    database.exec('pragma journal_mode = wal');
    database.exec('create table t (a); insert into t values (1)');
    database.close();
    const { observation, stderr } = await observed(
      cwd,
      `import os, sqlite3
db = sqlite3.connect('rows.db'); db.execute('insert into t values (2)'); db.commit()
db.execute('insert into t values (3)'); os._exit(0)`,
      { command: PYTHON },
    );
    rmSync(join(cwd, 'rows.db'));
    expect(stderr).toBe('');
    const change = observation.changes.find(({ path }) => path.endsWith('/rows.db'));
    expect(change?.kind).toBe('modified');
    expect([rowsOf(change?.before), rowsOf(change?.after)]).toEqual([[1], [1, 2]]);
  });

  it('is observed between marks, and ends with all its processes', async () => {
    const code = `process.stdin.on('data', (name) => { require('fs').writeFileSync(String(name).trim(), 'x'); console.log('done'); });
      require('child_process').spawn('setsid', ['sleep', '${SLEEP}'], { detached: true, stdio: 'ignore' }).unref();`;
    const opened = await createOpenSandbox()({ cwd, program: { command: execPath, args: [] } });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    const sandbox = opened.value;
    const child = sandbox.launch({ command: execPath, args: ['-e', code], cwd, env: {} });
    const write = async (name: string): Promise<string[]> => {
      const answered = new Promise((resolve) => child.onOutput(resolve));
      child.write([Buffer.from(`${name}\n`)]);
      await answered;
      return changesIn(cwd, await sandbox.observe());
    };
    expect(await write('first')).toEqual(['created first']);
    expect(await write('second')).toEqual(['created second']);
    expect(await write('first')).toEqual(['touched first']);
    expect(() => sandbox.launch({ command: execPath, args: [], cwd, env: {} })).toThrow('starts one server');
    await until('the other process has started', () => inSandbox()[0]);
    await sandbox.close();
    expect(inSandbox()).toEqual([]);
  });

  it('is asked to end as by a client, and what it does then is observed', async () => {
    const code = `const { writeFileSync } = require('fs');
      process.stdin.resume().on('end', () => writeFileSync('closed', 'x'));
      process.on('SIGTERM', () => { writeFileSync('terminated', 'x'); process.exit(7); });
      setInterval(() => {}, 1000); console.log('ready');`;
    const opened = await createOpenSandbox()({ cwd, program: { command: execPath, args: [] } });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    const sandbox = opened.value;
    const child = sandbox.launch({ command: execPath, args: ['-e', code], cwd, env: {} });
    await new Promise((resolve) => child.onOutput(resolve));
    expect(changesIn(cwd, await sandbox.observe())).toEqual([]);
    await sandbox.finish();
    expect(await child.ended).toEqual({ code: 'PROCESS_EXITED', exitCode: 7 });
    expect(changesIn(cwd, await sandbox.observe())).toEqual(['created closed', 'created terminated']);
    await sandbox.close();
  });

  it.skipIf(!isRoot)("is observed without root, within the user's folders", async () => {
    const child = spawn(
      'setpriv',
      [
        '--reuid',
        '65534',
        '--regid',
        '65534',
        '--clear-groups',
        execPath,
        join(import.meta.dirname, 'unprivileged.ts'),
      ],
      { env: { PATH: process.env['PATH'], HOME: '/nonexistent' }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(child, 'close');
    const seen = JSON.parse(output) as Record<string, unknown> & { events: string[] };
    expect(seen).toMatchObject({
      seen: '[65534,"EROFS"]',
      stderr: '',
      mechanisms: ['overlay', 'syscall_trace', 'no_io_uring', 'empty_network', 'canaries'],
      changes: ['deleted gone', 'modified kept', 'created new'],
      network: ['dns', 'tcp', 'http'],
      incomplete: [],
    });
    expect(seen.events).toEqual([
      'execute',
      'write',
      'content',
      'write',
      'content',
      'delete',
      'write',
      'content',
      'delete',
      'read_secret',
      'write',
      ...Array.from({ length: 4 }, () => 'connect'),
    ]);
  });
});

describe.skipIf(!isLinux || !isRoot)('sockets and FIFOs of other programs', () => {
  /** Folders that hold those of real services, and the working folder. */
  const folders = ['/srv', '/opt', '/var', '/usr/local'].filter(existsSync).map((parent) => {
    const folder = mkdtempSync(join(parent, 'assay-test-'));
    chmodSync(folder, 0o755);
    return folder;
  });
  const sockets = folders.map((folder) => join(folder, 'service.sock'));
  const fifos = folders.map((folder) => join(folder, 'service.fifo'));
  const servers = sockets.map((path) => createServer((socket) => socket.destroy()).listen(path));
  const readers: number[] = [];
  beforeAll(async () => {
    for (const server of servers) if (!server.listening) await once(server, 'listening');
    for (const path of fifos) {
      execFileSync('mkfifo', [path]);
      readers.push(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    }
    for (const path of [...sockets, ...fifos]) chmodSync(path, 0o777);
  });
  afterAll(() => {
    for (const server of servers) server.close();
    for (const reader of readers) closeSync(reader);
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  it.each(['0', '65534'])('cannot be reached by a server of user %s, and attempts are seen', async (id) => {
    const script = join(import.meta.dirname, 'reach-sockets.ts');
    const child = spawn(
      'setpriv',
      [...['--reuid', id, '--regid', id, '--clear-groups', execPath, script], ...sockets, ...fifos],
      { env: { PATH: process.env['PATH'], HOME: '/nonexistent' }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(child, 'close');
    expect(JSON.parse(output)).toEqual({
      reached: {
        '/tmp/own.sock': 'reached',
        ...Object.fromEntries(sockets.map((path) => [path, 'ECONNREFUSED'])),
        ...Object.fromEntries(fifos.map((path) => [path, 'ENXIO'])),
      },
      tried: ['/tmp/own.sock', ...sockets],
      stderr: '',
    });
  });
});

/** The rows of the table, for a reader that cannot open the log. */
function rowsOf(entry: StateEntry | undefined): readonly unknown[] {
  if (entry?.type !== 'file' || entry.content === undefined) throw new Error('No content.');
  const content = Buffer.from(entry.content);
  for (const versionOffset of [18, 19]) content[versionOffset] = 1;
  return useCopy(content, (database) => readColumn(database, 'select a from t'));
}

/** Command lines of processes that a test above left in a sandbox. */
function inSandbox(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.startsWith(`sleep ${SLEEP}`) ? [line] : [];
      } catch {
        return [];
      }
    });
}

/** A folder of programs by which a machine is probed: those of this one, and others as shell scripts. */
function programsOf(names: readonly string[], scripts: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(cwd, 'programs-'));
  for (const name of names) symlinkSync(`/usr/bin/${name}`, join(folder, name));
  for (const [name, text] of Object.entries(scripts))
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return folder;
}

const ALL = ['overlay', 'syscall_trace', 'no_io_uring', 'empty_network', 'canaries'];
const missingIn = ({ missing }: Machine): readonly string[] => missing.map(({ mechanism }) => mechanism);

describe.skipIf(!isLinux)('a machine without strace', () => {
  it('observes changes and name lookups, and says what is missing', async () => {
    const machine = await probe('linux', programsOf(['unshare', 'bwrap', 'prlimit']));
    const code = `require('fs').writeFileSync('new', 'x'); require('dns').lookup('host.example', () => undefined)`;
    const { observation } = await observed(cwd, code, { machine });
    expect(observation.mechanisms).toEqual(['overlay', 'no_io_uring', 'empty_network']);
    expect(missingIn(machine)).toEqual(['syscall_trace', 'canaries']);
    expect(machine.missing[0]).toMatchObject({
      why: 'The program "strace" was not found.',
      install: expect.stringContaining('apt-get install strace') as string,
    });
    expect(changesIn(cwd, observation)).toEqual(['created new']);
    expect(observation.events).toEqual([]);
    expect(observation.network).toContainEqual(
      expect.objectContaining({ kind: 'dns', name: 'host.example' }),
    );
  });

  it('is distinguished from a machine that forbids tracing', async () => {
    const machine = await probe('linux', programsOf(['unshare', 'bwrap', 'prlimit'], { strace: 'exit 1' }));
    expect(machine.canConfine).toBe(true);
    expect(missingIn(machine)).toEqual(['syscall_trace', 'canaries']);
    expect(machine.missing[0]?.install).toContain('kernel.yama.ptrace_scope');
  });
});

describe('a machine that cannot sandbox a server starts none, and says what to do,', () => {
  it.skipIf(!isLinux)('without bubblewrap', async () => {
    const found = await probe('linux', programsOf(['unshare', 'prlimit', 'strace']));
    expect([found.canConfine, missingIn(found)]).toEqual([false, ALL]);
    expect(found.missing[0]?.why).toBe('The program "bwrap" was not found.');
    expect(found.missing[0]?.install).toContain('apt-get install bubblewrap');
  });

  it.skipIf(!isLinux)('if user namespaces are forbidden', async () => {
    const programs = programsOf(['bwrap', 'prlimit', 'strace'], { unshare: 'echo forbidden >&2; exit 1' });
    const found = await probe('linux', programs);
    expect([found.canConfine, missingIn(found)]).toEqual([false, ALL]);
    expect(found.missing[0]?.install).toContain('kernel.apparmor_restrict_unprivileged_userns=0');
    expect(await createOpenSandbox(() => Promise.resolve(found))({ cwd })).toEqual({
      ok: false,
      error: found.missing,
    });
  });

  it.each([
    ['darwin', 'macOS'],
    ['win32', 'Windows'],
  ] as const)('on %s', async (platform, name) => {
    const found = await probe(platform, '/usr/bin');
    expect([found.canConfine, missingIn(found)]).toEqual([false, ALL]);
    expect(formatVerifyFault({ code: 'SANDBOX_UNAVAILABLE', missing: found.missing })).toBe(
      `Assay cannot observe a server on ${name}: overlays, namespaces and system call traces are those of Linux. ` +
        'Run Assay on Linux, for example in Docker or WSL 2.',
    );
  });
});
