import type { TrustRecord } from './hints/hint.ts';
import type { ToolRecord } from './hints/tool-record.ts';
import type { Toolset } from './toolset.ts';

/** What operators write, by the kind of record that holds it. */
export interface RecordBodies {
  /** Overrides of a tool, and how it has drifted. */
  readonly tool: ToolRecord;
  /** Whether a server is trusted. */
  readonly trust: TrustRecord;
  readonly gateway: EntryRecord;
  readonly rest_tool: EntryRecord;
  readonly function_module: EntryRecord;
  readonly instructions: InstructionsRecord;
  /** Its id is the name of the toolset. */
  readonly toolset: Toolset;
  /** One record, `EQUIPPED_ID`. */
  readonly equipped: EquippedRecord;
  /** Its id is the key of the setting. */
  readonly setting: SettingValue;
}

export type RecordKind = keyof RecordBodies;

/** Records that add a source of tools. */
export type SourceKind = 'gateway' | 'rest_tool' | 'function_module';

/** The form in which each kind is written. A reader passes over a record of a form that it does not know. */
export const RECORD_VERSIONS: Readonly<Record<RecordKind, number>> = {
  tool: 1,
  trust: 1,
  gateway: 1,
  rest_tool: 1,
  function_module: 1,
  instructions: 1,
  toolset: 1,
  equipped: 1,
  setting: 1,
};

export const EQUIPPED_ID = 'equipped';

/** An entry of a config file, encrypted, as headers and variables may be secret. */
export interface SealedEntry {
  /** Which key encrypted it. */
  readonly keyId: string;
  /** In base64. */
  readonly sealed: string;
}

/** A server, a REST tool or a module of functions that an operator added. A module's name is its path. */
export interface EntryRecord extends SealedEntry {
  readonly name: string;
  readonly createdMs: number;
  readonly author: string;
  /** When its document was last asked for by hand. */
  readonly importedMs?: number | undefined;
}

/** One text of instructions. */
export interface InstructionsText {
  /** SHA-256 of the whole text as the server gave it, in hexadecimal, so that it does not depend on a limit. */
  readonly digest: string;
  /** Cut where it was too long. */
  readonly text: string;
}

/** The instructions of one server: the text that was accepted, and the one that differs from it. */
export interface InstructionsRecord {
  readonly server: string;
  readonly identity: string;
  readonly accepted: InstructionsText;
  /** What the server says now; undefined: what was accepted, or nothing. */
  readonly changed?: (InstructionsText & { readonly sinceMs: number }) | undefined;
}

/** What `/mcp` exposes. */
export interface EquippedRecord {
  /** The name of the toolset; absent: none. */
  readonly toolset?: string | undefined;
  /** Counts up with each equipping and unequipping, also of what is equipped already. */
  readonly equippings: number;
}

export type SettingValue = string | number | boolean;

export function isSettingValue(value: unknown): value is SettingValue {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
