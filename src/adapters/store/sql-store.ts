import type { Deed } from '../../core/deed.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Toolset } from '../../core/toolset.ts';
import type {
  CredentialKey,
  Leased,
  LeaseWish,
  SeenServer,
  Store,
  StoredCredential,
  StoredKey,
  StorePart,
  StoredToken,
} from '../../gateway/ports/store.ts';
import type { Former, StoredToolset, ToolsetNews } from '../../gateway/ports/toolsets.ts';
import type {
  AcceptedDefinition,
  DeedQuery,
  StoredDeed,
  StoredWord,
  WordChange,
  WordNews,
} from '../../gateway/ports/words.ts';
import { readAccepted, readAcceptedDigests, writeFirstAccepted } from './accepted-rows.ts';
import { deleteCredential, readCredentials, takeLease, writeCredential } from './credential-rows.ts';
import { readDeeds, writeDeeds } from './deed-rows.ts';
import type { Dialect, Trx } from './dialect.ts';
import { refusalOf } from './driver-faults.ts';
import { readServer, readServers, writeServer } from './server-rows.ts';
import type { KeyRow } from './tables.ts';
import { markRevoked, readTokens, writeToken } from './token-rows.ts';
import { deleteToolset, markEquipped, readToolsets, writeToolset } from './toolset-rows.ts';
import { readWords, writeWords } from './word-rows.ts';

/** A store without the telling of changes: what one transaction does. */
export type StoreCalls = Omit<Store, 'onChange' | 'close'>;

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

  saveServer(server: SeenServer): Promise<Result<undefined, Refusal>> {
    return this.#write('servers', async (trx) => {
      await writeServer(trx, server);
      return DONE;
    });
  }

  servers(): Promise<Result<readonly Omit<SeenServer, 'definitions'>[], Refusal>> {
    return this.#read(readServers);
  }

  server(name: string, identity: string): Promise<Result<SeenServer | undefined, Refusal>> {
    return this.#read((trx) => readServer(trx, name, identity));
  }

  addToken(token: StoredToken): Promise<Result<undefined, Refusal>> {
    return this.#write('tokens', (trx) => writeToken(trx, token));
  }

  tokens(): Promise<Result<readonly StoredToken[], Refusal>> {
    return this.#read(readTokens);
  }

  revokeToken(idOrName: string, revokedMs: number): Promise<Result<StoredToken, Refusal>> {
    return this.#write('tokens', (trx) => markRevoked(trx, idOrName, revokedMs));
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

  leaseCredential(key: CredentialKey, wish: LeaseWish): Promise<Result<Leased, Refusal>> {
    return this.#write('credentials', async (trx) => ok(await takeLease(trx, key, wish)));
  }

  removeCredential(key: CredentialKey): Promise<Result<boolean, Refusal>> {
    return this.#write('credentials', async (trx) => ok(await deleteCredential(trx, key)));
  }

  toolsets(known: ReadonlyMap<string, number>): Promise<Result<ToolsetNews, Refusal>> {
    return this.#read((trx) => readToolsets(trx, known));
  }

  saveToolset(
    toolset: Toolset,
    former: Former | undefined,
  ): Promise<Result<StoredToolset | undefined, Refusal>> {
    return this.#write('toolsets', (trx) => writeToolset(trx, toolset, former));
  }

  removeToolset(name: string): Promise<Result<boolean, Refusal>> {
    return this.#write('toolsets', async (trx) => ok(await deleteToolset(trx, name)));
  }

  equip(name: string | undefined): Promise<Result<boolean, Refusal>> {
    return this.#write('toolsets', async (trx) => ok(await markEquipped(trx, name)));
  }

  settings(): Promise<Result<ReadonlyMap<string, unknown>, Refusal>> {
    return this.#read(async (trx) => {
      const rows = await trx.selectFrom('assay_settings').selectAll().orderBy('key').execute();
      return new Map(rows.map((row) => [row.key, JSON.parse(row.value_json) as unknown]));
    });
  }

  saveSetting(key: string, value: unknown): Promise<Result<undefined, Refusal>> {
    return this.#write('settings', async (trx) => {
      if (value === undefined) await trx.deleteFrom('assay_settings').where('key', '=', key).execute();
      else await writeSetting(trx, key, JSON.stringify(value));
      return DONE;
    });
  }

  words(since: number): Promise<Result<WordNews, Refusal>> {
    return this.#read((trx) => readWords(trx, since));
  }

  saveWords(changes: readonly WordChange[]): Promise<Result<readonly StoredWord[] | undefined, Refusal>> {
    return this.#write(
      'words',
      async (trx) => ok(await writeWords(trx, changes)),
      (saved) => (saved === undefined ? [] : changes.flatMap(({ deed }) => deed ?? [])),
    );
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

  deeds(query: DeedQuery): Promise<Result<readonly StoredDeed[], Refusal>> {
    return this.#read((trx) => readDeeds(trx, query));
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
    part: StorePart,
    work: (trx: Trx) => Promise<Result<T, Refusal>>,
    deedsOf: (done: T) => readonly Deed[] = () => [],
  ): Promise<Result<T, Refusal>> {
    const done = this.#lastWrite.then(() =>
      expecting(async () => {
        const parts: StorePart[] = [];
        const result = await this.#dialect.write(part, async (trx) => {
          const worked = await work(trx);
          if (!worked.ok) return worked;
          const deeds = deedsOf(worked.value);
          if (deeds.length > 0) await writeDeeds(trx, deeds);
          parts.push(part, ...(deeds.length > 0 ? (['deeds'] as const) : []));
          for (const written of parts) await this.#dialect.announce(trx, written);
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

/** The trouble that a driver can be expected to have is a refusal; all else is a bug, and thrown. */
async function expecting<T>(work: () => Promise<Result<T, Refusal>>): Promise<Result<T, Refusal>> {
  try {
    return await work();
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return err(refusal);
  }
}

async function readKeys(trx: Trx, purpose: string): Promise<readonly StoredKey[]> {
  const rows = await trx
    .selectFrom('assay_keys')
    .selectAll()
    .where('purpose', '=', purpose)
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({ id: row.id, purpose, bytes: row.bytes, createdMs: row.created_ms }));
}

async function writeKey(trx: Trx, { id, purpose, bytes, createdMs }: StoredKey): Promise<void> {
  // Bytes from another thread come as a Uint8Array, which SQLite does not take.
  const row: KeyRow = { id, purpose, bytes: Buffer.from(bytes), created_ms: createdMs };
  await trx.insertInto('assay_keys').values(row).execute();
}

async function writeSetting(trx: Trx, key: string, value_json: string): Promise<void> {
  await trx
    .insertInto('assay_settings')
    .values({ key, value_json })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value_json }))
    .execute();
}
