import { BY_HAND, type CauseTable, DOWNLOAD, NOTHING, OWN_LOG } from './cause-row.ts';
/** Causes of Assay itself and its limits. */
export type LifecycleCause =
  | { readonly code: 'SERVER_NOT_READY' }
  | { readonly code: 'START_TIMEOUT'; readonly limitMs: number }
  | { readonly code: 'START_FAILED' }
  | { readonly code: 'READING_FAILED'; readonly error: string }
  | { readonly code: 'LINK_CLOSED' }
  | { readonly code: 'LINK_IDLE' }
  | { readonly code: 'LINK_REPLACED' }
  | { readonly code: 'CLIENT_GONE' }
  /** The twin of a server that has ended. */
  | { readonly code: 'SERVER_GONE' }
  | { readonly code: 'SHUTTING_DOWN' }
  | { readonly code: 'QUEUE_FULL'; readonly waiting: number }
  | { readonly code: 'QUEUE_TOO_LARGE' }
  | { readonly code: 'INPUT_NOT_READ'; readonly waitedMs: number }
  | { readonly code: 'REQUESTS_IN_FLIGHT'; readonly inFlight: number; readonly waitedMs: number }
  | { readonly code: 'REQUEST_LIMIT' }
  | { readonly code: 'LINK_LIMIT'; readonly clients: number; readonly setting?: string | undefined };

const LATER = 'Try again later.';
const LATER_OR_RAISE = 'Try again later, or raise that limit: see `assay docs settings`.';

export const LIFECYCLE_CAUSES: CauseTable<LifecycleCause> = {
  SERVER_NOT_READY: {
    recovery: 'time',
    text: () => 'it has not started yet',
    remedy: `Wait a moment. ${BY_HAND}`,
  },
  START_TIMEOUT: {
    recovery: 'time',
    text: ({ limitMs }) => `it did not start within ${limitMs} ms`,
    remedy: `Check the log of the server. ${BY_HAND} ${DOWNLOAD}`,
  },
  START_FAILED: {
    recovery: 'time',
    text: () => 'it could not be started; the log says why',
    remedy: OWN_LOG,
  },
  READING_FAILED: {
    recovery: 'time',
    text: ({ error }) => `it could not be handled: ${error}`,
    remedy: OWN_LOG,
  },
  LINK_CLOSED: {
    recovery: 'time',
    text: () => 'the connection to it was closed',
    remedy: NOTHING,
  },
  LINK_IDLE: {
    recovery: 'time',
    text: () => 'the connection to it was idle',
    remedy: NOTHING,
  },
  LINK_REPLACED: {
    recovery: 'time',
    text: () => 'its connection was closed to make room for another client',
    remedy: LATER,
  },
  CLIENT_GONE: {
    recovery: 'time',
    text: () => 'its client disconnected',
    remedy: NOTHING,
  },
  SERVER_GONE: {
    recovery: 'time',
    text: () => 'its twin was ended with it',
    remedy: NOTHING,
  },
  SHUTTING_DOWN: {
    recovery: 'time',
    text: () => 'Assay is shutting down',
    remedy: 'Start Assay again.',
  },
  QUEUE_FULL: {
    recovery: 'time',
    text: ({ waiting }) =>
      `${waiting} requests are waiting for it, which is the maximum (limits.queuePerServer)`,
    remedy: LATER_OR_RAISE,
  },
  QUEUE_TOO_LARGE: {
    recovery: 'time',
    text: () => 'the requests waiting for it have reached the size limit',
    remedy: LATER,
  },
  INPUT_NOT_READ: {
    recovery: 'time',
    text: ({ waitedMs }) => `it has not read what it was sent, and this request waited for ${waitedMs} ms`,
    remedy: 'Check the log of the server: it does not read its input.',
  },
  REQUESTS_IN_FLIGHT: {
    recovery: 'time',
    text: ({ inFlight, waitedMs }) =>
      `${inFlight} requests are in flight, and this one waited for ${waitedMs} ms (limits.requestsPerServer)`,
    remedy: LATER_OR_RAISE,
  },
  REQUEST_LIMIT: {
    recovery: 'time',
    text: () => 'too many requests are already waiting for it',
    remedy: LATER,
  },
  LINK_LIMIT: {
    recovery: 'time',
    text: ({ clients, setting }) =>
      `${clients} clients are using it, which is the maximum${setting === undefined ? '' : ` (${setting})`}`,
    remedy: 'Try again later, or raise the limit if the message names one: see `assay docs settings`.',
  },
};
