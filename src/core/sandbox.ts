import type { ResolvedHint, ResolvedHints } from './hints/resolve.ts';

/**
 * Which processes of a stdio server run in a sandbox: `twin`, a second one for its read-only tools; `strict`, all.
 * Absent: none.
 */
export type SandboxMode = 'twin' | 'strict';

export const SANDBOX_MODES: readonly [SandboxMode, ...SandboxMode[]] = ['twin', 'strict'];

/**
 * What a sandboxed process may do: read files; read files and use the network; or also change files in the declared
 * roots.
 */
export type SandboxRights = 'read' | 'read_network' | 'write_roots';

/** The rights of the processes that serve read-only tools. */
export type TwinRights = Exclude<SandboxRights, 'write_roots'>;

export const TWIN_RIGHTS: readonly TwinRights[] = ['read', 'read_network'];

/**
 * What a process of Assay's own code may use in its sandbox: it reads its roots, and changes one folder of Assay's home.
 */
export interface Confinement {
  readonly rights: TwinRights;
  /** Real paths of its roots. */
  readonly reads: readonly string[];
  /** Links on the way to its roots, as their operator wrote them, by path. */
  readonly links: Readonly<Record<string, string>>;
  /** The folder that it may change, where Assay names it and where it really is. */
  readonly writes: { readonly path: string; readonly from: string };
  /** Further files and folders that it may not read. */
  readonly hidden: readonly string[];
}

/**
 * Limitations that an operator accepts: that a twin does not share the state that the server's tools keep in memory, or
 * Node's permission model in place of a sandbox.
 */
export type SandboxConcession = 'separate_state' | 'node_permission';

export const SANDBOX_CONCESSIONS: readonly [SandboxConcession, ...SandboxConcession[]] = [
  'separate_state',
  'node_permission',
];

/** Why there is no sandbox: what the machine lacks, or that the tools of a server keep `state` in memory. */
export type SandboxGap = 'linux' | 'architecture' | 'bubblewrap' | 'namespaces' | 'state' | SandboxLack;

/** Features that a sandbox lacks: recording denials, limiting the number of processes, or ending them with Assay. */
export type SandboxLack = 'strace' | 'process_limit' | 'process_end';

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

/**
 * The rights with which calls of a tool run on the twin of its server. Undefined if its calls go to the server itself.
 * A claim that only removes rights is enforced whoever made it and whatever was observed, even if the server withdraws
 * it, until that is reviewed: otherwise a server could grant itself rights.
 */
export function computeTwinRights(hints: ResolvedHints): TwinRights | undefined {
  if (!isHeldToReading(hints)) return undefined;
  return isHeldTo(hints.openWorldHint, false) ? 'read' : 'read_network';
}

function isHeldTo(hint: ResolvedHint, value: boolean): boolean {
  const { by } = hint.effective;
  const isOperators = by.kind === 'claim' && by.claim.kind === 'override';
  return claims(hint, value) || (hint.isTakenBack === true && !isOperators);
}

/** Whether calls of a tool must not write, because it claims to be read-only, or did until an unreviewed change. */
export function isHeldToReading({ readOnlyHint }: ResolvedHints): boolean {
  return isHeldTo(readOnlyHint, true);
}

/** Whether a hint claims a value. Ignores observations, since they would give a tool more rights. */
function claims({ effective: { value: current, by }, contradiction }: ResolvedHint, value: boolean): boolean {
  const isObserved = contradiction !== undefined || (by.kind === 'implied' && by.by.kind === 'observed');
  return current === value || isObserved;
}

/** What is enforced for the calls of a tool, whatever its code does. */
export const GUARANTEES = [
  'none',
  'read',
  'read_network',
  'node_permission',
  'write_roots',
  'write_index',
  'refused',
] as const;

export interface GuaranteeView {
  readonly kind: (typeof GUARANTEES)[number];
  /** A sentence or two. */
  readonly text: string;
}

/** The guarantee that is in force for a tool of a server. */
export function computeGuarantee(
  mode: SandboxMode | undefined,
  hints: ResolvedHints,
  support: SandboxSupport,
): GuaranteeView {
  const rights = rightsOf(mode, hints);
  if (rights === undefined) return { kind: 'none', text: mode === 'twin' ? NOT_READ_ONLY : NO_SANDBOX };
  if (support.canEnforce) return { kind: rights, text: RIGHTS_TEXTS[rights] };
  if (support.isOnNode === true && rights !== 'write_roots')
    return { kind: 'node_permission', text: NODE_TEXTS[rights] };
  return {
    kind: 'refused',
    text: `Its calls are refused: ${formatGap(support.gap)}. ${getGapRemedy(support.gap)}`,
  };
}

function rightsOf(mode: SandboxMode | undefined, hints: ResolvedHints): SandboxRights | undefined {
  if (mode === undefined) return undefined;
  return computeTwinRights(hints) ?? (mode === 'strict' ? 'write_roots' : undefined);
}

const NODE_TEXTS: Readonly<Record<TwinRights, string>> = {
  read: "Node's permission model keeps it from changing files, starting programs and using the network. This is weaker than a sandbox: Node does not promise to stop code that is made to break out.",
  read_network:
    "Node's permission model keeps it from changing files and starting programs; its network is not restricted. This is weaker than a sandbox: Node does not promise to stop code that is made to break out.",
};

/** The guarantee for the tools of Assay's own code search. */
export function computeCodebaseGuarantee(support: SandboxSupport): GuaranteeView {
  if (support.canEnforce) return { kind: 'write_index', text: CODEBASE_TEXT };
  return { kind: 'none', text: `No sandbox: ${formatGap(support.gap)}. ${NOT_CONFINED}` };
}

const CODEBASE_TEXT =
  'Runs in a sandbox that reads its folders and changes only its index. It can connect to nothing but its embedding service.';
const NOT_CONFINED = 'Code search then runs with all rights of the user who runs Assay.';

/** The guarantee for a read-only function. */
export const READING_FUNCTION: GuaranteeView = {
  kind: 'none',
  text: 'No sandbox, but Node keeps its process from writing files.',
};

const NO_SANDBOX = 'No sandbox: its server runs with all rights of the user who runs Assay.';
const NOT_READ_ONLY =
  'No sandbox: the tool is not read-only, so it runs with all rights of the user who runs Assay.';

export const RIGHTS_TEXTS: Readonly<Record<SandboxRights, string>> = {
  read: 'Runs in a sandbox that cannot change files and has no network.',
  read_network:
    'Runs in a sandbox that cannot change files. As the tool is open-world, it can connect to the hosts in "network", by default to all at public addresses, through a proxy of Assay.',
  write_roots:
    'Runs in a sandbox that can change files only in the declared roots. It can connect to the hosts in "network", by default to all at public addresses, through a proxy of Assay; with "*" in "network", its network is not restricted.',
};

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
