import { quote } from '@assay-mcp/kit/printable';

import { INTERNAL, type RefusalTable } from './refusal-row.ts';

/** Refusals about the store. */
export type StoreRefusal =
  /** `isLasting`: somebody has to change the settings, the database or its certificate; waiting does not help. */
  | { readonly code: 'STORE_UNAVAILABLE'; readonly reason: string; readonly isLasting?: true }
  /** The connection broke while a request was saved, and whether it was saved could not be found out. */
  | { readonly code: 'WRITE_UNCONFIRMED'; readonly reason: string }
  /** Notifications of the database do not arrive, so that changes by other processes are polled. */
  | { readonly code: 'STORE_NOT_FOLLOWED'; readonly notifications: 'silent' | 'lost' | 'unreachable' }
  /** What was last read from the store is too old to decide on access. */
  | { readonly code: 'STORE_STALE'; readonly waitSeconds: number }
  /** The subject has made too many changes that the audit log records. */
  | { readonly code: 'CHANGES_LIMIT'; readonly limit: number; readonly waitSeconds: number }
  | {
      readonly code: 'RECORD_UNREADABLE';
      readonly kind: string;
      readonly id: string;
      readonly reason: string;
    }
  | {
      readonly code: 'SCHEMA_TOO_NEW';
      readonly place: string;
      readonly found: number;
      readonly known: number;
    }
  /** `schema`: with PostgreSQL, the schema that has the tables. */
  | { readonly code: 'SCHEMA_TOO_OLD'; readonly place: string; readonly schema?: string }
  | {
      readonly code: 'STORE_DAMAGED';
      readonly path: string;
      readonly keptAs: string;
      readonly reason: string;
    }
  /** The file that Assay has open was moved or deleted. `log`: its write-ahead log. */
  | {
      readonly code: 'STORE_MOVED';
      readonly path: string;
      readonly what: 'gone' | 'replaced' | 'log';
    }
  /** The revocation applies to this process but could not be stored; `reason` says why. */
  | {
      readonly code: 'REVOCATION_UNSAVED';
      /** `stop`: the name is that of what is stopped. */
      readonly kind: 'token' | 'tool' | 'gateway' | 'stop';
      readonly name: string;
      readonly reason: string;
    };

export const STORE_REFUSALS: RefusalTable<StoreRefusal> = {
  STORE_UNAVAILABLE: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) => `The store cannot be used: ${r.reason}. The request was not saved.`,
  },
  WRITE_UNCONFIRMED: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) =>
      `Whether the request was saved is not known: ${r.reason} while saving it. Read the current state before you repeat the request.`,
  },
  STORE_NOT_FOLLOWED: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) => `${NOT_FOLLOWED[r.notifications]} Until then, the store is read every second instead.`,
  },
  STORE_STALE: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: () =>
      'The database does not answer, so revoked tokens and changed rules cannot be seen. Retry when it answers again.',
  },
  CHANGES_LIMIT: {
    reported: { rpc: INTERNAL, http: 200, rest: 429, exit: 'unavailable' },
    isToolError: true,
    sentence: (r) =>
      `This caller has made ${r.limit} changes within a minute, or changes that are too large for the audit log. Nothing was changed. Retry in ${r.waitSeconds} s.`,
  },
  RECORD_UNREADABLE: {
    reported: { rpc: INTERNAL, http: 503, exit: 'config' },
    sentence: (r) =>
      `The store contains a record that this version of Assay cannot read (${r.kind} ${quote(r.id)}: ${r.reason}). It was not overwritten. Update Assay.`,
  },
  SCHEMA_TOO_NEW: {
    reported: { rpc: INTERNAL, http: 503, exit: 'config' },
    sentence: (r) =>
      `The store ${quote(r.place)} was written by a newer version of Assay (format ${r.found}; this version supports ${r.known}). Update Assay, or use another ASSAY_HOME.`,
  },
  SCHEMA_TOO_OLD: {
    reported: { rpc: INTERNAL, http: 503, exit: 'config' },
    sentence: (r) =>
      r.schema === undefined
        ? `The store ${quote(r.place)} was created by an earlier build of Assay, whose data this one cannot read. Nothing was changed. Restart Assay: it then sets the file aside and creates a new store.`
        : `The schema ${quote(r.schema)} of the database ${quote(r.place)} has tables of an earlier build of Assay, whose data this one cannot read. Nothing was changed. Set ASSAY_DATABASE_URL to another database or schema, or drop the tables of this one whose names begin with "assay_"; that deletes their data.`,
  },
  STORE_DAMAGED: {
    reported: { rpc: INTERNAL, http: 503, exit: 'config' },
    sentence: (r) =>
      `The store ${quote(r.path)} is damaged: ${r.reason}. It was moved to ${quote(r.keptAs)}; the next start creates a new one.`,
  },
  STORE_MOVED: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) =>
      r.what === 'log'
        ? `The write-ahead log of the store, ${quote(r.path)}, was deleted or replaced while Assay was running. The request was not saved. Assay is reopening the store; repeat the request.`
        : `The store file ${quote(r.path)} was ${r.what === 'gone' ? 'deleted or moved' : 'replaced by another file'} while Assay was running. The request was not saved; the data read before remains in effect. Move the same file back, or stop Assay, put the right file in place and start it again.`,
  },
  REVOCATION_UNSAVED: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) =>
      `The ${r.kind === 'stop' ? 'stop of' : r.kind} ${quote(r.name)} is ${LOWERED[r.kind]} until this process ends, but that could not be stored: ${r.reason}. Fix the store (if the disk is full, free some space) and repeat the request, or the change is lost on restart.`,
  },
};

const NOT_FOLLOWED = {
  silent:
    'Notifications of the database do not arrive, although the connection for them is open. A pooler in transaction mode drops them: connect ASSAY_DATABASE_URL to PostgreSQL directly, or to a pool in session mode.',
  lost: 'The connection for notifications of the database was lost and is being reopened.',
  unreachable: 'The database cannot be reached, so changes by other processes cannot be seen.',
} as const;

const LOWERED = { token: 'revoked', tool: 'disabled', gateway: 'not trusted', stop: 'in force' } as const;
