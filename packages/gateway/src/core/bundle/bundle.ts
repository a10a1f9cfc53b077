import type { TrustRecord } from '../hints/claim.ts';
import type { ToolOverrides } from '../hints/tool-record.ts';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import {
  type EntryRecord,
  type EntryRecordKind,
  type PolicyRulesRecord,
  RECORD_VERSIONS,
  type SealedEntry,
  type SettingValue,
} from '../record.ts';
import type { Toolset } from '../toolset.ts';

/** The bodies of a bundle's records: those of the store, with entries decrypted and without what Assay observed. */
export interface BundleBodies {
  readonly gateway: BundledEntry;
  readonly rest_tool: BundledEntry;
  readonly function_module: BundledEntry;
  readonly trust: TrustRecord;
  readonly tool: ToolOverrides;
  readonly toolset: Toolset;
  /** The name of one of the toolsets. */
  readonly equipped: { readonly toolset: string };
  readonly setting: SettingValue;
  /** All stored rules together. */
  readonly policy_rules: PolicyRulesRecord;
}

export type BundleKind = keyof BundleBodies;

/** One record of a bundle. `id`: the key of a setting, which its body does not contain. */
export type BundleRecord = {
  [K in BundleKind]: { readonly kind: K; readonly body: BundleBodies[K] } & (K extends 'setting'
    ? { readonly id: string }
    : unknown);
}[BundleKind];

export type RecordOf<K extends BundleKind> = Extract<BundleRecord, { readonly kind: K }>;

export type EntryBundleRecord = RecordOf<EntryRecordKind>;

export type Entry = Readonly<Record<string, unknown>>;

/** A server, REST tool or function module. */
export type BundledEntry = Omit<EntryRecord, keyof SealedEntry | 'importedMs'> & {
  /** In config file format. */
  readonly entry: Entry;
  /** Names of the secret members that were removed from the entry; sorted. Absent if there are none. */
  readonly withheld?: readonly string[];
};

/** What people call the records of each kind. Each kind comes after those that it refers to. */
export const KIND_LABELS = {
  gateway: 'gateway',
  rest_tool: 'tool',
  function_module: 'function',
  trust: 'trust',
  tool: 'override',
  toolset: 'toolset',
  equipped: 'equipped',
  setting: 'preference',
  policy_rules: 'policy_rules',
} as const;

/** In the order of a bundle. */
export const BUNDLE_KINDS = Object.keys(KIND_LABELS) as [BundleKind, ...BundleKind[]]; // the keys of the table itself

export const ENTRY_KINDS: readonly ['gateway', 'rest_tool', 'function_module'] = [
  'gateway',
  'rest_tool',
  'function_module',
];

export function isEntry(record: BundleRecord): record is EntryBundleRecord {
  return (ENTRY_KINDS as readonly BundleKind[]).includes(record.kind);
}

/** A bundle in JSON. The same state gives the same bytes, except for `exportedAt` and `sealed`. */
export interface BundleJson {
  /** Format version. */
  readonly assay: 1;
  readonly exportedAt: string;
  readonly records: readonly RecordJson[];
  readonly sealed?: SealedText;
  /** What the export could not read. Informational; ignored on import. */
  readonly leftOut?: readonly LeftOutOfBundle[];
}

export interface RecordJson {
  readonly kind: BundleKind;
  readonly version: number;
  readonly id?: string;
  readonly body: unknown;
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
  readonly kind: (typeof KIND_LABELS)[EntryRecordKind];
  readonly name: string;
  readonly reason: string;
}

export interface BundleJsonOptions {
  readonly exportedMs: number;
  readonly sealed?: SealedText | undefined;
  readonly leftOut?: readonly LeftOutOfBundle[];
}

export function toBundleJson(
  records: readonly BundleRecord[],
  { exportedMs, sealed, leftOut = [] }: BundleJsonOptions,
): BundleJson {
  const sorted = records.toSorted(
    (one, other) => compareKinds(one, other) || compareTexts(getPath(one), getPath(other)),
  );
  return {
    assay: 1,
    exportedAt: new Date(exportedMs).toISOString(),
    records: sorted.map(toRecordJson),
    ...(sealed !== undefined && { sealed }),
    ...(leftOut.length > 0 && { leftOut }),
  };
}

function toRecordJson(record: BundleRecord): RecordJson {
  const { kind, body } = record;
  const version = RECORD_VERSIONS[kind];
  const id = record.kind === 'setting' ? { id: record.id } : {};
  return { kind, version, ...id, body: sortMembers(body) };
}

/** Orders records by their kinds. */
export function compareKinds(one: BundleRecord, other: BundleRecord): number {
  return BUNDLE_KINDS.indexOf(one.kind) - BUNDLE_KINDS.indexOf(other.kind);
}

/** What identifies a record among those of its kind. */
export function getPath(record: BundleRecord): readonly string[] {
  switch (record.kind) {
    case 'gateway':
    case 'rest_tool':
    case 'function_module':
    case 'toolset':
      return [record.body.name];
    case 'trust':
      return [record.body.server, record.body.identity];
    case 'tool':
      return [record.body.server, record.body.identity, record.body.name];
    case 'setting':
      return [record.id];
    case 'equipped':
    case 'policy_rules':
      return [];
  }
}

/** Unique within a bundle. */
export function toRecordKey(record: BundleRecord): string {
  return JSON.stringify([record.kind, ...getPath(record)]);
}

/** The value with the members of its objects sorted, and without those that are undefined. */
export function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]));
}

/**
 * Compares element by element, as joining could make different lists equal, and by UTF-16 code units, so that the order
 * does not depend on the locale.
 */
function compareTexts(one: readonly string[], other: readonly string[]): number {
  for (const [index, text] of one.entries()) {
    const beside = other[index] ?? '';
    if (text !== beside) return text < beside ? -1 : 1;
  }
  return 0;
}
