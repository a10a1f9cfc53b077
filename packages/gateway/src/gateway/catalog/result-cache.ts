import type { Settings } from '../../core/settings.ts';
import { readServerMessage } from '@assay-mcp/protocol/message';
import type { Era } from '@assay-mcp/protocol/eras';
import type { Inventory, Link, Reply } from '../ports/link.ts';

/** The part of a server that cached results depend on. */
export interface CachedServer {
  readonly link: Link | undefined;
  readonly inventory: Pick<Inventory, 'tools'>;
}

export interface ResultCacheOptions {
  readonly limits: Pick<Settings, 'cache.ttlMs' | 'cache.maxBytes'>;
  readonly nowMs: () => number;
}

/** The state of a server when a call was sent. */
export interface CacheTicket {
  readonly server: CachedServer;
  readonly generation: number;
}

interface Entry {
  readonly server: CachedServer;
  readonly era: Era;
  /** The response as the server sent it. */
  readonly bytes: Buffer;
  readonly expiresMs: number;
}

/** The state that a server's results belong to: one connection and one list of tools. */
interface Generation {
  link: Link | undefined;
  tools: Inventory['tools'] | undefined;
  number: number;
  /** Calls in flight that may change something. */
  writes: number;
  readonly keys: Set<string>;
}

const MAX_ENTRIES = 10_000;
/** Larger results are not cached: larger messages are not read in one step. */
const MAX_RESULT_BYTES = 1024 * 1024;
/** Approximate overhead of an entry in bytes. */
const ENTRY_BYTES = 500;
const SWEEP_MS = 60_000;

/**
 * Results of calls that change nothing, least recently used first. Those of a server are dropped when its connection or
 * its list of tools changes, and before and after each call that may change something there.
 */
export class ResultCache {
  /** Default time in ms for which results are kept. 0: not at all. */
  readonly ttlMs: number;
  readonly #maxBytes: number;
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, Entry>();
  /** Resolves when a call in progress has ended, by its key. Only calls whose results may be stored. */
  readonly #underway = new Map<string, Promise<undefined>>();
  readonly #generations = new WeakMap<CachedServer, Generation>();
  #bytes = 0;
  #sweepMs = 0;

  constructor({ limits, nowMs }: ResultCacheOptions) {
    this.ttlMs = limits['cache.ttlMs'];
    this.#maxBytes = limits['cache.maxBytes'];
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(server: CachedServer, key: string): Reply | undefined {
    this.#generationOf(server);
    const entry = this.#entries.get(key);
    if (entry?.server !== server) return undefined;
    this.#delete(key, entry);
    if (entry.expiresMs <= this.#nowMs()) return undefined;
    this.#add(key, entry);
    // Parsed each time, so that answers to different clients share nothing.
    const message = readServerMessage(Buffer.from(entry.bytes));
    return message.kind === 'response' ? { message, era: entry.era } : undefined;
  }

  /** Resolves when the call in progress with this key has ended. Undefined if there is none. */
  underway(key: string): Promise<undefined> | undefined {
    return this.#underway.get(key);
  }

  /** Announces a call to identical ones, until the returned function is called. */
  start(key: string): () => void {
    if (this.#underway.has(key)) return () => undefined;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#underway.set(key, promise);
    return () => {
      this.#underway.delete(key);
      resolve(undefined);
    };
  }

  /** Call it before a call is sent whose result may be stored. */
  begin(server: CachedServer): CacheTicket {
    return { server, generation: this.#generationOf(server).number };
  }

  /** Stores a result, unless something may have changed since the call was sent. */
  store(
    { server, generation }: CacheTicket,
    key: string,
    { reply, ttlMs }: { readonly reply: Reply; readonly ttlMs: number },
  ): void {
    const now = this.#generationOf(server);
    const { bytes } = reply.message;
    if (bytes.length > Math.min(MAX_RESULT_BYTES, this.#maxBytes - ENTRY_BYTES)) return;
    if (now.number !== generation || now.writes > 0) return;
    this.#sweep();
    const known = this.#entries.get(key);
    if (known !== undefined) this.#delete(key, known);
    // A copy, as the received bytes may be part of a larger buffer.
    const entry = { server, era: reply.era, bytes: Buffer.from(bytes), expiresMs: this.#nowMs() + ttlMs };
    this.#add(key, entry);
    for (const [oldest, dropped] of this.#entries) {
      if (this.#bytes <= this.#maxBytes && this.#entries.size <= MAX_ENTRIES) break;
      this.#delete(oldest, dropped);
    }
  }

  /** Drops the results of a server, and stores none until the returned function is called. */
  write(server: CachedServer): () => void {
    const generation = this.#generationOf(server);
    this.#drop(generation);
    generation.writes += 1;
    return () => {
      generation.writes -= 1;
      this.#drop(generation);
    };
  }

  #generationOf(server: CachedServer): Generation {
    const { link, inventory } = server;
    const known = this.#generations.get(server);
    if (known === undefined) {
      const first = { link, tools: inventory.tools, number: 0, writes: 0, keys: new Set<string>() };
      this.#generations.set(server, first);
      return first;
    }
    if (known.link !== link || known.tools !== inventory.tools) this.#drop(known);
    known.link = link;
    known.tools = inventory.tools;
    return known;
  }

  #drop(generation: Generation): void {
    generation.number += 1;
    for (const key of [...generation.keys]) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) this.#delete(key, entry);
    }
  }

  /** Drops expired results now and then: they may never be requested again. */
  #sweep(): void {
    const nowMs = this.#nowMs();
    if (nowMs < this.#sweepMs) return;
    this.#sweepMs = nowMs + SWEEP_MS;
    for (const [key, entry] of [...this.#entries]) if (entry.expiresMs <= nowMs) this.#delete(key, entry);
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes.length + ENTRY_BYTES;
    this.#generations.get(entry.server)?.keys.add(key);
  }

  #delete(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes.length + ENTRY_BYTES;
    this.#generations.get(entry.server)?.keys.delete(key);
  }
}
