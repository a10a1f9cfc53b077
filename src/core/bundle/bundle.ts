import type { TrustRecord } from '../hints/hint.ts';
import type { ToolRecord } from '../hints/tool-record.ts';
import type { PolicyRule } from '../policy/rule.ts';
import type { SettingValue } from '../record.ts';
import type { Toolset } from '../toolset.ts';

/** Everything operators have configured: the content of an export. */
export interface Bundle {
  readonly gateways: readonly BundledEntry[];
  /** HTTP requests exposed as tools. */
  readonly tools: readonly BundledEntry[];
  /** Function modules, each named by its path. */
  readonly functions: readonly BundledEntry[];
  readonly trust: readonly TrustRecord[];
  readonly overrides: readonly BundledOverride[];
  readonly toolsets: readonly Toolset[];
  /** Name of one of the toolsets. */
  readonly equipped: string | undefined;
  /** Stored settings by key. */
  readonly preferences: ReadonlyMap<string, SettingValue>;
  /** Stored rules; those of the config file are not part of a bundle. */
  readonly policyRules: readonly PolicyRule[];
}

/** Kinds of items that are described by an entry in config file format. */
export type EntryKind = 'gateway' | 'tool' | 'function';

export type Entry = Readonly<Record<string, unknown>>;

export interface BundledEntry {
  readonly name: string;
  readonly entry: Entry;
  /** Names of the secret members removed from the entry; sorted. */
  readonly withheld: readonly string[];
  readonly createdMs: number;
  readonly author: string;
}

/** An operator's overrides for one tool. What a gateway observed itself, such as drift, is not exported. */
export type BundledOverride = Omit<ToolRecord, 'id' | 'drift' | 'volatility' | 'verification'>;

/** A bundle as read from a file. */
export interface BundleFile extends Bundle {
  readonly sealed: SealedText | undefined;
}

/** Text encrypted under a passphrase: AES-256-GCM, key derived with scrypt (RFC 7914). Binary fields are base64. */
export interface SealedText {
  readonly kdf: 'scrypt';
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly nonce: string;
  /** Ciphertext followed by the authentication tag. */
  readonly data: string;
}

/** An item that cannot be exported, and why, as the end of a sentence. */
export interface LeftOutOfBundle {
  readonly kind: EntryKind;
  readonly name: string;
  readonly reason: string;
}

/** The member of a bundle that lists the entries of each kind. */
export const ENTRY_LISTS: Readonly<Record<EntryKind, 'gateways' | 'tools' | 'functions'>> = {
  gateway: 'gateways',
  tool: 'tools',
  function: 'functions',
};

export const ENTRY_KINDS: readonly [EntryKind, ...EntryKind[]] = ['gateway', 'tool', 'function'];

export const MIN_PASSPHRASE_LENGTH = 12;
