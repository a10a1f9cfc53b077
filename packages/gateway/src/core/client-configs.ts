import type { ViewOptions } from './command-options.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';

/** What an import does with a server in another client's config. */
export type ImportOutcome = 'copied' | 'replaced' | 'same' | 'kept' | 'skipped';

/** An unset variable to which a copied entry refers. */
export interface NeededVariable {
  readonly name: string;
  /** The client's own prompt for the value. Undefined if it has none. */
  readonly about: string | undefined;
  /** Whether a secret can replace it: it stands in values of variables and headers only. */
  readonly canBeSecret: boolean;
}

/** A member in which two entries differ. The values are masked, and absent if they must not be shown. */
export interface EntryDifference {
  /** Such as `args[1]` or `env.GITHUB_TOKEN`. */
  readonly member: string;
  /** In Assay's entry; null if it has no such member. */
  readonly own?: string | null;
  /** In the client's entry. */
  readonly imported?: string | null;
}

/** A server in another client's config and the outcome of its import. Contains no secrets: safe to print. */
export interface FoundServer {
  /** In the client's config. */
  readonly name: string;
  /** In Assay's config: another name if Assay has another server of this name. */
  readonly importedAs: string;
  /** How it differs from Assay's server of that name. Empty unless there is one. */
  readonly differs: readonly EntryDifference[];
  readonly kind: 'stdio' | 'http' | 'sse' | 'unknown';
  /** The masked command line, or the origin of the URL. */
  readonly what: string;
  readonly outcome: ImportOutcome;
  /** Why it was kept or skipped. */
  readonly reason: string | undefined;
  readonly isDisabled: boolean;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly variables: readonly NeededVariable[];
  /** Names of the environment variables whose values it gives to `what`. */
  readonly passes: readonly string[];
  /** Keys that Assay does not support. */
  readonly leftOut: readonly string[];
}

/** A server to write into Assay's own config file. */
export interface AddRequest {
  readonly name: string;
  /** The entry in the format of `mcp.json`. */
  readonly entry: JsonObject;
  readonly overwrite: boolean;
}

export interface AddedServer {
  /** The config file. */
  readonly path: string;
  readonly isReplaced: boolean;
  /** Backup copy of a config file in which an entry was replaced. */
  readonly backup: string | undefined;
}

export interface ImportReport {
  /** Files read. */
  readonly sources: readonly string[];
  /** Assay's own config file. */
  readonly target: string;
  /** Backup copy of the previous config file. Undefined if nothing was overwritten. */
  readonly backup: string | undefined;
  readonly isDryRun: boolean;
  readonly servers: readonly FoundServer[];
  /** Project folders for which the client has more servers. */
  readonly elsewhere: readonly string[];
}

export interface ImportRequest {
  /** A client id or a file path. */
  readonly from: string;
  readonly project: string | undefined;
  readonly overwrite: boolean;
  readonly dryRun: boolean;
  /** Unset variables that are stored as secrets: copied entries refer to those instead. */
  readonly asSecrets?: ReadonlySet<string>;
}

/** A client of this machine that has servers in its config file. */
export interface FoundClient {
  readonly id: string;
  readonly label: string;
  /** Names of its servers, without Assay. */
  readonly servers: readonly string[];
  /** Whether Assay is among its servers. */
  readonly isConnected: boolean;
}

export interface ConnectRequest {
  readonly client: string;
  readonly name: string;
  /** URL of a running Assay, for an entry without a command. */
  readonly url: string | undefined;
  /** The tools that an entry with a command exposes; a URL already selects them. */
  readonly view: ViewOptions;
  readonly project: string | undefined;
  /** Proceed even if the client seems not to be installed or another server has the name. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

export interface MoveRequest {
  readonly client: string;
  readonly project: string | undefined;
  /** Names of servers whose entries are kept. */
  readonly except: readonly string[];
}

/** The entries removed from a client's files because Assay has the same servers. */
export interface MoveReport {
  readonly client: string;
  readonly files: readonly { readonly path: string; readonly names: readonly string[] }[];
}

export interface UndoRequest {
  readonly client: string;
  readonly project: string | undefined;
  readonly dryRun: boolean;
}

/**
 * `same`: nothing to do. `restored`: the file is byte for byte what it was. `removed`: the file, created by Assay, was
 * deleted. `taken out`: the file was edited since, so only the entry was removed.
 */
export type Change = 'connected' | 'same' | 'restored' | 'removed' | 'taken_out';

export interface ConnectReport {
  readonly client: string;
  readonly path: string;
  readonly change: Change;
  readonly isDryRun: boolean;
  /** Names of the entries written or removed. */
  readonly names: readonly string[];
  /** Names of the client's own entries that an undo put back. */
  readonly restored: readonly string[];
  /** Added lines with their numbers, and removed lines; empty if nothing changes. */
  readonly preview: readonly string[];
  readonly warnings: readonly string[];
  /** Other servers in the same file. */
  readonly others: readonly string[];
  /** The next step, as a sentence. */
  readonly next: string;
}
