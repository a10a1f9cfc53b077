import { setTimeout as sleep } from 'node:timers/promises';
import { Cancellation } from '../core/cancellation.ts';
import type { Refusal } from '../core/errors.ts';
import { isSevereEnough } from '../core/log-levels.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import { restartDelayMs, STABLE_AFTER_MS } from '../core/supervision.ts';
import { ownRequest } from '../protocol/message.ts';
import { EMPTY_INVENTORY, LIST_KINDS, readList, type Inventory } from './inventory.ts';
import type { Connect, Link, ListKind, Log } from './ports.ts';

/** `failed`: it never stood yet. `restarting`: it stood, and is being brought back. Both go on trying. */
export type ServerState =
  | { readonly state: 'starting' }
  | { readonly state: 'up'; readonly link: Link }
  | { readonly state: 'restarting'; readonly cause: string }
  | { readonly state: 'failed'; readonly cause: string }
  | { readonly state: 'stopped' };

export interface ServerDeps {
  readonly connect: Connect;
  readonly log: Log;
  /** Called after the server's lists or its state may have changed. */
  readonly onChange: () => void;
  /** A number from 0 to 1. */
  readonly chance: () => number;
}

/** Time in ms that a server has from its start to the end of its first lists. */
const START_LIMIT_MS = 60_000;
/** Bursts of `list_changed` within this many ms are read once. */
const REREAD_AFTER_MS = 50;

/** One downstream server: keeps it running, and keeps its lists as last seen also while it is away. */
export class Server {
  readonly spec: ServerSpec;
  inventory: Inventory = EMPTY_INVENTORY;
  instructions: string | undefined;
  #state: ServerState = { state: 'starting' };
  #wasUp = false;
  #logLevel: string | undefined;
  readonly #deps: ServerDeps;
  readonly #stopping = new AbortController();
  /** For requests of our own, which end with the server. */
  readonly #cancellation = new Cancellation();
  readonly #watchers = new Set<() => void>();
  readonly #stale = new Set<ListKind>();
  #reread: NodeJS.Timeout | undefined;
  #life: Promise<void> | undefined;

  constructor(spec: ServerSpec, deps: ServerDeps) {
    this.spec = spec;
    this.#deps = deps;
  }

  get state(): ServerState {
    return this.#state;
  }

  start(): void {
    this.#life ??= this.#live();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancellation.cancel();
    clearTimeout(this.#reread);
    await this.#life;
  }

  /** Resolves when the first attempt to start has ended, well or badly. */
  async settled(): Promise<void> {
    while (this.#state.state === 'starting') await this.#nextChange(undefined);
  }

  /** The link (another one than `butNot`), or a wait for it of at most the server's time limit while it starts or restarts. */
  async whenUp(cancellation: Cancellation, butNot?: Link): Promise<Result<Link, Refusal>> {
    const now = this.#state;
    if (now.state === 'up' && now.link !== butNot) return ok(now.link);
    const server = this.spec.name;
    const cancelled = new AbortController();
    cancellation.listen(() => cancelled.abort());
    const giveUp = AbortSignal.any([AbortSignal.timeout(this.spec.timeoutMs), cancelled.signal]);
    for (;;) {
      const current = this.#state;
      if (current.state === 'up' && current.link !== butNot) return ok(current.link);
      if (current.state === 'stopped') return err({ code: 'SHUTTING_DOWN' });
      if (current.state === 'failed')
        return err({ code: 'SERVER_UNAVAILABLE', server, cause: current.cause });
      if (giveUp.aborted) {
        const cause = 'cause' in current ? current.cause : 'it has not started yet';
        return err({ code: 'SERVER_UNAVAILABLE', server, cause });
      }
      await this.#nextChange(giveUp);
    }
  }

  /** Asks a legacy server for log messages from this level on, now and after each restart; never for fewer than before. */
  setLogLevel(level: string): void {
    if (this.#logLevel !== undefined && !isSevereEnough(this.#logLevel, level)) return;
    this.#logLevel = level;
    if (this.#state.state === 'up') void this.#sendLogLevel(this.#state.link);
  }

  async #live(): Promise<void> {
    let failures = 0;
    let firstCause: string | undefined;
    while (!this.#isStopping()) {
      const { cause, stoodMs } = await this.#oneLife();
      if (this.#isStopping()) break;
      const hasRecovered = stoodMs > STABLE_AFTER_MS;
      failures = hasRecovered ? 1 : failures + 1;
      firstCause = hasRecovered ? cause : (firstCause ?? cause);
      this.#become({ state: this.#wasUp ? 'restarting' : 'failed', cause: firstCause });
      const waitMs = restartDelayMs(failures, this.#deps.chance());
      this.#deps.log.warn('server is down', {
        server: this.spec.name,
        cause,
        firstCause,
        nextStartMs: waitMs,
      });
      await sleep(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
    this.#become({ state: 'stopped' });
  }

  /** From start to end; resolves with the cause of the end, and how long the server stood before it. */
  async #oneLife(): Promise<{ readonly cause: string; readonly stoodMs: number }> {
    const limit = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(START_LIMIT_MS)]);
    const end = Promise.withResolvers<string>();
    const opened = await this.#deps.connect(
      this.spec,
      { changed: (kind) => this.#listChanged(kind), ended: end.resolve },
      limit,
    );
    if (!opened.ok) return { cause: opened.error, stoodMs: 0 };
    const link = opened.value;
    const inventory = await this.#readAll(link);
    if (!inventory.ok) {
      await link.close();
      return { cause: inventory.error, stoodMs: 0 };
    }
    this.inventory = inventory.value;
    this.instructions = link.instructions;
    this.#wasUp = true;
    const upMs = Date.now();
    this.#become({ state: 'up', link });
    this.#deps.log.info('server is up', { server: this.spec.name, revision: link.version, era: link.era });
    if (this.#logLevel !== undefined) void this.#sendLogLevel(link);
    const cause = await Promise.race([end.promise, aborted(this.#stopping.signal)]);
    const stoodMs = Date.now() - upMs;
    await link.close();
    return { cause, stoodMs };
  }

  async #readAll(link: Link): Promise<Result<Inventory, string>> {
    const inventory: Record<ListKind, Inventory[ListKind]> = { ...EMPTY_INVENTORY };
    for (const kind of LIST_KINDS) {
      const list = await this.#read(link, kind);
      if (!list.ok && kind === 'tools') return list;
      if (list.ok) inventory[kind] = list.value;
      else this.#deps.log.warn('a list could not be read', { server: this.spec.name, cause: list.error });
    }
    return ok(inventory);
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #read(link: Link, kind: ListKind): ReturnType<typeof readList> {
    const { timeoutMs } = this.spec;
    return readList(link, kind, {
      timeoutMs,
      cancellation: this.#cancellation,
      before: this.inventory[kind],
    });
  }

  #listChanged(kind: ListKind): void {
    this.#stale.add(kind);
    if (kind === 'resources') this.#stale.add('resourceTemplates');
    this.#reread ??= setTimeout(() => void this.#readStale(), REREAD_AFTER_MS);
  }

  async #readStale(): Promise<void> {
    const kinds = [...this.#stale];
    this.#stale.clear();
    const current = this.#state;
    if (current.state === 'up') {
      for (const kind of kinds) {
        const list = await this.#read(current.link, kind);
        if (list.ok) this.inventory = { ...this.inventory, [kind]: list.value };
        else
          this.#deps.log.warn('a changed list could not be read', {
            server: this.spec.name,
            cause: list.error,
          });
      }
      this.#deps.onChange();
    }
    this.#reread = undefined;
    if (this.#stale.size > 0 && current.state === 'up')
      this.#reread = setTimeout(() => void this.#readStale(), REREAD_AFTER_MS);
  }

  async #sendLogLevel(link: Link): Promise<void> {
    if (link.era === 'modern' || link.capabilities['logging'] === undefined) return;
    await link.ask({
      message: ownRequest('logging/setLevel', { level: this.#logLevel }),
      era: 'legacy',
      name: undefined,
      clientInfo: undefined,
      timeoutMs: this.spec.timeoutMs,
      cancellation: undefined,
      onNotification: undefined,
    });
  }

  #become(state: ServerState): void {
    this.#state = state;
    this.#deps.onChange();
    for (const watcher of [...this.#watchers]) watcher();
  }

  #nextChange(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#watchers.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      this.#watchers.add(done);
      signal?.addEventListener('abort', done);
    });
  }
}

function aborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('Assay is shutting down');
    else signal.addEventListener('abort', () => resolve('Assay is shutting down'), { once: true });
  });
}
