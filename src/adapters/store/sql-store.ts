import type { AuditEvent } from '../../core/audit-event.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
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
import { readAccepted, readAcceptedDigests, writeFirstAccepted } from './accepted-rows.ts';
import { readSnapshot } from './bundle-rows.ts';
import { partsOf, writeCommit, WriteConflict } from './commit-rows.ts';
import { deleteCredential, readCredentials, takeLease, writeCredential } from './credential-rows.ts';
import { readAuditEvents, writeAuditEvents } from './audit-rows.ts';
import type { Dialect, Trx } from './dialect.ts';
import { refusalOf } from './driver-faults.ts';
import { readKeys, writeKey } from './key-rows.ts';
import { StoreMoved } from './open-files.ts';
import { readSettings } from './setting-rows.ts';
import { markRevoked, readTokens, writeToken } from './token-rows.ts';
import { readToolsets } from './toolset-rows.ts';
import { readWords } from './word-rows.ts';

/** A store without the telling of changes: what one transaction does. */
export type StoreCalls = Omit<Store, 'fault' | 'onChange' | 'close'>;

/**
 * The queries, the same for both databases. Writes are done in the order in which they are asked for, and a read sees
 * all writes that were asked for before it.
 */
export class SqlStore implements StoreCalls {
  readonly #dialect: Dialect;
  readonly #onWrite: (parts: readonly StorePart[]) => Promise<void>;
  #lastWrite: Promise<unknown> = Promise.resolve();

  /** `onWrite` is called after each write that is committed, before it is acknowledged. */
  constructor(dialect: Dialect, onWrite: (parts: readonly StorePart[]) => Promise<void>) {
    this.#dialect = dialect;
    this.#onWrite = onWrite;
  }

  addToken(token: StoredToken, deed?: AuditEvent): Promise<Result<undefined, Refusal>> {
    return this.#write('tokens', (trx) => writeToken(trx, token), always(deed));
  }

  tokens(): Promise<Result<readonly StoredToken[], Refusal>> {
    return this.#read(readTokens);
  }

  revokeToken(
    idOrName: string,
    revokedMs: number,
    deed?: Omit<AuditEvent, 'target'>,
  ): Promise<Result<StoredToken, Refusal>> {
    return this.#write(
      'tokens',
      (trx) => markRevoked(trx, idOrName, revokedMs),
      ({ id, name }) => (deed === undefined ? [] : [{ ...deed, target: { kind: 'token', id, name } }]),
    );
  }

  keys(purpose: string): Promise<Result<readonly StoredKey[], Refusal>> {
    return this.#read((trx) => readKeys(trx, purpose));
  }

  async ensureKey(key: StoredKey): Promise<Result<StoredKey, Refusal>> {
    const found = await this.keys(key.purpose);
    if (!found.ok) return found;
    const [newest] = found.value;
    if (newest !== undefined) return ok(newest);
    return this.#write('keys', async (trx) => {
      const [first] = await readKeys(trx, key.purpose);
      if (first === undefined) await writeKey(trx, key);
      return ok(first ?? key);
    });
  }

  addKey(key: StoredKey): Promise<Result<undefined, Refusal>> {
    return this.#write('keys', async (trx) => {
      await writeKey(trx, key);
      return DONE;
    });
  }

  credentials(): Promise<Result<readonly StoredCredential[], Refusal>> {
    return this.#read(readCredentials);
  }

  saveCredential(
    credential: Omit<StoredCredential, 'revision'>,
    revision?: number,
  ): Promise<Result<boolean, Refusal>> {
    return this.#write('credentials', async (trx) => ok(await writeCredential(trx, credential, revision)));
  }

  leaseCredential(key: CredentialKey, wish: LeaseRequest): Promise<Result<Leased, Refusal>> {
    return this.#write('credentials', async (trx) => ok(await takeLease(trx, key, wish)));
  }

  removeCredential(key: CredentialKey): Promise<Result<boolean, Refusal>> {
    return this.#write('credentials', async (trx) => ok(await deleteCredential(trx, key)));
  }

  toolsets(known: ReadonlyMap<string, number>): Promise<Result<ToolsetNews, Refusal>> {
    return this.#read((trx) => readToolsets(trx, known));
  }

  settings(): Promise<Result<ReadonlyMap<string, unknown>, Refusal>> {
    return this.#read(readSettings);
  }

  words(since: number): Promise<Result<WordNews, Refusal>> {
    return this.#read((trx) => readWords(trx, since));
  }

  /** Most are known at most times, and then nobody is to wait for a lock or to be told anything. */
  async acceptFirst(
    definitions: readonly AcceptedDefinition[],
  ): Promise<Result<ReadonlyMap<string, string>, Refusal>> {
    const ids = definitions.map(({ id }) => id);
    const known = await this.#read((trx) => readAcceptedDigests(trx, ids));
    if (!known.ok) return known;
    const absent = definitions.filter(({ id }) => !known.value.has(id));
    if (absent.length === 0) return known;
    return this.#write('words', async (trx) => {
      await writeFirstAccepted(trx, absent);
      return ok(await readAcceptedDigests(trx, ids));
    });
  }

  accepted(id: string): Promise<Result<AcceptedDefinition | undefined, Refusal>> {
    return this.#read((trx) => readAccepted(trx, id));
  }

  deeds(query: AuditQuery): Promise<Result<readonly StoredAuditEvent[], Refusal>> {
    return this.#read((trx) => readAuditEvents(trx, query));
  }

  snapshot(): Promise<Result<Snapshot, Refusal>> {
    return this.#read(readSnapshot);
  }

  async commit(commit: Commit): Promise<Result<Committed | undefined, Refusal>> {
    try {
      return await this.#write<Committed>(
        partsOf(commit),
        async (trx) => ok(await writeCommit(trx, commit)),
        () => commit.audit,
      );
    } catch (error) {
      if (error instanceof WriteConflict) return ok(undefined);
      throw error;
    }
  }

  /** Resolves when all writes that were asked for are done. */
  async settled(): Promise<void> {
    await this.#lastWrite;
  }

  async #read<T>(work: (trx: Trx) => Promise<T>): Promise<Result<T, Refusal>> {
    await this.#lastWrite;
    return expecting(async () => ok(await this.#dialect.read(work)));
  }

  /** With the deeds that are to be told of what was done; a deed and what it tells of are there together, or neither is. */
  #write<T>(
    what: StorePart | readonly StorePart[],
    work: (trx: Trx) => Promise<Result<T, Refusal>>,
    deedsOf: DeedsOf<T> = always(undefined),
  ): Promise<Result<T, Refusal>> {
    const done = this.#lastWrite.then(() =>
      expecting(async () => {
        const parts: StorePart[] = [];
        const written = [what].flat();
        const result = await this.#dialect.write(written, async (trx) => {
          const worked = await work(trx);
          if (!worked.ok) return worked;
          const deeds = deedsOf(worked.value);
          if (deeds.length > 0) await writeAuditEvents(trx, deeds);
          parts.push(...written, ...(deeds.length > 0 ? (['deeds'] as const) : []));
          for (const part of parts) await this.#dialect.announce(trx, part);
          return worked;
        });
        if (result.ok) await this.#onWrite(parts);
        return result;
      }),
    );
    this.#lastWrite = done.catch(() => undefined);
    return done;
  }
}

const DONE = ok(undefined);

/** What is to be told of a write that was not refused. */
type DeedsOf<T> = (done: T) => readonly AuditEvent[];

function always(deed: AuditEvent | undefined): DeedsOf<unknown> {
  return () => (deed === undefined ? [] : [deed]);
}

/** The trouble that a driver can be expected to have is a refusal; all else is a bug, and thrown. */
async function expecting<T>(work: () => Promise<Result<T, Refusal>>): Promise<Result<T, Refusal>> {
  try {
    return await work();
  } catch (error) {
    const refusal = error instanceof StoreMoved ? error.refusal : refusalOf(error);
    if (refusal === undefined) throw error;
    return err(refusal);
  }
}
