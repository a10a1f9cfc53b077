import { setTimeout as sleep } from 'node:timers/promises';
import type { Deed } from '../../core/deed.ts';
import { driftOf, type Definition as Text } from '../../core/hints/drift.ts';
import { isSilent, type Drift, type ToolWord } from '../../core/hints/tool-word.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '../../core/result.ts';
import { sentenceOf } from '../../core/sentences.ts';
import { isMade, type ServerSpec } from '../../core/server-spec.ts';
import { digestOf } from '../definition-facts.ts';
import type { Definition, Log } from '../ports.ts';
import type { WordChange, WordStore } from '../ports/words.ts';
import type { Words } from '../words/words.ts';
import { Turns } from '../turns.ts';
import { idsOf, toolIdIn } from './tool-claims.ts';

export interface DriftWatchOptions {
  readonly words: Words;
  readonly log: Log;
  readonly nowMs: () => number;
}

interface Sight {
  readonly spec: ServerSpec;
  readonly tools: readonly Definition[];
}

/** A server that changes its tools at every list is compared once in so many ms, as each change is written. */
const COMPARE_EVERY_MS = 1_000;
/** A tool that goes on changing is told of once in so many ms, and once where that is dangerous. */
const TELL_EVERY_MS = 60_000;
const RETRY_MS = 10_000;
const MOST_TRIES = 20;
/** Most definitions of one server that a process has accepted: one that invents names at each list fills no store. */
const MOST_ACCEPTED = 20_000;
/** Nobody waits longer than this, in ms, for a server that goes on changing, or for a store that keeps nothing. */
const SETTLED_LIMIT_MS = 5_000;

/** Compares what servers list with what was accepted of it, and keeps how it differs. */
export class DriftWatch {
  readonly #options: DriftWatchOptions;
  /** Digests of accepted definitions, by the ids of their tools. */
  readonly #accepted = new Map<string, string>();
  /** Tools of which only what is withheld was ever seen. */
  readonly #unaccepted = new Set<string>();
  /** When each kind of change of a tool was told of last. */
  readonly #toldMs = new Map<string, number>();
  /** How many of each server. */
  readonly #learnt = new Map<string, number>();
  readonly #waiting = new Map<string, Sight>();
  readonly #running = new Map<string, Promise<void>>();
  /** Of servers whose tools were seen and are not compared yet. */
  readonly #unsettled = new Map<string, PromiseWithResolvers<void>>();
  readonly #closing = new AbortController();

  constructor(options: DriftWatchOptions) {
    this.#options = options;
    // Somebody may have reviewed it.
    options.words.onChange((words) => {
      for (const { kind, id } of words) if (kind === 'tool') this.#accepted.delete(id);
    });
  }

  /** The tools of a server were read. */
  saw(spec: ServerSpec, tools: readonly Definition[]): void {
    const key = idsOf(spec).serverId;
    this.#waiting.set(key, { spec, tools });
    if (!this.#unsettled.has(key)) this.#unsettled.set(key, Promise.withResolvers());
    if (!this.#running.has(key)) this.#running.set(key, this.#compareWaiting(key));
  }

  /** Resolves when all that was seen of a server is compared and kept, at the latest after 5 s. */
  async settled(spec: ServerSpec): Promise<void> {
    const unsettled = this.#unsettled.get(idsOf(spec).serverId);
    await Promise.race([unsettled?.promise, sleep(SETTLED_LIMIT_MS, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running.values());
  }

  async #compareWaiting(key: string): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#closing;
    for (let sight = this.#taken(key); sight !== undefined && !signal.aborted; sight = this.#taken(key)) {
      const { spec } = sight;
      const done = await this.#compare(sight).catch((error: unknown) => {
        log.error('the definitions of a server could not be compared', {
          server: spec.name,
          error: String(error),
        });
        return ok(false);
      });
      if (!done.ok) {
        log.warn('changes of definitions could not be kept', {
          server: spec.name,
          cause: sentenceOf(done.error),
        });
        if (!this.#waiting.has(key)) this.#waiting.set(key, sight);
      }
      if (!this.#waiting.has(key)) this.#settle(key);
      const waitMs = done.ok ? COMPARE_EVERY_MS : RETRY_MS;
      if (!done.ok || done.value)
        await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.#settle(key);
    // Not a turn later: what is seen in between would wait for the next time.
    this.#running.delete(key);
  }

  #settle(key: string): void {
    this.#unsettled.get(key)?.resolve();
    this.#unsettled.delete(key);
  }

  #taken(key: string): Sight | undefined {
    const sight = this.#waiting.get(key);
    this.#waiting.delete(key);
    return sight;
  }

  /** Whether anything had changed. */
  async #compare(sight: Sight): Promise<Result<boolean, Refusal>> {
    const { words } = this.#options;
    const ready = await words.ready();
    if (!ready.ok) return ready;
    const store = await words.store();
    if (!store.ok) return store;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const changes = await this.#changesOf(sight, store.value);
      if (!changes.ok) return changes;
      if (changes.value.length === 0) return ok(false);
      const saved = await words.save(changes.value.map(({ change }) => change));
      if (!saved.ok) return saved;
      if (!saved.value) continue;
      for (const { change, says, kind } of changes.value) {
        if (change.deed === undefined) continue;
        this.#toldMs.set(kind, change.deed.atMs);
        this.#options.log.warn(says, { server: sight.spec.name });
      }
      return ok(true);
    }
    return ok(true);
  }

  async #changesOf({ spec, tools }: Sight, store: WordStore): Promise<Result<readonly Change[], Refusal>> {
    const known = await this.#learn(spec, tools, store);
    if (!known.ok) return known;
    const changes: Change[] = [];
    const seen = new Set<string>();
    const turns = new Turns();
    for (const tool of tools) {
      if (turns.isOver) await turns.next();
      const id = toolIdIn(spec, tool);
      // Of two tools with one name the first is listed.
      if (id === undefined || seen.has(id)) continue;
      seen.add(id);
      if (!this.#accepted.has(id) && this.#unaccepted.has(id)) continue;
      const now = { digest: digestOf(tool), text: tool.bytes.toString() };
      const isAccepted = this.#accepted.get(id) === now.digest;
      const word = this.#options.words.tool(id);
      if (word?.drift?.digest === (isAccepted ? undefined : now.digest)) continue;
      const accepted = isAccepted ? ok(now) : await store.accepted(id);
      if (!accepted.ok) return accepted;
      if (accepted.value === undefined) this.#unaccepted.add(id);
      else changes.push(this.#changeOf({ spec, tool, id, accepted: accepted.value, now }));
    }
    return ok(changes);
  }

  /** Which definitions are accepted; those of tools that were never seen are from now on. */
  async #learn(
    spec: ServerSpec,
    tools: readonly Definition[],
    store: WordStore,
  ): Promise<Result<undefined, Refusal>> {
    const key = idsOf(spec).serverId;
    const learnt = this.#learnt.get(key) ?? 0;
    const unknown = new Map<string, { readonly id: string } & Text>();
    const turns = new Turns();
    for (const tool of tools) {
      if (turns.isOver) await turns.next();
      const id = toolIdIn(spec, tool);
      // What no client is shown was never accepted by anybody.
      if (id === undefined || isWithheld(tool) || this.#accepted.has(id) || unknown.has(id)) continue;
      if (learnt + unknown.size >= MOST_ACCEPTED) break;
      unknown.set(id, { id, digest: digestOf(tool), text: tool.bytes.toString() });
    }
    if (unknown.size === 0) return ok(undefined);
    const accepted = await store.acceptFirst([...unknown.values()]);
    if (!accepted.ok) return accepted;
    for (const [id, digest] of accepted.value) this.#accepted.set(id, digest);
    this.#learnt.set(key, learnt + unknown.size);
    if (learnt + unknown.size >= MOST_ACCEPTED)
      this.#options.log.warn('a server has had so many tools that new ones are not compared any more', {
        server: spec.name,
        tools: MOST_ACCEPTED,
      });
    return ok(undefined);
  }

  #changeOf({ spec, tool, id, accepted, now }: Compared): Change {
    const { words, nowMs } = this.#options;
    const former = words.find('tool', id);
    const word = words.tool(id) ?? wordFor(spec, tool, id);
    const { drift: before, ...rest } = word;
    const atMs = nowMs();
    const drift = driftOf(accepted, now, { nowMs: atMs, isMade: isMade(spec.transport) });
    const body = drift === undefined ? rest : { ...rest, drift };
    const kind = `${id} ${kindOf(drift)}`;
    const isTold = atMs - (this.#toldMs.get(kind) ?? -Infinity) >= TELL_EVERY_MS;
    const deed: Deed = {
      atMs,
      subject: `server:${spec.name}`,
      action: drift === undefined ? 'tool.undrift' : 'tool.drift',
      target: { kind: 'tool', id, name: `${spec.name}.${word.name}` },
      before: before && { changes: before.changes, dangers: before.dangers },
      after: drift && { changes: drift.changes, dangers: drift.dangers },
    };
    return {
      change: {
        word: { kind: 'tool', id, body: isSilent(body) ? undefined : body },
        former: former?.revision,
        ...(isTold && { deed }),
      },
      says: saysOf(word, drift?.dangers),
      kind,
    };
  }
}

function isWithheld({ fitness }: Definition): boolean {
  return fitness.legacy.kind === 'withheld' && fitness.modern.kind === 'withheld';
}

interface Compared {
  readonly spec: ServerSpec;
  readonly tool: Definition;
  readonly id: string;
  readonly accepted: Text;
  readonly now: Text;
}

interface Change {
  readonly change: WordChange;
  /** For the log. */
  readonly says: string;
  /** Changes of one kind are told of once in a while. */
  readonly kind: string;
}

/** Of a tool of which nothing was said so far. */
export function wordFor(spec: ServerSpec, { key = '' }: Definition, id: string): ToolWord {
  return { id, server: spec.name, identity: idsOf(spec).identity, name: key, overrides: {} };
}

function kindOf(drift: Drift | undefined): string {
  if (drift === undefined) return 'back';
  return drift.dangers.length > 0 ? 'dangerous' : 'harmless';
}

function saysOf({ name }: ToolWord, dangers: readonly string[] | undefined): string {
  const tool = JSON.stringify(name);
  if (dangers === undefined) return `the definition of ${tool} is again the one that was accepted`;
  if (dangers.length === 0) return `the definition of ${tool} has changed`;
  return `the definition of ${tool} has changed in a dangerous way: ${dangers.join('; ')}`;
}
