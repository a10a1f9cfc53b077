import { type CallContext, toContext } from '../../core/activity/call-context.ts';
import type { AccessEvent, ChangeEvent } from '../../core/event-line.ts';
import type { CallApproval, CallDenial, FinishedCall } from '../../core/activity/call-entry.ts';
import type { EventLog } from '../../gateway/ports/event-log.ts';
import { type JsonObject, parseObject, withoutUndefined } from '@assay-mcp/kit/json-object';
import { toPrintableJson } from '@assay-mcp/kit/printable';
import { waitForTurn } from '@assay-mcp/kit/turns';
import { maskFields } from './log.ts';

/** Takes events, as objects with all their members. */
export interface EventSink {
  /** Returns false if the events could not be written now; they are given again later. */
  write(events: readonly JsonObject[]): Promise<boolean>;
}

export interface EventLinesOptions {
  readonly sink: EventSink;
  /** Host name and process id. */
  readonly instance: string;
  readonly mask: (text: string) => string;
  readonly nowMs: () => number;
  readonly onDropped: (count: number) => void;
}

/** New members may be added within a version; a changed or removed one makes a new version. */
export const EVENT_VERSION = 1;

/** Events are written together after this many ms; after a failure, later. */
const WAIT_MS = 200;
const RETRY_MS = 1_000;
/**
 * An event is dropped if this many wait. Anyone can cause events of requests, and every client those of calls, so they
 * leave room for the others.
 */
export const MAX_WAITING: Readonly<Record<Waiting['kind'], number>> = {
  access: 5_000,
  decision: 9_000,
  change: 10_000,
};
/** Written at once; masking takes time, so other work runs in between. */
const CHUNK = 100;
/** How long in ms closing waits. */
const CLOSE_MS = 2_000;

/** An event that waits, by reference and not yet masked. Its texts are bounded. */
type Waiting =
  | { readonly kind: 'access'; readonly atMs: number; readonly event: AccessEvent }
  | { readonly kind: 'change'; readonly atMs: number; readonly event: ChangeEvent }
  | {
      readonly kind: 'decision';
      readonly atMs: number;
      readonly context: CallContext;
      readonly approval: CallApproval | undefined;
      readonly denial: CallDenial | undefined;
      readonly durationMs: number;
    };

/** Collects events and gives them to a sink, in order and in chunks. */
export class EventLines implements EventLog {
  readonly #options: EventLinesOptions;
  #waiting: Waiting[] = [];
  /** Formatted, and not yet taken by the sink. */
  #chunk: readonly JsonObject[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: EventLinesOptions) {
    this.#options = options;
  }

  access(event: AccessEvent): void {
    this.#add({ kind: 'access', atMs: this.#options.nowMs(), event });
  }

  change(event: ChangeEvent, atMs: number): void {
    this.#add({ kind: 'change', atMs, event });
  }

  /** Calls that have much in common share their context, as in the record of calls. */
  decision(call: FinishedCall): void {
    const { approval, denial, durationMs } = call;
    const atMs = this.#options.nowMs();
    this.#add({ kind: 'decision', atMs, context: toContext(call), approval, denial, durationMs });
  }

  async close(): Promise<void> {
    const limit = setTimeout(() => (this.#isClosed = true), CLOSE_MS).unref();
    await this.#writing;
    if (!this.#isFailing) await this.#write();
    clearTimeout(limit);
    clearTimeout(this.#timer);
    this.#isClosed = true;
    this.#options.onDropped(this.#waiting.length + this.#chunk.length);
    this.#waiting = [];
    this.#chunk = [];
  }

  #add(event: Waiting): void {
    if (this.#isClosed || this.#waiting.length >= MAX_WAITING[event.kind]) {
      this.#options.onDropped(1);
      return;
    }
    this.#waiting.push(event);
    if (this.#writing === undefined) this.#writeIn(WAIT_MS);
  }

  #writeIn(waitMs: number): void {
    this.#timer ??= setTimeout(() => void this.#write(), waitMs).unref();
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      const isLeft = this.#waiting.length > 0 || this.#chunk.length > 0;
      if (isLeft && !this.#isClosed) this.#writeIn(this.#isFailing ? RETRY_MS : WAIT_MS);
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (!this.#isClosed && (this.#chunk.length > 0 || this.#waiting.length > 0)) {
      if (this.#chunk.length === 0)
        this.#chunk = this.#waiting.splice(0, CHUNK).map((one) => this.#format(one));
      this.#isFailing = !(await this.#options.sink.write(this.#chunk));
      if (this.#isFailing) return;
      this.#chunk = [];
      await waitForTurn();
    }
  }

  #format(waiting: Waiting): JsonObject {
    const { instance, mask } = this.#options;
    const head = {
      v: EVENT_VERSION,
      event: waiting.kind,
      at: new Date(waiting.atMs).toISOString(),
      instance,
    };
    const fields = waiting.kind === 'decision' ? formatDecision(waiting) : withoutUndefined(waiting.event);
    // Lone surrogates are no valid JSON for many readers.
    return { ...head, ...maskFields(fields, (text) => mask(text).toWellFormed()) };
  }
}

function formatDecision({
  context,
  approval,
  denial,
  durationMs,
}: Extract<Waiting, { kind: 'decision' }>): JsonObject {
  const { kind, ...members } = parseObject(context.text);
  return {
    ...members,
    ...(approval !== undefined && { approval }),
    // The reason is a text for the model, and may say anything.
    ...(denial !== undefined && { denial: withoutUndefined({ id: denial.id, by: denial.by }) }),
    durationMs: Math.round(durationMs * 10) / 10,
  };
}

/** One event on one line of JSON, without characters that terminals interpret. */
export function formatEventLine(event: JsonObject): string {
  return `${toPrintableJson(JSON.stringify(event))}\n`;
}
