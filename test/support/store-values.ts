import { openStore } from '../../src/adapters/store/open-store.ts';
import type { RestTimes } from '../../src/adapters/store/sqlite-thread.ts';
import type { AuditEvent } from '../../src/core/audit-event.ts';
import { sha256 } from '../../src/core/digest.ts';
import type { Refusal } from '../../src/core/refusal.ts';
import type { Result } from '../../src/core/result.ts';
import type { Toolset } from '../../src/core/toolset.ts';
import type { Log } from '../../src/gateway/ports/link.ts';
import type { Store, StoredCredential, StoredToken } from '../../src/gateway/ports/store.ts';
import type { Commit, CommitStore } from '../../src/gateway/ports/commit.ts';
import type { StoredToolset } from '../../src/gateway/ports/toolsets.ts';
import type { AcceptedDefinition, StoredWord, WordChange } from '../../src/gateway/ports/words.ts';

/** Where a store is. */
export interface StorePlace {
  readonly home: string;
  readonly databaseUrl: string | undefined;
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** In the tests of rest a store rests soon. */
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

/** A change of what is said of a tool: the first one, where no former one is given. */
export function wordChange(id: string, body: unknown, more: Partial<WordChange> = {}): WordChange {
  return { word: { kind: 'tool', id, body }, former: undefined, ...more };
}

export function accepted(id: string, more: Partial<AcceptedDefinition> = {}): AcceptedDefinition {
  return { id, digest: sha256(id), text: JSON.stringify({ name: id }), ...more };
}

export function deed(id: string, more: Partial<AuditEvent> = {}): AuditEvent {
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

/** Commits words, each in the place of its former one; undefined: a write conflict. */
export async function saveWords(
  store: CommitStore,
  changes: readonly WordChange[],
): Promise<Result<readonly StoredWord[] | undefined, Refusal>> {
  const done = await store.commit({
    changes: changes.map(({ word, accepted }) => ({ kind: 'word', word, accepted })),
    expectedRevisions: changes.map(({ word, former }) => ({ kind: 'word', word, revision: former })),
    audit: changes.flatMap(({ deed }) => deed ?? []),
  });
  return done.ok ? { ok: true, value: done.value?.words } : done;
}

/** A commit of one toolset, in the place of a former one or as a new one; undefined: a write conflict. */
export async function saveToolset(
  store: CommitStore,
  toolset: Toolset,
  former?: { readonly name: string; readonly revision: number },
  deed?: AuditEvent,
): Promise<Result<StoredToolset | undefined, Refusal>> {
  const done = await store.commit({
    changes: [{ kind: 'toolset', toolset, replaces: former?.name }],
    expectedRevisions: former === undefined ? [] : [{ kind: 'toolset', ...former }],
    audit: deed === undefined ? [] : [deed],
  });
  return done.ok ? { ok: true, value: done.value?.toolsets[0] } : done;
}

export function removeToolset(
  store: CommitStore,
  name: string,
  deed?: AuditEvent,
): Promise<Result<boolean, Refusal>> {
  return change(store, { kind: 'toolset removal', name }, deed);
}

export function equip(
  store: CommitStore,
  name: string | undefined,
  deed?: AuditEvent,
): Promise<Result<boolean, Refusal>> {
  return change(store, { kind: 'equipped', name }, deed);
}

export function saveSetting(
  store: CommitStore,
  key: string,
  value: unknown,
  deed?: AuditEvent,
): Promise<Result<boolean, Refusal>> {
  return change(store, { kind: 'setting', key, value }, deed);
}

/** Whether it was made. */
async function change(
  store: CommitStore,
  one: Commit['changes'][number],
  deed: AuditEvent | undefined,
): Promise<Result<boolean, Refusal>> {
  const done = await store.commit({
    changes: [one],
    expectedRevisions: [],
    audit: deed === undefined ? [] : [deed],
  });
  return done.ok ? { ok: true, value: done.value !== undefined } : done;
}

/** Changes of all kinds, each with the revision that it replaces; undefined: there was none. */
export interface ChangesTogether {
  readonly words: readonly WordChange[];
  readonly toolsets: readonly { readonly toolset: Toolset; readonly former: number | undefined }[];
  readonly equip: { readonly name: string; readonly equippings: number } | undefined;
  readonly settings: readonly { readonly key: string; readonly value: unknown; readonly former: unknown }[];
  readonly deeds: readonly AuditEvent[];
}

/** One commit of all of them; whether it was made. */
export async function saveTogether(
  store: CommitStore,
  { words, toolsets, equip: equipped, settings, deeds }: ChangesTogether,
): Promise<Result<boolean, Refusal>> {
  const done = await store.commit({
    changes: [
      ...words.map(({ word, accepted }) => ({ kind: 'word', word, accepted }) as const),
      ...toolsets.map((one) => {
        const replaces = one.former === undefined ? undefined : one.toolset.name;
        return { kind: 'toolset', toolset: one.toolset, replaces } as const;
      }),
      ...(equipped === undefined ? [] : [{ kind: 'equipped', name: equipped.name } as const]),
      ...settings.map(({ key, value }) => ({ kind: 'setting', key, value }) as const),
    ],
    expectedRevisions: [
      ...words.map(({ word, former }) => ({ kind: 'word', word, revision: former }) as const),
      ...toolsets.map((one) => ({ kind: 'toolset', name: one.toolset.name, revision: one.former }) as const),
      ...(equipped === undefined ? [] : [{ kind: 'equipped', equippings: equipped.equippings } as const]),
      ...settings.map(({ key, former }) => ({ kind: 'setting', key, value: former }) as const),
    ],
    audit: deeds,
  });
  return done.ok ? { ok: true, value: done.value !== undefined } : done;
}
