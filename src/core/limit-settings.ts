// A table of data: one row for each limit.
import { whole, type SettingFacts } from './setting-kind.ts';
import { MAX_TIMER_MS } from './timer.ts';

const MiB = 1024 * 1024;
const HOUR_MS = 3_600_000;

/** Limits on what clients and servers can demand of one process. */
export interface LimitSettings {
  readonly 'limits.bodyBytes': number;
  readonly 'limits.bodiesBytes': number;
  readonly 'limits.connections': number;
  readonly 'limits.adminConnections': number;
  readonly 'limits.sessions': number;
  readonly 'limits.sessionIdleMs': number;
  readonly 'limits.replayBytes': number;
  readonly 'limits.requestsPerClient': number;
  readonly 'limits.subscriptionsPerClient': number;
  readonly 'limits.requestsPerServer': number;
  readonly 'limits.queuePerServer': number;
  readonly 'limits.backlogBytes': number;
  readonly 'limits.retries': number;
  readonly 'limits.unreadBytes': number;
  readonly 'limits.unreadMs': number;
  readonly 'limits.headersMs': number;
  readonly 'limits.requestMs': number;
  readonly 'limits.idleConnectionMs': number;
  readonly 'limits.tokenFailures': number;
  readonly 'limits.questionMs': number;
  readonly 'limits.approvalMs': number;
  readonly 'limits.approvalWaitMs': number;
  readonly 'limits.suspendedCalls': number;
  readonly 'limits.processesPerServer': number;
  readonly 'limits.linksPerServer': number;
  readonly 'limits.idleLinkMs': number;
  readonly 'limits.serverLogLines': number;
  readonly 'limits.drainMs': number;
  readonly 'limits.listEntries': number;
  readonly 'limits.listBytes': number;
  readonly 'limits.instructionsBytes': number;
  readonly 'limits.instructionsTotalBytes': number;
}

export const LIMIT_SETTINGS: Readonly<Record<keyof LimitSettings, SettingFacts>> = {
  'limits.bodyBytes': {
    env: 'ASSAY_MAX_BODY_BYTES',
    changedBy: 'admin',
    kind: whole(64 * MiB, 1, 9_999_999_999),
    about: 'Maximum size in bytes of a message from a client.',
  },
  'limits.bodiesBytes': {
    env: 'ASSAY_LIMITS_BODIES_BYTES',
    changedBy: 'admin',
    kind: whole(0, 0, 99_999_999_999),
    about:
      'Maximum total size in bytes of the bodies of all HTTP requests in progress, at least limits.bodyBytes and 16 MiB. Beyond it, the subject with the most loses its youngest body that has not arrived in full. 0: an eighth of the memory, at most 1 GiB.',
  },
  'limits.connections': {
    env: 'ASSAY_LIMITS_CONNECTIONS',
    changedBy: 'admin',
    kind: whole(1_000, 1, 100_000),
    about:
      'Maximum number of client connections. Beyond it, the subject with the most connections loses its oldest, idle ones first; a subject that already has the most is refused new ones.',
  },
  'limits.adminConnections': {
    env: 'ASSAY_LIMITS_ADMIN_CONNECTIONS',
    changedBy: 'admin',
    kind: whole(8, 0, 1_000),
    about:
      'Additional connections beyond limits.connections, reserved for tokens with the scope admin and for GET /health.',
  },
  'limits.sessions': {
    env: 'ASSAY_LIMITS_SESSIONS',
    changedBy: 'admin',
    kind: whole(10_000, 1, 1_000_000),
    about:
      'Maximum number of sessions of the older revisions. Beyond it, the subject with the most sessions loses the one that has been idle longest.',
  },
  'limits.sessionIdleMs': {
    env: 'ASSAY_LIMITS_SESSION_IDLE_MS',
    changedBy: 'admin',
    kind: whole(4 * HOUR_MS, 1, MAX_TIMER_MS),
    about: 'Time in ms after which a session without a request in progress and without an open stream ends.',
  },
  'limits.replayBytes': {
    env: 'ASSAY_LIMITS_REPLAY_BYTES',
    changedBy: 'admin',
    kind: whole(4 * MiB, 0, 9_999_999_999),
    about:
      'Maximum size in bytes of the events that a session keeps for a disconnected client; the oldest are dropped. All sessions together keep at most 16 times that; beyond it, the subject that keeps the most loses its oldest events.',
  },
  'limits.requestsPerClient': {
    env: 'ASSAY_LIMITS_REQUESTS_PER_CLIENT',
    changedBy: 'admin',
    kind: whole(256, 1, 65_536),
    about:
      'Maximum number of requests in progress for one client, including those whose responses it has not read yet; more are refused.',
  },
  'limits.subscriptionsPerClient': {
    env: 'ASSAY_LIMITS_SUBSCRIPTIONS_PER_CLIENT',
    changedBy: 'admin',
    kind: whole(1_024, 0, 65_536),
    about: 'Maximum number of resources that one client can subscribe to; more are refused.',
  },
  'limits.requestsPerServer': {
    env: 'ASSAY_LIMITS_REQUESTS_PER_SERVER',
    changedBy: 'admin',
    kind: whole(1_024, 1, 65_536),
    about: 'Maximum number of concurrent requests to one server; more are queued.',
  },
  'limits.queuePerServer': {
    env: 'ASSAY_LIMITS_QUEUE_PER_SERVER',
    changedBy: 'admin',
    kind: whole(4_096, 0, 65_536),
    about:
      'Maximum number of requests queued for one server. Beyond it, the subject with the most queued requests loses its oldest; a subject that already has the most is refused new ones.',
  },
  'limits.backlogBytes': {
    env: 'ASSAY_LIMITS_BACKLOG_BYTES',
    changedBy: 'admin',
    kind: whole(64 * MiB, 1, 9_999_999_999),
    about:
      'Maximum size in bytes of the requests queued for one server, including data that it has not read yet; more are refused.',
  },
  'limits.retries': {
    env: 'ASSAY_LIMITS_RETRIES',
    changedBy: 'admin',
    kind: whole(3, 0, 10),
    about:
      'How often a call is sent again after its connection was lost, if its tool is read-only or idempotent by an override or a trusted hint. Other calls are never repeated.',
  },
  'limits.unreadBytes': {
    env: 'ASSAY_LIMITS_UNREAD_BYTES',
    changedBy: 'admin',
    kind: whole(8 * MiB, 1, 9_999_999_999),
    about:
      'Maximum number of unread bytes on a client’s stream. Beyond it, an HTTP stream is closed; on stdio, notifications are dropped.',
  },
  'limits.unreadMs': {
    env: 'ASSAY_LIMITS_UNREAD_MS',
    changedBy: 'admin',
    kind: whole(60_000, 1, MAX_TIMER_MS),
    about:
      'Time in ms that a client may go without reading any pending data. After that, its connection is closed, at the latest after twice that time.',
  },
  'limits.headersMs': {
    env: 'ASSAY_LIMITS_HEADERS_MS',
    changedBy: 'admin',
    kind: whole(20_000, 1, MAX_TIMER_MS),
    about: 'Timeout in ms for receiving the headers of a request.',
  },
  'limits.requestMs': {
    env: 'ASSAY_LIMITS_REQUEST_MS',
    changedBy: 'admin',
    kind: whole(60_000, 1, MAX_TIMER_MS),
    about: 'Timeout in ms for receiving a complete request.',
  },
  'limits.idleConnectionMs': {
    env: 'ASSAY_LIMITS_IDLE_CONNECTION_MS',
    changedBy: 'admin',
    kind: whole(65_000, 1, MAX_TIMER_MS),
    about: 'Time in ms after which a connection without a request is closed.',
  },
  'limits.tokenFailures': {
    env: 'ASSAY_LIMITS_TOKEN_FAILURES',
    changedBy: 'startup',
    kind: whole(20, 1, 1_000_000),
    about:
      'Maximum number of invalid tokens from one address per minute; further ones are rejected without being checked.',
  },
  'limits.questionMs': {
    env: 'ASSAY_LIMITS_QUESTION_MS',
    changedBy: 'admin',
    kind: whole(600_000, 1, MAX_TIMER_MS),
    about:
      'Time in ms that a client has to answer a request from a server; after that, the server gets an error.',
  },
  'limits.approvalMs': {
    env: 'ASSAY_LIMITS_APPROVAL_MS',
    changedBy: 'admin',
    kind: whole(30 * 60_000, 1_000, 24 * HOUR_MS),
    about:
      'Time in ms in which a call that waits for approval can be approved. An approval for one call can be used for the same time.',
  },
  'limits.approvalWaitMs': {
    env: 'ASSAY_LIMITS_APPROVAL_WAIT_MS',
    changedBy: 'admin',
    kind: whole(45_000, 0, HOUR_MS),
    about:
      'Time in ms that a call waits for approval in the inbox before it is answered with what to do. Keep it below the time limit of your clients, which is often 60 s.',
  },
  'limits.suspendedCalls': {
    env: 'ASSAY_LIMITS_SUSPENDED_CALLS',
    changedBy: 'admin',
    kind: whole(1_024, 0, 65_536),
    about:
      'Maximum number of suspended calls, which wait for a client of revision 2026-07-28 to return with answers. Beyond it, the oldest call of the client with the most is cancelled.',
  },
  'limits.processesPerServer': {
    env: 'ASSAY_LIMITS_PROCESSES_PER_SERVER',
    changedBy: 'admin',
    kind: whole(32, 1, 4_096),
    about:
      'Maximum number of processes of one stdio server with "isolation": "session". Beyond it, a new client replaces the one that has been idle longest.',
  },
  'limits.linksPerServer': {
    env: 'ASSAY_LIMITS_LINKS_PER_SERVER',
    changedBy: 'admin',
    kind: whole(1_024, 1, 65_536),
    about:
      'Maximum number of sessions with one HTTP server on behalf of clients. Beyond it, a new client replaces the one that has been idle longest.',
  },
  'limits.idleLinkMs': {
    env: 'ASSAY_LIMITS_IDLE_LINK_MS',
    changedBy: 'admin',
    kind: whole(300_000, 1, MAX_TIMER_MS),
    about:
      'Time in ms after which an unused session with a server is closed, for clients of revision 2026-07-28.',
  },
  'limits.serverLogLines': {
    env: 'ASSAY_LIMITS_SERVER_LOG_LINES',
    changedBy: 'admin',
    kind: whole(100, 1, 1_000_000),
    about:
      'Maximum number of lines per second that one server may add to the log, on average; bursts may be ten times as large. Each KiB of text counts as a line.',
  },
  'limits.drainMs': {
    env: 'ASSAY_LIMITS_DRAIN_MS',
    changedBy: 'admin',
    kind: whole(10_000, 0, MAX_TIMER_MS),
    about:
      'Time in ms that requests in progress have to complete when Assay shuts down; after that, they are refused.',
  },
  'limits.listEntries': {
    env: 'ASSAY_LIMITS_LIST_ENTRIES',
    changedBy: 'admin',
    kind: whole(10_000, 1, 100_000),
    about:
      'Maximum number of tools, prompts, resources or resource templates to accept from one server, counted separately for each kind; the rest is ignored.',
  },
  'limits.listBytes': {
    env: 'ASSAY_LIMITS_LIST_BYTES',
    changedBy: 'admin',
    kind: whole(64 * MiB, 1, 1_073_741_824),
    about: 'Maximum size in bytes of all definitions of one kind from one server; the rest is ignored.',
  },
  'limits.instructionsBytes': {
    env: 'ASSAY_LIMITS_INSTRUCTIONS_BYTES',
    changedBy: 'admin',
    kind: whole(8_192, 1_024, MiB),
    about: 'Maximum size in bytes of the instructions of one server; the rest is cut off.',
  },
  'limits.instructionsTotalBytes': {
    env: 'ASSAY_LIMITS_INSTRUCTIONS_TOTAL_BYTES',
    changedBy: 'admin',
    kind: whole(65_536, 1_024, 16 * MiB),
    about:
      'Maximum total size in bytes of the instructions of all servers at one endpoint; the longest are cut.',
  },
};
