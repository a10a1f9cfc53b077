import type { TrustRecord } from './hints/claim.ts';
import type { ToolRecord } from './hints/tool-record.ts';
import type { PolicyRule } from './policy/rule.ts';
import type { Stop } from './stops.ts';
import type { Toolset } from './toolset.ts';

/** Data written by operators, by record kind. */
export interface RecordBodies {
  /** Overrides and drift of a tool. */
  readonly tool: ToolRecord;
  /** Whether a server is trusted. */
  readonly trust: TrustRecord;
  readonly gateway: EntryRecord;
  /** The record id is the secret's name. */
  readonly secret: SealedSecret;
  readonly rest_tool: EntryRecord;
  readonly function_module: EntryRecord;
  readonly instructions: InstructionsRecord;
  /** The record id is the toolset's name. */
  readonly toolset: Toolset;
  /** A single record with the id `EQUIPPED_ID`. */
  readonly equipped: EquippedRecord;
  /** The record id is the setting's key. */
  readonly setting: SettingValue;
  /** The record id is the token's id, or `local`. */
  readonly token_preferences: TokenPreferencesRecord;
  /** A single record with the key `POLICY_RULES`. */
  readonly policy_rules: PolicyRulesRecord;
  /** A single record with the key `STOPS`. */
  readonly stops: StopsRecord;
  /** The record id is the topic of the notices. */
  readonly notices: NoticesRecord;
}

export type RecordKind = keyof RecordBodies;

/** Records that add a source of tools. */
export type EntryRecordKind = 'gateway' | 'rest_tool' | 'function_module';

/** Format version of each kind. Readers skip records with an unknown version. */
export const RECORD_VERSIONS: Readonly<Record<RecordKind, number>> = {
  tool: 1,
  trust: 1,
  gateway: 1,
  secret: 1,
  rest_tool: 1,
  function_module: 1,
  instructions: 1,
  toolset: 1,
  equipped: 1,
  setting: 1,
  token_preferences: 1,
  policy_rules: 1,
  stops: 1,
  notices: 1,
};

export const EQUIPPED_ID = 'equipped';
export const POLICY_RULES = { kind: 'policy_rules', id: 'rules' } as const;
export const STOPS = { kind: 'stops', id: 'stops' } as const;

/** A config entry, encrypted because its headers and variables may be secret. */
export interface SealedEntry {
  /** Id of the key that encrypted it. */
  readonly keyId: string;
  /** Base64. */
  readonly sealed: string;
}

/** A server that may use a secret. Another command or origin under its name may not. */
export interface SecretUse {
  readonly server: string;
  /** Origin identity of the server. */
  readonly identity: string;
  /** Its command line or origin when it was allowed, with secrets masked. */
  readonly what: string;
}

/** A value that entries refer to as `${secret:NAME}`. */
export interface SealedSecret extends SealedEntry {
  readonly savedMs: number;
  readonly uses: readonly SecretUse[];
}

/** A server, REST tool or function module added by an operator. A module's name is its path. */
export interface EntryRecord extends SealedEntry {
  readonly name: string;
  readonly createdMs: number;
  readonly author: string;
  /** When its document was last imported on request. */
  readonly importedMs?: number | undefined;
}

/** One version of a server's instructions. */
export interface InstructionsText {
  /** SHA-256 of the server's untruncated text, in hexadecimal, so that it does not depend on a limit. */
  readonly digest: string;
  /** Truncated if too long. */
  readonly text: string;
}

/** The instructions of one server: the accepted text, and the current one if it differs. */
export interface InstructionsRecord {
  readonly server: string;
  readonly identity: string;
  readonly accepted: InstructionsText;
  /** The server's current text. Undefined if it is the accepted one or empty. */
  readonly changed?: (InstructionsText & { readonly sinceMs: number }) | undefined;
}

/** The toolset that `/mcp` exposes. */
export interface EquippedRecord {
  /** Name of the toolset. Absent if none is equipped. */
  readonly toolset?: string | undefined;
  /** Incremented each time a toolset is equipped or unequipped, even if nothing changes. */
  readonly equippings: number;
}

/** Known by the token's id, so that a later token of the same name inherits nothing. */
export interface TokenPreferencesRecord {
  readonly preferences: Readonly<Record<string, SettingValue>>;
}

/** Operators' rules, in addition to those of the config file. */
export interface PolicyRulesRecord {
  readonly rules: readonly PolicyRule[];
}

/** What operators have stopped. One record, so that a version that cannot be read stops all calls instead of none. */
export interface StopsRecord {
  readonly stops: readonly Stop[];
}

/** What operators were told last, so that one of several processes tells them. */
export interface NoticesRecord {
  readonly sentMs: number;
  /** Ids of the events that were told. */
  readonly known: readonly string[];
}

export type SettingValue = string | number | boolean;

export function isSettingValue(value: unknown): value is SettingValue {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
