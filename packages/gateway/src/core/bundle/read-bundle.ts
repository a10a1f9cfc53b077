import type { FieldError } from '../field-error.ts';
import { isFormerSetting } from '../fixed-limits.ts';
import { isContradiction } from '@assay-mcp/kit/hint';
import { isEmptyRecord } from '../hints/tool-record.ts';
import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import {
  addFault,
  type Fault,
  isGiven,
  type JsonPosition,
  MISSING,
  readItemsAt,
  readMemberAt,
} from '@assay-mcp/kit/json-position';
import {
  anything,
  checked,
  list,
  object,
  oneOf,
  openObject,
  optional,
  type Reader,
  record,
  reportUnknown,
  text,
  wholeNumber,
} from '@assay-mcp/kit/json-reader';
import { createOperatorReaders, IMPORTED } from '../operator-readers.ts';
import { isSettingValue, RECORD_VERSIONS, type SettingValue } from '../record.ts';
import type { Refusal } from '../refusal.ts';
import { findSettingFault } from '../resolve-settings.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isSettingKey, SETTINGS } from '../settings.ts';
import { formatNamespacedName } from '../tool-ref.ts';
import { TOOLSET_LIMITS } from '../toolset.ts';
import {
  BUNDLE_KINDS,
  compareKinds,
  type BundleBodies,
  type BundledEntry,
  type BundleRecord,
  ENTRY_KINDS,
  type SealedText,
  toRecordKey,
} from './bundle.ts';
import type { EntrySecrets } from './entry-secrets.ts';
import { type HyperTool, isHyperTool, readHyperTool } from './read-hypertool.ts';

/** Deeper nesting could overflow the stack of a recursive reader. */
const MAX_DEPTH = 80;
/** Maximum number of items in all lists together: reading them takes 0.1 s at most. */
const MAX_ITEMS = 20_000;
/** Maximum number of problems reported at once. */
const MAX_FAULTS = 100;

/** A bundle as read from a file. */
export interface BundleFile {
  /** In the order of their kinds. */
  readonly records: readonly BundleRecord[];
  /** JSON pointers of the bodies, by `toRecordKey`. */
  readonly pointers: ReadonlyMap<string, string>;
  readonly sealed: SealedText | undefined;
  /** What could not be read of a foreign file, by `toRecordKey`. */
  readonly warnings: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads a whole bundle, or HyperTool's `config.json`. On failure returns every problem with its JSON pointer. Whether the entries are usable is not
 * checked here.
 */
export function readBundle(value: unknown, nowMs: number): Result<BundleFile, readonly FieldError[]> {
  const fault = findFormatFault(value);
  if (fault !== undefined) return err([toFieldError(fault)]);
  const faults: Fault[] = [];
  const position = { value, pointer: '', faults };
  if (isHyperTool(value)) {
    const read = readHyperTool(position, { nowMs, readBody: readers.toolset });
    return faults.length > 0 ? err(faults.slice(0, MAX_FAULTS).map(toFieldError)) : ok(toBundleFile(read));
  }
  const { records = [], sealed } = bundle(position);
  if (faults.length > 0) return err(faults.slice(0, MAX_FAULTS).map(toFieldError));
  const pointers = new Map(records.map((one, index) => [toRecordKey(one), `/records/${index}/body`]));
  return ok({ records: records.toSorted(compareKinds), pointers, sealed, warnings: new Map() });
}

function toBundleFile({ toolsets, equipped }: HyperTool): BundleFile {
  const records = toolsets.map(({ toolset: body }) => ({ kind: 'toolset', body }) as const);
  const keys = records.map(toRecordKey);
  return {
    records: [
      ...records,
      ...(equipped === undefined ? [] : [{ kind: 'equipped', body: { toolset: equipped } } as const]),
    ],
    pointers: new Map(toolsets.map(({ pointer }, index) => [keys[index] ?? '', pointer])),
    sealed: undefined,
    warnings: new Map(toolsets.map(({ warnings }, index) => [keys[index] ?? '', warnings])),
  };
}

function toFieldError({ pointer, reason }: Fault): FieldError {
  return { at: pointer, kind: 'invalid', reason };
}

/** What keeps a document from being read at all. */
function findFormatFault(value: unknown): Fault | undefined {
  const size = findSizeFault(value);
  if (size !== undefined) return { pointer: '', reason: size };
  if (isToolsetDocument(value)) {
    const reason =
      'this is a document of toolsets as earlier builds wrote it, which is not read. Export the toolsets again, with `assay export --toolset NAME`';
    return { pointer: '', reason };
  }
  const isOlder = isJsonObject(value) && value['assay'] === 1 && !Object.hasOwn(value, 'records');
  if (!isOlder) return undefined;
  const reason = 'it is missing. Bundles of earlier builds are not read: export it again with this one';
  return { pointer: '/records', reason };
}

/** Whether earlier builds exported it: a list of toolsets, or a single one. */
function isToolsetDocument(value: unknown): boolean {
  if (!isJsonObject(value) || Object.hasOwn(value, 'assay')) return false;
  return Array.isArray(value['toolsets']) || Array.isArray(value['tools']);
}

/** Whether `readBundle` knows what the document is, and refuses or reads it. */
export function isBundleLike(value: unknown): boolean {
  return (
    (isJsonObject(value) && Object.hasOwn(value, 'assay')) || isHyperTool(value) || isToolsetDocument(value)
  );
}

/** Stops at the first limit, and is iterative, since recursion could overflow the stack. */
function findSizeFault(value: unknown): string | undefined {
  let items = 0;
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} deep`;
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      if (Array.isArray(one)) items += one.length;
      if (items > MAX_ITEMS) return `its lists have more than ${MAX_ITEMS} items, so split it`;
      for (const member of Object.values(one)) next.push(member);
    }
    level = next;
  }
  return undefined;
}

const readers = createOperatorReaders(IMPORTED);

const writtenEntry = object<BundledEntry>({
  ...readers.entry,
  entry: record(anything),
  withheld: optional(list(text)),
});

const entry: Reader<BundledEntry> = (position) => {
  const { withheld: given = [], ...read } = writtenEntry(position);
  const withheld = [...new Set(given)].sort();
  const both = withheld.find((name) => Object.hasOwn(read.entry, name));
  if (both !== undefined)
    addFault(readMemberAt(readMemberAt(position, 'entry'), both), 'it is listed as withheld too');
  return withheld.length === 0 ? read : { ...read, withheld };
};

const scalar: Reader<SettingValue> = ({ value, ...position }) => {
  if (isSettingValue(value)) return value;
  // A list with a single text would otherwise compare equal to that text.
  addFault({ value, ...position }, 'it must be a text, a number, true or false');
  return '';
};

const BODIES: { readonly [K in keyof BundleBodies]: Reader<BundleBodies[K]> } = {
  gateway: entry,
  rest_tool: entry,
  function_module: entry,
  trust: readers.trust,
  tool: checked(object(readers.tool), (overrides) =>
    isEmptyRecord({ id: '', ...overrides })
      ? 'it has no effect on its tool: it must have overrides, a title, a publicName, a description, confirm, cacheMs, tags, or isDisabled true'
      : undefined,
  ),
  toolset: readers.toolset,
  equipped: object({ toolset: text }),
  setting: scalar,
  policy_rules: readers.policyRules,
};

const kind = oneOf(BUNDLE_KINDS);

/** Undefined if its kind or version is not known; its body is then not read. */
function readBundleRecord(position: JsonPosition): BundleRecord | undefined {
  const before = position.faults.length;
  const known = kind(readMemberAt(position, 'kind'));
  if (position.faults.length > before) return undefined;
  reportUnknown(position, ['kind', 'version', 'body', ...(known === 'setting' ? ['id'] : [])]);
  const version = readMemberAt(position, 'version');
  if (version.value !== RECORD_VERSIONS[known]) {
    addFault(version, isGiven(version) ? `this Assay reads only version ${RECORD_VERSIONS[known]}` : MISSING);
    return undefined;
  }
  const body = readMemberAt(position, 'body');
  const read = { kind: known, body: BODIES[known](body) } as BundleRecord; // the reader of this kind
  if (read.kind !== 'setting') return read;
  const id = readMemberAt(position, 'id');
  const key = text(id);
  if (isFormerSetting(key)) addFault(id, 'it is no longer a setting but a fixed limit: remove it');
  else if (!isSettingKey(key)) addFault(id, 'there is no such setting');
  else {
    const reason = findSettingFault(SETTINGS[key], read.body);
    if (reason !== undefined && isSettingValue(body.value)) addFault(body, reason);
  }
  return { ...read, id: key };
}

/** Faulty records are left out. */
const records: Reader<readonly BundleRecord[] | undefined> = (position) => {
  const known = new Map<string, JsonPosition>();
  const read: BundleRecord[] = [];
  for (const item of readItemsAt(position)) {
    if (position.faults.length >= MAX_FAULTS) break;
    const before = position.faults.length;
    const one = readBundleRecord(item);
    if (one === undefined || position.faults.length > before) continue;
    const key = toRecordKey(one);
    if (known.has(key)) addFault(item, 'it occurs twice');
    known.set(key, item);
    read.push(one);
  }
  if (read.filter((one) => one.kind === 'toolset').length > TOOLSET_LIMITS.toolsets)
    addFault(position, `it may have at most ${TOOLSET_LIMITS.toolsets} toolsets`);
  const equipped = read.find((one) => one.kind === 'equipped');
  const isThere = read.some((one) => one.kind === 'toolset' && one.body.name === equipped?.body.toolset);
  const at = equipped && known.get(toRecordKey(equipped));
  if (at !== undefined && !isThere)
    addFault(readMemberAt(readMemberAt(at, 'body'), 'toolset'), 'no toolset of the bundle is called so');
  return read;
};

const version: Reader<undefined> = (position) => {
  if (position.value === 1) return;
  addFault(position, isGiven(position) ? 'this Assay reads only version 1' : MISSING);
};

/** For people only. */
const unread: Reader<undefined> = () => undefined;

/** Upper bounds for scrypt: 128·N·r bytes of memory, and p times the work (RFC 7914, section 6). */
const MAX_BYTES = 128 * 2 ** 20;
const MAX_PARALLELISM = 4;
const MIN_N = 2 ** 14;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const writtenSeal = object<SealedText>({
  kdf: oneOf(['scrypt']),
  N: wholeNumber({ min: MIN_N, max: MAX_BYTES / 128 }),
  r: wholeNumber({ min: 1, max: 32 }),
  p: wholeNumber({ min: 1, max: MAX_PARALLELISM }),
  salt: checked(text, bytesFault(16, 64)),
  nonce: checked(text, bytesFault(12, 12)),
  data: checked(text, bytesFault(16, Infinity)),
});

/** The bounds keep a file from choosing how much memory opening its secrets takes. */
const sealed: Reader<SealedText> = (position) => {
  const read = writtenSeal(position);
  const cost = readMemberAt(position, 'N');
  if (!Number.isInteger(Math.log2(read.N))) addFault(cost, 'it must be a power of two');
  else if (128 * read.N * read.r > MAX_BYTES) addFault(cost, 'with this r it needs more than 128 MiB');
  return read;
};

function bytesFault(min: number, max: number): (text: string) => string | undefined {
  return (given) => {
    const size = (given.length / 4) * 3 - (/=*$/.exec(given)?.[0].length ?? 0);
    if (!BASE64.test(given)) return 'it must be in base64';
    return size < min || size > max ? `it has ${size} bytes, which is not a valid size` : undefined;
  };
}

const bundle = object({
  assay: version,
  exportedAt: unread,
  records,
  sealed: optional(sealed),
  leftOut: unread,
});

const entrySecrets = list(
  openObject<EntrySecrets>({ kind: oneOf(ENTRY_KINDS), name: text, place: text, members: record(anything) }),
);

/** Parses the decrypted secrets of a bundle. Undefined if they have another format. */
export function readEntrySecrets(secrets: string): readonly EntrySecrets[] | undefined {
  const faults: Fault[] = [];
  const read = entrySecrets({ value: parseJson(secrets), pointer: '', faults });
  return faults.length === 0 ? read : undefined;
}

/**
 * The first tool in a bundle whose overrides contradict each other. The API rejects such overrides, so an import must
 * as well.
 */
export function findContradiction({ records: all, pointers }: BundleFile): Refusal | undefined {
  for (const one of all) {
    if (one.kind !== 'tool') continue;
    const { server, name, overrides } = one.body;
    const { readOnlyHint, destructiveHint } = overrides;
    const isBoth = isContradiction({
      ...(readOnlyHint && { readOnlyHint: readOnlyHint.value }),
      ...(destructiveHint && { destructiveHint: destructiveHint.value }),
    });
    const at = `${pointers.get(toRecordKey(one)) ?? ''}/overrides`;
    if (isBoth) return { code: 'HINTS_CONTRADICT', tool: formatNamespacedName(server, name), at };
  }
  return undefined;
}
