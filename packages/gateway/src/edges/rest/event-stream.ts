import type { Identity } from '../../core/subject.ts';
import { toAuditEntry } from './activity.ts';
import type { AuditReader } from './audit-reader.ts';

export interface EventSources {
  /** Shared by all streams. */
  readonly audit: Pick<AuditReader, 'after'>;
  /** Calls back when there may be new audit events. Returns a function to unsubscribe. */
  readonly onAudit: (listener: () => void) => () => void;
  /** Calls back when an approval was requested or answered. Returns a function to unsubscribe. */
  readonly onApprovals: (listener: () => void) => () => void;
  /** Calls back when the list of tools has changed. Returns a function to unsubscribe. */
  readonly onTools: (listener: () => void) => () => void;
  /** Calls back when calls were recorded. Returns a function to unsubscribe. */
  readonly onCalls: (listener: () => void) => () => void;
  /** Called when the stream has ended. */
  readonly onEnd: () => void;
  /** The listener. */
  readonly identity: Identity;
  /** Whether its token is still valid. */
  readonly isHolder: () => boolean;
  /** Aborted when the listener disconnects or the server stops. */
  readonly ending: AbortSignal;
}

const LOOK_INTERVAL_MS = 2_000;
/** Minimum time in ms between two notices of calls. */
const CALLS_INTERVAL_MS = 500;
/** Number of polls without news before a keep-alive comment is sent. */
const MAX_SILENT_LOOKS = 7;

/**
 * Audit events after a given one, as server-sent events with their ids, and notices of tool changes. Events that a slow
 * reader has not read stay in the store: more are read once it catches up, and tool changes are merged into one notice.
 */
export function createEventStream(afterId: number, sources: EventSources): ReadableStream<Uint8Array> {
  return ReadableStream.from(bytesOf(eventsAfter(afterId, sources)));
}

async function* bytesOf(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}

async function* eventsAfter(afterId: number, sources: EventSources): AsyncGenerator<string> {
  const news = new News(sources);
  let lastId = afterId;
  let silentLooks = 0;
  let callsFromMs = 0;
  try {
    yield ': these are events\nretry: 2000\n\n';
    while (!sources.ending.aborted && sources.isHolder()) {
      for (const notice of NOTICES) {
        if (!news[notice]) continue;
        news[notice] = false;
        yield `event: ${notice}\ndata: {}\n\n`;
      }
      const nowMs = performance.now();
      if (news.calls && nowMs >= callsFromMs) {
        news.calls = false;
        callsFromMs = nowMs + CALLS_INTERVAL_MS;
        yield 'event: calls\ndata: {}\n\n';
      }
      const isAuditNews = news.audit;
      news.audit = false;
      const read = isAuditNews ? await sources.audit.after(lastId) : [];
      // If the store cannot be read, the next poll tries again.
      news.audit ||= read === undefined || read.length > 0;
      const events = read ?? [];
      for (const event of events) {
        yield `event: activity\nid: ${event.id}\ndata: ${JSON.stringify(toAuditEntry(event, sources.identity))}\n\n`;
        lastId = event.id;
      }
      if (events.length > 0) continue;
      const isNews = await news.wait(news.calls ? CALLS_INTERVAL_MS : LOOK_INTERVAL_MS, sources.ending);
      silentLooks = isNews ? 0 : silentLooks + 1;
      if (silentLooks === MAX_SILENT_LOOKS) yield ': still here\n\n';
      if (silentLooks === MAX_SILENT_LOOKS) silentLooks = 0;
    }
  } finally {
    news.close();
    sources.onEnd();
  }
}

/** Parts of which only the fact of a change is announced. */
const NOTICES = ['tools', 'approvals'] as const;

/** Pending news. */
class News {
  audit = true;
  tools = false;
  approvals = false;
  calls = false;
  #wake: () => void = () => undefined;
  readonly #endings: readonly (() => void)[];

  constructor({ onAudit, onApprovals, onTools, onCalls }: EventSources) {
    this.#endings = [
      onAudit(() => {
        this.audit = true;
        this.#wake();
      }),
      onTools(() => {
        this.tools = true;
        this.#wake();
      }),
      onApprovals(() => {
        this.approvals = true;
        this.#wake();
      }),
      onCalls(() => {
        // The notice may have to wait, and one covers all that come meanwhile.
        if (this.calls) return;
        this.calls = true;
        this.#wake();
      }),
    ];
  }

  /** Returns whether news arrived in time. */
  async wait(limitMs: number, ending: AbortSignal): Promise<boolean> {
    if (NOTICES.some((notice) => this[notice]) || ending.aborted) return true;
    return new Promise((resolve) => {
      const done = (isNews: boolean): void => {
        clearTimeout(timer);
        ending.removeEventListener('abort', end);
        this.#wake = () => undefined;
        resolve(isNews);
      };
      const end = (): void => done(true);
      const timer = setTimeout(() => done(false), limitMs);
      ending.addEventListener('abort', end);
      this.#wake = end;
    });
  }

  close(): void {
    for (const end of this.#endings) end();
  }
}
