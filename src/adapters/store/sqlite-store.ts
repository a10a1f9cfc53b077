import type { AuditEvent } from '../../core/audit-event.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '../../core/result.ts';
import type { Log } from '../../gateway/ports/link.ts';
import type { Snapshot } from '../../gateway/ports/bundles.ts';
import type { Commit, Committed } from '../../gateway/ports/commit.ts';
import type {
  CredentialKey,
  Leased,
  LeaseRequest,
  Store,
  StoredCredential,
  StoredKey,
  StorePart,
  StoredToken,
} from '../../gateway/ports/store.ts';
import type { ToolsetNews } from '../../gateway/ports/toolsets.ts';
import type {
  AcceptedDefinition,
  AuditQuery,
  StoredAuditEvent,
  WordNews,
} from '../../gateway/ports/words.ts';
import { Listeners } from './listeners.ts';
import { SqliteThread, type Given, type RestTimes } from './sqlite-thread.ts';
import type { SqliteCalls } from './sqlite-worker.ts';

export interface SqliteStoreOptions {
  readonly home: string;
  readonly log: Log;
  readonly rest?: RestTimes | undefined;
}

/**
 * The store in `assay.db` of a home. SQLite waits for disks and locks where it stands, so all of it stands in a thread.
 */
export class SqliteStore implements Store {
  readonly #thread: SqliteThread;
  readonly #listeners: Listeners;
  #isClosed = false;

  constructor({ home, log, rest }: SqliteStoreOptions) {
    this.#thread = new SqliteThread({
      home,
      log,
      rest,
      tell: (parts) => this.#listeners.tell(parts),
      tellAll: () => this.#listeners.tellAll(),
    });
    this.#listeners = new Listeners({
      first: () => this.#thread.listen(),
      none: () => this.#thread.stopListening(),
    });
  }

  open(): Promise<Result<string, Refusal>> {
    return this.#call('open');
  }

  addToken(token: StoredToken, deed?: AuditEvent): Promise<Result<undefined, Refusal>> {
    return this.#call('addToken', token, deed);
  }

  tokens(): Promise<Result<readonly StoredToken[], Refusal>> {
    return this.#call('tokens');
  }

  revokeToken(
    idOrName: string,
    revokedMs: number,
    deed?: Omit<AuditEvent, 'target'>,
  ): Promise<Result<StoredToken, Refusal>> {
    return this.#call('revokeToken', idOrName, revokedMs, deed);
  }

  async keys(purpose: string): Promise<Result<readonly StoredKey[], Refusal>> {
    const found = await this.#call('keys', purpose);
    return found.ok ? { ok: true, value: found.value.map(withBuffer) } : found;
  }

  async ensureKey(key: StoredKey): Promise<Result<StoredKey, Refusal>> {
    const found = await this.#call('ensureKey', key);
    return found.ok ? { ok: true, value: withBuffer(found.value) } : found;
  }

  addKey(key: StoredKey): Promise<Result<undefined, Refusal>> {
    return this.#call('addKey', key);
  }

  async credentials(): Promise<Result<readonly StoredCredential[], Refusal>> {
    const found = await this.#call('credentials');
    if (!found.ok) return found;
    return { ok: true, value: found.value.map((one) => ({ ...one, sealed: Buffer.from(one.sealed) })) };
  }

  saveCredential(
    credential: Omit<StoredCredential, 'revision'>,
    revision?: number,
  ): Promise<Result<boolean, Refusal>> {
    return this.#call('saveCredential', credential, revision);
  }

  leaseCredential(key: CredentialKey, wish: LeaseRequest): Promise<Result<Leased, Refusal>> {
    return this.#call('leaseCredential', key, wish);
  }

  removeCredential(key: CredentialKey): Promise<Result<boolean, Refusal>> {
    return this.#call('removeCredential', key);
  }

  toolsets(known: ReadonlyMap<string, number>): Promise<Result<ToolsetNews, Refusal>> {
    return this.#call('toolsets', known);
  }

  settings(): Promise<Result<ReadonlyMap<string, unknown>, Refusal>> {
    return this.#call('settings');
  }

  words(since: number): Promise<Result<WordNews, Refusal>> {
    return this.#call('words', since);
  }

  acceptFirst(
    definitions: readonly AcceptedDefinition[],
  ): Promise<Result<ReadonlyMap<string, string>, Refusal>> {
    return this.#call('acceptFirst', definitions);
  }

  accepted(id: string): Promise<Result<AcceptedDefinition | undefined, Refusal>> {
    return this.#call('accepted', id);
  }

  deeds(query: AuditQuery): Promise<Result<readonly StoredAuditEvent[], Refusal>> {
    return this.#call('deeds', query);
  }

  snapshot(): Promise<Result<Snapshot, Refusal>> {
    return this.#call('snapshot');
  }

  commit(commit: Commit): Promise<Result<Committed | undefined, Refusal>> {
    return this.#call('commit', commit);
  }

  get fault(): Refusal | undefined {
    return this.#thread.moved;
  }

  onChange(listener: (parts: readonly StorePart[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** What was asked for before is done. */
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

/** A Buffer arrives from another thread as what it is made of. */
function withBuffer(key: StoredKey): StoredKey {
  return { ...key, bytes: Buffer.from(key.bytes) };
}
