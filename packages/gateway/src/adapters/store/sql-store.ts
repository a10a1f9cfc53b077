import type { AuditEvent } from '../../core/audit-event.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { AcceptedDefinition, Commit, Committed, Growth } from '../../gateway/ports/records.ts';
import type { ApprovalStore, StoredApproval } from '../../gateway/ports/approvals.ts';
import type { Store, StoredKey, StorePart } from '../../gateway/ports/store.ts';
import type { StoredResultStore } from '../../gateway/ports/stored-results.ts';
import type { LegacySessionStore } from '../../gateway/ports/legacy-sessions.ts';
import {
  changeApproval,
  countPending,
  findGrant,
  findServerGrant,
  insertApproval,
  readApprovals,
  requestApproval,
} from './approval-rows.ts';
import {
  selectFittingAccepted,
  readAccepted,
  readAcceptedDigests,
  writeFirstAccepted,
} from './accepted-rows.ts';
import { readAuditEvents, findEventRefusal, writeAuditEvents } from './audit-rows.ts';
import { readBatches, writeCalls } from './call-batch-rows.ts';
import { countCalls, readCalls } from './call-rows.ts';
import {
  deleteCredential,
  readCredentials,
  resealCredential,
  takeLease,
  writeCredential,
} from './credential-rows.ts';
import type { Dialect, Trx } from './dialect.ts';
import { toStoreRefusal } from './driver-faults.ts';
import { readKeys, writeKey } from './key-rows.ts';
import {
  changeLegacySession,
  readLegacySession,
  readLegacySessionsSince,
  takeSessionAnswers,
  useLegacySessions,
  writeSessionAnswer,
} from './legacy-session-rows.ts';
import { deleteLabels, readLabels, writeLabels } from './label-rows.ts';
import { selectFittingDrift, readRecords, readSettings, writeCommit, WriteConflict } from './record-rows.ts';
import { changeSessionToolsets, readSessionToolsets, useSessionToolsets } from './session-toolset-rows.ts';
import { deleteSessions, markUsed, readSessions, writeSession } from './session-rows.ts';
import { deleteExpiredResults, readStoredResult, writeStoredResult } from './stored-result-rows.ts';
import { findToolsetRefusal } from './toolset-charges.ts';
import { markRevoked, readTokens, writeToken } from './token-rows.ts';

/** A store without change notifications: each call is one transaction. */
export type StoreCalls = Omit<Store, 'fault' | 'heardMs' | 'onChange' | 'close'>;

export interface SqlStore {
  readonly calls: StoreCalls;
  /** Resolves when all writes requested so far are done. */
  readonly settled: () => Promise<void>;
}

/**
 * The queries, the same for both databases. Writes run in the order in which they are requested, and a read sees all
 * writes requested before it. `onWrite` is called after each committed write, before it is acknowledged.
 */
export function createSqlStore(
  dialect: Dialect,
  onWrite: (parts: readonly StorePart[]) => Promise<void>,
): SqlStore {
  const transactions = new Transactions(dialect, onWrite);
  return { calls: callsOf(transactions, dialect), settled: () => transactions.settled() };
}

function callsOf(transactions: Transactions, dialect: Dialect): StoreCalls {
  const { read, write } = transactions;
  return {
    addToken: (token, event) => write('tokens', (trx) => writeToken(trx, token), always(event)),
    tokens: () => read(readTokens),
    revokeToken: (idOrName, revokedMs, event) =>
      write(
        ['tokens', 'stored_results'],
        (trx) => markRevoked(trx, idOrName, revokedMs),
        ({ id, name }) => (event === undefined ? [] : [{ ...event, target: { kind: 'token', id, name } }]),
      ),
    sessions: () => read(readSessions),
    addSession: (added, event) =>
      write(
        'sessions',
        async (trx) => {
          const refused = await findEventRefusal(trx, [event]);
          return refused === undefined ? ok(await writeSession(trx, added)) : err(refused);
        },
        (isAdded) => (isAdded ? [event] : []),
      ),
    useSession: (id, usedMs) => write('sessions', (trx) => markUsed(trx, id, usedMs)),
    removeSessions: (which, event) => write('sessions', (trx) => deleteSessions(trx, which), always(event)),
    keys: (purpose) => read((trx) => readKeys(trx, purpose)),
    ensureKey: (key) => ensureKey(transactions, key),
    addKey: (key) => write('keys', (trx) => writeKey(trx, key)),
    ...createCredentialCalls(transactions, dialect),
    labels: (subject) => read((trx) => readLabels(trx, subject)),
    saveLabels: (changes) => write('labels', (trx) => writeLabels(trx, changes)),
    clearLabels: (subject, event) =>
      write(
        'labels',
        async (trx) => ok(await deleteLabels(trx, subject)),
        (hadAny) => (hadAny ? [event] : []),
      ),
    sessionToolsets: (clients, nowMs) => read((trx) => readSessionToolsets(trx, clients, nowMs)),
    useSessionToolsets: (use) => write('session_toolsets', (trx) => useSessionToolsets(trx, use)),
    ...createResultCalls(transactions),
    ...createLegacySessionCalls(transactions, dialect),
    settings: () => read(readSettings),
    records: (since) => read((trx) => readRecords(trx, since)),
    commit: (commit) => makeCommit(transactions, commit),
    fittingDrift: (drift) => read((trx) => selectFittingDrift(trx, drift)),
    acceptFirst: (definitions, growth) => acceptFirst(transactions, definitions, growth),
    accepted: (id) => read((trx) => readAccepted(trx, id)),
    ...approvalCallsOf(transactions),
    auditEvents: (query) => read((trx) => readAuditEvents(trx, query)),
    addCalls: (batch, retention) =>
      write('calls', async (trx) => ok(await writeCalls(trx, batch, retention))),
    calls: (query) => read((trx) => readCalls(trx, query)),
    callBatches: (after) => read((trx) => readBatches(trx, after)),
    callCounts: (span) => read((trx) => countCalls(trx, span)),
  };
}

type CredentialCalls = Pick<
  StoreCalls,
  'credentials' | 'saveCredential' | 'resealCredential' | 'leaseCredential' | 'removeCredential'
>;

function createCredentialCalls({ read, write }: Transactions, dialect: Dialect): CredentialCalls {
  return {
    credentials: () => read(readCredentials),
    saveCredential: (credential, revision) =>
      write('credentials', async (trx) => ok(await writeCredential(trx, credential, revision))),
    resealCredential: (resealed) =>
      write('credentials', async (trx) =>
        ok(await resealCredential(trx, resealed, await dialect.readClock(trx))),
      ),
    leaseCredential: (key, request) =>
      write('credentials', async (trx) =>
        ok(await takeLease(trx, { key, request, nowMs: await dialect.readClock(trx) })),
      ),
    removeCredential: (key) => write('credentials', async (trx) => ok(await deleteCredential(trx, key))),
  };
}

function createResultCalls({ read, write }: Transactions): StoredResultStore {
  return {
    addStoredResult: (result, bounds, nowMs) =>
      write('stored_results', async (trx) => ok(await writeStoredResult(trx, result, bounds, nowMs))),
    storedResult: (wanted, nowMs) => read((trx) => readStoredResult(trx, wanted, nowMs)),
    removeExpiredResults: (nowMs) => write('stored_results', (trx) => deleteExpiredResults(trx, nowMs)),
  };
}

function createLegacySessionCalls({ read, write }: Transactions, dialect: Dialect): LegacySessionStore {
  return {
    legacySession: (id, nowMs) => read((trx) => readLegacySession(trx, id, nowMs)),
    legacySessionsSince: (since) => read((trx) => readLegacySessionsSince(trx, since)),
    changeLegacySession: (session, change) =>
      write('legacy_sessions', (trx) => changeLegacySession(trx, session, change)),
    useLegacySessions: (used) => write('legacy_sessions', (trx) => useLegacySessions(trx, used)),
    addSessionAnswer: (answer) =>
      write(
        'session_answers',
        async (trx) => ok(await writeSessionAnswer(trx, answer, await dialect.readClock(trx))),
        always(undefined),
        answer.replica,
      ),
    takeSessionAnswers: (replica) =>
      write([], async (trx) => ok(await takeSessionAnswers(trx, replica, await dialect.readClock(trx)))),
  };
}

function approvalCallsOf({ read, write }: Transactions): ApprovalStore {
  return {
    requestApproval: (wanted, limits) => write('approvals', (trx) => requestApproval(trx, wanted, limits)),
    addApproval: (answered, limits, event) =>
      write(
        'approvals',
        (trx) => insertApproval(trx, answered, limits),
        (isAdded) => (isAdded && event !== undefined ? [event] : []),
      ),
    changeApproval: (change, event) =>
      write(
        'approvals',
        async (trx) => ok(await changeApproval(trx, change)),
        (changed) => (changed === undefined || event === undefined ? [] : [auditOf(changed, event)]),
      ),
    findServerGrant: (binding, nowMs) => read((trx) => findServerGrant(trx, binding, nowMs)),
    findGrant: (binding, nowMs) => read((trx) => findGrant(trx, binding, nowMs)),
    pendingApprovals: (nowMs) => read((trx) => countPending(trx, nowMs)),
    approvals: (query) => read((trx) => readApprovals(trx, query)),
  };
}

function auditOf({ id, request }: StoredApproval, event: Omit<AuditEvent, 'target'>): AuditEvent {
  return { ...event, target: { kind: 'approval', id, name: request.namespacedName } };
}

async function ensureKey({ read, write }: Transactions, key: StoredKey): Promise<Result<StoredKey, Refusal>> {
  const found = await read((trx) => readKeys(trx, key.purpose));
  if (!found.ok) return found;
  const [newest] = found.value;
  if (newest !== undefined) return ok(newest);
  return write('keys', async (trx) => {
    const [first] = await readKeys(trx, key.purpose);
    if (first === undefined) await writeKey(trx, key);
    return ok(first ?? key);
  });
}

async function makeCommit(
  { write }: Transactions,
  commit: Commit,
): Promise<Result<Committed | undefined, Refusal>> {
  try {
    const { sessionToolsets } = commit;
    return await write(
      sessionToolsets === undefined ? 'records' : ['records', 'session_toolsets'],
      async (trx) => {
        // A refusal does not roll back, so it comes first.
        const refused =
          (await findEventRefusal(trx, commit.audit)) ?? (await findToolsetRefusal(trx, commit));
        if (refused !== undefined) return err(refused);
        const changed = sessionToolsets && (await changeSessionToolsets(trx, sessionToolsets));
        if (changed?.ok === false) return changed;
        return ok({ ...(await writeCommit(trx, commit)), ...(changed && { sessions: changed.value }) });
      },
      () => commit.audit,
    );
  } catch (error) {
    if (error instanceof WriteConflict) return ok(undefined);
    throw error;
  }
}

/** Usually all are known, or no more may be; then this neither waits for a lock nor notifies anyone. */
async function acceptFirst(
  { read, write }: Transactions,
  definitions: readonly AcceptedDefinition[],
  growth: Growth | undefined,
): Promise<Result<ReadonlyMap<string, string>, Refusal>> {
  const ids = definitions.map(({ id }) => id);
  const found = await read(async (trx) => {
    const known = await readAcceptedDigests(trx, ids);
    const absent = definitions.filter(({ id }) => !known.has(id));
    return { known, added: absent.length === 0 ? [] : await selectFittingAccepted(trx, absent, growth) };
  });
  if (!found.ok) return found;
  const { known, added } = found.value;
  if (added.length === 0) return ok(known);
  return write('records', async (trx) => {
    await writeFirstAccepted(trx, added, growth);
    return ok(await readAcceptedDigests(trx, ids));
  });
}

/** The transactions of one process; writes run one after another. */
class Transactions {
  readonly #dialect: Dialect;
  readonly #onWrite: (parts: readonly StorePart[]) => Promise<void>;
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(dialect: Dialect, onWrite: (parts: readonly StorePart[]) => Promise<void>) {
    this.#dialect = dialect;
    this.#onWrite = onWrite;
  }

  async settled(): Promise<void> {
    await this.#lastWrite;
  }

  readonly read = async <T>(work: (trx: Trx) => Promise<T>): Promise<Result<T, Refusal>> => {
    await this.#lastWrite;
    return expecting(async () => ok(await this.#dialect.read(work)));
  };

  /** Writes a change and its audit events atomically. */
  readonly write = <T>(
    written: StorePart | readonly StorePart[],
    work: (trx: Trx) => Promise<Result<T, Refusal>>,
    eventsOf: EventsOf<T> = always(undefined),
    key?: string,
  ): Promise<Result<T, Refusal>> => {
    const done = this.#lastWrite.then(() =>
      expecting(async () => {
        const parts: StorePart[] = [];
        const changed = typeof written === 'string' ? [written] : written;
        const result = await this.#dialect.write(changed, async (trx) => {
          const worked = await work(trx);
          if (!worked.ok) return worked;
          const events = eventsOf(worked.value);
          if (events.length > 0) await writeAuditEvents(trx, events);
          parts.push(...changed, ...(events.length > 0 ? (['audit'] as const) : []));
          for (const one of parts) await this.#dialect.announce(trx, one, key);
          return worked;
        });
        if (result.ok) await this.#onWrite(parts);
        return result;
      }),
    );
    this.#lastWrite = done.catch(() => undefined);
    return done;
  };
}

/** The events to record for a write that was not refused. */
type EventsOf<T> = (done: T) => readonly AuditEvent[];

function always(event: AuditEvent | undefined): EventsOf<unknown> {
  return () => (event === undefined ? [] : [event]);
}

/** Turns expected driver errors into refusals; any other error is a bug and is rethrown. */
async function expecting<T>(work: () => Promise<Result<T, Refusal>>): Promise<Result<T, Refusal>> {
  try {
    return await work();
  } catch (error) {
    const refusal = toStoreRefusal(error);
    if (refusal === undefined) throw error;
    return err(refusal);
  }
}
