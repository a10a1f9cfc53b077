import { setTimeout as sleep } from 'node:timers/promises';
import { OncePerPeriod } from '../../core/once-per-period.ts';
import { compareDefinitions, type Definition as Text, type ProsePolicy } from '../../core/hints/drift.ts';
import { isEmptyRecord, type ToolRecord } from '../../core/hints/tool-record.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { getDigest, getDeclaredText } from './definition-facts.ts';
import type { Definition } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import type { CommittedDrift, Growth, RecordChange, RecordStore } from '../ports/records.ts';
import type { RecordReplica } from './record-replica.ts';
import { Turns } from '@assay-mcp/kit/turns';
import {
  toDriftEvent,
  getDriftKind,
  formatDrift,
  isDriftNews,
  computeNextRecord,
  computeUnchangedRecord,
  logChanges,
} from './drift-change.ts';
import type { AuditEvent } from '../../core/audit-event.ts';
import { getDefinitionSource, findRestTool } from './definition-source.ts';
import { computeDefinitionBounds, type UnstoredDefinitions } from './unstored-definitions.ts';
import type { ListLimits } from './list-budget.ts';
import { getServerIds, findToolId } from './tool-claims.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';

export interface DriftDetectorOptions {
  readonly records: RecordReplica;
  readonly log: Log;
  readonly prose: ProsePolicy;
  readonly nowMs: () => number;
  readonly limits?: ListLimits | undefined;
  /** Learns which definitions are withheld. */
  readonly unstored: UnstoredDefinitions;
}

interface Observation {
  readonly spec: ServerSpec;
  readonly tools: readonly Definition[];
  /** Sequence number of the connection to the server. */
  readonly connection: number;
}

/**
 * A server that changes its tools with every list is compared only once per this many ms, because each change is
 * written.
 */
const COMPARE_INTERVAL_MS = 1_000;
const RETRY_MS = 10_000;
/** Maximum number of remembered tools of which only withheld definitions were seen. */
const MAX_UNACCEPTED = 50_000;
/** Maximum time in ms to wait for a server that keeps changing, or for a store that fails. */
const SETTLED_LIMIT_MS = 20_000;

/** Compares what servers list with what was accepted, and stores the differences. */
export class DriftDetector {
  readonly #options: DriftDetectorOptions;
  /** Digests of accepted definitions, by the ids of their tools. */
  readonly #accepted = new Map<string, string>();
  /** Tools of which only withheld definitions were seen. */
  readonly #unaccepted = new Set<string>();
  /** A tool that keeps changing is reported once per period for each kind of change. */
  readonly #reports = new OncePerPeriod(60_000, 100_000);
  /** The connection to each server, and how many there have been. */
  readonly #connections = new Map<string, { readonly link: WeakRef<object>; readonly count: number }>();
  /** In which connection a tool's prose was last compared, by ids of drifted tools. */
  readonly #comparedIn = new Map<string, number>();
  readonly #waiting = new Map<string, Observation>();
  readonly #running = new Map<string, Promise<void>>();
  /** Servers whose tools were read but not compared yet. */
  readonly #unsettled = new Map<string, PromiseWithResolvers<void>>();
  readonly #closing = new AbortController();

  constructor(options: DriftDetectorOptions) {
    this.#options = options;
    // An operator may have reviewed it.
    options.records.onChange(({ records }) => {
      for (const { kind, id } of records) if (kind === 'tool') this.#accepted.delete(id);
    });
  }

  /** Called when the tools of a server were read from this link. */
  saw(spec: ServerSpec, tools: readonly Definition[], link: object): void {
    const key = getServerIds(spec).serverId;
    this.#waiting.set(key, { spec, tools, connection: this.#connectionOf(key, link) });
    if (!this.#unsettled.has(key)) this.#unsettled.set(key, Promise.withResolvers());
    if (!this.#running.has(key)) this.#running.set(key, this.#compareWaiting(key));
  }

  #connectionOf(key: string, link: object): number {
    const known = this.#connections.get(key);
    if (known?.link.deref() === link) return known.count;
    const count = (known?.count ?? 0) + 1;
    this.#connections.set(key, { link: new WeakRef(link), count });
    return count;
  }

  /** Resolves when everything read from a server is compared and stored, after 20 s at the latest. */
  async settled(spec: ServerSpec): Promise<void> {
    const unsettled = this.#unsettled.get(getServerIds(spec).serverId);
    await Promise.race([unsettled?.promise, sleep(SETTLED_LIMIT_MS, undefined, { ref: false })]);
  }

  /** Resolves when everything read so far is compared and stored. */
  async allSettled(): Promise<void> {
    await Promise.all(Array.from(this.#unsettled.values(), ({ promise }) => promise));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running.values());
  }

  async #compareWaiting(key: string): Promise<void> {
    const { log, records } = this.#options;
    const { signal } = this.#closing;
    // A failure is met again by the comparison.
    await records.readyLater();
    for (
      let observation = this.#taken(key);
      observation !== undefined && !signal.aborted;
      observation = this.#taken(key)
    ) {
      const { spec } = observation;
      const done = await this.#compare(observation).catch((error: unknown) => {
        log.error('the definitions of a server could not be compared', {
          server: spec.name,
          error: String(error),
        });
        return ok(false);
      });
      if (!done.ok) {
        log.warn('changes of definitions could not be kept', {
          server: spec.name,
          cause: formatRefusal(done.error),
        });
        if (!this.#waiting.has(key)) this.#waiting.set(key, observation);
      }
      if (!this.#waiting.has(key)) this.#settle(key);
      const isAtBound = done.ok && this.#options.unstored.isAtBound(key);
      // What did not fit is tried again, with the newest list.
      if (isAtBound && !this.#waiting.has(key)) this.#waiting.set(key, observation);
      const waitMs = done.ok && !isAtBound ? COMPARE_INTERVAL_MS : RETRY_MS;
      if (!done.ok || done.value || isAtBound)
        await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.#settle(key);
    // Synchronous: otherwise, tools read in between would wait for the next comparison.
    this.#running.delete(key);
  }

  #settle(key: string): void {
    this.#unsettled.get(key)?.resolve();
    this.#unsettled.delete(key);
  }

  #taken(key: string): Observation | undefined {
    const observation = this.#waiting.get(key);
    this.#waiting.delete(key);
    return observation;
  }

  /** Resolves with whether anything had changed. */
  async #compare(observation: Observation): Promise<Result<boolean, Refusal>> {
    const { records, log } = this.#options;
    const kept = await records.change<readonly Change[]>(async () => {
      const store = await records.store();
      const found = store.ok ? await this.#changesOf(observation, store.value) : store;
      if (!found.ok) return found;
      const { changes, drift } = found.value;
      return ok({
        value: changes,
        changes: changes.map(({ record }) => record),
        audit: changes.flatMap(({ event }) => event ?? []),
        drift,
      });
    });
    if (!kept.ok) return kept;
    const told: { readonly tool: string; readonly message: string }[] = [];
    for (const { record, event, message, kind } of kept.value) {
      this.#comparedIn.set(record.id, observation.connection);
      if (event === undefined) continue;
      this.#reports.admit(kind, event.atMs);
      told.push({ tool: record.body?.name ?? record.id, message });
    }
    logChanges(log, observation.spec.name, told);
    return ok(kept.value.length > 0);
  }

  async #changesOf(
    { spec, tools, connection }: Observation,
    store: RecordStore,
  ): Promise<Result<FittingChanges, Refusal>> {
    const unaccepted = await this.#learn(spec, tools, store);
    if (!unaccepted.ok) return unaccepted;
    if (unaccepted.value > 0) this.#hold(spec, unaccepted.value);
    const key = getServerIds(spec).serverId;
    const changes: Change[] = [];
    const seen = new Set<string>();
    const turns = new Turns();
    for (const tool of tools) {
      if (turns.isOver) await turns.next();
      const id = findToolId(spec, tool);
      // Of two tools with the same name, the first is listed.
      if (id === undefined || seen.has(id)) continue;
      seen.add(id);
      if (
        !this.#accepted.has(id) &&
        (this.#unaccepted.has(id) || this.#options.unstored.isUnstored(key, tool))
      )
        continue;
      const now = { digest: getDigest(tool), text: getDeclaredText(tool) };
      const isAccepted = this.#accepted.get(id) === now.digest;
      const before = this.#options.records.get('tool', id);
      const isNewlyConnected = this.#comparedIn.get(id) !== connection;
      if (before?.drift?.digest === (isAccepted ? undefined : now.digest)) {
        const same = isNewlyConnected && before !== undefined ? computeUnchangedRecord(before) : before;
        if (same !== undefined && same !== before) changes.push(quietChange(same));
        continue;
      }
      const accepted = isAccepted ? ok(now) : await store.accepted(id);
      if (!accepted.ok) return accepted;
      if (accepted.value === undefined) {
        if (this.#unaccepted.size >= MAX_UNACCEPTED) this.#unaccepted.clear();
        this.#unaccepted.add(id);
        continue;
      }
      const change = this.#changeOf({ spec, tool, id, accepted: accepted.value, now, isNewlyConnected });
      if (change !== undefined) changes.push(change);
    }
    const fitting = await this.#fitting(spec, changes, store);
    if (fitting.ok) this.#hold(spec, unaccepted.value + changes.length - fitting.value.changes.length);
    return fitting;
  }

  /** The changes without those that exceed the bounds of the server. */
  async #fitting(
    spec: ServerSpec,
    changes: readonly Change[],
    store: RecordStore,
  ): Promise<Result<FittingChanges, Refusal>> {
    const growth = this.#growthOf(spec);
    const rows = changes.flatMap(({ record, isCharged }) =>
      isCharged ? [{ id: record.id, bytes: Buffer.byteLength(JSON.stringify(record.body)) }] : [],
    );
    if (growth === undefined || rows.length === 0) return ok({ changes });
    const fit = await store.fittingDrift({ growth, rows });
    if (!fit.ok) return fit;
    return ok({
      changes: changes.filter(({ record, isCharged }) => !isCharged || fit.value.has(record.id)),
      drift: { growth, rows: rows.filter(({ id }) => fit.value.has(id)) },
    });
  }

  /** Undefined for tools that an operator wrote. */
  #growthOf(spec: ServerSpec): Growth | undefined {
    const bounds = computeDefinitionBounds(this.#options.limits);
    return getSourceKind(spec.transport).isOwn(spec.transport)
      ? undefined
      : { peer: getServerIds(spec).serverId, bounds, nowMs: this.#options.nowMs() };
  }

  /** Loads accepted definitions. Those of tools never seen before are accepted now. Resolves with the number of others. */
  async #learn(
    spec: ServerSpec,
    tools: readonly Definition[],
    store: RecordStore,
  ): Promise<Result<number, Refusal>> {
    const unknown = new Map<string, { readonly id: string } & Text>();
    const turns = new Turns();
    for (const tool of tools) {
      if (turns.isOver) await turns.next();
      const id = findToolId(spec, tool);
      // A tool that no client sees was never accepted.
      if (id === undefined || isWithheld(tool) || this.#accepted.has(id) || unknown.has(id)) continue;
      unknown.set(id, { id, digest: getDigest(tool), text: getDeclaredText(tool) });
    }
    const accepted =
      unknown.size === 0
        ? ok(NOTHING_ACCEPTED)
        : await store.acceptFirst([...unknown.values()], this.#growthOf(spec));
    if (!accepted.ok) return accepted;
    for (const [id, digest] of accepted.value) this.#accepted.set(id, digest);
    return ok(unknown.size - accepted.value.size);
  }

  /** Withholds the definitions that could not be stored, if there are any. */
  #hold(spec: ServerSpec, count: number): void {
    const { unstored, log } = this.#options;
    const key = getServerIds(spec).serverId;
    const wasAtBound = unstored.isAtBound(key);
    unstored.set(key, count === 0 ? undefined : (definition) => this.#isStored(spec, definition));
    if (count > 0 && !wasAtBound)
      log.warn('tools of a server are withheld: it sends more new or changed definitions than Assay stores', {
        server: spec.name,
        code: 'DEFINITIONS_LIMIT',
        tools: count,
      });
    if (count === 0 && wasAtBound)
      log.info('all tools of a server are stored again; none is withheld', { server: spec.name });
  }

  /** Whether the definition is the accepted one, or its difference from that is stored. */
  #isStored(spec: ServerSpec, definition: Definition): boolean {
    const id = findToolId(spec, definition);
    if (id === undefined || isWithheld(definition)) return true;
    const digest = getDigest(definition);
    return (
      this.#accepted.get(id) === digest || this.#options.records.get('tool', id)?.drift?.digest === digest
    );
  }

  /** Undefined if there is nothing to store. */
  #changeOf({ spec, tool, id, accepted, now, isNewlyConnected }: Compared): Change | undefined {
    const { records, prose } = this.#options;
    const before = records.get('tool', id) ?? createToolRecord(spec, tool, id);
    const atMs = this.#options.nowMs();
    // Edits by an operator, in the config file or through the API, need no report.
    const isOwn = findRestTool(spec, tool) !== undefined;
    const drift = isOwn
      ? undefined
      : compareDefinitions(accepted, now, { nowMs: atMs, ...getDefinitionSource(spec) });
    if (drift === undefined && before.drift === undefined) {
      this.#accepted.set(id, now.digest);
      return undefined;
    }
    const body = computeNextRecord(before, { drift, isNewlyConnected });
    const kind = `${id} ${getDriftKind(body, prose)}`;
    const quiet = { ...quietChange(body), isCharged: body.drift !== undefined };
    if (isOwn || !this.#reports.isDue(kind, atMs) || !isDriftNews(before, body)) return quiet;
    return { ...quiet, event: toDriftEvent(before, body, atMs), message: formatDrift(body, prose), kind };
  }
}

const NOTHING_ACCEPTED: ReadonlyMap<string, string> = new Map();

/** A change without an audit event or log message. */
function quietChange(body: ToolRecord): Change {
  const record = { kind: 'tool', id: body.id, body: isEmptyRecord(body) ? undefined : body } as const;
  return { record, isCharged: false, message: '', kind: '' };
}

function isWithheld({ fitness }: Definition): boolean {
  return fitness.legacy.kind === 'withheld' && fitness.modern.kind === 'withheld';
}

interface FittingChanges {
  readonly changes: readonly Change[];
  readonly drift?: CommittedDrift | undefined;
}

interface Compared {
  readonly spec: ServerSpec;
  readonly tool: Definition;
  readonly id: string;
  readonly accepted: Text;
  readonly now: Text;
  readonly isNewlyConnected: boolean;
}

interface Change {
  readonly record: RecordChange<'tool'>;
  /** Whether it counts against the bounds of the server. */
  readonly isCharged: boolean;
  readonly event?: AuditEvent | undefined;
  /** For the log. */
  readonly message: string;
  /** Groups changes for rate-limited reports. */
  readonly kind: string;
}

/** An empty record for a tool that has none yet. */
export function createToolRecord(spec: ServerSpec, { key = '' }: Definition, id: string): ToolRecord {
  return { id, server: spec.name, identity: getServerIds(spec).identity, name: key, overrides: {} };
}
