import { setTimeout as sleep } from 'node:timers/promises';
import { type BatchEntry, parseBatchEntry, hashChainStart } from '../../../core/activity/call-chain.ts';
import {
  type CallFacts,
  serializeEntry,
  type FinishedCall,
  type RecordedArguments,
} from '../../../core/activity/call-entry.ts';
import { toCallFacts, serializeCall } from '../../../core/activity/call-text.ts';
import type { ActivitySettings } from '../../../core/activity/activity-settings.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { formatRefusal } from '../../../core/sentences.ts';
import type { CallLog, CallStore, Retention } from '../../ports/call-log.ts';
import type { Log } from '../../ports/log.ts';
import { truncateText } from '../../../core/shorten.ts';

export interface CallRecorderOptions {
  /** Unique id of this process's chain. */
  readonly chain: string;
  readonly settings: ActivitySettings;
  /** Opens the store or returns the open one. Undefined if none exists: none is created for this. */
  readonly open: () => Promise<Result<CallStore, Refusal> | undefined>;
  /** Arguments as they may be stored: with secrets masked, and shortened. */
  readonly shown: (text: string) => { readonly text: string; readonly isShortened: boolean };
  readonly log: Log;
  /** Counts calls that are missing from the record. */
  readonly onLost: (calls: number) => void;
  readonly nowMs: () => number;
}

/** A batch is written after this many ms, or once it has this many entries. Both limit what a kill can lose. */
const WAIT_MS = 1_000;
const BATCH = 1_000;
/** Limits of the queue while the store is slow or down: calls, and bytes of their arguments. */
export const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 1_000;
const PRUNE_MS = 3_600_000;
/** How long in ms closing waits for the store. */
const CLOSE_MS = 2_000;
const DAY_MS = 86_400_000;
const MAX_FULL_LENGTH = 16 * 1024;

interface Waiting {
  readonly call: FinishedCall;
  readonly endedMs: number;
}

/**
 * Records finished calls in the store, in batches and as one hash chain per process. Calls never wait for it: if the
 * store cannot keep up, calls that find the queue full are only counted, and the count becomes an entry of the chain.
 */
export class CallRecorder implements CallLog {
  readonly arguments: CallLog['arguments'];
  readonly #options: CallRecorderOptions;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #dropped: { count: number; readonly sinceMs: number } | undefined;
  /** Built and not yet stored. */
  #batch: readonly BatchEntry[] = [];
  /** Number of the last entry that was stored, and its hash. */
  #seq = 0;
  #hash: string;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isClosing = false;
  #pruning: NodeJS.Timeout | undefined;

  constructor(options: CallRecorderOptions) {
    this.#options = options;
    this.arguments = options.settings['activity.arguments'];
    this.#hash = hashChainStart(options.chain);
  }

  /** Number of calls that wait for the store. */
  get waiting(): number {
    return this.#waiting.length + this.#batch.length;
  }

  /** For a long-running process: removes old entries even if there are no calls. */
  start(): void {
    this.#pruning ??= setInterval(() => this.#write(), PRUNE_MS).unref();
  }

  add(call: FinishedCall): void {
    const endedMs = this.#options.nowMs();
    const bytes = call.argumentsText?.length ?? 0;
    if (this.#waiting.length >= MAX_WAITING || this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      this.#dropped ??= { count: 0, sinceMs: endedMs };
      this.#dropped.count += 1;
      return;
    }
    this.#waitingBytes += bytes;
    const count = this.#waiting.push({ call, endedMs });
    // While the store fails, only the timer tries again.
    if (count === BATCH && !this.#isFailing) this.#writeIn(0);
    else if (this.#timer === undefined && this.#writing === undefined) this.#writeIn(WAIT_MS);
  }

  /** Stores the queue, as far as that is possible within `CLOSE_MS`. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#pruning);
    clearTimeout(this.#timer);
    const flushed = this.waiting === 0 ? this.#writing : this.#flush();
    await Promise.race([flushed, sleep(CLOSE_MS, undefined, { ref: false })]);
    const lost = this.waiting + (this.#dropped?.count ?? 0);
    if (lost === 0) return;
    this.#options.onLost(lost);
    this.#options.log.error('activity: calls were not recorded', { calls: lost });
  }

  async #flush(): Promise<void> {
    await this.#writing;
    this.#write();
    await this.#writing;
  }

  #writeIn(waitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(), waitMs).unref();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      if (this.#isClosing || this.waiting === 0) return;
      this.#writeIn(this.#isFailing ? RETRY_MS : WAIT_MS);
    });
  }

  /** Writes batch after batch while they are full. */
  async #writeAll(): Promise<void> {
    const store = await this.#open();
    if (store === undefined) return;
    do {
      if (this.#batch.length === 0) this.#batch = this.#nextBatch();
      const { chain } = this.#options;
      const batch = { chain, seq: this.#seq + 1, previous: this.#hash, entries: this.#batch };
      const saved = await attempt(() => store.addCalls(batch, this.#retention()));
      if (!saved.ok) {
        this.#logFailure(saved.error);
        return;
      }
      this.#hash = saved.value;
      this.#seq += this.#batch.length;
      this.#batch = [];
      this.#logRecovery();
    } while (this.#waiting.length >= BATCH || (this.#isClosing && this.#waiting.length > 0));
  }

  async #open(): Promise<CallStore | undefined> {
    const opened = await attempt<CallStore | undefined>(
      async () => (await this.#options.open()) ?? ok(undefined),
    );
    if (!opened.ok) {
      this.#logFailure(opened.error);
      return undefined;
    }
    if (opened.value === undefined) {
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#dropped = undefined;
    }
    return opened.value;
  }

  #nextBatch(): readonly BatchEntry[] {
    const taken = this.#waiting.splice(0, BATCH);
    for (const { call } of taken) this.#waitingBytes -= call.argumentsText?.length ?? 0;
    let facts: CallFacts | undefined;
    const entries = taken.map(({ call, endedMs }) => {
      facts = toCallFacts(call, facts);
      return { text: serializeCall(call, endedMs, this.#argumentsOf(call)), atMs: endedMs, facts };
    });
    // Dropped calls came after all queued ones, so their gap is written once the queue is empty.
    if (this.#dropped !== undefined && this.#waiting.length === 0) {
      const { count, sinceMs } = this.#dropped;
      this.#dropped = undefined;
      this.#options.onLost(count);
      const at = isoOf(this.#options.nowMs());
      entries.push(parseBatchEntry(serializeEntry({ kind: 'dropped', at, count, since: isoOf(sinceMs) })));
      this.#options.log.error('activity: calls were not recorded, as the store did not take them in time', {
        calls: count,
      });
    }
    return entries;
  }

  #argumentsOf({ argumentsText, argumentsBytes }: FinishedCall): RecordedArguments | undefined {
    if (argumentsText === undefined || this.arguments === 'none') return undefined;
    const form = this.arguments;
    if (argumentsText === '') return { bytes: argumentsBytes, form, isShortened: true, text: '' };
    if (form === 'masked') return { bytes: argumentsBytes, form, ...this.#options.shown(argumentsText) };
    const isShortened = argumentsText.length > MAX_FULL_LENGTH;
    return { bytes: argumentsBytes, form, isShortened, text: truncateText(argumentsText, MAX_FULL_LENGTH) };
  }

  #retention(): Retention {
    const { settings, nowMs } = this.#options;
    return {
      maxCalls: settings['activity.maxCalls'],
      sinceMs: nowMs() - settings['activity.maxDays'] * DAY_MS,
    };
  }

  #logFailure(error: Refusal): void {
    if (!this.#isFailing)
      this.#options.log.error('activity: calls cannot be recorded now; the last ones are kept in memory', {
        cause: formatRefusal(error),
        maxCalls: MAX_WAITING,
      });
    this.#isFailing = true;
  }

  #logRecovery(): void {
    if (this.#isFailing) this.#options.log.info('activity: calls are recorded again');
    this.#isFailing = false;
  }
}

/** Whatever goes wrong with the record, calls go on. */
async function attempt<T>(work: () => Promise<Result<T, Refusal>>): Promise<Result<T, Refusal>> {
  try {
    return await work();
  } catch (error) {
    return err({ code: 'STORE_UNAVAILABLE', reason: String(error) });
  }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
