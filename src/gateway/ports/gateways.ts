import type { SealedEntry } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { EntryFault } from '../../core/sources/entry-fault.ts';

/** A server as `mcp.json` describes it: `url` or `command`, and all that may stand beside. */
export type GatewayEntry = Readonly<Record<string, unknown>>;

/** Reads an entry as the config file is read, but for variables: nobody gets those of the process by asking for them. */
export type ReadEntry = (name: string, entry: GatewayEntry) => Result<ServerSpec, readonly EntryFault[]>;

/**
 * What of an entry leads where an operator may not have Assay go, each at its member; of those members alone that
 * were not so before. What was accepted once holds up no other change: it is checked at each connection.
 */
export type ReachFaults = (
  spec: ServerSpec,
  entry: GatewayEntry,
  former?: GatewayEntry,
) => Promise<readonly EntryFault[]>;

export interface EntrySeal {
  /** KEY_UNUSABLE */
  seal(name: string, entry: GatewayEntry): Promise<Result<SealedEntry, Refusal>>;
  /** The error is the end of a sentence. */
  open(name: string, sealed: SealedEntry): Promise<Result<GatewayEntry, string>>;
}

/** A document that is imported by hand: `read` is asked before anything is written, and `atMs` is kept with the entry. */
export interface Imported {
  readonly read: (spec: ServerSpec) => Promise<Result<undefined, Refusal>>;
  readonly atMs: number;
}
