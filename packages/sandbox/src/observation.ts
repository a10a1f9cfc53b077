import type { Result } from '@assay-mcp/kit/result';
import type { Launcher } from '@assay-mcp/kit/platform/launcher';

/** Ways to watch a server. An observation contains only what its mechanisms could see. */
export type Mechanism =
  /** Changes of files, from the states before and after. */
  | 'overlay'
  /** System calls, including failed ones: files, programs, connections. */
  | 'syscall_trace'
  /** io_uring, which would evade the trace, is blocked. */
  | 'no_io_uring'
  /** No network except its own loopback interface; requests are recorded. */
  | 'empty_network'
  /** Fake secrets in the home folder; reading them is recorded. Needs `syscall_trace`. */
  | 'canaries';

export interface MissingMechanism {
  readonly mechanism: Mechanism;
  /** One sentence: what is missing on this machine. */
  readonly why: string;
  /** One sentence: what to do about it. */
  readonly install: string;
}

/** The entry at a path. Owners and extended attributes are not compared. */
export type StateEntry =
  | {
      readonly type: 'file';
      /** Permission bits. */
      readonly mode: number;
      readonly size: number;
      /** Time of the last modification, as epoch time in ms. */
      readonly modifiedMs?: number;
      /** SHA-256 in hex; absent for a file that is too large to be read. */
      readonly digest?: string;
      /** The whole content; absent for a file that is too large to be kept. */
      readonly content?: Buffer;
      /** The first 100 bytes, if the content is too large to be kept. */
      readonly start?: Buffer;
    }
  | { readonly type: 'folder'; readonly mode: number }
  | { readonly type: 'link'; readonly target: string }
  /** A socket, FIFO or device. */
  | { readonly type: 'other'; readonly mode: number };

/**
 * Classes of changes that well-behaved servers also make. They are reported like others; the judge decides what they
 * mean. The content shows the class of `lock`, `git_index`, `byte_code` and `database`; the others go by the name of
 * something that did not exist before the server started, or that was only appended to.
 */
export type NoiseClass = 'cache' | 'log' | 'lock' | 'temporary' | 'git_index' | 'byte_code' | 'database';

/** How the new content of a file relates to the old. */
export type ContentComparison =
  | {
      readonly format: 'bytes' | 'lines' | 'json' | 'json_lines' | 'sqlite';
      /** Nothing was lost. `unknown`: something was, but perhaps it only repeated what is still there. */
      readonly isAdditive: boolean | 'unknown';
      /** Nothing but timestamps differ. */
      readonly isTimestamps: boolean;
    }
  /** It could not be compared. `why`: a phrase. */
  | { readonly format: 'unknown'; readonly why: string };

/** A difference of state between two marks. Something created and deleted in between is visible only in events. */
export interface StateChange {
  /** Absolute, as the server sees it. */
  readonly path: string;
  /**
   * `replaced`: an entry of another type is there now, such as a link instead of a file. `rewritten`: the bytes of a
   * database and its write-ahead log changed, but not what SQLite reads in them. `touched`: nothing but the time of
   * modification of a file differs.
   */
  readonly kind: 'created' | 'modified' | 'deleted' | 'replaced' | 'rewritten' | 'touched';
  readonly before?: StateEntry;
  readonly after?: StateEntry;
  readonly noise?: NoiseClass;
  /** Whether it is the write-ahead log of a SQLite database, and its content could not be read as a part of that. */
  readonly isLog?: true;
  /** Set by the verifier, if both contents were kept; they are then gone. */
  readonly comparison?: ContentComparison;
}

/** Members of every event. */
export interface TracedCall {
  /** Epoch time in ms, with fractions. */
  readonly atMs: number;
  /** Id of the process or thread. */
  readonly pid: number;
  /** Name of the system call, such as `openat`. */
  readonly call: string;
  /** The system's error code if the call failed, such as `EROFS`. */
  readonly error?: string;
}

/**
 * A path is absolute, as the server sees it. `isIndirect`: it may lead elsewhere than it says, because it goes through
 * `/proc`, because the server made a link, or because other threads change the working folder.
 */
export type TracedEvent =
  | (TracedCall & {
      /**
       * `write`: opened only to write, created or truncated. `open_to_write`: opened to read and write, which databases
       * do even for reading. `content`: written, truncated, or mapped into memory so that it can be written; only the
       * first of these in an observation. `attributes`: mode, owner, times, extended attributes.
       */
      readonly kind:
        | 'write'
        | 'open_to_write'
        | 'content'
        | 'attributes'
        | 'delete'
        | 'create_folder'
        | 'delete_folder'
        | 'create_special';
      readonly path: string;
      readonly noise?: NoiseClass;
      /** Set if the content written is a number, as in a lock file. */
      readonly isNumber?: true;
      readonly isIndirect?: true;
    })
  /** A link: `path` is what it points to, `to` where it is created. */
  | (TracedCall & {
      readonly kind: 'rename' | 'link';
      readonly path: string;
      readonly to: string;
      readonly noise?: NoiseClass;
      readonly isIndirect?: true;
    })
  | (TracedCall & { readonly kind: 'execute'; readonly path: string; readonly argv: readonly string[] })
  | (TracedCall & {
      /** `send`: a datagram. `listen`: bound to the address. */
      readonly kind: 'connect' | 'send' | 'listen';
      readonly address: NetworkAddress;
    })
  /** A canary or a well-known location of secrets was opened. */
  | (TracedCall & { readonly kind: 'read_secret'; readonly path: string; readonly isCanary: boolean })
  /** Something that well-behaved servers do not try: `mount`, `ptrace`, `bpf` … */
  | (TracedCall & { readonly kind: 'privileged' })
  /** Memory, semaphores or queues outside the file system that other programs can open. `name`: such as `shmget 0x4d2`. */
  | (TracedCall & { readonly kind: 'shared_memory'; readonly name: string })
  /** A process that the server did not start was to be signalled or changed. `process`: as given, such as `-1`. */
  | (TracedCall & { readonly kind: 'signal'; readonly process: number });

export type NetworkAddress =
  | {
      readonly family: 'inet' | 'inet6';
      readonly host: string;
      readonly port: number;
      /** Loopback, unspecified or own address. A listener there may still forward traffic outside. */
      readonly isLocal: boolean;
    }
  /** A path, or `@name` for an abstract socket. */
  | { readonly family: 'unix'; readonly path: string };

/** An attempt to reach something outside the machine. None succeeds. */
export type NetworkRequest =
  /** `name` is absent if the query could not be read, `pid` if no system call was traced. */
  | { readonly atMs: number; readonly pid?: number; readonly kind: 'dns'; readonly name?: string }
  | {
      readonly atMs: number;
      readonly pid: number;
      readonly kind: 'tcp' | 'udp';
      readonly host: string;
      readonly port: number;
    }
  /** `url`: without its query. */
  | { readonly atMs: number; readonly kind: 'http'; readonly url: string };

/** Everything observed between two marks. */
export interface Observation {
  /** Epoch times in ms. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly mechanisms: readonly Mechanism[];
  /** In order of paths. */
  readonly changes: readonly StateChange[];
  /** In order of time. */
  readonly events: readonly TracedEvent[];
  readonly network: readonly NetworkRequest[];
  /**
   * Files that were mapped into memory before this observation so that they can be written. What is written there and
   * restored within one observation is not seen.
   */
  readonly mapped: readonly string[];
  /** The parts that exceeded a limit and are incomplete. No hint may then be called consistent. */
  readonly incomplete: readonly ('changes' | 'events')[];
}

/**
 * Starts one server, once, and records what it does. A second launch throws: open another sandbox, which starts from the same
 * state.
 */
export interface Sandbox extends Launcher {
  readonly mechanisms: readonly Mechanism[];
  readonly missing: readonly MissingMechanism[];
  /** Returns everything observed since the last call, or since the start, and sets the next mark. */
  observe(): Promise<Observation>;
  /**
   * Asks the server to end, as a client does: closes its stdin, then sends SIGTERM. Returns when it has ended, at the
   * latest after two seconds.
   */
  finish(): Promise<void>;
  /** Ends all its processes and removes all its files. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** The program to launch. Its files become readable; folders among its arguments are shown like `roots`. */
  readonly program?: { readonly command: string; readonly args: readonly string[] };
  /**
   * Folder in which the server starts; shown with its content. Changes to it never reach the real one. If it contains
   * the home folder, the private home folder replaces that.
   */
  readonly cwd: string;
  /** Further folders or files with their content. `from`: where the content comes from, if not from `path`. */
  readonly roots?: readonly { readonly path: string; readonly from?: string }[];
  /** Files or folders that the server may read, such as its own program. */
  readonly readable?: readonly string[];
  /** Files to be created in the private home folder, by relative path. */
  readonly homeFiles?: Readonly<Record<string, string>>;
}

/** Opens a sandbox with the mechanisms of this machine, or says why it cannot confine a server at all. */
export type OpenSandbox = (options: SandboxOptions) => Promise<Result<Sandbox, readonly MissingMechanism[]>>;
