import { CONFIRMS } from './confirm.ts';
import { OBSERVED_KINDS } from './hints/tool-verification.ts';
import { isJsonObject } from './json-object.ts';
import { pointerStep } from './json-pointer.ts';
import { type Fault, memberAt } from './json-position.ts';
import { readRules } from './policy/read-rules.ts';
import { isSettingValue, RECORD_VERSIONS, type RecordBodies, type RecordKind } from './record.ts';
import { err, ok, type Result } from './result.ts';
import type { SingleTool } from './toolset.ts';
import type { WholeServer } from './whole-server.ts';

/** A record as stored in a database or file. */
export interface RawRecord {
  readonly kind: string;
  readonly version: number;
  readonly body: unknown;
}

/** A body with its kind. */
export type RecordBody = {
  [K in RecordKind]: { readonly kind: K; readonly body: RecordBodies[K] };
}[RecordKind];

/** Reads a record that any version of Assay may have written. The error is the end of a sentence. */
export function readRecord({ kind, version, body }: RawRecord): Result<RecordBody, string> {
  if (!isRecordKind(kind)) return err(`the kind ${JSON.stringify(kind)} is not known`);
  const known = RECORD_VERSIONS[kind];
  if (version !== known) return err(`it has version ${version}, and this Assay knows version ${known}`);
  const fault = CHECKS[kind](body, '');
  return fault === undefined ? ok({ kind, body } as RecordBody) : err(fault); // its check has just passed
}

export function isRecordKind(kind: string): kind is RecordKind {
  return Object.hasOwn(RECORD_VERSIONS, kind);
}

/** Returns the error at this position, as the end of a sentence. */
type Check = (value: unknown, at: string) => string | undefined;

const text: Check = (value, at) => (typeof value === 'string' ? undefined : `${at} is not a string`);
const flag: Check = (value, at) => (typeof value === 'boolean' ? undefined : `${at} is not a boolean`);
const number: Check = (value, at) => (typeof value === 'number' ? undefined : `${at} is not a number`);
const scalar: Check = (value, at) =>
  isSettingValue(value) ? undefined : `it is not a string, number or boolean${at}`;

function optional(check: Check): Check {
  return (value, at) => (value === undefined ? undefined : check(value, at));
}

function oneOf(...values: readonly string[]): Check {
  return (value, at) =>
    values.includes(String(value)) ? undefined : `${at} is none of ${values.join(', ')}`;
}

function list(of: Check): Check {
  return (value, at) => {
    if (!Array.isArray(value)) return `${at} is not an array`;
    return first(value, (one, index) => of(one, `${at}/${index}`));
  };
}

/** An object with these members; others are not checked. */
function members<T>(checks: { readonly [P in keyof Required<T>]: Check }): Check {
  const entries = Object.entries<Check>(checks);
  return (value, at) => {
    if (!isJsonObject(value)) return `${at === '' ? 'it' : at} is not an object`;
    return first(entries, ([name, check]) => check(value[name], at + pointerStep(name)));
  };
}

function first<T>(
  all: readonly T[],
  fault: (one: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, one] of all.entries()) {
    const found = fault(one, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Tool = RecordBodies['tool'];
type Override = NonNullable<Tool['overrides']['readOnlyHint']>;
type Drift = NonNullable<Tool['drift']>;
type Verification = NonNullable<Tool['verification']>;
type ObservedHint = NonNullable<Verification['hints']['readOnlyHint']>;
type Toolset = RecordBodies['toolset'];
type ToolsetTool = SingleTool & Omit<WholeServer, 'held'>;
type ToolNotes = Toolset['toolNotes'][number];

const seen = members<NonNullable<Override['seen']>>({ behaviour: text, target: text, prose: text });

const override = members<Override>({
  value: flag,
  author: text,
  atMs: number,
  reason: optional(text),
  digest: text,
  seen: optional(seen),
});

const drift = members<Drift>({
  digest: text,
  sinceMs: number,
  changes: list(
    members<Drift['changes'][number]>({ path: text, before: optional(text), after: optional(text) }),
  ),
  risks: list(members<Drift['risks'][number]>({ code: text })),
});

const observed = members<ObservedHint>({
  kind: oneOf(...OBSERVED_KINDS),
  atMs: number,
  calls: optional(number),
  shapes: optional(number),
  evidence: optional(
    list(
      members<NonNullable<ObservedHint['evidence']>[number]>({
        effect: text,
        message: text,
        target: text,
        call: number,
        args: text,
        atMs: number,
      }),
    ),
  ),
  reason: optional(text),
});

const verification = members<Verification>({
  digest: text,
  atMs: number,
  author: text,
  server: members<Verification['server']>({ name: text, version: text, packageDigest: text }),
  mechanisms: list(text),
  hints: members<Verification['hints']>({
    readOnlyHint: optional(observed),
    destructiveHint: optional(observed),
    idempotentHint: optional(observed),
    openWorldHint: optional(observed),
  }),
  keepsState: optional(flag),
});

const entry = members<RecordBodies['gateway']>({
  keyId: text,
  sealed: text,
  name: text,
  createdMs: number,
  author: text,
  importedMs: optional(number),
});

const CHECKS: Readonly<Record<RecordKind, Check>> = {
  tool: members<Tool>({
    id: text,
    server: text,
    identity: text,
    name: text,
    overrides: members<Tool['overrides']>({
      readOnlyHint: optional(override),
      destructiveHint: optional(override),
      idempotentHint: optional(override),
      openWorldHint: optional(override),
    }),
    title: optional(text),
    publicName: optional(text),
    description: optional(members<NonNullable<Tool['description']>>({ text, seen: text })),
    confirm: optional(
      members<NonNullable<Tool['confirm']>>({ value: oneOf(...CONFIRMS), digest: text, seen }),
    ),
    cacheMs: optional(members<NonNullable<Tool['cacheMs']>>({ value: number, digest: text, seen })),
    tags: optional(members<NonNullable<Tool['tags']>>({ value: list(text), digest: text, seen })),
    isDisabled: optional(flag),
    drift: optional(drift),
    volatility: optional(members<NonNullable<Tool['volatility']>>({ connects: number, isAccepted: flag })),
    verification: optional(verification),
  }),
  trust: members<RecordBodies['trust']>({ server: text, identity: text, trust: flag }),
  gateway: entry,
  rest_tool: entry,
  function_module: entry,
  instructions: members<RecordBodies['instructions']>({
    server: text,
    identity: text,
    accepted: members<RecordBodies['instructions']['accepted']>({ digest: text, text }),
    changed: optional(
      members<NonNullable<RecordBodies['instructions']['changed']>>({ digest: text, text, sinceMs: number }),
    ),
  }),
  toolset: members<Toolset>({
    name: text,
    description: optional(text),
    maker: optional(
      members<NonNullable<Toolset['maker']>>({ by: oneOf('model', 'operator'), subject: text }),
    ),
    createdMs: number,
    changedMs: number,
    tools: list(
      members<ToolsetTool>({
        namespacedName: text,
        held: optional(members<NonNullable<ToolsetTool['held']>>({ refId: text, digest: text, text })),
        except: optional(list(text)),
        known: optional(list(text)),
      }),
    ),
    toolNotes: list(
      members<ToolNotes>({
        namespacedName: text,
        notes: list(
          members<ToolNotes['notes'][number]>({
            name: text,
            note: text,
            author: text,
            by: oneOf('model', 'operator'),
            writtenMs: number,
            isHeld: flag,
          }),
        ),
      }),
    ),
  }),
  equipped: members<RecordBodies['equipped']>({ toolset: optional(text), equippings: number }),
  setting: scalar,
  token_preferences: members<RecordBodies['token_preferences']>({
    preferences: (value, at) =>
      isJsonObject(value) ? first(Object.values(value), (one) => scalar(one, at)) : `${at} is not an object`,
  }),
  policy_rules: (value) => {
    const faults: Fault[] = [];
    readRules(memberAt({ value, field: '', faults }, 'rules'));
    return faults[0] && `${faults[0].field}: ${faults[0].reason}`;
  },
};
