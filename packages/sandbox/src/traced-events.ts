import { posix } from 'node:path';
import type { NetworkRequest, TracedCall, TracedEvent } from './observation.ts';
import { SocketCalls } from './socket-calls.ts';
import { parseDescriptorPath, parseStringBytes, parseStringList, type SystemCall } from './strace-lines.ts';

export interface TraceContext {
  /** The server's initial working folder. */
  readonly cwd: string;
  /** Undefined for a path that holds no secret. */
  readonly secretAt: (path: string) => 'canary' | 'secret' | undefined;
  /** Whether changes at this path count as noise, so that a link there could hide changes elsewhere. */
  readonly isNoisy?: (path: string) => boolean;
}

/** Calls that signal or change a process, and the index of its id. */
const ON_PROCESS: Readonly<Record<string, number>> = {
  kill: 0,
  tkill: 0,
  tgkill: 0,
  rt_sigqueueinfo: 0,
  rt_tgsigqueueinfo: 0,
  pidfd_open: 0,
  setpriority: 1,
  ioprio_set: 1,
  sched_setscheduler: 0,
  sched_setparam: 0,
  sched_setattr: 0,
  sched_setaffinity: 0,
};

/** Calls on System V objects and POSIX message queues. */
const ON_SHARED_MEMORY: readonly string[] = [
  ...['shmget', 'semget', 'msgget', 'mq_open', 'mq_unlink'],
  ...['shmat', 'shmctl', 'semop', 'semtimedop', 'semctl', 'msgsnd', 'msgrcv', 'msgctl'],
];

/** System calls that are traced. `?` marks those that some architectures lack. */
export const TRACED_CALLS: readonly string[] = [
  ...['?open', 'openat', '?openat2', '?creat', 'truncate', 'ftruncate', 'fallocate', 'copy_file_range'],
  ...['?unlink', 'unlinkat', '?rmdir', '?rename', '?renameat', '?renameat2', '?mkdir', 'mkdirat'],
  ...['?link', 'linkat', '?symlink', 'symlinkat', '?mknod', 'mknodat'],
  ...['?chmod', 'fchmod', 'fchmodat', '?chown', '?lchown', 'fchown', 'fchownat'],
  ...['utimensat', '?utimes', '?utime', '?futimesat', 'setxattr', 'lsetxattr', 'fsetxattr'],
  ...['removexattr', 'lremovexattr', 'fremovexattr'],
  ...['execve', 'execveat', 'chdir', 'fchdir', 'clone', '?clone3', '?fork', '?vfork'],
  ...Object.keys(ON_PROCESS),
  ...ON_SHARED_MEMORY,
  ...['socket', 'connect', 'bind', 'sendto', 'sendmsg', 'sendmmsg'],
  ...['ptrace', 'mount', 'umount2', 'pivot_root', 'chroot', 'setns', 'unshare', 'bpf', 'perf_event_open'],
  ...['init_module', 'finit_module', 'delete_module', 'kexec_load', 'reboot', 'swapon', 'swapoff', 'acct'],
  ...['process_vm_writev', 'clock_settime', 'settimeofday', 'sethostname', 'setdomainname'],
];

/** System calls on kernel keys. strace denies them, because it would not see them if a seccomp filter did. */
export const KEY_CALLS: readonly string[] = ['add_key', 'request_key', 'keyctl'];

/** System calls that may change the content of a file that is already open. Traced where state is observed. */
export const CONTENT_CALLS: readonly string[] = [
  ...['write', 'writev', 'pwrite64', 'pwritev', '?pwritev2', '?sendfile', '?sendfile64', 'splice'],
  ...['?mmap', '?mmap2'],
  ...KEY_CALLS,
];

const PRIVILEGED = new Set([...TRACED_CALLS.slice(TRACED_CALLS.indexOf('ptrace')), ...KEY_CALLS]);

/** Calls on a path that is one of their arguments. `dir`: the argument before it is a folder descriptor. */
const ON_PATH: Readonly<Record<string, readonly [TracedEvent['kind'], 'dir' | 'plain']>> = {
  truncate: ['content', 'plain'],
  unlink: ['delete', 'plain'],
  rmdir: ['delete_folder', 'plain'],
  mkdir: ['create_folder', 'plain'],
  mkdirat: ['create_folder', 'dir'],
  mknod: ['create_special', 'plain'],
  mknodat: ['create_special', 'dir'],
  chmod: ['attributes', 'plain'],
  fchmodat: ['attributes', 'dir'],
  chown: ['attributes', 'plain'],
  lchown: ['attributes', 'plain'],
  fchownat: ['attributes', 'dir'],
  utimensat: ['attributes', 'dir'],
  futimesat: ['attributes', 'dir'],
  utimes: ['attributes', 'plain'],
  utime: ['attributes', 'plain'],
  setxattr: ['attributes', 'plain'],
  lsetxattr: ['attributes', 'plain'],
  removexattr: ['attributes', 'plain'],
  lremovexattr: ['attributes', 'plain'],
};

/** Calls on an open file: the index of its descriptor. */
const ON_DESCRIPTOR: Readonly<Record<string, readonly [TracedEvent['kind'], number]>> = {
  ftruncate: ['content', 0],
  fallocate: ['content', 0],
  copy_file_range: ['content', 2],
  write: ['content', 0],
  writev: ['content', 0],
  pwrite64: ['content', 0],
  pwritev: ['content', 0],
  pwritev2: ['content', 0],
  sendfile: ['content', 0],
  sendfile64: ['content', 0],
  splice: ['content', 2],
  fchmod: ['attributes', 0],
  fchown: ['attributes', 0],
  fsetxattr: ['attributes', 0],
  fremovexattr: ['attributes', 0],
};

/** Writing to these changes nothing that lasts. */
const NOT_A_FILE =
  /^(?:\/dev\/(?:null|zero|full|u?random|tty|ptmx|pts\/\d+|std\w+|fd\/\d+)|\/proc\/(?:self|thread-self|\d+)\/.*|[^/].*)$/;
/** Whatever a process has opened, and its folders, by another name. */
const THROUGH_PROCESS =
  /^\/(?:proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(?:cwd|root|fd|map_files)|dev\/(?:fd|std\w+))(?:\/|$)/;
/** Calls on a path that resolve it themselves. Of an opened file, strace prints where the path has led. */
const BY_NAME: ReadonlySet<string> = new Set([
  ...Object.keys(ON_PATH),
  ...['unlinkat', 'rename', 'renameat', 'renameat2', 'link', 'linkat', 'symlink', 'symlinkat'],
]);
const MAX_FOLDERS = 20_000;
const MAX_WRITABLE = 20_000;

/** Turns system calls into events. Resolves relative paths against the working folder of each process. */
export class TracedEvents {
  readonly #context: TraceContext;
  readonly #folders = new Map<number, string>();
  readonly #sockets = new SocketCalls();
  readonly #foreign = new ForeignTargets();
  /** Files that were opened to write. Memory that maps one can become writable later. */
  readonly #writable = new Set<string>();
  readonly #mappedFiles = new Set<string>();
  /** Threads that share their working folder with others, also those that have ended. */
  readonly #sharing = new Set<number>();
  /** Whether a working folder was changed. */
  #hasMoved = false;
  readonly #relative = new WeakSet<TracedEvent>();
  /** Whether a link may lead from a path whose changes are noise to one whose changes are not. */
  #hasLinks = false;
  /** Number of changes through descriptors whose files are unknown, because strace could not read their names. */
  unnamed = 0;

  constructor(context: TraceContext) {
    this.#context = context;
  }

  /** Files that have been mapped into memory so that they can be written. */
  get mapped(): readonly string[] {
    return [...this.#mappedFiles];
  }

  exited(pid: number): void {
    this.#folders.delete(pid);
  }

  /**
   * The event, marked if its path may lead elsewhere. Call it when all events of an observation are read: threads are
   * printed in any order.
   */
  marked(event: TracedEvent): TracedEvent {
    const { isNoisy = () => false } = this.#context;
    const isIndirect =
      BY_NAME.has(event.call) &&
      (pathsOf(event).some((path) => THROUGH_PROCESS.test(path) || (this.#hasLinks && isNoisy(path))) ||
        (this.#hasMoved && this.#relative.has(event) && this.#mayShare(event.pid)));
    if (!isIndirect) return event;
    // A link may have been made in a noisy place although its path does not say so.
    if ('to' in event && event.error === undefined) this.#hasLinks = true;
    return { ...event, isIndirect } as TracedEvent; // Calls by name have these kinds.
  }

  /** The event of a call, if any, and its network requests. */
  read(call: SystemCall): {
    event?: TracedEvent;
    requests: readonly NetworkRequest[];
  } {
    if (call.args[0]?.startsWith('AT_FDCWD<') === true)
      this.#setFolder(call.pid, parseDescriptorPath(call.args[0]));
    const common = {
      atMs: call.atMs,
      pid: call.pid,
      call: call.name,
      ...errorOf(call.result),
    };
    const network = this.#sockets.read(call, common);
    if (network !== undefined) return network;
    if (common.error === undefined && /^clone3?$/.test(call.name)) this.#started(call);
    const event = this.#foreign.read(call, common) ?? this.#event(call, common);
    if (event !== undefined) this.#notice(event, call);
    return { ...(event !== undefined && { event }), requests: [] };
  }

  #started({ args, pid, result }: SystemCall): void {
    if (!args.some((arg) => arg.includes('CLONE_FS')) || this.#sharing.size >= MAX_FOLDERS) return;
    for (const id of [pid, Number.parseInt(result, 10)]) this.#sharing.add(id);
  }

  #mayShare(pid: number): boolean {
    return this.#sharing.has(pid) || this.#sharing.size >= MAX_FOLDERS;
  }

  /** What makes paths uncertain: that a path is relative, and links that lead out of a noisy place. */
  #notice(event: TracedEvent, { name, args }: SystemCall): void {
    const isAbsolute = args.every((arg) => !arg.startsWith('"') || arg.startsWith('"/'));
    if (!isAbsolute) this.#relative.add(event);
    if (event.error !== undefined || !('to' in event) || this.#hasLinks) return;
    const { isNoisy = () => false } = this.#context;
    if (!isNoisy(event.to) && !THROUGH_PROCESS.test(event.to)) return;
    this.#hasLinks = name.startsWith('symlink') ? leadsOut(args[0], isNoisy) : !isNoisy(event.path);
  }

  #event(call: SystemCall, common: TracedCall): TracedEvent | undefined {
    const { name, args } = call;
    const onPath = ON_PATH[name];
    if (onPath !== undefined) {
      const [kind, form] = onPath;
      return this.#onPath(common, kind, form === 'dir' ? this.#path(call, 1, 0) : this.#path(call, 0));
    }
    const onDescriptor = ON_DESCRIPTOR[name];
    if (onDescriptor !== undefined) {
      const found = this.#onDescriptor(common, onDescriptor[0], args[onDescriptor[1]]);
      return found?.kind === 'content' && isNumber(call) ? { ...found, isNumber: true } : found;
    }
    if (PRIVILEGED.has(name)) return { ...common, kind: 'privileged' };
    switch (name) {
      case 'open':
      case 'creat':
        return this.#opened(call, common, this.#path(call, 0));
      case 'openat':
      case 'openat2':
        return this.#opened(call, common, this.#path(call, 1, 0));
      case 'unlinkat': {
        const kind = args[2]?.includes('AT_REMOVEDIR') === true ? 'delete_folder' : 'delete';
        return this.#onPath(common, kind, this.#path(call, 1, 0));
      }
      case 'mmap':
      case 'mmap2':
        return this.#mapped(call, common);
      case 'chdir':
      case 'fchdir':
        if (common.error !== undefined) return undefined;
        this.#hasMoved = true;
        this.#setFolder(
          call.pid,
          name === 'chdir' ? this.#path(call, 0) : parseDescriptorPath(args[0] ?? ''),
        );
        return undefined;
      case 'execve':
        return this.#executed(common, this.#path(call, 0), args[1]);
      case 'execveat':
        return this.#executed(common, this.#path(call, 1, 0), args[2]);
      default:
        return this.#onTwoPaths(call, common);
    }
  }

  #onDescriptor(
    common: TracedCall,
    kind: TracedEvent['kind'],
    printed: string | undefined,
  ): TracedEvent | undefined {
    // Nobody can open a deleted file again.
    if (kind === 'content' && printed?.endsWith('>(deleted)') === true) return undefined;
    if (common.error === undefined && /^\d+$/.test(printed ?? '')) this.unnamed += 1;
    return this.#onPath(common, kind, parseDescriptorPath(printed ?? ''));
  }

  #mapped({ args }: SystemCall, common: TracedCall): TracedEvent | undefined {
    const [, , protection = '', flags = '', printed = ''] = args;
    if (!flags.includes('MAP_SHARED')) return undefined;
    const path = parseDescriptorPath(printed);
    const isWritable = path !== undefined && this.#mayBeWritable(path);
    if (!protection.includes('PROT_WRITE') && !isWritable) return undefined;
    const event = this.#onDescriptor(common, 'content', printed);
    if (event?.kind === 'content' && event.error === undefined && this.#mappedFiles.size < MAX_WRITABLE)
      this.#mappedFiles.add(event.path);
    return event;
  }

  #mayBeWritable(path: string): boolean {
    return this.#writable.has(path) || this.#writable.size >= MAX_WRITABLE;
  }

  #onTwoPaths(call: SystemCall, common: TracedCall): TracedEvent | undefined {
    const { name } = call;
    if (/^(?:rename|link|symlink)$/.test(name))
      return this.#moved(common, this.#path(call, 0), this.#path(call, 1));
    if (name === 'symlinkat') return this.#moved(common, this.#path(call, 0), this.#path(call, 2, 1));
    if (/^(?:renameat2?|linkat)$/.test(name))
      return this.#moved(common, this.#path(call, 1, 0), this.#path(call, 3, 2));
    return undefined;
  }

  #moved(common: TracedCall, path: string | undefined, to: string | undefined): TracedEvent | undefined {
    if (path === undefined || to === undefined) return undefined;
    const kind: 'rename' | 'link' = common.call.startsWith('rename') ? 'rename' : 'link';
    return { ...common, kind, path, to };
  }

  #executed(common: TracedCall, path: string | undefined, argv: string | undefined): TracedEvent | undefined {
    // A shell tries each folder of PATH.
    if (path === undefined || common.error === 'ENOENT') return undefined;
    return { ...common, kind: 'execute', path, argv: parseStringList(argv ?? '') };
  }

  #opened({ name, args, result }: SystemCall, common: TracedCall, asked?: string): TracedEvent | undefined {
    const flags = name === 'creat' ? 'O_WRONLY|O_TRUNC' : (args[name === 'open' ? 1 : 2] ?? '');
    // The file that was opened, with links resolved; if none was, the requested path.
    const path = parseDescriptorPath(result) ?? asked;
    if (path === undefined) return undefined;
    if (/O_(?:WRONLY|RDWR|TRUNC|CREAT|TMPFILE)/.test(flags)) {
      if (this.#writable.size < MAX_WRITABLE) this.#writable.add(path);
      const isWrite = /O_(?:WRONLY|TRUNC|EXCL|TMPFILE)/.test(flags);
      return this.#onPath(common, isWrite ? 'write' : 'open_to_write', path);
    }
    if (/O_(?:DIRECTORY|PATH)/.test(flags)) return undefined;
    const secret =
      this.#context.secretAt(path) ?? (asked === undefined ? undefined : this.#context.secretAt(asked));
    return (
      secret && {
        ...common,
        kind: 'read_secret',
        path,
        isCanary: secret === 'canary',
      }
    );
  }

  #onPath(common: TracedCall, kind: TracedEvent['kind'], path: string | undefined): TracedEvent | undefined {
    if (path === undefined) return undefined;
    const isIndirect = BY_NAME.has(common.call) && THROUGH_PROCESS.test(path);
    return NOT_A_FILE.test(path) && !isIndirect ? undefined : { ...common, kind: kind as 'write', path };
  }

  /** The absolute path of an argument, relative to a folder descriptor or to the working folder. */
  #path({ args, pid }: SystemCall, index: number, folderIndex?: number): string | undefined {
    const printed = args[index] ?? '';
    const folder =
      (folderIndex === undefined ? undefined : parseDescriptorPath(args[folderIndex] ?? '')) ??
      this.#folders.get(pid) ??
      this.#context.cwd;
    const path = parseStringBytes(printed)?.toString();
    // A null path means the descriptor itself.
    if (path === undefined) return printed === 'NULL' ? folder : undefined;
    return posix.resolve(folder, path);
  }

  #setFolder(pid: number, folder: string | undefined): void {
    if (folder === undefined) return;
    if (this.#folders.size < MAX_FOLDERS || this.#folders.has(pid)) this.#folders.set(pid, folder);
  }
}

function pathsOf(event: TracedEvent): readonly string[] {
  return [...('path' in event ? [event.path] : []), ...('to' in event ? [event.to] : [])];
}

/** Whether the printed target of a symbolic link may lie outside of noisy places. */
function leadsOut(printed: string | undefined, isNoisy: (path: string) => boolean): boolean {
  const target = parseStringBytes(printed ?? '')?.toString();
  if (target === undefined || target.split('/').includes('..')) return true;
  return target.startsWith('/') && !isNoisy(target);
}

/** Whether a call writes at most 20 digits. */
function isNumber({ name, args }: SystemCall): boolean {
  if (name !== 'write' && name !== 'pwrite64') return false;
  return /^\s*\d{0,20}\s*$/.test(parseStringBytes(args[1] ?? '')?.toString('latin1') ?? 'none');
}

function errorOf(result: string): { readonly error?: string } {
  const error = /^-1 (E\w+)/.exec(result)?.[1] ?? (result.startsWith('?') ? 'EINTR' : undefined);
  return error === undefined ? {} : { error };
}

/** Errors for an object that does not exist in the sandbox, or belongs to others. */
const ABSENT: ReadonlySet<string> = new Set(['EINVAL', 'EIDRM', 'ESRCH', 'EPERM', 'EACCES']);
const INIT = 1;
const MAX_PROCESSES = 20_000;

/** Finds calls on processes and shared memory that are not the server's own. A sandbox hides those of other programs. */
class ForeignTargets {
  /** Processes that were started in the sandbox, also those that have ended. */
  readonly #own = new Set<number>();

  read(call: SystemCall, common: TracedCall): TracedEvent | undefined {
    const { name, args, result } = call;
    if (/^(?:clone3?|v?fork)$/.test(name)) this.#started(Number.parseInt(result, 10));
    const index = ON_PROCESS[name];
    if (index !== undefined) return this.#onProcess(call, common, Number.parseInt(args[index] ?? '', 10));
    if (!ON_SHARED_MEMORY.includes(name)) return undefined;
    const target = args[0] ?? '';
    const isFound = /^(?:shmget|semget|msgget|mq_open|mq_unlink)$/.test(name)
      ? target !== 'IPC_PRIVATE'
      : ABSENT.has(common.error ?? '');
    return isFound ? { ...common, kind: 'shared_memory', name: `${name} ${target}` } : undefined;
  }

  #started(pid: number): void {
    if (pid > 0 && this.#own.size < MAX_PROCESSES) this.#own.add(pid);
  }

  /** Every process in the sandbox is the server's own, except the first one, which stands for the system's. */
  #onProcess({ name, args }: SystemCall, common: TracedCall, id: number): TracedEvent | undefined {
    // Signal 0 only asks whether there is such a process.
    if (Number.isNaN(id) || id === 0 || (name === 'kill' && args[1] === '0')) return undefined;
    const isAbsent = common.error === 'ESRCH' || common.error === 'EPERM';
    const isForeign = name === 'pidfd_open' ? isAbsent : isAbsent || id === INIT || id === -1;
    if (!isForeign || (this.#own.has(Math.abs(id)) && common.error === 'ESRCH')) return undefined;
    return { ...common, kind: 'signal', process: id };
  }
}
