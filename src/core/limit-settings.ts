// A table of data: one row for each limit.
import { whole, type SettingFacts } from './setting-kind.ts';

const MiB = 1024 * 1024;
const HOUR_MS = 3_600_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Limits on what clients and servers can demand of one process. */
export interface LimitSettings {
  readonly 'limits.bodyBytes': number;
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
  readonly 'limits.unreadBytes': number;
  readonly 'limits.unreadMs': number;
  readonly 'limits.headersMs': number;
  readonly 'limits.requestMs': number;
  readonly 'limits.idleConnectionMs': number;
  readonly 'limits.tokenFailures': number;
  readonly 'limits.questionMs': number;
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
    about: 'Largest message of a client, in bytes.',
  },
  'limits.connections': {
    env: 'ASSAY_LIMITS_CONNECTIONS',
    changedBy: 'admin',
    kind: whole(1_000, 1, 100_000),
    about:
      'Most connections of clients; beyond that the subject with most of them loses its oldest, idle ones first, and a subject that has most itself is refused.',
  },
  'limits.adminConnections': {
    env: 'ASSAY_LIMITS_ADMIN_CONNECTIONS',
    changedBy: 'admin',
    kind: whole(8, 0, 1_000),
    about:
      'Connections beyond limits.connections that only tokens with the scope admin, and GET /health, can use.',
  },
  'limits.sessions': {
    env: 'ASSAY_LIMITS_SESSIONS',
    changedBy: 'admin',
    kind: whole(10_000, 1, 1_000_000),
    about:
      'Most sessions of the older revisions; beyond that the subject with most of them loses the one that was idle longest.',
  },
  'limits.sessionIdleMs': {
    env: 'ASSAY_LIMITS_SESSION_IDLE_MS',
    changedBy: 'admin',
    kind: whole(4 * HOUR_MS, 1, MAX_TIMER_MS),
    about:
      'Longest time in ms that a session may stay without a request under way and without an open stream; then it ends.',
  },
  'limits.replayBytes': {
    env: 'ASSAY_LIMITS_REPLAY_BYTES',
    changedBy: 'admin',
    kind: whole(4 * MiB, 0, 9_999_999_999),
    about:
      'Most bytes of events that a session keeps for a client that lost its connection; the oldest are given up. All sessions together keep at most 16 times that, and the subject that keeps most gives up its oldest.',
  },
  'limits.requestsPerClient': {
    env: 'ASSAY_LIMITS_REQUESTS_PER_CLIENT',
    changedBy: 'admin',
    kind: whole(256, 1, 65_536),
    about:
      'Most requests of one client that are under way, answers that it has not read included; more are refused.',
  },
  'limits.subscriptionsPerClient': {
    env: 'ASSAY_LIMITS_SUBSCRIPTIONS_PER_CLIENT',
    changedBy: 'admin',
    kind: whole(1_024, 0, 65_536),
    about: 'Most resources of whose updates one client is told; more are refused.',
  },
  'limits.requestsPerServer': {
    env: 'ASSAY_LIMITS_REQUESTS_PER_SERVER',
    changedBy: 'admin',
    kind: whole(1_024, 1, 65_536),
    about: 'Most requests that one server works on; more wait.',
  },
  'limits.queuePerServer': {
    env: 'ASSAY_LIMITS_QUEUE_PER_SERVER',
    changedBy: 'admin',
    kind: whole(4_096, 0, 65_536),
    about:
      'Most requests that wait for one server; beyond that the subject with most of them loses its oldest, and a subject that has most itself is refused.',
  },
  'limits.backlogBytes': {
    env: 'ASSAY_LIMITS_BACKLOG_BYTES',
    changedBy: 'admin',
    kind: whole(64 * MiB, 1, 9_999_999_999),
    about:
      'Most bytes of requests that wait for one server, what it has not read included; more are refused.',
  },
  'limits.unreadBytes': {
    env: 'ASSAY_LIMITS_UNREAD_BYTES',
    changedBy: 'admin',
    kind: whole(8 * MiB, 1, 9_999_999_999),
    about:
      'Most bytes on a stream that wait for a client which does not read. Then the stream is closed; on stdio notifications are left out.',
  },
  'limits.unreadMs': {
    env: 'ASSAY_LIMITS_UNREAD_MS',
    changedBy: 'admin',
    kind: whole(60_000, 1, MAX_TIMER_MS),
    about:
      'Longest time in ms that a client may take nothing of what waits for it; then its connection is closed, at the latest after twice that.',
  },
  'limits.headersMs': {
    env: 'ASSAY_LIMITS_HEADERS_MS',
    changedBy: 'admin',
    kind: whole(20_000, 1, MAX_TIMER_MS),
    about: 'Longest time in ms that the headers of a request may take.',
  },
  'limits.requestMs': {
    env: 'ASSAY_LIMITS_REQUEST_MS',
    changedBy: 'admin',
    kind: whole(60_000, 1, MAX_TIMER_MS),
    about: 'Longest time in ms that a request may take to arrive whole.',
  },
  'limits.idleConnectionMs': {
    env: 'ASSAY_LIMITS_IDLE_CONNECTION_MS',
    changedBy: 'admin',
    kind: whole(65_000, 1, MAX_TIMER_MS),
    about: 'Longest time in ms that a connection may stay open without a request.',
  },
  'limits.tokenFailures': {
    env: 'ASSAY_LIMITS_TOKEN_FAILURES',
    changedBy: 'startup',
    kind: whole(20, 1, 1_000_000),
    about: 'Most invalid tokens from one address within a minute; then its next are not looked at.',
  },
  'limits.questionMs': {
    env: 'ASSAY_LIMITS_QUESTION_MS',
    changedBy: 'admin',
    kind: whole(600_000, 1, MAX_TIMER_MS),
    about:
      'Longest time in ms that a client has to answer what a server asks; then the server is told that nobody does.',
  },
  'limits.suspendedCalls': {
    env: 'ASSAY_LIMITS_SUSPENDED_CALLS',
    changedBy: 'admin',
    kind: whole(1_024, 0, 65_536),
    about:
      'Maximum number of suspended calls, which wait for a client of 2026-07-28 to come back with answers. Beyond it, the oldest call of the client with the most ends.',
  },
  'limits.processesPerServer': {
    env: 'ASSAY_LIMITS_PROCESSES_PER_SERVER',
    changedBy: 'admin',
    kind: whole(32, 1, 4_096),
    about:
      'Most processes of one stdio server with "isolation": "session"; a new client takes the place of the one that was idle longest.',
  },
  'limits.linksPerServer': {
    env: 'ASSAY_LIMITS_LINKS_PER_SERVER',
    changedBy: 'admin',
    kind: whole(1_024, 1, 65_536),
    about:
      'Most sessions that clients of Assay have at one HTTP server; a new client takes the place of the one that was idle longest.',
  },
  'limits.idleLinkMs': {
    env: 'ASSAY_LIMITS_IDLE_LINK_MS',
    changedBy: 'admin',
    kind: whole(300_000, 1, MAX_TIMER_MS),
    about: 'Longest time in ms that a session at a server is kept unused for clients of 2026-07-28.',
  },
  'limits.serverLogLines': {
    env: 'ASSAY_LIMITS_SERVER_LOG_LINES',
    changedBy: 'admin',
    kind: whole(100, 1, 1_000_000),
    about:
      'Maximum number of lines per second that one server may add to the log, on average; ten times as many at once. A KiB of text counts as a line.',
  },
  'limits.drainMs': {
    env: 'ASSAY_LIMITS_DRAIN_MS',
    changedBy: 'admin',
    kind: whole(10_000, 0, MAX_TIMER_MS),
    about:
      'Longest time in ms that requests under way have to be answered when Assay ends; then they are refused.',
  },
  'limits.listEntries': {
    env: 'ASSAY_LIMITS_LIST_ENTRIES',
    changedBy: 'admin',
    kind: whole(10_000, 1, 100_000),
    about:
      'Maximum number of tools, prompts, resources or resource templates to take from one server, each kind counted by itself; the rest is left out.',
  },
  'limits.listBytes': {
    env: 'ASSAY_LIMITS_LIST_BYTES',
    changedBy: 'admin',
    kind: whole(64 * MiB, 1, 1_073_741_824),
    about: 'Maximum size in bytes of all definitions of one kind from one server; the rest is left out.',
  },
  'limits.instructionsBytes': {
    env: 'ASSAY_LIMITS_INSTRUCTIONS_BYTES',
    changedBy: 'admin',
    kind: whole(8_192, 1_024, MiB),
    about: 'Maximum size in bytes of the instructions of one server; the rest is cut.',
  },
  'limits.instructionsTotalBytes': {
    env: 'ASSAY_LIMITS_INSTRUCTIONS_TOTAL_BYTES',
    changedBy: 'admin',
    kind: whole(65_536, 1_024, 16 * MiB),
    about:
      'Maximum size in bytes of the instructions of all servers of one endpoint together; the longest are cut.',
  },
};
