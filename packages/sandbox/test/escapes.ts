/** The targets of escapes. */
export interface EscapeTargets {
  /**
   * A declared root. It contains `note`, `hard` (a hard link to a file outside), `socket`, `home/token`, `mcp.json`,
   * `pipe`, `inner/pipe` and, as root, `device`.
   */
  readonly root: string;
  /** A file of another user. */
  readonly secret: string;
  /** A process outside. */
  readonly pid: number;
  /** A TCP port of the loopback interface on which something listens. */
  readonly port: number;
}

interface Escape {
  /** Python that ends without an error if it got out. */
  readonly code: string;
  /** The error that stops it. */
  readonly stoppedBy: readonly string[];
}

const x64 = process.arch === 'x64';
const CLONE = x64 ? 56 : 220;
const HANDLE = x64 ? 304 : 265;
const KEYCTL = x64 ? 250 : 219;
const READ_MEMORY = x64 ? 310 : 270;
const NEW_USER = 0x1000_0000;
const READ_ONLY: readonly string[] = ['EROFS'];

export const ESCAPES: Readonly<Record<string, Escape>> = {
  'writing a file': { code: "open(root + '/note', 'w')", stoppedBy: READ_ONLY },
  'creating a file': { code: "open(root + '/new', 'w')", stoppedBy: READ_ONLY },
  'deleting a file': { code: "os.unlink(root + '/note')", stoppedBy: READ_ONLY },
  'changing the mode of a file': { code: "os.chmod(root + '/note', 0o777)", stoppedBy: READ_ONLY },
  'writing by /proc/self/root': {
    code: "open('/proc/self/root' + root + '/note', 'w')",
    stoppedBy: READ_ONLY,
  },
  'writing by the root of the first process': {
    code: "open('/proc/1/root' + root + '/note', 'w')",
    stoppedBy: ['EROFS', 'EACCES'],
  },
  'opening a descriptor again for writing': {
    code: "open('/proc/self/fd/%d' % os.open(root + '/note', os.O_RDONLY), 'w')",
    stoppedBy: READ_ONLY,
  },
  'writing by a symbolic link': {
    code: "os.symlink(root + '/note', '/tmp/link'); open('/tmp/link', 'w')",
    stoppedBy: READ_ONLY,
  },
  'reading by a symbolic link': {
    code: "os.symlink(secret, '/tmp/to-secret'); open('/tmp/to-secret')",
    stoppedBy: ['ENOENT'],
  },
  'writing by a hard link': { code: "open(root + '/hard', 'w')", stoppedBy: READ_ONLY },
  'making a hard link': { code: "os.link(root + '/note', '/tmp/hard')", stoppedBy: ['EXDEV'] },
  'changing a setting of the kernel': {
    code: "open('/proc/sys/kernel/core_pattern', 'w')",
    stoppedBy: ['EROFS', 'EACCES'],
  },
  'changing a setting of a device': {
    code: "open('/sys/escape', 'w')",
    stoppedBy: ['EROFS', 'EACCES', 'EPERM'],
  },
  'making a device file': {
    code: "os.mknod('/tmp/disk', 0o600 | stat.S_IFBLK, os.makedev(8, 0))",
    stoppedBy: ['EPERM'],
  },
  'tracing a process': { code: 'call(libc.ptrace, 0, 0, 0, 0)', stoppedBy: ['EPERM'] },
  'reading the memory of a process': {
    code: `call(libc.syscall, ${READ_MEMORY}, os.getppid(), 0, 0, 0, 0, 0)`,
    stoppedBy: ['EPERM'],
  },
  'reading the memory of a process outside': { code: "open('/proc/%d/mem' % pid)", stoppedBy: ['ENOENT'] },
  'ending a process outside': { code: 'os.kill(pid, 0)', stoppedBy: ['ESRCH'] },
  mounting: { code: "call(libc.mount, b'none', b'/tmp', b'tmpfs', 0, None)", stoppedBy: ['EPERM'] },
  'mounting the root again for writing': {
    code: 'call(libc.mount, None, root.encode(), None, 0x1020, None)',
    stoppedBy: ['EPERM'],
  },
  'changing the root folder': { code: "os.chroot('/tmp')", stoppedBy: ['EPERM'] },
  'opening a file by its handle': { code: `call(libc.syscall, ${HANDLE}, 0, 0, 0)`, stoppedBy: ['EPERM'] },
  'an inherited descriptor': {
    code: "if not inherited: raise OSError(errno.EBADF, 'none')",
    stoppedBy: ['EBADF'],
  },
  'a socket with a path': {
    code: "socket.socket(socket.AF_UNIX).connect(root + '/socket')",
    stoppedBy: ['EACCES'],
  },
  'a socket with an abstract name': {
    code: "socket.socket(socket.AF_UNIX).connect('\\0assay-escape-%d' % port)",
    stoppedBy: ['EACCES'],
  },
  'a pair of sockets that can be sent elsewhere': {
    code: "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', root + '/socket')",
    stoppedBy: ['EACCES'],
  },
  'a named pipe': { code: "os.open(root + '/pipe', os.O_RDWR)", stoppedBy: ['EACCES'] },
  'a named pipe in a folder': { code: "os.open(root + '/inner/pipe', os.O_RDWR)", stoppedBy: ['EACCES'] },
  'a named pipe of its own': { code: "os.mkfifo('/tmp/pipe')", stoppedBy: ['EPERM'] },
  // Only root can make one, so that it is absent as another user.
  'a device file in a root': {
    code: "os.open(root + '/device', os.O_WRONLY)",
    stoppedBy: ['EACCES', 'ENOENT'],
  },
  io_uring: { code: 'call(libc.syscall, 425, 1, ctypes.create_string_buffer(120))', stoppedBy: ['ENOSYS'] },
  'the variables of Assay': {
    code: `
seen = str(dict(os.environ)) + ''.join(environment(name) for name in os.listdir('/proc') if name.isdigit())
if 'secret-of-assay' not in seen: raise OSError(errno.ENOENT, 'none')`,
    stoppedBy: ['ENOENT'],
  },
  'a file of another server': { code: 'open(secret)', stoppedBy: ['ENOENT'] },
  'the home of Assay in a root': { code: "open(root + '/home/token')", stoppedBy: ['ENOENT'] },
  'the config file of Assay in a root': { code: "open(root + '/mcp.json')", stoppedBy: ['EACCES'] },
  'the endpoint of Assay': {
    code: "socket.create_connection(('127.0.0.1', port), 5)",
    stoppedBy: ['ECONNREFUSED', 'ENETUNREACH'],
  },
  'a host of the network': {
    code: "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))",
    stoppedBy: ['ENETUNREACH'],
  },
  'the namespaces of another process': {
    code: "call(libc.setns, os.open('/proc/self/ns/net', os.O_RDONLY), 0)",
    stoppedBy: ['EPERM'],
  },
  'namespaces of its own': { code: `call(libc.unshare, ${NEW_USER})`, stoppedBy: ['EPERM'] },
  'a process with namespaces of its own': {
    code: `
if call(libc.syscall, ${CLONE}, ${NEW_USER | 17}, 0, 0, 0, 0) == 0: os._exit(0)`,
    stoppedBy: ['EPERM'],
  },
  'clone3, whose flags no filter can read': { code: 'call(libc.syscall, 435, 0, 0)', stoppedBy: ['ENOSYS'] },
  'the clock': { code: 'time.clock_settime(time.CLOCK_REALTIME, time.time())', stoppedBy: ['EPERM'] },
  'keys of the kernel': { code: `call(libc.syscall, ${KEYCTL}, 0, -3, 0)`, stoppedBy: ['EPERM'] },
  'typing at the terminal': { code: "fcntl.ioctl(0, 0x5412, b'x')", stoppedBy: ['EPERM'] },
};

/** A folder that a server may change. It contains what must stay out of its reach. */
export interface StrictTargets {
  /**
   * The root. It contains `conf/deep/mcp.json`, the config file; `state/home`, Assay's home; `programs/server`, a program
   * of another entry; `docs/openapi.json`, a document of another entry;
   * `shared/data`, a root of another entry; and `note`.
   */
  readonly root: string;
  /** A TCP port of the loopback interface on which something listens. */
  readonly port: number;
}

const PINNED: readonly string[] = ['EBUSY'];
const CONFIG = "root + '/conf/deep/mcp.json'";

export const STRICT_ESCAPES: Readonly<Record<string, Escape>> = {
  'a named pipe for its read-only tools': { code: "os.mkfifo(root + '/pipe')", stoppedBy: ['EPERM'] },
  'the config file': { code: `open(${CONFIG}, 'w')`, stoppedBy: ['EACCES'] },
  'the name of the config file': { code: `os.unlink(${CONFIG})`, stoppedBy: ['EBUSY', 'EROFS'] },
  'the place of the config file': {
    code: `open(root + '/draft', 'w'); os.rename(root + '/draft', ${CONFIG})`,
    stoppedBy: ['EXDEV', 'EBUSY', 'EROFS'],
  },
  'the folder of the config file': { code: "open(root + '/conf/deep/new', 'w')", stoppedBy: READ_ONLY },
  'the name of its folder': {
    code: "os.rename(root + '/conf/deep', root + '/conf/away1')",
    stoppedBy: PINNED,
  },
  'the name of the folder above': { code: "os.rename(root + '/conf', root + '/away2')", stoppedBy: PINNED },
  'the folder above, by its removal': { code: "os.rmdir(root + '/conf')", stoppedBy: PINNED },
  'the folder above, by an exchange': {
    code: `
os.mkdir(root + '/other')
call(libc.renameat2, -100, (root + '/conf').encode(), -100, (root + '/other').encode(), 2)`,
    stoppedBy: PINNED,
  },
  'the folder above, by /proc/self/cwd': {
    code: "os.chdir(root); os.rename('/proc/self/cwd/conf', '/proc/self/cwd/away3')",
    stoppedBy: PINNED,
  },
  'a second name of the config file': { code: `os.link(${CONFIG}, root + '/second')`, stoppedBy: ['EXDEV'] },
  'the home of Assay': { code: "open(root + '/state/home/token')", stoppedBy: ['ENOENT'] },
  'a new file in the home': { code: "open(root + '/state/home/new', 'w')", stoppedBy: READ_ONLY },
  'the name of the home': {
    code: "os.rename(root + '/state/home', root + '/state/away4')",
    stoppedBy: PINNED,
  },
  'the name of the folder above the home': {
    code: "os.rename(root + '/state', root + '/away5')",
    stoppedBy: PINNED,
  },
  'a program of another entry': {
    code: "open(root + '/programs/server/index.mjs', 'a')",
    stoppedBy: READ_ONLY,
  },
  'a module beside the program': { code: "open(root + '/programs/server/new', 'w')", stoppedBy: READ_ONLY },
  'the name of the folder above the program': {
    code: "os.rename(root + '/programs', root + '/away6')",
    stoppedBy: PINNED,
  },
  'a document of another entry': { code: "open(root + '/docs/openapi.json', 'a')", stoppedBy: READ_ONLY },
  'the place of the document': {
    code: "open(root + '/draft', 'w'); os.rename(root + '/draft', root + '/docs/openapi.json')",
    stoppedBy: ['EXDEV', 'EBUSY'],
  },
  'the name of a root of another entry': {
    code: "os.rename(root + '/shared/data', root + '/shared/away')",
    stoppedBy: PINNED,
  },
  'the name of the folder of the document': {
    code: "os.rename(root + '/docs', root + '/away7')",
    stoppedBy: PINNED,
  },
};

/** Connections to Assay's own endpoint, which needs no token. */
export const STRICT_CONNECTIONS: Readonly<Record<string, Escape>> = {
  'the endpoint of Assay': {
    code: "socket.create_connection(('127.0.0.1', port), 5)",
    stoppedBy: ['ECONNREFUSED', 'ENETUNREACH'],
  },
  'the endpoint of Assay, by the proxy': {
    code: `
proxy = socket.create_connection(('127.0.0.1', int(os.environ['HTTP_PROXY'].split(':')[-1])), 5)
proxy.sendall(b'CONNECT 127.0.0.1:%d HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' % port)
if b' 403 ' in proxy.recv(1000): raise OSError(errno.EACCES, 'refused')`,
    stoppedBy: ['EACCES'],
  },
};

/** What a server with a writable root must be able to do. */
export const STRICT_WORK: Readonly<Record<string, string>> = {
  'write a file': "open(root + '/note', 'w')",
  'create and rename a folder': "os.mkdir(root + '/new'); os.rename(root + '/new', root + '/renamed')",
  'write into a root of another entry': "open(root + '/shared/data/new', 'w')",
  'create a file beside a protected folder': "open(root + '/conf/new', 'w')",
  'replace a file': "open(root + '/draft', 'w'); os.rename(root + '/draft', root + '/note')",
};

/** One process that tries all of them and prints how each ended. */
export function escapeProgram(
  targets: EscapeTargets | StrictTargets,
  escapes: Readonly<Record<string, Pick<Escape, 'code'>>> = ESCAPES,
): string {
  const attempts = Object.entries(escapes).map(([name, { code }]) => [name, code.trim()]);
  return `
import ctypes, errno, fcntl, json, os, socket, stat, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(function, *args):
    done = function(*args)
    if done < 0: raise OSError(ctypes.get_errno(), 'refused')
    return done
def target(fd):
    try: return os.readlink('/proc/self/fd/%d' % fd)
    except OSError: return None
def environment(pid):
    try: return open('/proc/%s/environ' % pid).read()
    except OSError: return ''
inherited = [fd for fd in range(3, 300) if target(fd) not in (None, '/dev/null')]
given = json.loads(${JSON.stringify(JSON.stringify({ ...targets }))})
results = {}
for name, code in json.loads(${JSON.stringify(JSON.stringify(attempts))}):
    try:
        exec(code, dict(globals(), **given))
        results[name] = 'got out'
    except OSError as error:
        results[name] = errno.errorcode.get(error.errno, str(error))
print(json.dumps(results))
`;
}

/** Ends after as many processes as it is allowed. */
export const FORK_BOMB = `
import errno, os, signal
children = []
try:
    while len(children) < 1000:
        child = os.fork()
        if child == 0: signal.pause()
        children.append(child)
    print('got out')
except OSError as error:
    print(errno.errorcode[error.errno])
for child in children: os.kill(child, signal.SIGKILL)
`;

/**
 * Rewrites the first process in its namespace so that it no longer ends with its parent, but after 10 seconds, and locks
 * a file meanwhile. For x86-64.
 */
export const SURVIVAL = `
import errno, fcntl, os, time
lock = open('lock', 'w')
fcntl.flock(lock, fcntl.LOCK_EX)
# prctl(PR_SET_PDEATHSIG, 0); nanosleep({10, 0}); exit_group(0)
code = 'b89d000000 bf01000000 31f6 0f05 6a00 6a0a 4889e7 31f6 b823000000 0f05 31ff b8e7000000 0f05'
try:
    at = int(open('/proc/1/syscall').read().split()[-1], 16)
    os.pwrite(os.open('/proc/1/mem', os.O_RDWR), bytes.fromhex(code), at)
    if os.fork() == 0:
        if os.fork() == 0:
            # The end of an orphan wakes the first process.
            while os.getppid() != 1: time.sleep(0.01)
            os._exit(0)
        os._exit(0)
    time.sleep(0.5)
    print('rewritten', flush=True)
except OSError as error: print(errno.errorcode[error.errno], flush=True)
time.sleep(10)
`;
