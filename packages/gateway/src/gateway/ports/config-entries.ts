import type { EntryFault } from '@assay-mcp/kit/json-position';
import type { SealedEntry } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { FunctionModuleSpec, RestToolSpec } from '../../core/sources/custom-tools.ts';

/** A server as in `mcp.json`: `url` or `command`, plus options. */
export type ConfigEntry = Readonly<Record<string, unknown>>;

/** Reads an entry like the config file, but without variables: callers must not read the process environment. */
export type ReadEntry = (name: string, entry: ConfigEntry) => Result<ServerSpec, readonly EntryFault[]>;

/**
 * Finds members of an entry with destinations that the operator may not let Assay reach. Only members changed since
 * `former` are checked: once accepted, a member must not block other changes, and it is checked again at each
 * connection.
 */
export type ReachFaults = (
  spec: ServerSpec,
  entry: ConfigEntry,
  former?: ConfigEntry,
) => Promise<readonly EntryFault[]>;

export interface EntrySeal {
  /** Error: KEY_UNUSABLE. */
  seal(name: string, entry: ConfigEntry): Promise<Result<SealedEntry, Refusal>>;
  /** The error is a sentence fragment. */
  open(name: string, sealed: SealedEntry): Promise<Result<ConfigEntry, string>>;
}

/** A manual import of a document. `read` runs before anything is written; `atMs` is stored with the entry. */
export interface Imported {
  readonly read: (spec: ServerSpec) => Promise<Result<undefined, Refusal>>;
  readonly atMs: number;
}

/** Reads an entry like the config file, but without variables. */
export interface ReadCustom {
  tool(name: string, entry: ConfigEntry): Result<RestToolSpec, readonly EntryFault[]>;
  module(entry: ConfigEntry): Result<FunctionModuleSpec, readonly EntryFault[]>;
}
