import type { TrustRecord } from '../hints/hint.ts';
import type { ToolRecord } from '../hints/tool-record.ts';
import type { SettingValue } from '../record.ts';
import type { Toolset } from '../toolset.ts';

/** All that operators made: what an export holds and an import brings. */
export interface Bundle {
  readonly gateways: readonly BundledEntry[];
  /** Requests that are tools. */
  readonly tools: readonly BundledEntry[];
  /** Modules of functions, each called as its path. */
  readonly functions: readonly BundledEntry[];
  readonly trust: readonly TrustRecord[];
  readonly overrides: readonly SaidOfTool[];
  readonly toolsets: readonly Toolset[];
  /** One of the toolsets. */
  readonly equipped: string | undefined;
  /** Settings that are stored, by their key. */
  readonly preferences: ReadonlyMap<string, SettingValue>;
}

/** Kinds of what is described by an entry, as a config file describes it. */
export type EntryKind = 'gateway' | 'tool' | 'function';

export type Entry = Readonly<Record<string, unknown>>;

export interface BundledEntry {
  readonly name: string;
  readonly entry: Entry;
  /** Members that were taken out of the entry, as they are secret; sorted. */
  readonly withheld: readonly string[];
  readonly createdMs: number;
  readonly author: string;
}

/** What operators say of a tool. How it has changed is what Assay saw, and stays where it saw that. */
export type SaidOfTool = Omit<ToolRecord, 'id' | 'drift' | 'volatility'>;

/** A bundle as it is read from a file. */
export interface BundleFile extends Bundle {
  readonly sealed: SealedText | undefined;
}

/** A text that opens with a passphrase: AES-256-GCM with a key that scrypt (RFC 7914) makes of it. Bytes are in base64. */
export interface SealedText {
  readonly kdf: 'scrypt';
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly nonce: string;
  /** With the tag at its end. */
  readonly data: string;
}

/** Something that no export can hold, and why, as the end of a sentence. */
export interface LeftOutOfBundle {
  readonly kind: EntryKind;
  readonly name: string;
  readonly reason: string;
}

/** Where the entries of a kind stand in a bundle. */
export const ENTRY_LISTS: Readonly<Record<EntryKind, 'gateways' | 'tools' | 'functions'>> = {
  gateway: 'gateways',
  tool: 'tools',
  function: 'functions',
};

export const ENTRY_KINDS: readonly EntryKind[] = ['gateway', 'tool', 'function'];

export const SHORTEST_PASSPHRASE = 12;
