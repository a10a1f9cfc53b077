import type { ActiveStop, StopInput, StopList, StopView } from '../../api/stop.ts';
import type { AuditEvent } from '../../core/audit-event.ts';
import { STOPS } from '../../core/record.ts';
import { computeStopId } from '../../core/record-ids.ts';
import type { Refusal } from '../../core/refusal.ts';
import { compileStops, formatStopTarget, MAX_STOPS, type Stop, type StopTarget } from '../../core/stops.ts';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Catalog } from '../catalog/catalog.ts';
import type { RecordReplica } from '../catalog/record-replica.ts';
import type { RecordChange } from '../ports/records.ts';
import type { ServerService } from './servers/server-service.ts';
import { findEntry } from './tools/find-entry.ts';
import { getEntryName } from './toolsets/tool-index.ts';

export interface StopServiceOptions {
  readonly catalog: Pick<Catalog, 'all' | 'servers'>;
  readonly servers: Pick<ServerService, 'find'>;
  readonly records: RecordReplica;
  readonly nowMs: () => number;
}

/** Maximum number of names of tools in a view. */
const MAX_NAMES = 100;

/** Stops the calls of a tool, all requests to a server, or all requests to servers, in all processes on the store. */
export class StopService {
  readonly #options: StopServiceOptions;

  constructor(options: StopServiceOptions) {
    this.#options = options;
  }

  /** Oldest first. STORE_UNAVAILABLE, RECORD_UNREADABLE */
  async list(): Promise<Result<StopList, Refusal>> {
    const { records } = this.#options;
    const read = await records.readAgain();
    if (!read.ok) return read;
    const unreadable = records.unreadable([STOPS]);
    if (unreadable !== undefined) return err(unreadable);
    return ok({ stops: records.stops().map((stop) => this.#view(stop)) });
  }

  /**
   * Takes effect in this process before it returns. A target that is stopped already keeps its first stop. Errors:
   * SERVER_UNKNOWN, TOOL_UNKNOWN, STOPS_LIMIT; REVOCATION_UNSAVED if only this process could be told.
   */
  async stop(input: StopInput, by: string): Promise<Result<StopView, Refusal>> {
    const { records, nowMs } = this.#options;
    const target = this.#resolve(input);
    if (!target.ok) return target;
    const stop: Stop = withoutUndefined({
      target: target.value,
      by,
      atMs: nowMs(),
      reason: input.reason,
    });
    const id = computeStopId(stop.target);
    const done = await records.change<Stop>(() => {
      const before = records.stops();
      const known = before.find((one) => computeStopId(one.target) === id);
      const isStored = records
        .get(STOPS.kind, STOPS.id)
        ?.stops.some((one) => computeStopId(one.target) === id);
      if (known !== undefined && isStored === true)
        return ok({ value: known, changes: [], expected: [STOPS] });
      if (known === undefined && before.length >= MAX_STOPS)
        return err({ code: 'STOPS_LIMIT', limit: MAX_STOPS });
      const after = known === undefined ? [...before, stop] : before;
      return ok({
        value: known ?? stop,
        changes: [toChange(after)],
        audit: [this.#event(by, 'stop.create', { stop: known ?? stop, isAfter: true })],
        lowers: {
          record: { ...STOPS, body: { stops: after } },
          kind: 'stop',
          name: formatStopTarget(stop.target),
        },
      });
    });
    return done.ok ? ok(this.#view(done.value)) : done;
  }

  /** Ends a stop. STOP_UNKNOWN */
  async end(id: string, by: string): Promise<Result<undefined, Refusal>> {
    const { records } = this.#options;
    return records.change<undefined>(() => {
      const before = records.stops();
      const stop = before.find((one) => computeStopId(one.target) === id);
      if (stop === undefined) return err({ code: 'STOP_UNKNOWN', id });
      return ok({
        value: undefined,
        changes: [toChange(before.filter((one) => one !== stop))],
        audit: [this.#event(by, 'stop.delete', { stop, isAfter: false })],
      });
    });
  }

  #resolve({ allCalls, server = '', tool }: StopInput): Result<StopTarget, Refusal> {
    if (allCalls === true) return ok({ kind: 'all_calls' });
    const { servers, catalog } = this.#options;
    if (tool === undefined) {
      const found = servers.find(server);
      return found.ok ? ok({ kind: 'server', server: found.value.name }) : found;
    }
    const entry = findEntry(catalog.all.listing('tools'), tool);
    if (entry !== undefined) return ok({ kind: 'tool', server: entry.server.spec.name, tool: entry.name });
    // What a server that is down offers may be unknown.
    const owner = catalog.servers.find(
      ({ spec, lists }) => tool.startsWith(`${spec.name}.`) && !lists.isKnown('tools'),
    );
    if (owner === undefined) return err({ code: 'TOOL_UNKNOWN', name: tool });
    return ok({ kind: 'tool', server: owner.spec.name, tool: tool.slice(owner.spec.name.length + 1) });
  }

  #view(stop: Stop): StopView {
    return { ...toActiveStop(stop), releases: this.#computeReleased(stop) };
  }

  /** Tools that this stop alone holds back. */
  #computeReleased(stop: Stop): StopView['releases'] {
    const { catalog, records } = this.#options;
    const id = computeStopId(stop.target);
    const others = compileStops(records.stops().filter((one) => computeStopId(one.target) !== id));
    const only = compileStops([stop]);
    const isReleased = (server: string, tool?: string): boolean =>
      only(server, tool) !== undefined && others(server, tool) === undefined;
    const released = catalog.all
      .listing('tools')
      .entries.filter(({ server, name }) => isReleased(server.spec.name, name));
    const destructive = released.filter(({ server, name, definition }) => {
      const { destructiveHint } = server.claims.policyToolOf(server.spec, name, definition).hints;
      return destructiveHint.decision.value;
    });
    return {
      tools: released.length,
      names: released.slice(0, MAX_NAMES).map(getEntryName),
      destructiveCount: destructive.length,
      destructive: destructive.slice(0, MAX_NAMES).map(getEntryName),
      unlisted: catalog.servers
        .filter(({ spec, lists }) => isReleased(spec.name) && !lists.isKnown('tools'))
        .map(({ spec }) => spec.name),
    };
  }

  #event(
    subject: string,
    action: 'stop.create' | 'stop.delete',
    { stop, isAfter }: { readonly stop: Stop; readonly isAfter: boolean },
  ): AuditEvent {
    const { id, ...state } = toActiveStop(stop);
    const target = { kind: 'stop', id, name: formatStopTarget(stop.target) } as const;
    return {
      atMs: this.#options.nowMs(),
      subject,
      action,
      target,
      ...(isAfter ? { after: state } : { before: state }),
    };
  }
}

export function toActiveStop({ target, by, atMs, reason }: Stop): ActiveStop {
  return withoutUndefined({
    id: computeStopId(target),
    kind: target.kind,
    server: target.kind === 'all_calls' ? undefined : target.server,
    tool: target.kind === 'tool' ? formatStopTarget(target) : undefined,
    by,
    at: new Date(atMs).toISOString(),
    reason,
  });
}

function toChange(stops: readonly Stop[]): RecordChange {
  return { ...STOPS, body: stops.length === 0 ? undefined : { stops } };
}
