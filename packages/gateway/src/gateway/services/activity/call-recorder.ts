import { setTimeout as sleep } from 'node:timers/promises';
import { type CallBatch, hashChainStart, VALUES_PER_CALL } from '../../../core/activity/call-chain.ts';
import { type CallContext, createContext, toContext } from '../../../core/activity/call-context.ts';
import {
  DROPPED_CONTEXT,
  type FinishedCall,
  type RecordedArguments,
} from '../../../core/activity/call-entry.ts';
import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { computeShortHash } from '@assay-mcp/kit/digest';
import type { ActivitySettings } from '../../../core/activity/activity-settings.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../../core/sentences.ts';
import type { CallLog, CallStore, Retention } from '../../ports/call-log.ts';
import type { Log } from '../../ports/log.ts';
import { truncateText } from '@assay-mcp/kit/shorten';

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

const SESSION_DIGITS = 16;
const DROPPED = createContext(DROPPED_CONTEXT, {});

/** Members of a call that few calls have, not yet as JSON: masking arguments takes time. */
type Details = Pick<FinishedCall, 'approval' | 'denial' | 'argumentsText' | 'argumentsBytes'>;

/** Calls that will be written together. Holds numbers, so that many waiting calls cost the garbage collector nothing. */
class OpenBatch {
  /** With room for a gap in the record. */
  readonly values: Float64Array = new Float64Array((BATCH + 1) * VALUES_PER_CALL);
  readonly contexts: CallContext[] = [];
  /** Indices by session id. */
  readonly sessions: Map<string, number> = new Map<string, number>();
  readonly details: (readonly [entry: number, details: Details])[] = [];
  readonly #indices = new Map<CallContext, number>();
  readonly #hashes = new Map<string, number>();
  count = 0;
  bytes = 0;

  add(call: FinishedCall, endedMs: number): void {
    const { sessionId, approval, denial, argumentsText = '' } = call;
    this.put(toContext(call), endedMs, Math.round(call.durationMs * 10), sessionId);
    if (approval === undefined && denial === undefined && call.argumentsText === undefined) return;
    this.details.push([
      this.count - 1,
      { approval, denial, argumentsText: call.argumentsText, argumentsBytes: call.argumentsBytes },
    ]);
    this.bytes += argumentsText.length;
  }

  put(context: CallContext, endedMs: number, tenths = 0, sessionId?: string): void {
    // A context that was built again is another object with the same hash.
    const index =
      this.#indices.get(context) ?? this.#hashes.get(context.hash) ?? this.contexts.push(context) - 1;
    if (!this.#indices.has(context)) {
      this.#indices.set(context, index);
      this.#hashes.set(context.hash, index);
    }
    let session = -1;
    if (sessionId !== undefined) {
      session = this.sessions.get(sessionId) ?? this.sessions.size;
      if (session === this.sessions.size) this.sessions.set(sessionId, session);
    }
    const at = this.count * VALUES_PER_CALL;
    this.values[at] = index;
    this.values[at + 1] = endedMs;
    this.values[at + 2] = tenths;
    this.values[at + 3] = session;
    this.count += 1;
  }
}

/**
 * Records finished calls in the store, in batches that form one hash chain per process. Calls never wait for it: if the
 * store cannot keep up, calls that find the queue full are only counted, and the count becomes an entry of the chain.
 */
export class CallRecorder implements CallLog {
  readonly arguments: CallLog['arguments'];
  readonly #options: CallRecorderOptions;
  /** Oldest first; only the last one takes calls. */
  #open: OpenBatch[] = [];
  #waitingBytes = 0;
  #dropped: { count: number; readonly sinceMs: number } | undefined;
  /** Built and not yet stored. */
  #batch: CallBatch | undefined;
  /** Number of the last batch that was stored, and its hash. */
  #number = 0;
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
    return this.#queued + (this.#batch === undefined ? 0 : this.#batch.values.length / VALUES_PER_CALL);
  }

  get #queued(): number {
    return this.#open.reduce((sum, { count }) => sum + count, 0);
  }

  /** For a long-running process: removes old entries even if there are no calls. */
  start(): void {
    this.#pruning ??= setInterval(() => this.#write(), PRUNE_MS).unref();
  }

  add(call: FinishedCall): void {
    const endedMs = this.#options.nowMs();
    const bytes = call.argumentsText?.length ?? 0;
    const last = this.#open.at(-1);
    const isFull = last === undefined || last.count >= BATCH;
    if (
      (isFull && this.#open.length >= MAX_WAITING / BATCH) ||
      this.#waitingBytes + bytes > MAX_WAITING_BYTES
    ) {
      this.#dropped ??= { count: 0, sinceMs: endedMs };
      this.#dropped.count += 1;
      return;
    }
    const batch = isFull ? new OpenBatch() : last;
    if (isFull) this.#open.push(batch);
    batch.add(call, endedMs);
    this.#waitingBytes += bytes;
    // While the store fails, only the timer tries again.
    if (batch.count === BATCH && !this.#isFailing) this.#writeIn(0);
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
    const store = await this.#openStore();
    if (store === undefined) return;
    do {
      this.#batch ??= this.#nextBatch();
      const batch = this.#batch;
      const saved = await attempt(() => store.addCalls(batch, this.#retention()));
      if (!saved.ok) {
        this.#logFailure(saved.error);
        return;
      }
      if (batch.values.length > 0) this.#number += 1;
      this.#hash = saved.value;
      this.#batch = undefined;
      this.#logRecovery();
    } while ((this.#open[0]?.count ?? 0) >= (this.#isClosing ? 1 : BATCH));
  }

  async #openStore(): Promise<CallStore | undefined> {
    const opened = await attempt<CallStore | undefined>(
      async () => (await this.#options.open()) ?? ok(undefined),
    );
    if (!opened.ok) {
      this.#logFailure(opened.error);
      return undefined;
    }
    if (opened.value === undefined) {
      this.#open = [];
      this.#waitingBytes = 0;
      this.#dropped = undefined;
    }
    return opened.value;
  }

  #nextBatch(): CallBatch {
    const taken = this.#open.shift() ?? new OpenBatch();
    this.#waitingBytes -= taken.bytes;
    const details = taken.details.flatMap(([at, one]) => {
      const text = this.#formatDetails(one);
      return text === undefined ? [] : [[at, text] as const];
    });
    // Dropped calls came after all queued ones, so their gap is written once the queue is empty.
    if (this.#dropped !== undefined && this.#open.length === 0) {
      const { count, sinceMs } = this.#dropped;
      this.#dropped = undefined;
      this.#options.onLost(count);
      taken.put(DROPPED, this.#options.nowMs());
      const since = new Date(sinceMs).toISOString();
      details.push([taken.count - 1, serializeCanonical({ count, since })]);
      this.#options.log.error('activity: calls were not recorded, as the store did not take them in time', {
        calls: count,
      });
    }
    return {
      chain: this.#options.chain,
      number: this.#number + 1,
      previous: this.#hash,
      contexts: taken.contexts,
      sessions: [...taken.sessions.keys()].map((id) => computeShortHash(id, SESSION_DIGITS)),
      values: taken.values.slice(0, taken.count * VALUES_PER_CALL),
      details,
    };
  }

  #formatDetails({ approval, denial, ...call }: Details): string | undefined {
    const args = this.#argumentsOf(call);
    if (approval === undefined && denial === undefined && args === undefined) return undefined;
    return serializeCanonical({
      ...(approval !== undefined && { approval: { ...approval } }),
      ...(denial !== undefined && { denial: { ...denial } }),
      ...(args !== undefined && { arguments: { ...args } }),
    });
  }

  #argumentsOf({
    argumentsText,
    argumentsBytes,
  }: Omit<Details, 'approval' | 'denial'>): RecordedArguments | undefined {
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
