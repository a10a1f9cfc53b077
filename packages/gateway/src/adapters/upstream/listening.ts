import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type {
  UpstreamRequest,
  Capabilities,
  LinkEvents,
  Reply,
  ResourceStream,
  SubscriptionAnswer,
} from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { declares } from '@assay-mcp/protocol/capabilities';
import { findMember, readRawValue } from '@assay-mcp/protocol/spans';
import type { Facts } from './handshake.ts';
import { handleNotification } from './incoming.ts';
import { ListenStream, type Filter, type Opened } from './listen-stream.ts';
import { computeBackoffMs } from '@assay-mcp/kit/backoff';

export interface ListeningOptions {
  readonly server: string;
  readonly facts: Facts;
  readonly events: LinkEvents;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly ask: (request: UpstreamRequest) => Promise<Result<Reply, Refusal>>;
}

/** Delay in ms before reopening a stream that ended; doubles up to the maximum. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
/** A stream that stayed open this long, in ms, has not failed. */
const STABLE_MS = 5_000;
/** A stream that is ready within this many ms was ready before the lists were answered. */
const PROMPT_MS = 100;
const METHOD_NOT_FOUND = '-32601';

const HONOURED: SubscriptionAnswer = { kind: 'honoured' };

/**
 * Keeps a `subscriptions/listen` open on a modern server, for list changes and subscribed resources
 * (2026-07-28, basic/patterns/subscriptions). When subscriptions change, it opens a new stream before closing the old.
 */
export class Listening implements ResourceStream {
  readonly #options: ListeningOptions;
  readonly #lists: Filter;
  readonly #uris = new Set<string>();
  readonly #waiting = new Map<string, PromiseWithResolvers<SubscriptionAnswer>>();
  /** The stream in use, and the newest one opened; they differ until the newest is ready. */
  #standing: ListenStream | undefined;
  #newest: ListenStream | undefined;
  #honoured: ReadonlySet<string> = new Set();
  /** Whether the subscribed resources have changed since the newest stream was opened. */
  #isStale = false;
  #wake: () => void = () => undefined;
  #isFirst = true;
  #isOver = false;
  /** Number of streams in a row that ended soon. */
  #vain = 0;

  constructor(options: ListeningOptions) {
    this.#options = options;
    this.#lists = listsOf(options.facts.capabilities);
    const abort = (): void => {
      this.#close();
      this.#wake();
    };
    options.signal.addEventListener('abort', abort, { once: true });
    void this.#run().then(() => this.#end());
  }

  add(uri: string): Promise<SubscriptionAnswer> {
    if (this.#isOver) return Promise.resolve(this.#unsupported(uri));
    const isTold = this.#uris.has(uri) && this.#honoured.has(uri) && this.#standing?.hasEnded === false;
    if (isTold) return Promise.resolve(HONOURED);
    const waiting = this.#waiting.get(uri) ?? Promise.withResolvers<SubscriptionAnswer>();
    this.#waiting.set(uri, waiting);
    this.#uris.add(uri);
    this.#changed();
    return waiting.promise;
  }

  drop(uri: string): void {
    if (this.#uris.delete(uri)) this.#changed();
  }

  #changed(): void {
    this.#isStale = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    const { signal, events } = this.#options;
    let hasMissed = false;
    while (!signal.aborted) {
      this.#isStale = false;
      const filter = this.#filter();
      if (Object.keys(filter).length === 0) {
        this.#close();
        await this.#news();
        continue;
      }
      const startedMs = Date.now();
      const stream = this.#open(filter);
      const opened = await stream.opened;
      this.#settle(filter.resourceSubscriptions ?? [], opened);
      if (opened.kind === 'standing') {
        // Lists are read while the first stream opens; a distant server may have sent a change before it was ready.
        if (this.#isFirst && Date.now() - startedMs > PROMPT_MS) this.#announceLists();
        this.#isFirst = false;
        this.#standing = stream;
        if (hasMissed) events.missed();
        hasMissed = false;
      } else if (this.#standing === undefined && isUnknownMethod(opened.answer)) return;
      await Promise.race([(this.#standing ?? stream).ended, this.#news()]);
      if (this.#standing?.hasEnded === false) continue;
      this.#standing = undefined;
      hasMissed = true;
      this.#vain = Date.now() - startedMs > STABLE_MS ? 1 : this.#vain + 1;
      await this.#news(computeBackoffMs(this.#vain, { firstMs: FIRST_WAIT_MS, maxMs: MAX_WAIT_MS }));
    }
  }

  #announceLists(): void {
    const { events } = this.#options;
    if (this.#lists.toolsListChanged) events.changed('tools');
    if (this.#lists.promptsListChanged) events.changed('prompts');
    if (this.#lists.resourcesListChanged) events.changed('resources');
  }

  #open(filter: Filter): ListenStream {
    const { ask, server, events, log } = this.#options;
    this.#newest = new ListenStream({
      filter,
      ask,
      onNotification: (note) => handleNotification(note, server, { events, log }),
      replaces: this.#standing,
    });
    return this.#newest;
  }

  #filter(): Filter {
    return this.#uris.size === 0 ? this.#lists : { ...this.#lists, resourceSubscriptions: [...this.#uris] };
  }

  /** Answers those waiting for these resources. Resources the server did not accept are not requested again. */
  #settle(asked: readonly string[], opened: Opened): void {
    if (opened.kind === 'standing') this.#honoured = opened.uris ?? new Set();
    for (const uri of asked) {
      const waiting = this.#waiting.get(uri);
      if (waiting === undefined) continue;
      this.#waiting.delete(uri);
      const answer = this.#answerFor(uri, opened);
      if (answer.kind !== 'honoured') this.#uris.delete(uri);
      waiting.resolve(answer);
    }
  }

  #answerFor(uri: string, opened: Opened): SubscriptionAnswer {
    if (opened.kind === 'standing') return this.#honoured.has(uri) ? HONOURED : this.#unsupported(uri);
    const { answer } = opened;
    if (!answer.ok) return { kind: 'failed', refusal: answer.error };
    return answer.value.message.isError ? { kind: 'refused', reply: answer.value } : this.#unsupported(uri);
  }

  #unsupported(uri: string): SubscriptionAnswer {
    const { server } = this.#options;
    return { kind: 'failed', refusal: { code: 'SUBSCRIPTION_UNSUPPORTED', server, uri } };
  }

  /** Resolves when the subscribed resources change, when listening ends, or after `limitMs`. */
  #news(limitMs?: number): Promise<void> {
    if (this.#isStale || this.#options.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = limitMs === undefined ? undefined : setTimeout(resolve, limitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #close(): void {
    this.#standing?.close();
    this.#newest?.close();
    this.#standing = undefined;
    this.#newest = undefined;
  }

  #end(): void {
    this.#isOver = true;
    this.#close();
    for (const [uri, waiting] of this.#waiting) waiting.resolve(this.#unsupported(uri));
    this.#waiting.clear();
  }
}

function isUnknownMethod(answer: Result<Reply, Refusal>): boolean {
  if (!answer.ok) return false;
  const { bytes, root } = answer.value.message;
  const code = findMember(findMember(root, 'error')?.object, 'code');
  return code !== undefined && readRawValue(bytes, code) === METHOD_NOT_FOUND;
}

function listsOf(capabilities: Capabilities): Filter {
  const tells = (capability: string): boolean => declares(capabilities, capability, 'listChanged');
  return {
    ...(tells('tools') && { toolsListChanged: true }),
    ...(tells('prompts') && { promptsListChanged: true }),
    ...(tells('resources') && { resourcesListChanged: true }),
  };
}
