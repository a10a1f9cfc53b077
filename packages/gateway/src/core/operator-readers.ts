import { CONFIRMS } from './confirm.ts';
import { hashDefinition } from '@assay-mcp/kit/digest';
import type { Aspects } from './hints/aspects.ts';
import type { TrustRecord } from './hints/claim.ts';
import type { CallChoice, DescriptionOverride, Override, ToolOverrides } from './hints/tool-record.ts';
import {
  checked,
  flag,
  list,
  type Members,
  number,
  object,
  oneOf,
  openObject,
  optional,
  type Reader,
  text,
} from '@assay-mcp/kit/json-reader';
import { findNoteFault, findNoteNameFault, type Note, NOTE_LIMITS } from './notes.ts';
import { readRules } from './policy/read-rules.ts';
import type { EntryRecord, PolicyRulesRecord, SealedEntry } from './record.ts';
import {
  findTagFault,
  MAX_TAGS,
  MAX_CACHE_MS,
  findPublicNameFault,
  findToolDescriptionFault,
} from './tool-settings.ts';
import { isIdOfRef } from './record-ids.ts';
import {
  findDescriptionFault,
  findToolsetNameFault,
  type HeldDefinition,
  type SingleTool,
  TOOLSET_LIMITS,
  type ToolNotes,
  type Toolset,
  type ToolsetMaker,
  type ToolsetTool,
} from './toolset.ts';
import { isWhole, parseWholeServer, WHOLE_SERVER_LIMIT, type WholeServer } from './whole-server.ts';

/** How strictly records are read. */
interface Strictness {
  readonly members: <T extends object>(members: Members<T>) => Reader<T>;
  /** Adds a check, which returns what is wrong with a value as the end of a sentence. */
  readonly fit: <T>(read: Reader<T>, fault: (value: T) => string | undefined) => Reader<T>;
}

/** What the store holds was checked before it was written. Unknown members are left out. */
export const STORED: Strictness = { members: openObject, fit: (read) => read };

/** What comes from elsewhere. */
export const IMPORTED: Strictness = { members: object, fit: checked };

/** Readers of what operators write: whole records, or the members of those that have others as well. */
export interface OperatorReaders {
  readonly entry: Members<Omit<EntryRecord, keyof SealedEntry | 'importedMs'>>;
  readonly tool: Members<ToolOverrides>;
  readonly trust: Reader<TrustRecord>;
  readonly toolset: Reader<Toolset>;
  readonly policyRules: Reader<PolicyRulesRecord>;
}

const MAX_TITLE_LENGTH = 255;
const MAX_REASON_LENGTH = 1_000;
const MAX_ASPECT_LENGTH = 64;
const DIGEST = /^[0-9a-f]{64}$/;
/** The range of a Date (ECMA-262, section 21.4.1.1). */
const MAX_TIME_MS = 8.64e15;

export function createOperatorReaders(strictness: Strictness): OperatorReaders {
  const { members, fit } = strictness;
  const values: ValueReaders = {
    time: fit(number, (ms) =>
      Number.isInteger(ms) && Math.abs(ms) <= MAX_TIME_MS ? undefined : 'it must be a time in ms since 1970',
    ),
    digest: fit(text, (given) => (DIGEST.test(given) ? undefined : 'it must be a SHA-256 in hexadecimal')),
  };
  return {
    entry: { name: text, createdMs: values.time, author: text },
    trust: members<TrustRecord>({ server: text, identity: text, trust: flag }),
    tool: createToolReaders(strictness, values),
    toolset: createToolsetReader(strictness, values),
    policyRules: members<PolicyRulesRecord>({ rules: readRules }),
  };
}

interface ValueReaders {
  /** In ms since 1970. */
  readonly time: Reader<number>;
  readonly digest: Reader<string>;
}

function createToolReaders(
  { members, fit }: Strictness,
  { time, digest }: ValueReaders,
): Members<ToolOverrides> {
  const aspect = fit(text, atMost(MAX_ASPECT_LENGTH));
  const seen = members<Aspects>({ behaviour: aspect, target: aspect, prose: aspect });
  const reason = optional(fit(text, atMost(MAX_REASON_LENGTH)));
  const override = optional(
    members<Override>({ value: flag, author: text, atMs: time, reason, digest, seen: optional(seen) }),
  );
  const choice = <T>(value: Reader<T>): Reader<CallChoice<T> | undefined> =>
    optional(members<CallChoice<T>>({ value, digest, seen }));
  return {
    server: text,
    identity: text,
    name: text,
    overrides: members<ToolOverrides['overrides']>({
      readOnlyHint: override,
      destructiveHint: override,
      idempotentHint: override,
      openWorldHint: override,
    }),
    title: optional(
      fit(text, (given) => (given === '' ? 'it must not be empty' : atMost(MAX_TITLE_LENGTH)(given))),
    ),
    publicName: optional(fit(text, findPublicNameFault)),
    description: optional(
      members<DescriptionOverride>({ text: fit(text, findToolDescriptionFault), seen: aspect }),
    ),
    confirm: choice(oneOf(CONFIRMS)),
    cacheMs: choice(
      fit(number, (ms) =>
        Number.isInteger(ms) && ms >= 0 && ms <= MAX_CACHE_MS
          ? undefined
          : `it must be a whole number from 0 to ${MAX_CACHE_MS}`,
      ),
    ),
    tags: choice(
      fit(list(fit(text, findTagFault)), ({ length }) =>
        length === 0 || length > MAX_TAGS ? `it must have 1 to ${MAX_TAGS} tags` : undefined,
      ),
    ),
    isDisabled: optional(flag),
  };
}

function createToolsetReader({ members, fit }: Strictness, { time, digest }: ValueReaders): Reader<Toolset> {
  const names = fit(list(text), (all) => findCountFault(all, { max: WHOLE_SERVER_LIMIT, of: 'names' }));
  const by = oneOf(['model', 'operator']);
  const note = members<Note>({
    name: fit(text, findNoteNameFault),
    note: fit(text, findNoteFault),
    author: text,
    by,
    writtenMs: time,
    isHeld: flag,
  });
  const notes = fit(list(note), (all) =>
    findCountFault(
      all.map(({ name }) => name),
      { max: NOTE_LIMITS.notesPerTool, of: 'notes' },
    ),
  );
  // By its members it is one tool or a whole server.
  const member = members<
    Omit<SingleTool, 'held'> & { held?: HeldDefinition } & Partial<Pick<WholeServer, 'except' | 'known'>>
  >({
    namespacedName: text,
    held: optional(members<HeldDefinition>({ refId: text, digest, text })),
    except: optional(names),
    known: optional(names),
  });
  return members<Toolset>({
    name: fit(text, findToolsetNameFault),
    description: optional(fit(text, findDescriptionFault)),
    maker: optional(members<ToolsetMaker>({ by, subject: text })),
    createdMs: time,
    changedMs: time,
    tools: fit(list(fit(member as Reader<ToolsetTool>, findToolFault)), (tools) =>
      findCountFault(toNames(tools), { max: TOOLSET_LIMITS.tools, of: 'tools' }),
    ),
    toolNotes: fit(list(members<ToolNotes>({ namespacedName: text, notes })), (all) =>
      findCountFault(toNames(all), { max: Infinity, of: 'tools' }),
    ),
  });
}

/** Why a tool or whole server cannot be in a toolset. */
function findToolFault(tool: ToolsetTool): string | undefined {
  const { namespacedName, held } = tool;
  const isServer = parseWholeServer(namespacedName) !== undefined;
  if (isServer && !isWhole(tool))
    return 'all tools of a server need "except", the list of those that were removed';
  if (!isServer && ('except' in tool || 'known' in tool))
    return 'only all tools of a server, "SERVER.*", can have "except" and "known"';
  if (isServer && held !== undefined) return 'a whole server cannot be pinned to a definition';
  if (held === undefined) return undefined;
  const isRight =
    held.digest === hashDefinition(held.text) && isIdOfRef(held.refId, namespacedName, held.digest);
  return isRight ? undefined : 'its refId and digest must be those of its definition';
}

function toNames(items: readonly { readonly namespacedName: string }[]): readonly string[] {
  return items.map(({ namespacedName }) => namespacedName);
}

/** Whether there are too many, or two have the same name. `of`: in the plural. */
function findCountFault(
  names: readonly string[],
  { max, of }: { readonly max: number; readonly of: string },
): string | undefined {
  if (names.length > max) return `it may have at most ${max} ${of}`;
  const known = new Set<string>();
  const twice = names.find((name) => known.size === known.add(name).size);
  return twice === undefined ? undefined : `two of its ${of} are called ${JSON.stringify(twice)}`;
}

function atMost(max: number): (given: string) => string | undefined {
  return (given) => (given.length > max ? `it may have at most ${max} characters` : undefined);
}
