import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readQueriedName } from '../src/dns-query.ts';
import { StraceLines, type SystemCall } from '../src/strace-lines.ts';
import { TracedEvents } from '../src/traced-events.ts';
import type { NetworkRequest, TracedEvent } from '../src/observation.ts';

/** The output of strace 6.1 for a Python program with four threads, without the data it read. */
const CAPTURED = readFileSync(join(import.meta.dirname, 'captured.strace'), 'latin1');

function calls(text: string): { calls: SystemCall[]; unreadable: number } {
  const found: SystemCall[] = [];
  const lines = new StraceLines(
    (call) => found.push(call),
    () => undefined,
  );
  for (const line of text.split('\n')) if (line !== '') lines.line(line);
  return { calls: found, unreadable: lines.unreadable };
}

function eventsOf(text: string): {
  events: TracedEvent[];
  requests: NetworkRequest[];
} {
  const traced = new TracedEvents({
    cwd: '/start',
    secretAt: (path) => (path === '/home/u/.ssh/id_rsa' ? 'canary' : undefined),
  });
  const read = calls(text).calls.map((call) => traced.read(call));
  return {
    events: read.flatMap(({ event }) => (event === undefined ? [] : [event])),
    requests: read.flatMap(({ requests }) => requests),
  };
}

const shown = (event: TracedEvent): string =>
  [
    event.kind,
    'path' in event ? JSON.stringify(event.path) : '',
    'to' in event ? event.to : '',
    'process' in event ? String(event.process) : '',
    'name' in event ? event.name : '',
    'address' in event ? JSON.stringify(event.address) : '',
    event.error ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ');

describe('a captured trace', () => {
  it('joins every call that was interrupted by another thread', () => {
    const { calls: found, unreadable } = calls(CAPTURED);
    expect(unreadable).toBe(0);
    const splits = CAPTURED.split('<unfinished').length - 1;
    expect(splits).toBeGreaterThan(100);
    for (const thread of [0, 1, 2, 3])
      for (let turn = 0; turn < 20; turn += 1) {
        const path = `"/tmp/cap/t${thread}_${turn}"`;
        const about = found.filter(({ args }) => args.includes(path));
        expect(about.map(({ name }) => name)).toEqual(['openat', 'unlink']);
      }
  });

  it('yields the events of all its calls', () => {
    const { events } = eventsOf(CAPTURED);
    expect(events.filter((event) => !('path' in event && /t\d_/.test(event.path))).map(shown)).toEqual([
      'execute "/usr/bin/python3"',
      String.raw`write "/tmp/cap/x\"q\n.txt"`,
      String.raw`rename "/tmp/cap/x\"q\n.txt" /tmp/cap/y`,
      'delete "/tmp/cap/y"',
      'create_folder "/tmp/cap/d"',
      'delete_folder "/tmp/cap/d"',
      'link "/etc/passwd" /tmp/cap/ln',
      'delete "/tmp/cap/ln"',
      'write "/tmp/cap/gone/none" ENOENT',
      'connect {"family":"inet","host":"127.0.0.1","port":9,"isLocal":true} ECONNREFUSED',
      'connect {"family":"inet","host":"203.0.113.5","port":443,"isLocal":false} ENETUNREACH',
      'connect {"family":"inet6","host":"2001:db8::1","port":443,"isLocal":false} ENETUNREACH',
      'connect {"family":"unix","path":"/run/docker.sock"} ENOENT',
      'connect {"family":"unix","path":"@abc"} ECONNREFUSED',
      'listen {"family":"inet","host":"127.0.0.1","port":0,"isLocal":true}',
      'send {"family":"inet","host":"127.0.0.1","port":53,"isLocal":true}',
      'execute "/usr/bin/sh"',
      'execute "/usr/bin/true"',
      'write "/tmp/cap/q"',
      'write "/tmp/cap/q"',
      'content "/tmp/cap/q"',
      'content "/tmp/cap/q"',
      'attributes "/tmp/cap/q"',
      'attributes "/tmp/cap/q"',
      'attributes "/tmp/cap/q"',
      'link "/tmp/cap/q" /tmp/cap/q2',
      'delete "/tmp/cap/q"',
      'delete "/tmp/cap/q2"',
      'connect {"family":"unix","path":"/var/run/nscd/socket"} ENOENT',
      'connect {"family":"unix","path":"/var/run/nscd/socket"} ENOENT',
      'connect {"family":"inet","host":"127.0.0.1","port":53,"isLocal":true}',
      'connect {"family":"inet","host":"127.0.0.1","port":53,"isLocal":true}',
    ]);
    expect(events.filter((event) => 'path' in event && /t\d_/.test(event.path))).toHaveLength(160);
    expect(events.find(({ kind }) => kind === 'execute')).toMatchObject({
      argv: ['/usr/bin/python3', '/tmp/cap/a.py'],
      atMs: 1795475110004.606,
    });
  });

  it('names the network requests', () => {
    const { requests } = eventsOf(CAPTURED);
    expect(requests).toContainEqual(expect.objectContaining({ kind: 'tcp', host: '203.0.113.5', port: 443 }));
    expect(requests).toContainEqual(expect.objectContaining({ kind: 'dns', name: 'example.com' }));
  });
});

const LINE = '7 1795475110.5';

describe('names chosen by a server', () => {
  it('cannot imitate the end of a call or of a path', () => {
    const { events } = eventsOf(
      `${LINE} openat(AT_FDCWD</srv/a) = 3\\74/x\\76>, "b\\") = -1 ENOENT", O_WRONLY|O_CREAT, 0666) = 3</srv/b") = -1 ENOENT>`,
    );
    expect(events.map(shown)).toEqual([String.raw`write "/srv/b\") = -1 ENOENT"`]);
  });

  it('may contain any bytes', () => {
    const { events } = eventsOf(`${LINE} unlink("\\303\\274\\n\\1772\\0019") = 0`);
    expect(events).toMatchObject([{ kind: 'delete', path: '/start/ü\n\u007f2\u00019' }]);
  });
});

it("resolves relative paths against each process's working folder", () => {
  const { events } = eventsOf(
    [
      `7 1.0 chdir("sub") = 0`,
      `7 1.1 unlink("a") = 0`,
      `8 1.2 unlink("a") = 0`,
      `8 1.3 chdir("/none") = -1 ENOENT (No such file or directory)`,
      `8 1.4 unlinkat(5</srv/d>, "../b", AT_REMOVEDIR) = 0`,
      `7 1.5 renameat2(AT_FDCWD</start/sub>, "x", 4</srv>, "y", RENAME_NOREPLACE) = 0`,
      `7 1.6 symlinkat("../target", AT_FDCWD</start/sub>, "s") = 0`,
    ].join('\n'),
  );
  expect(events.map(shown)).toEqual([
    'delete "/start/sub/a"',
    'delete "/start/a"',
    'delete_folder "/srv/b"',
    'rename "/start/sub/x" /srv/y',
    'link "/start/target" /start/sub/s',
  ]);
});

it('distinguishes opening a file for writing from writing it, and reports reads of secrets', () => {
  const { events } = eventsOf(
    [
      `7 1.0 openat(AT_FDCWD</>, "/srv/x.db", O_RDWR|O_CREAT|O_CLOEXEC, 0644) = 3</srv/x.db>`,
      `7 1.1 openat(AT_FDCWD</>, "/srv/t", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</srv/t>`,
      `7 1.2 openat(AT_FDCWD</>, "/home/u/link", O_RDONLY) = 4</home/u/.ssh/id_rsa>`,
      `7 1.3 openat(AT_FDCWD</>, "/dev/null", O_WRONLY) = 5</dev/null>`,
      `7 1.4 openat(AT_FDCWD</>, "/proc/self/fd/1", O_WRONLY) = 5<pipe:[12]>`,
      `7 1.5 ptrace(PTRACE_ATTACH, 1) = -1 EPERM (Operation not permitted)`,
    ].join('\n'),
  );
  expect(events.map(shown)).toEqual([
    'open_to_write "/srv/x.db"',
    'write "/srv/t"',
    'read_secret "/home/u/.ssh/id_rsa"',
    'privileged EPERM',
  ]);
});

it('counts lines that cannot be parsed', () => {
  expect(calls('no trace\n7 1.0 unlink("a\n7 1.0 <... unlink resumed>) = 0\n').unreadable).toBe(3);
});

it('reads names from DNS queries only', () => {
  const query = Buffer.from('123401000001000000000000', 'hex');
  const asked = Buffer.concat([
    query,
    Buffer.from('\u0007Example\u0003com\u0000\u0000\u0001\u0000\u0001', 'latin1'),
  ]);
  expect(readQueriedName(asked)).toBe('example.com');
  const answer = Buffer.from(asked);
  answer[2] = 0x81;
  expect(readQueriedName(answer)).toBeUndefined();
  for (let length = 0; length < asked.length - 5; length += 1)
    expect(readQueriedName(asked.subarray(0, length))).toBeUndefined();
});

/** Lines of one process, a call each. */
const lines = (...calls: readonly string[]): string =>
  calls.map((call, at) => `7 ${at + 1}.0 ${call}`).join('\n');

describe('a signal', () => {
  it('to a process that the server did not start is an event, also to its first one and to all', () => {
    const absent = '-1 ESRCH (No such process)';
    const { events } = eventsOf(
      lines(
        `kill(99999, SIGTERM) = ${absent}`,
        `kill(-99999, SIGTERM) = ${absent}`,
        'kill(1, SIGTERM) = 0',
        'kill(-1, SIGTERM) = 0',
        `pidfd_open(4242, 0) = ${absent}`,
        `setpriority(PRIO_PROCESS, 4242, 5) = ${absent}`,
        `sched_setaffinity(4242, 8, [0]) = ${absent}`,
        `tgkill(4242, 4243, SIGTERM) = -1 EPERM (Operation not permitted)`,
      ),
    );
    expect(events.map(shown)).toEqual([
      'signal 99999 ESRCH',
      'signal -99999 ESRCH',
      'signal 1',
      'signal -1',
      'signal 4242 ESRCH',
      'signal 4242 ESRCH',
      'signal 4242 ESRCH',
      'signal 4242 EPERM',
    ]);
  });

  it('to its own processes is none, also after they ended, nor a question whether one exists', () => {
    const { events } = eventsOf(
      lines(
        'clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f) = 9',
        'vfork() = 10',
        'kill(9, SIGTERM) = 0',
        'kill(9, SIGKILL) = -1 ESRCH (No such process)',
        'kill(-10, SIGKILL) = -1 ESRCH (No such process)',
        'kill(0, SIGUSR1) = 0',
        'kill(4242, 0) = -1 ESRCH (No such process)',
        'kill(1, 0) = 0',
        'tgkill(7, 8, SIGRT_1) = 0',
        'pidfd_open(1, 0) = 3',
        'setpriority(PRIO_PROCESS, 0, 5) = 0',
        'sched_setaffinity(0, 8, [0]) = 0',
      ),
    );
    expect(events.map(shown)).toEqual([]);
  });
});

describe('shared memory', () => {
  it('that other programs can open is an event, and so is an object that the sandbox lacks', () => {
    const { events } = eventsOf(
      lines(
        'shmget(0x4d2, 4096, IPC_CREAT|0600) = 1',
        'mq_open("loot", O_RDWR|O_CREAT, 0600, NULL) = 3',
        'shmat(77, NULL, 0) = -1 EINVAL (Invalid argument)',
        'semop(77, [{0, 1, 0}], 1) = -1 EIDRM (Identifier removed)',
      ),
    );
    expect(events.map(shown)).toEqual([
      'shared_memory shmget 0x4d2',
      'shared_memory mq_open "loot"',
      'shared_memory shmat 77 EINVAL',
      'shared_memory semop 77 EIDRM',
    ]);
  });

  it('of the server alone is none', () => {
    const { events } = eventsOf(
      lines(
        'shmget(IPC_PRIVATE, 4096, IPC_CREAT|0600) = 0',
        'shmat(0, NULL, 0) = 0x7f0000000000',
        'shmctl(0, IPC_RMID, NULL) = 0',
        'semop(3, [{0, -1, IPC_NOWAIT}], 1) = -1 EAGAIN (Resource temporarily unavailable)',
      ),
    );
    expect(events.map(shown)).toEqual([]);
  });
});

it('keeps the files that stay mapped into memory so that they can be written, and counts changes without a name', () => {
  const traced = new TracedEvents({ cwd: '/start', secretAt: () => undefined });
  const text = lines(
    'mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3</srv/read>, 0) = 0x7f1',
    'mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE, 3</srv/private>, 0) = 0x7f2',
    'mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3</srv/denied>, 0) = -1 EACCES (Permission denied)',
    'mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3</srv/shared>, 0) = 0x7f3',
    'openat(AT_FDCWD</>, "/srv/later", O_RDWR) = 4</srv/later>',
    'mmap(NULL, 4096, PROT_READ, MAP_SHARED, 4</srv/later>, 0) = 0x7f4',
    'write(4</srv/later>, "x"..., 1) = 1',
    'write(5, "x"..., 1) = 1',
    'write(6, "x"..., 1) = -1 EBADF (Bad file descriptor)',
  );
  for (const call of calls(text).calls) traced.read(call);
  expect([traced.mapped, traced.unnamed]).toEqual([['/srv/shared', '/srv/later'], 1]);
});

describe('a call on a path', () => {
  const isNoisy = (path: string): boolean => path.startsWith('/tmp/');

  /** The paths that may lead elsewhere, by thread and call. */
  function indirect(...texts: readonly string[]): readonly string[] {
    const traced = new TracedEvents({ cwd: '/start', secretAt: () => undefined, isNoisy });
    const found: TracedEvent[] = [];
    const strace = new StraceLines(
      (call) => found.push(...[traced.read(call).event].filter((event) => event !== undefined)),
      (pid) => traced.exited(pid),
    );
    for (const [at, text] of texts.entries()) strace.line(text.replace(' ', ` ${at + 1}.5 `));
    return found
      .map((event) => traced.marked(event))
      .flatMap((event) => ('isIndirect' in event ? [`${event.call} ${event.path}`] : []));
  }

  const LINK = '7 symlink("/start", "/tmp/l") = 0';
  const THREAD = '7 clone3({flags=CLONE_VM|CLONE_FS|CLONE_THREAD}, 88) = 8';

  it.each<readonly [string, readonly string[], readonly string[]]>([
    ['is direct otherwise', ['7 mkdir("/tmp/a", 0777) = 0', '7 mkdir("b", 0777) = 0'], []],
    ['may lead anywhere through /proc', ['7 chmod("/proc/self/fd/3", 0777) = 0'], ['chmod /proc/self/fd/3']],
    ['may lead anywhere through /dev/fd', ['7 chmod("/dev/fd/3", 0777) = 0'], ['chmod /dev/fd/3']],
    [
      'may follow a link in a noisy folder',
      [LINK, '7 mkdir("/tmp/l/a", 0777) = 0'],
      ['symlink /start', 'mkdir /tmp/l/a'],
    ],
    ['follows no link elsewhere', ['7 symlink("/x", "/srv/l") = 0', '7 mkdir("/tmp/a", 0777) = 0'], []],
    [
      'follows no link within a noisy folder',
      ['7 symlink("/tmp/x", "/tmp/l") = 0', '7 rmdir("/tmp/l/a") = 0'],
      [],
    ],
    [
      'may follow a link that was moved there',
      ['7 symlink("/x", "/srv/l") = 0', '7 rename("/srv/l", "/tmp/l") = 0', '7 mkdir("/tmp/l/a", 0777) = 0'],
      ['rename /srv/l', 'mkdir /tmp/l/a'],
    ],
    [
      'is relative to a folder that another thread may have set, also if the thread has ended',
      [THREAD, '7 chdir("/srv") = 0', '8 mkdir("a", 0777) = 0', '8 +++ exited with 0 +++'],
      ['mkdir /start/a'],
    ],
    [
      'may have made a link where a thread went',
      [THREAD, '8 chdir("/tmp") = 0', '7 symlink("/start", "l") = 0', '7 mkdir("/tmp/l/a", 0777) = 0'],
      ['symlink /start', 'mkdir /tmp/l/a'],
    ],
    ['is relative to the own folder of a process', ['7 chdir("/srv") = 0', '7 mkdir("a", 0777) = 0'], []],
  ])('%s', (_, texts, expected) => {
    expect(indirect(...texts)).toEqual(expected);
  });
});
