// A table of data: one row for each limit.
import { createWholeKind, type SettingFacts } from './setting-kind.ts';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

const MiB = 1024 * 1024;
const HOUR_MS = 3_600_000;

/** Limits on what clients and servers can demand of one process; fixed-limits.ts has those that are not settings. */
export interface LimitSettings {
  readonly 'limits.bodyBytes': number;
  readonly 'limits.connections': number;
  readonly 'limits.sessions': number;
  readonly 'limits.sessionIdleMs': number;
  readonly 'limits.requestsPerClient': number;
  readonly 'limits.requestsPerServer': number;
  readonly 'limits.queuePerServer': number;
  readonly 'limits.retries': number;
  readonly 'limits.questionMs': number;
  readonly 'limits.approvalMs': number;
  readonly 'limits.approvalWaitMs': number;
  readonly 'limits.processesPerServer': number;
  readonly 'limits.drainMs': number;
  readonly 'limits.drainDelayMs': number;
}

export const LIMIT_SETTINGS: Readonly<Record<keyof LimitSettings, SettingFacts>> = {
  'limits.bodyBytes': {
    env: 'ASSAY_MAX_BODY_BYTES',
    changedBy: 'admin',
    kind: createWholeKind(64 * MiB, 1, 9_999_999_999),
    about: 'Maximum size in bytes of a message from a client.',
  },
  'limits.connections': {
    env: 'ASSAY_LIMITS_CONNECTIONS',
    changedBy: 'admin',
    kind: createWholeKind(1_000, 1, 100_000),
    about:
      'Maximum number of client connections. Beyond it, the subject with the most connections loses its oldest, idle ones first; a subject that already has the most is refused new ones.',
  },
  'limits.sessions': {
    env: 'ASSAY_LIMITS_SESSIONS',
    changedBy: 'admin',
    kind: createWholeKind(10_000, 1, 1_000_000),
    about:
      'Maximum number of sessions of the older revisions. Beyond it, the subject with the most sessions loses the one that has been idle longest.',
  },
  'limits.sessionIdleMs': {
    env: 'ASSAY_LIMITS_SESSION_IDLE_MS',
    changedBy: 'admin',
    kind: createWholeKind(4 * HOUR_MS, 1, MAX_TIMER_MS),
    about: 'Time in ms after which a session without a request in progress and without an open stream ends.',
  },
  'limits.requestsPerClient': {
    env: 'ASSAY_LIMITS_REQUESTS_PER_CLIENT',
    changedBy: 'admin',
    kind: createWholeKind(256, 1, 65_536),
    about:
      'Maximum number of requests in progress for one client, including those whose responses it has not read yet; more are refused.',
  },
  'limits.requestsPerServer': {
    env: 'ASSAY_LIMITS_REQUESTS_PER_SERVER',
    changedBy: 'admin',
    kind: createWholeKind(1_024, 1, 65_536),
    about: 'Maximum number of concurrent requests to one server; more are queued.',
  },
  'limits.queuePerServer': {
    env: 'ASSAY_LIMITS_QUEUE_PER_SERVER',
    changedBy: 'admin',
    kind: createWholeKind(4_096, 0, 65_536),
    about:
      'Maximum number of requests queued for one server. Beyond it, the subject with the most queued requests loses its oldest; a subject that already has the most is refused new ones.',
  },
  'limits.retries': {
    env: 'ASSAY_LIMITS_RETRIES',
    changedBy: 'admin',
    kind: createWholeKind(3, 0, 10),
    about:
      'How often a call is sent again after its connection was lost, if its tool is read-only or idempotent by an override or a trusted hint. Other calls are never repeated.',
  },
  'limits.questionMs': {
    env: 'ASSAY_LIMITS_QUESTION_MS',
    changedBy: 'admin',
    kind: createWholeKind(600_000, 1, MAX_TIMER_MS),
    about:
      'Time in ms that a client has to answer a request from a server; after that, the server gets an error.',
  },
  'limits.approvalMs': {
    env: 'ASSAY_LIMITS_APPROVAL_MS',
    changedBy: 'admin',
    kind: createWholeKind(30 * 60_000, 1_000, 24 * HOUR_MS),
    about:
      'Time in ms in which a call that waits for approval can be approved. An approval for one call can be used for the same time.',
  },
  'limits.approvalWaitMs': {
    env: 'ASSAY_LIMITS_APPROVAL_WAIT_MS',
    changedBy: 'admin',
    kind: createWholeKind(45_000, 0, HOUR_MS),
    about:
      'Time in ms that a call waits for approval in the inbox before it is answered with what to do. Keep it below the time limit of your clients, which is often 60 s.',
  },
  'limits.processesPerServer': {
    env: 'ASSAY_LIMITS_PROCESSES_PER_SERVER',
    changedBy: 'admin',
    kind: createWholeKind(32, 1, 4_096),
    about:
      'Maximum number of processes of one stdio server with "isolation": "session". Beyond it, a new client replaces the one that has been idle longest.',
  },
  'limits.drainMs': {
    env: 'ASSAY_LIMITS_DRAIN_MS',
    changedBy: 'admin',
    kind: createWholeKind(10_000, 0, MAX_TIMER_MS),
    about:
      'Time in ms that requests in progress have to complete when Assay shuts down; after that, they are refused.',
  },
  'limits.drainDelayMs': {
    env: 'ASSAY_LIMITS_DRAIN_DELAY_MS',
    changedBy: 'admin',
    kind: createWholeKind(0, 0, 60_000),
    about:
      'Time in ms for which "assay serve" still accepts connections when it shuts down, while /ready answers 503, and then as long, at most, for which it serves those that it has. A little more than the interval at which a balancer asks, and after which it closes idle connections.',
  },
};
