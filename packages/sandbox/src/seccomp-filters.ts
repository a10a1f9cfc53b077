// System calls that no confined server may make, by number: [x86-64, arm64].
const DENIED: Readonly<Record<string, readonly [number, number]>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  open_by_handle_at: [304, 265],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  setns: [308, 268],
  unshare: [272, 97],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  acct: [163, 89],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  syslog: [103, 116],
};

/**
 * Made to look absent, so that programs fall back to calls that a filter can check: io_uring, and `clone3` to `clone`.
 */
const ABSENT: readonly number[] = [425, 426, 427, 435];

interface Architecture {
  readonly column: 0 | 1;
  /** linux/audit.h */
  readonly audit: number;
  readonly clone: number;
  readonly ioctl: number;
  /** Undefined where there is only `mknodat`. */
  readonly mknod: number | undefined;
  readonly mknodat: number;
  readonly socket: number;
  readonly socketpair: number;
}

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    column: 0,
    audit: 0xc000_003e,
    clone: 56,
    ioctl: 16,
    mknod: 133,
    mknodat: 259,
    socket: 41,
    socketpair: 53,
  },
  arm64: {
    column: 1,
    audit: 0xc000_00b7,
    clone: 220,
    ioctl: 29,
    mknod: undefined,
    mknodat: 33,
    socket: 198,
    socketpair: 199,
  },
};

const NEW_NAMESPACES = 0x7e02_0000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const S_IFMT = 0o170_000;
const S_IFIFO = 0o010_000;
const AF_UNIX = 1;
const AF_VSOCK = 40;
const TYPE_MASK = 0xf;
const SOCK_DGRAM = 2;
/** An AF_UNIX socket of this type is a datagram socket. */
const SOCK_RAW = 3;

// linux/bpf_common.h, linux/seccomp.h
const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER_OR_EQUAL = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const ERRNO = 0x0005_0000;
const [EPERM, EACCES, ENOSYS] = [1, 13, 38];
/** x86-64 kernels with the x32 ABI accept system calls with this bit set, with other numbers. */
const X32_BIT = 0x4000_0000;
const [NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT] = [0, 4, 16];

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

// io_uring_setup, io_uring_enter, io_uring_register: the same numbers on every architecture
const IO_URING: readonly number[] = [425, 426, 427];
/** Asynchronous input and output, by architecture: [x86-64, arm64]. */
const IO_SETUP = [206, 0] as const;
/** Kernel keys belong to the user, not to a namespace. */
const KEYS = ['add_key', 'request_key', 'keyctl'] as const;

/** The first system call that strace 6.1 does not know, so that it cannot be traced: the same on every architecture. */
const FIRST_UNTRACEABLE = 451;

/**
 * A seccomp filter for a server that is observed. It makes calls that cannot be traced look absent, so that programs
 * fall back to others: io_uring, asynchronous I/O, calls that are newer than strace, and those of the x32 ABI. It
 * denies what no namespace isolates: sockets of the virtual machine's host, and kernel keys. strace does not see a call
 * that a filter denies, so it denies kernel keys itself if `isTraced`; everything else is left to namespaces and mounts.
 */
export function buildObservationFilter(
  architecture: string,
  { isTraced }: { readonly isTraced: boolean },
): Buffer {
  const arch = ARCHITECTURES[architecture];
  const keys = isTraced ? [] : KEYS;
  const own =
    arch === undefined
      ? []
      : [
          ...refuse(IO_SETUP[arch.column], ENOSYS),
          ...keys.flatMap((name) => refuse(DENIED[name]?.[arch.column] ?? 0, EPERM)),
          ...judge(arch.socket, { argument: 0, tests: equalTo(AF_VSOCK), errno: EACCES }),
        ];
  return encoded([
    ...(arch === undefined ? [] : onlyOn(arch)),
    [LOAD_WORD, 0, 0, NUMBER_AT],
    [JUMP_IF_GREATER_OR_EQUAL, 0, 1, FIRST_UNTRACEABLE],
    [RETURN, 0, 0, ERRNO | ENOSYS],
    ...IO_URING.flatMap((number) => refuse(number, ENOSYS)),
    ...own,
    [RETURN, 0, 0, ALLOW],
  ]);
}

/** Denies every call of another architecture, whose calls have other numbers. */
function onlyOn({ audit }: Architecture): readonly Instruction[] {
  return [
    [LOAD_WORD, 0, 0, ARCHITECTURE_AT],
    [JUMP_IF_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, ERRNO | EPERM],
  ];
}

/** link, linkat, symlink and symlinkat, by architecture; arm64 has only the second of each. */
const LINKS: readonly [readonly number[], readonly number[]] = [
  [86, 265, 88, 266],
  [37, 36],
];

/**
 * A seccomp filter that denies calls that could lead out of the sandbox or reach sockets of other programs: read-only
 * mounts do not restrict Unix sockets. With `canLink` false, also calls that create links. Undefined if the architecture
 * is not supported.
 */
export function buildConfinementFilter(
  architecture: string,
  { canLink = true }: { readonly canLink?: boolean } = {},
): Buffer | undefined {
  const arch = ARCHITECTURES[architecture];
  if (arch === undefined) return undefined;
  const denied = Object.values(DENIED).map((numbers) => numbers[arch.column]);
  return encoded([
    ...onlyOn(arch),
    [LOAD_WORD, 0, 0, NUMBER_AT],
    [JUMP_IF_GREATER_OR_EQUAL, 0, 1, X32_BIT],
    [RETURN, 0, 0, ERRNO | ENOSYS],
    ...[...denied, ...(canLink ? [] : LINKS[arch.column])].flatMap((number) => refuse(number, EPERM)),
    ...ABSENT.flatMap((number) => refuse(number, ENOSYS)),
    ...judge(arch.clone, { argument: 0, tests: [[JUMP_IF_ANY_BIT, NEW_NAMESPACES]], errno: EPERM }),
    ...judge(arch.ioctl, { argument: 1, tests: equalTo(TIOCSTI, TIOCLINUX), errno: EPERM }),
    // Through a named pipe in a root, a read-only tool would reach a process that may write.
    ...(arch.mknod === undefined ? [] : judge(arch.mknod, { argument: 1, ...NAMED_PIPE })),
    ...judge(arch.mknodat, { argument: 2, ...NAMED_PIPE }),
    ...judge(arch.socket, { argument: 0, tests: equalTo(AF_UNIX, AF_VSOCK), errno: EACCES }),
    ...judge(arch.socketpair, {
      ...{ argument: 1, mask: TYPE_MASK },
      ...{ tests: equalTo(SOCK_DGRAM, SOCK_RAW), errno: EACCES },
    }),
    [RETURN, 0, 0, ALLOW],
  ]);
}

const NAMED_PIPE = { mask: S_IFMT, tests: equalTo(S_IFIFO), errno: EPERM };

function refuse(number: number, errno: number): readonly Instruction[] {
  return [
    [JUMP_IF_EQUAL, 0, 1, number],
    [RETURN, 0, 0, ERRNO | errno],
  ];
}

type Test = readonly [jump: number, value: number];

function equalTo(...values: readonly number[]): readonly Test[] {
  return values.map((value) => [JUMP_IF_EQUAL, value]);
}

interface Judgement {
  /** Index of the argument, from 0. */
  readonly argument: number;
  readonly mask?: number;
  readonly tests: readonly Test[];
  readonly errno: number;
}

/**
 * Denies a system call if one of the tests of an argument matches. The kernel reads only the lower half of these
 * arguments.
 */
function judge(
  number: number,
  { argument, mask = 0xffff_ffff, tests, errno }: Judgement,
): readonly Instruction[] {
  const body: readonly Instruction[] = [
    [LOAD_WORD, 0, 0, ARGUMENTS_AT + 8 * argument],
    [AND, 0, 0, mask],
    ...tests.flatMap(([jump, value]): readonly Instruction[] => [
      [jump, 0, 1, value],
      [RETURN, 0, 0, ERRNO | errno],
    ]),
    [RETURN, 0, 0, ALLOW],
  ];
  return [[JUMP_IF_EQUAL, 0, body.length, number], ...body];
}

function encoded(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
