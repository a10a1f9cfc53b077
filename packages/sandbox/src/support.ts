/** Why there is no sandbox: what the machine lacks, or that the tools of a server keep `state` in memory. */
export type SandboxGap = 'linux' | 'architecture' | 'bubblewrap' | 'namespaces' | 'state' | SandboxLack;

/**
 * Features that a sandbox lacks: recording denials, discarding changes of files, limiting the number of processes, or
 * ending them with Assay.
 */
export type SandboxLack = 'strace' | 'overlay' | 'process_limit' | 'process_end';

/** A path that a sandbox cannot protect, or not show safely. */
export interface UnsafePath {
  /**
   * `link`: a link that leads to Assay's files lies directly in a root. `in_root`: the config file does, or would.
   * `hard_link`: a file of Assay has a second name elsewhere. `moved`: a declared path now leads elsewhere than when the
   * entry was first read. `unreadable`: where the declared paths led is stored in this file, which cannot be read or
   * written.
   */
  readonly reason: 'link' | 'in_root' | 'hard_link' | 'moved' | 'unreadable';
  readonly path: string;
}

/** What a machine can enforce. */
export type SandboxSupport =
  | { readonly canEnforce: true; readonly lacks: readonly SandboxLack[] }
  /** `isOnNode`: the twin in question runs under Node's permission model. */
  | { readonly canEnforce: false; readonly gap: SandboxGap; readonly isOnNode?: boolean };

/** Why a machine cannot enforce a sandbox, as a phrase. */
export function formatGap(gap: SandboxGap): string {
  return GAPS[gap].text;
}

/** What to install or allow, as one or two sentences. */
export function getGapRemedy(gap: SandboxGap): string {
  return GAPS[gap].remedy;
}

const GAPS: Readonly<Record<SandboxGap, { readonly text: string; readonly remedy: string }>> = {
  linux: {
    text: 'sandboxes need Linux',
    remedy: 'Run Assay on Linux, for example in Docker or WSL 2, or set "sandbox": "off".',
  },
  architecture: {
    text: 'sandboxes need an x86-64 or arm64 processor',
    remedy: 'Run Assay on such a machine, or set "sandbox": "off".',
  },
  bubblewrap: {
    text: 'the program "bwrap" was not found',
    remedy:
      'Install bubblewrap: "apt-get install bubblewrap", "dnf install bubblewrap" or "apk add bubblewrap".',
  },
  strace: {
    text: 'the program "strace" was not found, without which there is no evidence of what a sandbox refuses',
    remedy: 'Install strace: "apt-get install strace", "dnf install strace" or "apk add strace".',
  },
  overlay: {
    text: 'twins of servers that write at startup cannot start: this system does not allow overlay mounts (unshare, mount)',
    remedy:
      'Use Linux 5.11 or later with util-linux and allow overlay mounts in user namespaces, or set "sandbox": "off" for such a server.',
  },
  process_limit: {
    text: 'the number of processes in a sandbox of root is not limited: that needs Linux 6.14 and CAP_SYS_ADMIN',
    remedy:
      'Run Assay as an ordinary user, or limit its processes with "TasksMax" of systemd or "docker run --pids-limit".',
  },
  process_end: {
    text: 'a hostile server may go on in its sandbox after Assay was killed: this system does not let "bwrap" create one process namespace in another',
    remedy:
      'Run Assay where namespaces may contain others, such as outside of a container, or end what is left over after a crash.',
  },
  state: {
    text: 'its tools keep state in memory, as a verification saw, which a second process does not share',
    remedy:
      'To run its read-only tools in a second process all the same, add "separate_state" to "sandboxAccepts" of the server; to run them without a sandbox, set "sandbox": "off".',
  },
  namespaces: {
    text: 'this system does not let "bwrap" create namespaces',
    remedy:
      'Allow user namespaces: on Ubuntu "sysctl kernel.apparmor_restrict_unprivileged_userns=0"; in Docker "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"; or run as root with CAP_SYS_ADMIN.',
  },
};

/** Why a sandbox is not safe, as a phrase. */
export function formatUnsafePath({ reason, path }: UnsafePath): string {
  return UNSAFE_TEXTS[reason](JSON.stringify(path));
}

const UNSAFE_TEXTS: Readonly<Record<UnsafePath['reason'], (path: string) => string>> = {
  link: (path) =>
    `the link ${path}, which leads to files of Assay, is directly in one of its roots, so the server could replace it`,
  in_root: (path) =>
    `the config file ${path} is directly in one of its roots, so the server could replace it`,
  hard_link: (path) =>
    `${path}, which belongs to Assay, has a second name (a hard link), by which the server could change it`,
  moved: (path) =>
    `${path} is no longer the folder that it was when the entry was first read; a part of it was replaced by a link`,
  unreadable: (path) => `${path}, which holds the folders that it may use, cannot be read or written`,
};
