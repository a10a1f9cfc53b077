import { join } from 'node:path';
import type { StoreFacts } from '../../core/judge-machine.ts';
import { pathFacts, readBytes } from '../../platform/machine.ts';

export interface StorePlace {
  readonly home: string;
  /** A `postgres://` URL; undefined: `assay.db` in the home. */
  readonly databaseUrl: string | undefined;
}

/** Whether the store can be read and is whole. It is neither made nor brought up to date. */
export function inspectStore({ home, databaseUrl }: StorePlace): Promise<StoreFacts> {
  return databaseUrl === undefined ? inspectSqlite(join(home, 'assay.db')) : inspectPostgres(databaseUrl);
}

async function inspectSqlite(place: string): Promise<StoreFacts> {
  const kind = 'file';
  if ((await pathFacts(place)) === undefined) return { kind, place, is: 'absent' };
  const { default: SqliteDatabase } = await import('better-sqlite3');
  try {
    const isInUse = ((await pathFacts(`${place}-wal`))?.bytes ?? 0) > 0;
    const database = isInUse
      ? new SqliteDatabase(place, { readonly: true, fileMustExist: true })
      : new SqliteDatabase(readableAlone(await readBytes(place)));
    try {
      const found = database.pragma('quick_check(1)', { simple: true });
      return found === 'ok'
        ? { kind, place, is: 'whole' }
        : { kind, place, is: 'at fault', fault: 'its pages contradict each other' };
    } finally {
      database.close();
    }
  } catch (error) {
    return { kind, place, is: 'at fault', fault: phraseOf(error) };
  }
}

/** In the header, at 18 and 19, that a file has a log of writes beside it: https://www.sqlite.org/fileformat.html#file_format_version_numbers */
const LOG_MARKS: readonly number[] = [18, 19];

/**
 * A copy in memory, so that not even the files are made that SQLite makes beside a database to read it. Nobody writes:
 * then all that was written stands in the file itself, and the copy need not look for more.
 */
function readableAlone(bytes: Buffer): Buffer {
  for (const at of LOG_MARKS) if (bytes[at] === 2) bytes[at] = 1;
  return bytes;
}

const CONNECT_LIMIT_MS = 5_000;

async function inspectPostgres(databaseUrl: string): Promise<StoreFacts> {
  const kind = 'database';
  const url = URL.parse(databaseUrl);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol))
    return {
      kind,
      place: 'ASSAY_DATABASE_URL',
      is: 'at fault',
      fault: 'it is no URL that begins with postgres://',
    };
  // Not the whole URL, which holds a password.
  const place = `${url.host}${url.pathname}`;
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: CONNECT_LIMIT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return { kind, place, is: 'whole' };
  } catch (error) {
    return { kind, place, is: 'at fault', fault: phraseOf(error) };
  } finally {
    await client.end().catch(() => undefined);
  }
}

const PHRASES: readonly (readonly [code: RegExp, phrase: string])[] = [
  [/^SQLITE_(?:CORRUPT|NOTADB)/, 'its content is no database'],
  [/^SQLITE_(?:BUSY|LOCKED)/, 'another process holds a lock on it'],
  [/^EACCES$|^SQLITE_(?:CANTOPEN|PERM)/, 'it cannot be opened'],
  [/^ECONNREFUSED$/, 'nothing listens there'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'its host is not known'],
  [/^28...$/, 'it does not accept the user or the password'],
  [/^3D000$/, 'there is no such database'],
];

/** What a driver says beside a code may hold what it was given. */
function phraseOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = first instanceof Error && 'code' in first ? String(first.code) : 'no more than that it failed';
  return PHRASES.find(([codes]) => codes.test(code))?.[1] ?? `its driver says ${code}`;
}
