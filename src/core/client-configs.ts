/** What becomes of a server that another client's config names. */
export type ImportOutcome = 'copied' | 'replaced' | 'same' | 'kept' | 'skipped';

/** A variable that a copied entry refers to and that is not set. */
export interface NeededVariable {
  readonly name: string;
  /** What the client would have said when asking for it; undefined where it says nothing. */
  readonly about: string | undefined;
}

/** One server in the config of another client, and what becomes of it. Holds no secret: safe to print. */
export interface FoundServer {
  readonly name: string;
  readonly kind: 'stdio' | 'http' | 'sse' | 'unknown';
  /** The command with its arguments, masked, or the origin of the URL. */
  readonly what: string;
  readonly fate: ImportOutcome;
  /** Why it was kept or skipped. */
  readonly reason: string | undefined;
  readonly isDisabled: boolean;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly variables: readonly NeededVariable[];
  /** Keys that have no meaning for Assay. */
  readonly leftOut: readonly string[];
}

export interface ImportReport {
  /** Files that were read. */
  readonly sources: readonly string[];
  /** Assay's own config file. */
  readonly target: string;
  /** The copy of the config file as it was; undefined where nothing was overwritten. */
  readonly backup: string | undefined;
  readonly isDryRun: boolean;
  readonly servers: readonly FoundServer[];
  /** Project folders for which the client keeps more servers. */
  readonly elsewhere: readonly string[];
}

export interface ImportRequest {
  /** The id of a client, or a file. */
  readonly from: string;
  readonly project: string | undefined;
  readonly overwrite: boolean;
  readonly dryRun: boolean;
}

export interface ConnectRequest {
  readonly client: string;
  readonly name: string;
  /** The address of a running Assay, for an entry that names no command. */
  readonly url: string | undefined;
  readonly project: string | undefined;
  /** Also where the client seems not to be installed, or where another server has the name. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

export interface UndoRequest {
  readonly client: string;
  readonly project: string | undefined;
  readonly dryRun: boolean;
}

/**
 * `same`: nothing to do; `restored`: the file is byte for byte what it was; `removed`: the file that was made is gone;
 * `taken out`: the file was edited since, so that only the entry went.
 */
export type Change = 'connected' | 'same' | 'restored' | 'removed' | 'taken out';

export interface ConnectReport {
  readonly client: string;
  readonly path: string;
  readonly change: Change;
  readonly isDryRun: boolean;
  /** The names of the entries that were written or taken out. */
  readonly names: readonly string[];
  /** The lines that would come, each with its number, and what would go; empty where nothing changes. */
  readonly preview: readonly string[];
  readonly warnings: readonly string[];
  /** Other servers in the same file. */
  readonly others: readonly string[];
  /** What to do now, as a sentence. */
  readonly next: string;
}
