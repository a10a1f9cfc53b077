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

/** A program with what a sandbox needs to know of it. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Whether the entry sets the folder; otherwise it is Assay's own, which can differ from start to start. */
  readonly isCwdGiven?: boolean;
  /** Absolute path of a file from which some of `env` was read. */
  readonly envFile?: string;
  /** Which of its processes run in a sandbox. Absent: none. */
  readonly sandbox?: SandboxMode;
  /** Absolute paths that its sandboxed processes may read, besides its folder and the folders in `args`. */
  readonly roots?: readonly string[];
  /** Hosts that its sandboxed processes may connect to, or `*`. Absent: all at public addresses. */
  readonly network?: readonly string[];
  /** Limitations of its sandbox that the operator accepts. Absent: none. */
  readonly sandboxAccepts?: readonly SandboxConcession[];
  /** The sandbox of a process of Assay's own code. Never set by an entry. */
  readonly confinement?: Confinement;
}
