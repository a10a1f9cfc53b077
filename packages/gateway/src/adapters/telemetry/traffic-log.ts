import { parseObject } from '@assay-mcp/kit/json-object';
import { OncePerPeriod } from '../../core/once-per-period.ts';
import { TokenBucket } from '@assay-mcp/kit/token-bucket';
import type { Log } from '../../gateway/ports/log.ts';
import type { LoggedClient, LoggedCall, TrafficLog } from '../../gateway/ports/telemetry.ts';
import { shorten } from '@assay-mcp/kit/shorten';

export interface TrafficLogOptions {
  readonly log: Log;
  readonly nowMs: () => number;
  /** Schedules `work` once; must not keep the process alive. */
  readonly later: (work: () => void, afterMs: number) => void;
}

/** Average number of lines per second, and the largest burst. */
const LINES_PER_SECOND = 2;
const MAX_BURST = 20;
const SUMMARY_AFTER_MS = 10_000;
/** A modern client, which does not connect but only makes requests, is logged again after this many ms. */
const FORGOTTEN_AFTER_MS = 600_000;
const MAX_CLIENTS = 500;
const MAX_NAME_LENGTH = 80;

/**
 * Logs clients and their calls, one line each. Beyond a rate, calls are only counted and logged as a total, so under
 * load a call costs one increment. Lines are written some time after their event.
 */
export class RecentTraffic implements TrafficLog {
  readonly #options: TrafficLogOptions;
  readonly #seen = new OncePerPeriod(FORGOTTEN_AFTER_MS, MAX_CLIENTS);
  readonly #lines: TokenBucket;
  #omitted = { calls: 0, failed: 0, clients: 0 };
  #isSummaryDue = false;
  /** The first client of an endpoint whose clients share a mode. */
  #firstSharing: string | undefined;
  #isSharingKnown = false;

  constructor(options: TrafficLogOptions) {
    this.#options = options;
    this.#lines = new TokenBucket({
      perSecond: LINES_PER_SECOND,
      capacity: MAX_BURST,
      nowMs: options.nowMs(),
    });
  }

  admitsCall(nowMs: number, hasFailed: boolean): boolean {
    if (this.#lines.take(nowMs)) return true;
    this.#omitted.calls += 1;
    if (hasFailed) this.#omitted.failed += 1;
    this.#summarizeLater();
    return false;
  }

  call({ client, tool, ms, outcome }: LoggedCall): void {
    const fields = {
      client: nameOf(client),
      tool: shorten(tool, MAX_NAME_LENGTH),
      ms: Math.round(ms),
      outcome,
    };
    setImmediate(() => this.#options.log.info('call', fields));
  }

  connected(connected: LoggedClient): void {
    const { client, transport, revision, endpoint, subject, isStateless } = connected;
    const nowMs = this.#options.nowMs();
    const shown = nameAndVersion(client);
    if (connected.sharesMode === true) this.#warnOfSharedMode(`${shown} ${subject}`, endpoint);
    if (isStateless && this.#seen.admit(`${shown} ${subject} ${endpoint}`, nowMs) === undefined) return;
    if (!this.#lines.take(nowMs)) {
      this.#omitted.clients += 1;
      this.#summarizeLater();
      return;
    }
    const fields = { client: shown, transport, revision, endpoint, ...(subject !== 'local' && { subject }) };
    setImmediate(() => this.#options.log.info('client connected', fields));
  }

  /** Warns once, when a second client connects: the tools that it sees may change without its action. */
  #warnOfSharedMode(client: string, endpoint: string): void {
    this.#firstSharing ??= client;
    if (this.#isSharingKnown || client === this.#firstSharing) return;
    this.#isSharingKnown = true;
    const message = `all clients of ${endpoint} share one mode: while one of them is in configuration mode, none sees the tools of servers; the setting "mode.scope": "session" gives each its own mode`;
    setImmediate(() => this.#options.log.info(message));
  }

  #summarizeLater(): void {
    if (this.#isSummaryDue) return;
    this.#isSummaryDue = true;
    this.#options.later(() => {
      const { calls, failed, clients } = this.#omitted;
      this.#omitted = { calls: 0, failed: 0, clients: 0 };
      this.#isSummaryDue = false;
      const { log } = this.#options;
      const seconds = SUMMARY_AFTER_MS / 1_000;
      if (calls > 0) log.info(`${grouped(calls)} more calls in the last ${seconds} s`, { failed });
      if (clients > 0) log.info(`${grouped(clients)} more clients connected in the last ${seconds} s`);
    }, SUMMARY_AFTER_MS);
  }
}

function nameOf(client: string | undefined): string {
  const { name } = parseObject(client ?? '{}');
  return typeof name === 'string' ? shorten(name, MAX_NAME_LENGTH) : 'unnamed';
}

function nameAndVersion(client: string | undefined): string {
  const { version } = parseObject(client ?? '{}');
  return typeof version === 'string'
    ? `${nameOf(client)} ${shorten(version, MAX_NAME_LENGTH)}`
    : nameOf(client);
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
