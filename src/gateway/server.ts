import { setTimeout as sleep } from 'node:timers/promises';
import type { Cancellation } from '../core/cancellation.ts';
import type { Refusal } from '../core/errors.ts';
import { isSevereEnough } from '../core/log-levels.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import { restartDelayMs, STABLE_AFTER_MS } from '../core/supervision.ts';
import { ownRequest } from '../protocol/message.ts';
import { EMPTY_INVENTORY, LIST_KINDS, readList, type Inventory } from './inventory.ts';
import { ownAsk, type Connect, type Link, type LinkEvents, type ListKind, type Log } from './ports.ts';
import { Turnstile, type TurnstileLimits } from './turnstile.ts';

/** `failed`: it never stood yet. `restarting`: it stood, and is being brought back. Both go on trying. */
export type ServerState =
  | { readonly state: 'starting' }
  | { readonly state: 'up'; readonly link: Link }
  | { readonly state: 'restarting'; readonly cause: string }
  | { readonly state: 'failed'; readonly cause: string }
  | { readonly state: 'stopped' };

interface Ending {
  readonly cause: string;
  readonly stoodMs: number;
}

export interface ServerDeps {
  readonly connect: Connect;
  readonly log: Log;
  readonly limits: TurnstileLimits;
  /** Called after the server's lists or its state may have changed. */
  readonly onChange: () => void;
  /** A number from 0 to 1. */
  readonly chance: () => number;
}

/** Time in ms that a server has from its start to the end of its handshake. */
const START_LIMIT_MS = 60_000;
/** A server whose lists take longer than this, in ms, stands without them; they are shown when they come. */
const LISTS_LIMIT_MS = 5_000;
const STOPPED = 'Assay is shutting down';
/** Bursts of `list_changed` within this many ms are read once. */
const REREAD_AFTER_MS = 50;

/** One downstream server: keeps it running, and keeps its lists as last seen also while it is away. */
export class Server {
  readonly spec: ServerSpec;
  /** Requests of clients go through it; those of our own do not. */
  readonly turnstile: Turnstile;
  inventory: Inventory = EMPTY_INVENTORY;
  instructions: string | undefined;
  #state: ServerState = { state: 'starting' };
  #wasUp = false;
  #logLevel: string | undefined;
  readonly #deps: ServerDeps;
  readonly #stopping = new AbortController();
  readonly #watchers = new Set<() => void>();
  readonly #stale = new Set<ListKind>();
  #reread: NodeJS.Timeout | undefined;
  #life: Promise<void> | undefined;
  #endLife: (cause: string) => void = () => undefined;

  constructor(spec: ServerSpec, deps: ServerDeps) {
    this.spec = spec;
    this.#deps = deps;
    const untaken = (): number => this.link?.untakenBytes ?? 0;
    this.turnstile = new Turnstile({ server: spec.name, limits: deps.limits, untaken });
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The link of a server that is up, at once: a call need not wait a turn for it. */
  get link(): Link | undefined {
    return this.#state.state === 'up' ? this.#state.link : undefined;
  }

  start(): void {
    this.#life ??= this.#live();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#endLife(STOPPED);
    clearTimeout(this.#reread);
    // Whoever waits for the server is told now, not when its process is gone.
    this.turnstile.stop({ code: 'SHUTTING_DOWN' });
    this.#become({ state: 'stopped' });
    await this.#life;
  }

  /** Resolves when the first attempt to start has ended, well or badly. */
  async settled(): Promise<void> {
    while (this.#state.state === 'starting') await this.#nextChange(undefined);
  }

  /** The link (another one than `butNot`), or a wait for it of at most the server's time limit while it starts or restarts. */
  async whenUp(cancellation: Cancellation, butNot?: Link): Promise<Result<Link, Refusal>> {
    const server = this.spec.name;
    const cancelled = new AbortController();
    if (cancellation.isCancelled) cancelled.abort();
    else cancellation.listen(() => cancelled.abort());
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
  }

  /** From start to end; resolves with the cause of the end, and how long the server stood before it. */
  async #oneLife(): Promise<Ending> {
    const limit = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(START_LIMIT_MS)]);
    const end = Promise.withResolvers<string>();
    this.#endLife = end.resolve;
    const events: LinkEvents = {
      changed: (kind) => this.#listChanged(kind),
      drained: () => this.turnstile.advance(),
      ended: end.resolve,
    };
    const opened = await this.#deps
      .connect(this.spec, events, limit)
      .catch((error: unknown) => err(this.#mistake('it could not be started', error)));
    if (!opened.ok) return { cause: opened.error, stoodMs: 0 };
    const link = opened.value;
    const early = await Promise.race([
      this.#readLists(link),
      sleep(LISTS_LIMIT_MS, undefined, { ref: false }),
      end.promise,
    ]);
    if (early !== undefined) {
      await link.close();
      return { cause: early, stoodMs: 0 };
    }
    this.instructions = link.instructions;
    this.#wasUp = true;
    const upMs = Date.now();
    this.#become({ state: 'up', link });
    this.#deps.log.info('server is up', { server: this.spec.name, revision: link.version, era: link.era });
    if (this.#stale.size > 0) this.#rereadSoon();
    if (this.#logLevel !== undefined) void this.#sendLogLevel(link);
    const cause = await end.promise;
    const stoodMs = Date.now() - upMs;
    await link.close();
    return { cause, stoodMs };
  }

  /** Reads all lists at a time. One that cannot be read costs none of the others, and stays as it was. */
  async #readLists(link: Link, kinds: readonly ListKind[] = LIST_KINDS): Promise<void> {
    await Promise.all(kinds.map((kind) => this.#readOne(link, kind)));
  }

  async #readOne(link: Link, kind: ListKind): Promise<void> {
    const { timeoutMs, name } = this.spec;
    const list = await readList(link, kind, { timeoutMs, before: this.inventory[kind] }).catch(
      (error: unknown) => err(this.#mistake('its list could not be read', error)),
    );
    if (list.ok) {
      this.inventory = { ...this.inventory, [kind]: list.value };
      this.#deps.onChange();
    } else this.#deps.log.warn('a list could not be read', { server: name, list: kind, cause: list.error });
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Something of ours failed over this server. It must not cost the others. */
  #mistake(cause: string, error: unknown): string {
    const shown = error instanceof Error ? error.stack : String(error);
    this.#deps.log.error('a server could not be handled', { server: this.spec.name, cause, error: shown });
    return `${cause}; the log says why`;
  }

  #listChanged(kind: ListKind): void {
    this.#stale.add(kind);
    if (kind === 'resources') this.#stale.add('resourceTemplates');
    if (this.#state.state === 'up') this.#rereadSoon();
  }

  #rereadSoon(): void {
    this.#reread ??= setTimeout(() => void this.#readStale(), REREAD_AFTER_MS);
  }

  async #readStale(): Promise<void> {
    const kinds = [...this.#stale];
    this.#stale.clear();
    const current = this.#state;
    if (current.state === 'up') await this.#readLists(current.link, kinds);
    this.#reread = undefined;
    if (this.#stale.size > 0 && this.#state.state === 'up') this.#rereadSoon();
  }

  async #sendLogLevel(link: Link): Promise<void> {
    if (link.era === 'modern' || link.capabilities['logging'] === undefined) return;
    await link.ask(ownAsk(ownRequest('logging/setLevel', { level: this.#logLevel }), this.spec.timeoutMs));
  }

  #become(state: ServerState): void {
    if (this.#state.state === 'stopped') return;
    this.#state = state;
    this.#deps.onChange();
    for (const watcher of [...this.#watchers]) watcher();
    this.turnstile.advance();
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
