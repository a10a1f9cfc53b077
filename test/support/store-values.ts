import { openStore } from '../../packages/gateway/src/adapters/store/open-store.ts';
import type { RestTimes } from '../../packages/gateway/src/adapters/store/sqlite-thread.ts';
import type { AuditEvent } from '../../packages/gateway/src/core/audit-event.ts';
import { sha256 } from '@assay-mcp/kit/digest';
import type { Refusal } from '../../packages/gateway/src/core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Toolset } from '../../packages/gateway/src/core/toolset.ts';
import type { ApprovalLimits, NewApproval } from '../../packages/gateway/src/gateway/ports/approvals.ts';
import type { Log } from '../../packages/gateway/src/gateway/ports/log.ts';
import type {
  Store,
  StoredCredential,
  StoredSession,
  StoredToken,
} from '../../packages/gateway/src/gateway/ports/store.ts';
import type { ToolRecord } from '../../packages/gateway/src/core/hints/tool-record.ts';
import { EQUIPPED_ID, type SettingValue } from '../../packages/gateway/src/core/record.ts';
import type {
  AcceptedDefinition,
  AuditQuery,
  RecordChange,
  RecordStore,
  StoredAuditEvent,
  StoredRecord,
} from '../../packages/gateway/src/gateway/ports/records.ts';

/** Location of a store. */
export interface StorePlace {
  readonly home: string;
  readonly databaseUrl: string | undefined;
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Short idle times, for the tests of stores that close when idle. */
export const RESTS_SOON: RestTimes = { idleMs: 300, freshMs: 100, retryMs: 100 };

export function tryStore(
  place: StorePlace,
  log: Log = SILENT,
  rest?: RestTimes,
): Promise<Result<Store, Refusal>> {
  return openStore({ ...place, log, rest });
}

export function valueOf<T>(result: Result<T, Refusal>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

export function token(id: string, more: Partial<StoredToken> = {}): StoredToken {
  return {
    id,
    name: `name of ${id}`,
    scopes: ['read', 'mcp'],
    hash: 'ab'.repeat(32),
    createdMs: 1_790_000_000_123,
    expiresMs: undefined,
    revokedMs: undefined,
    ...more,
  };
}

export function session(id: string, more: Partial<StoredSession> = {}): StoredSession {
  return {
    id,
    kind: 'session',
    hash: 'ab'.repeat(32),
    subject: 'anna \u0000',
    scopes: ['read'],
    credential: 'token 1',
    createdMs: 10,
    usedMs: 100,
    expiresMs: 1_000,
    ...more,
  };
}

export function credential(
  more: Partial<Omit<StoredCredential, 'revision'>>,
): Omit<StoredCredential, 'revision'> {
  return {
    server: 'linear',
    identity: 'one',
    issuer: 'https://issuer.example',
    subject: 'local',
    keyId: 'key',
    sealed: Buffer.from([0, 1, 255]),
    expiresMs: 1_790_000_000_123,
    savedMs: 1,
    ...more,
  };
}

/** A change with the revision that it replaces. Undefined if there was none. */
export interface RevisedChange {
  readonly record: RecordChange;
  readonly former?: number | undefined;
  readonly event?: AuditEvent | undefined;
  readonly accepted?: AcceptedDefinition | undefined;
}

/** A tool's record, distinguished by its title. */
export function toolRecord(id: string, title: string): ToolRecord {
  return { id, server: 's', identity: 'one', name: id, overrides: {}, title };
}

/** A change of a tool's record; without `former`, its creation. An undefined title removes it. */
export function toolChange(
  id: string,
  title: string | number | undefined,
  more: Omit<RevisedChange, 'record'> = {},
): RevisedChange {
  const body = title === undefined ? undefined : toolRecord(id, String(title));
  return { record: { kind: 'tool', id, body }, ...more };
}

export function toolsetChange(body: Toolset, former?: number): RevisedChange {
  return { record: { kind: 'toolset', id: body.name, body }, former };
}

export function settingChange(id: string, body: SettingValue | undefined, former?: number): RevisedChange {
  return { record: { kind: 'setting', id, body }, former };
}

export function equipChange(toolset: string, equippings: number, former?: number): RevisedChange {
  return { record: { kind: 'equipped', id: EQUIPPED_ID, body: { toolset, equippings } }, former };
}

export function accepted(id: string, more: Partial<AcceptedDefinition> = {}): AcceptedDefinition {
  return { id, digest: sha256(id), text: JSON.stringify({ name: id }), ...more };
}

/** The audit events of a store, none of which is unreadable. */
export async function readableAuditEvents(
  store: Pick<RecordStore, 'auditEvents'>,
  query: AuditQuery,
): Promise<readonly StoredAuditEvent[]> {
  return valueOf(await store.auditEvents(query)).map((entry) => {
    if (entry.kind === 'unreadable') throw new Error(`event ${entry.id}: ${entry.reason}`);
    return entry;
  });
}

export function auditEvent(id: string, more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    atMs: 1_790_000_000_123,
    subject: 'local',
    action: 'tool.update',
    target: { kind: 'tool', id, name: `name of ${id}` },
    ...more,
  };
}

export function toolset(name: string, more: Partial<Toolset> = {}): Toolset {
  return {
    name,
    createdMs: 1_790_000_000_123,
    changedMs: 1_790_000_000_456,
    tools: [],
    toolNotes: [],
    ...more,
  };
}

/** Commits records, each replacing its former one. Undefined on a write conflict. */
export async function saveRecords(
  store: RecordStore,
  changes: readonly RevisedChange[],
): Promise<Result<readonly StoredRecord[] | undefined, Refusal>> {
  const done = await store.commit({
    changes: changes.map(({ record }) => record),
    expectedRevisions: changes.map(({ record: { kind, id }, former }) => ({ kind, id, revision: former })),
    audit: changes.flatMap(({ event }) => event ?? []),
    accepted: changes.flatMap(({ accepted }) => accepted ?? []),
  });
  if (!done.ok) return done;
  if (done.value === undefined) return { ok: true, value: undefined };
  const first = done.value.revision - changes.length + 1;
  return { ok: true, value: changes.map(({ record }, at) => ({ ...record, revision: first + at })) };
}

/** Saves a setting, whatever its former value. */
export async function saveSetting(
  store: RecordStore,
  key: string,
  value: SettingValue | undefined,
  event?: AuditEvent,
): Promise<Result<boolean, Refusal>> {
  const done = await store.commit({
    changes: [{ kind: 'setting', id: key, body: value }],
    expectedRevisions: [],
    audit: event === undefined ? [] : [event],
  });
  return done.ok ? { ok: true, value: done.value !== undefined } : done;
}

/** All existing records, without their revisions. */
export async function recordsIn(store: RecordStore): Promise<readonly RecordChange[]> {
  const { records } = valueOf(await store.records(0));
  return records
    .filter(({ body }) => body !== undefined)
    .map(({ revision: _, ...record }): RecordChange => record);
}

/** A call of a tool of this name that waits for approval for the next hour. */
export function approval(id: string, more: Partial<NewApproval> = {}): NewApproval {
  const nowMs = Date.now();
  return {
    id,
    binding: {
      subject: 'ci',
      session: '',
      toolKey: id,
      digest: 'd',
      serverKey: 'server',
      argumentsHash: 'a',
    },
    request: {
      ...{ tool: id, namespacedName: `s.${id}`, server: 's', arguments: '{}', isShortened: false },
      ...{ reasons: [], warnings: [], hints: [], scopes: ['once', 'session', 'always'] },
    },
    state: 'pending',
    createdMs: nowMs,
    expiresMs: nowMs + 3_600_000,
    answer: undefined,
    ...more,
  };
}

export const APPROVAL_LIMITS: ApprovalLimits = {
  nowMs: Date.now(),
  pendingPerSubject: 3,
  perSubject: 99,
  total: 10,
  keepMs: 1_000,
};
