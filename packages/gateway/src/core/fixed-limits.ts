// A table of data: one row for each limit.

const VALUES = {
  /**
   * Total size in bytes of the bodies of all HTTP requests in progress; at most an eighth of the memory, at least
   * `limits.bodyBytes` and 16 MiB. Beyond it, the subject with the most loses its youngest body that has not arrived in
   * full.
   */
  bodiesBytes: 1_073_741_824,
  /** Connections beyond `limits.connections`, reserved for tokens with the scope `admin` and for GET /health. */
  adminConnections: 8,
  /**
   * Size in bytes of the events that a session keeps for a disconnected client; the oldest are dropped. All sessions
   * together keep at most 16 times that; beyond it, the subject that keeps the most loses its oldest events.
   */
  replayBytes: 4_194_304,
  /** Number of resources that one client can subscribe to; more are refused. */
  subscriptionsPerClient: 1_024,
  /**
   * Size in bytes of the requests queued for one server, including data that it has not read yet; more are refused.
   */
  backlogBytes: 67_108_864,
  /**
   * Number of unread bytes on a client's stream. Beyond it, an HTTP stream is closed; on stdio, notifications are
   * dropped.
   */
  unreadBytes: 8_388_608,
  /**
   * Time in ms that a client may go without reading any pending data. After that, its connection is closed, at the
   * latest after twice that time.
   */
  unreadMs: 60_000,
  /** Time in ms for receiving the headers of a request. After that, it is refused with HTTP 408. */
  headersMs: 20_000,
  /** Time in ms for receiving a complete request. After that, it is refused with HTTP 408. */
  requestMs: 60_000,
  /** Time in ms after which a connection without a request is closed. */
  idleConnectionMs: 65_000,
  /** Number of invalid tokens from one address per minute; further ones are rejected without being checked. */
  tokenFailures: 20,
  /**
   * Number of suspended calls, which wait for a client of revision 2026-07-28 to return with answers. Beyond it, the
   * oldest call of the client with the most is cancelled.
   */
  suspendedCalls: 1_024,
  /**
   * Number of sessions with one HTTP server on behalf of clients. Beyond it, a new client replaces the one that has been
   * idle longest.
   */
  linksPerServer: 1_024,
  /** Time in ms after which an unused session with a server is closed, for clients of revision 2026-07-28. */
  idleLinkMs: 300_000,
  /**
   * Number of lines per second that one server may add to the log, on average; bursts may be ten times as large. Each
   * KiB of text counts as a line. Further lines are left out and counted.
   */
  serverLogLines: 100,
  /**
   * Number of tools, prompts, resources or resource templates to accept from one server, counted separately for each
   * kind; the rest is ignored.
   */
  listEntries: 10_000,
  /** Size in bytes of all definitions of one kind from one server; the rest is ignored. */
  listBytes: 67_108_864,
  /** Size in bytes of the instructions of one server; the rest is cut off. */
  instructionsBytes: 8_192,
  /** Size in bytes of the instructions of all servers at one endpoint; the longest are cut. */
  instructionsTotalBytes: 65_536,
};

export type FixedLimits = Readonly<Record<keyof typeof VALUES, number>>;

/** Limits that are not settings. What enforces one takes another value as an option. */
export const FIXED_LIMITS: FixedLimits = VALUES;

/** The settings and variables that these limits were in earlier versions. */
const FORMER_KEYS: ReadonlySet<string> = new Set(Object.keys(VALUES).map((name) => `limits.${name}`));
const FORMER_VARIABLES: readonly string[] = Object.keys(VALUES).map(
  (name) => `ASSAY_LIMITS_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`,
);

/** Whether earlier versions had this setting. */
export function isFormerSetting(key: string): boolean {
  return FORMER_KEYS.has(key);
}

/** The first variable of a former setting that is set. */
export function findFormerVariable(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return FORMER_VARIABLES.find((name) => env[name] !== undefined && env[name] !== '');
}

/** Of a passphrase that encrypts the secrets in a bundle. */
export const MIN_PASSPHRASE_LENGTH = 12;
