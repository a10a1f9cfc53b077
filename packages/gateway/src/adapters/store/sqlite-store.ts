import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import type { Log } from '../../gateway/ports/log.ts';
import type { Store, StoredKey, StorePart } from '../../gateway/ports/store.ts';
import { StoreListeners } from './store-listeners.ts';
import { SqliteThread, type Given, type RestTimes } from './sqlite-thread.ts';
import type { OpenedFile, SqliteCalls } from './sqlite-worker.ts';

export interface SqliteStoreOptions {
  readonly home: string;
  readonly log: Log;
  readonly rest?: RestTimes | undefined;
}

/**
 * The store in `assay.db` of a home folder. SQLite blocks while it waits for disks and locks, so it runs in its own
 * thread.
 */
export class SqliteStore implements Store {
  readonly #thread: SqliteThread;
  readonly #listeners: StoreListeners;
  #isClosed = false;

  constructor({ home, log, rest }: SqliteStoreOptions) {
    this.#thread = new SqliteThread({
      home,
      log,
      rest,
      notify: (parts) => this.#listeners.notify(parts),
      notifyAll: () => this.#listeners.notifyAll(),
    });
    this.#listeners = new StoreListeners({
      first: () => this.#thread.listen(),
      none: () => this.#thread.stopListening(),
    });
  }

  open(): Promise<Result<OpenedFile, Refusal>> {
    return this.#call('open');
  }

  readonly addToken: Store['addToken'] = (...args) => this.#call('addToken', ...args);
  readonly tokens: Store['tokens'] = () => this.#call('tokens');
  readonly revokeToken: Store['revokeToken'] = (...args) => this.#call('revokeToken', ...args);
  readonly sessions: Store['sessions'] = () => this.#call('sessions');
  readonly addSession: Store['addSession'] = (...args) => this.#call('addSession', ...args);
  readonly useSession: Store['useSession'] = (...args) => this.#call('useSession', ...args);
  readonly removeSessions: Store['removeSessions'] = (...args) => this.#call('removeSessions', ...args);
  readonly addKey: Store['addKey'] = (key) => this.#call('addKey', key);
  readonly saveCredential: Store['saveCredential'] = (...args) => this.#call('saveCredential', ...args);
  readonly resealCredential: Store['resealCredential'] = (...args) => this.#call('resealCredential', ...args);
  readonly leaseCredential: Store['leaseCredential'] = (...args) => this.#call('leaseCredential', ...args);
  readonly removeCredential: Store['removeCredential'] = (key) => this.#call('removeCredential', key);
  readonly labels: Store['labels'] = (subject) => this.#call('labels', subject);
  readonly saveLabels: Store['saveLabels'] = (changes) => this.#call('saveLabels', changes);
  readonly clearLabels: Store['clearLabels'] = (...args) => this.#call('clearLabels', ...args);
  readonly sessionToolsets: Store['sessionToolsets'] = (...args) => this.#call('sessionToolsets', ...args);
  readonly useSessionToolsets: Store['useSessionToolsets'] = (use) => this.#call('useSessionToolsets', use);
  readonly addStoredResult: Store['addStoredResult'] = (...args) => this.#call('addStoredResult', ...args);
  readonly removeExpiredResults: Store['removeExpiredResults'] = (nowMs) =>
    this.#call('removeExpiredResults', nowMs);
  readonly legacySession: Store['legacySession'] = (...args) => this.#call('legacySession', ...args);
  readonly legacySessionsSince: Store['legacySessionsSince'] = (since) =>
    this.#call('legacySessionsSince', since);
  readonly changeLegacySession: Store['changeLegacySession'] = (...args) =>
    this.#call('changeLegacySession', ...args);
  readonly useLegacySessions: Store['useLegacySessions'] = (used) => this.#call('useLegacySessions', used);
  readonly addSessionAnswer: Store['addSessionAnswer'] = (...args) => this.#call('addSessionAnswer', ...args);
  readonly settings: Store['settings'] = () => this.#call('settings');
  readonly records: Store['records'] = (since) => this.#call('records', since);
  readonly commit: Store['commit'] = (commit) => this.#call('commit', commit);
  readonly fittingDrift: Store['fittingDrift'] = (drift) => this.#call('fittingDrift', drift);
  readonly acceptFirst: Store['acceptFirst'] = (...args) => this.#call('acceptFirst', ...args);
  readonly accepted: Store['accepted'] = (id) => this.#call('accepted', id);
  readonly requestApproval: Store['requestApproval'] = (...args) => this.#call('requestApproval', ...args);
  readonly addApproval: Store['addApproval'] = (...args) => this.#call('addApproval', ...args);
  readonly changeApproval: Store['changeApproval'] = (...args) => this.#call('changeApproval', ...args);
  readonly findServerGrant: Store['findServerGrant'] = (...args) => this.#call('findServerGrant', ...args);
  readonly findGrant: Store['findGrant'] = (...args) => this.#call('findGrant', ...args);
  readonly pendingApprovals: Store['pendingApprovals'] = (nowMs) => this.#call('pendingApprovals', nowMs);
  readonly approvals: Store['approvals'] = (query) => this.#call('approvals', query);
  readonly auditEvents: Store['auditEvents'] = (query) => this.#call('auditEvents', query);
  readonly addCalls: Store['addCalls'] = (...args) => this.#call('addCalls', ...args);
  readonly calls: Store['calls'] = (query) => this.#call('calls', query);
  readonly callBatches: Store['callBatches'] = (after) => this.#call('callBatches', after);
  readonly callCounts: Store['callCounts'] = (...args) => this.#call('callCounts', ...args);

  readonly keys: Store['keys'] = async (purpose) => {
    const found = await this.#call('keys', purpose);
    return found.ok ? { ok: true, value: found.value.map(withBuffer) } : found;
  };

  readonly storedResult: Store['storedResult'] = async (...args) => {
    const found = await this.#call('storedResult', ...args);
    if (!found.ok || found.value === undefined) return found;
    return { ok: true, value: { ...found.value, bytes: Buffer.from(found.value.bytes) } };
  };

  readonly takeSessionAnswers: Store['takeSessionAnswers'] = async (...args) => {
    const taken = await this.#call('takeSessionAnswers', ...args);
    if (!taken.ok) return taken;
    return { ok: true, value: taken.value.map((one) => ({ ...one, sealed: Buffer.from(one.sealed) })) };
  };

  readonly ensureKey: Store['ensureKey'] = async (key) => {
    const found = await this.#call('ensureKey', key);
    return found.ok ? { ok: true, value: withBuffer(found.value) } : found;
  };

  readonly credentials: Store['credentials'] = async () => {
    const found = await this.#call('credentials');
    if (!found.ok) return found;
    return { ok: true, value: found.value.map((one) => ({ ...one, sealed: Buffer.from(one.sealed) })) };
  };

  get fault(): Refusal | undefined {
    return this.#thread.fault;
  }

  onChange(listener: (parts: readonly StorePart[], key?: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Closes after earlier calls have completed. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listeners.end();
    await this.#thread.close();
  }

  async #call<M extends keyof SqliteCalls>(
    method: M,
    ...args: Parameters<SqliteCalls[M]>
  ): Promise<Given<M>> {
    if (this.#isClosed) return err({ code: 'STORE_UNAVAILABLE', reason: 'it is closed' }) as Given<M>;
    return this.#thread.call(method, ...args);
  }
}

/** A Buffer arrives from another thread as a plain Uint8Array. */
function withBuffer(key: StoredKey): StoredKey {
  return { ...key, bytes: Buffer.from(key.bytes) };
}
