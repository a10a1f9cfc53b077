import type { Refusal } from '../../core/refusal.ts';
import { getErrorCode } from '@assay-mcp/kit/platform/sqlite';
import { StoreMoved } from './open-files.ts';

/** The connection broke during COMMIT, and whether it was carried out could not be read. */
export class WriteUnconfirmed extends Error {
  constructor(cause: unknown) {
    super('whether a transaction was committed is not known', { cause });
  }
}

/** The refusal for an expected database error. Undefined for a bug. */
export function toStoreRefusal(error: unknown): Refusal | undefined {
  if (error instanceof StoreMoved) return error.refusal;
  if (error instanceof WriteUnconfirmed)
    return { code: 'WRITE_UNCONFIRMED', reason: phraseOf(error.cause) ?? LOST };
  const reason = phraseOf(error);
  if (reason === undefined) return undefined;
  return { code: 'STORE_UNAVAILABLE', reason, ...(LASTING.has(reason) && { isLasting: true }) };
}

/** Whether SQLite reports that the file's content is invalid. */
export function isDamagedError(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(getErrorCode(error));
}

/** Whether another process holds a lock; a retry may succeed. */
export function isLockedError(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(getErrorCode(error));
}

/** Whether SQLite cannot do this on a read-only connection. */
export function needsWriter(error: unknown): boolean {
  return /^SQLITE_(?:READONLY|CANTOPEN)/.test(getErrorCode(error));
}

const LOCKED = 'another process holds a lock on it';
const FULL = 'the disk is full';
const MEMORY = 'there is not enough memory';
const LOST = 'the connection to it was lost';
const SLOW = 'it did not answer in time';
const UNSAFE = 'no safe connection to it can be made';
const DENIED = 'it does not accept the user or the password';
const ABSENT = 'the database does not exist';
const NO_RIGHT = 'the user may not write there';
const DAMAGED = 'its file is damaged, and the next start sets it aside';

/** By SQLite code, PostgreSQL code (SQLSTATE or its class) or system code; the first match counts. */
const PHRASES: readonly (readonly [code: RegExp, phrase: string])[] = [
  [/^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/, LOCKED],
  [/^SQLITE_FULL$/, FULL],
  [/^SQLITE_READONLY/, 'it is read-only'],
  [/^SQLITE_(?:CANTOPEN|PERM|AUTH)/, 'its file cannot be opened'],
  [/^SQLITE_(?:CORRUPT|NOTADB)/, DAMAGED],
  [/^SQLITE_IOERR/, 'the disk reports an error'],
  [/^SQLITE_NOMEM/, MEMORY],
  [/^SQLITE_TOOBIG/, 'a value is too large for it'],
  [/^SQLITE_NOLFS/, 'its file is too large for the file system'],
  [/^(?:55P03|40P01|40001)$/, LOCKED],
  [/^57014$/, SLOW],
  [/^57P0[1-5]$/, 'it is starting or shutting down'],
  [/^08...$/, LOST],
  [/^25006$/, 'it is read-only'],
  [/^25P0[34]$/, SLOW],
  [/^28...$/, DENIED],
  [/^3D000$/, ABSENT],
  [/^3F000$|^42501$/, NO_RIGHT],
  [/^53100$/, FULL],
  [/^53200$/, MEMORY],
  [/^53300$/, 'it has too many connections'],
  [/^(?:53|54|58|F0|XX)...$/, 'it reports an internal error; see its log'],
  [/^ECONNREFUSED$/, 'nothing listens there'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'its host is not known'],
  [/^(?:ECONNRESET|EPIPE|ECONNABORTED)$/, LOST],
  [/^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/, 'its host cannot be reached'],
  [/CERT|^ERR_(?:TLS|SSL)|ISSUER/, UNSAFE],
  [/^E[A-Z]+$|^ERR_SOCKET/, 'the system cannot reach it'],
];

/** Faults that do not mend themselves. */
const LASTING: ReadonlySet<string> = new Set([UNSAFE, DENIED, ABSENT, NO_RIGHT]);

/** Messages of pg that come without a code. */
const MESSAGES: readonly (readonly [message: RegExp, phrase: string])[] = [
  [/after calling end on the pool|already been destroyed/, 'it is closed'],
  [/^timeout e|connection timeout/, SLOW],
  [/^Query read timeout/, SLOW],
  [/^Connection terminated|^Client has encountered a connection error|connection has been discarded/, LOST],
  [/^The server does not support SSL|SSL connection/, UNSAFE],
  [/password must be|SASL|SCRAM/i, DENIED],
];

function phraseOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return phraseOf(error.errors[0]);
  const code = getErrorCode(error);
  if (code !== '') return PHRASES.find(([codes]) => codes.test(code))?.[1];
  return error instanceof Error ? MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1] : undefined;
}
