import { OBSERVED_KINDS } from './hints/tool-verification.ts';
import { addFault, type Fault, toField, type JsonPosition } from '@assay-mcp/kit/json-position';
import {
  flag,
  list,
  number,
  oneOf,
  openObject,
  optional,
  type Reader,
  record,
  text,
} from '@assay-mcp/kit/json-reader';
import { createOperatorReaders, STORED } from './operator-readers.ts';
import { type Stop, STOP_KINDS } from './stops.ts';
import { isSettingValue, RECORD_VERSIONS, type RecordBodies, type RecordKind } from './record.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';

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
  const faults: Fault[] = [];
  READERS[kind]({ value: body, pointer: '', faults });
  const [fault] = faults;
  if (fault === undefined) return ok({ kind, body } as RecordBody); // it has just been read
  return err(fault.pointer === '' ? fault.reason : `${toField(fault.pointer)}: ${fault.reason}`);
}

export function isRecordKind(kind: string): kind is RecordKind {
  return Object.hasOwn(RECORD_VERSIONS, kind);
}

/** An object with these members; others are kept unread. */
function members<T>(readers: { readonly [P in keyof Required<T>]: Reader<unknown> }): Reader<unknown> {
  return openObject(readers);
}

function scalar(position: JsonPosition): void {
  if (!isSettingValue(position.value)) addFault(position, 'it must be a string, a number or a boolean');
}

type Tool = RecordBodies['tool'];
type Drift = NonNullable<Tool['drift']>;
type Verification = NonNullable<Tool['verification']>;
type ObservedHint = NonNullable<Verification['hints']['readOnlyHint']>;

const stored = createOperatorReaders(STORED);

const drift = members<Drift>({
  digest: text,
  sinceMs: number,
  changes: list(
    members<Drift['changes'][number]>({ path: text, before: optional(text), after: optional(text) }),
  ),
  risks: list(members<Drift['risks'][number]>({ code: text })),
});

const observed = members<ObservedHint>({
  kind: oneOf(OBSERVED_KINDS),
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
  ...stored.entry,
  keyId: text,
  sealed: text,
  importedMs: optional(number),
});

const READERS: Readonly<Record<RecordKind, Reader<unknown>>> = {
  tool: members<Tool>({
    id: text,
    ...stored.tool,
    drift: optional(drift),
    volatility: optional(members<NonNullable<Tool['volatility']>>({ connects: number, isAccepted: flag })),
    verification: optional(verification),
  }),
  trust: stored.trust,
  gateway: entry,
  secret: members<RecordBodies['secret']>({
    keyId: text,
    sealed: text,
    savedMs: number,
    uses: list(members<RecordBodies['secret']['uses'][number]>({ server: text, identity: text, what: text })),
  }),
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
  toolset: stored.toolset,
  equipped: members<RecordBodies['equipped']>({ toolset: optional(text), equippings: number }),
  setting: scalar,
  token_preferences: members<RecordBodies['token_preferences']>({ preferences: record(scalar) }),
  policy_rules: stored.policyRules,
  notices: members<RecordBodies['notices']>({ sentMs: number, known: list(text) }),
  stops: members<RecordBodies['stops']>({
    stops: list(
      members<Stop>({
        target: members<Record<'kind' | 'server' | 'tool', unknown>>({
          kind: oneOf(STOP_KINDS),
          server: optional(text),
          tool: optional(text),
        }),
        by: text,
        atMs: number,
        reason: optional(text),
      }),
    ),
  }),
};
