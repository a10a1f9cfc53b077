import type { AuditEvent } from '../../../core/audit-event.ts';
import { computeGatewayId } from '../../../core/record-ids.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../../core/server-spec.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { DriftDetector } from '../../catalog/drift-detector.ts';
import type { ToolClaims } from '../../catalog/tool-claims.ts';
import type { EntrySeal, ConfigEntry, Imported, ReachFaults, ReadEntry } from '../../ports/config-entries.ts';
import type { Server } from '../../catalog/server.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { EntryRecord } from '../../../core/record.ts';
import type { RecordChange } from '../../ports/records.ts';
import { findElsewhereFault } from './elsewhere-fault.ts';
import { buildTrustChange, toTrustKey } from './server-trust.ts';
import type { Gateway, GatewayTrust, RefreshResult } from '../../../api/server.ts';
import type { Policy } from '../../../core/policy/policy.ts';
import { listServerViews, toConnectionView } from './server-view.ts';
import { toTrustView } from './trust-view.ts';
import { toNotTriedRefusal, refreshLists, waitUntilSettled } from './refreshed.ts';
import type { RegisteredServers } from '../../catalog/registered.ts';

export interface ServerServiceOptions {
  readonly catalog: Catalog;
  readonly records: RecordReplica;
  readonly claims: ToolClaims;
  readonly policy: { readonly current: Policy };
  readonly drift: DriftDetector;
  readonly registered: RegisteredServers;
  readonly readEntry: ReadEntry;
  readonly reachFaults: ReachFaults;
  readonly seal: EntrySeal;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
  readonly nowMs: () => number;
}

export interface ServerInput {
  /** Members of the entry to change. Null removes one. */
  readonly entry?: ConfigEntry | undefined;
  /** Null removes the operator's decision. */
  readonly trust?: boolean | null | undefined;
  readonly imported?: Imported | undefined;
}

/** The author of a change, and a check of what they saw. */
export interface ServerChanger {
  readonly subject: string;
  readonly objection?: ((view: Gateway) => Refusal | undefined) | undefined;
}

/** Lets operators view, add and change servers. */
export class ServerService {
  readonly #options: ServerServiceOptions;

  constructor(options: ServerServiceOptions) {
    this.#options = options;
  }

  /** Servers of the config file in order, then registered ones. */
  all(): readonly Gateway[] {
    return listServerViews(this.#options);
  }

  /** Reads what other processes have stored. If that fails, the servers known so far stay. */
  async readAgain(): Promise<void> {
    await this.#options.records.readAgain();
    await this.#options.registered.settled();
  }

  /** By id or by name. Error: SERVER_UNKNOWN. */
  find(idOrName: string): Result<Gateway, Refusal> {
    const all = this.all();
    const found = all.find(({ id }) => id === idOrName) ?? all.find(({ name }) => name === idOrName);
    return found === undefined ? this.#unknown(idOrName) : ok(found);
  }

  /** By id or by name. Error: SERVER_UNKNOWN, also for an entry that cannot be used. */
  specOf(idOrName: string): Result<ServerSpec, Refusal> {
    const found = this.find(idOrName);
    if (!found.ok) return found;
    const spec = this.#spec(found.value.name);
    return spec === undefined ? this.#unknown(idOrName) : ok(spec);
  }

  /** Adds a server and waits a while for it to become ready. Errors: GATEWAY_EXISTS, GATEWAY_INVALID, KEY_UNUSABLE. */
  async register(
    name: string,
    input: ServerInput,
    { subject }: ServerChanger,
  ): Promise<Result<Gateway, Refusal>> {
    const { nowMs, records } = this.#options;
    const id = computeGatewayId(name);
    if (this.all().some((view) => view.name === name)) return err({ code: 'GATEWAY_EXISTS', name });
    const made = await this.#prepareEntry(name, input.entry ?? {}, { imported: input.imported });
    if (!made.ok) return made;
    const { spec, sealed } = made.value;
    const done = await records.change(() => {
      if (records.get('gateway', id) !== undefined) return err({ code: 'GATEWAY_EXISTS', name });
      const body = { name, ...sealed, createdMs: nowMs(), author: subject, ...pickImportedMs(input) };
      const event = this.#event(subject, 'gateway.create', { name, after: spec });
      const trusted = buildTrustChange(this.#options, spec, { trust: input.trust, subject });
      return ok({
        value: undefined,
        changes: [entryChange(name, body), ...(trusted ? [trusted.record] : [])],
        audit: [event, ...(trusted ? [trusted.event] : [])],
      });
    });
    if (!done.ok) return done;
    await this.#settled(name);
    return this.find(id);
  }

  /** Errors: SERVER_UNKNOWN, GATEWAY_READ_ONLY, GATEWAY_INVALID, or the changer's objection. */
  async change(
    idOrName: string,
    input: ServerInput,
    changer: ServerChanger,
  ): Promise<Result<Gateway, Refusal>> {
    const found = this.find(idOrName);
    if (!found.ok) return found;
    const { id, name, trust } = found.value;
    const objection = changer.objection?.(found.value);
    if (objection !== undefined) return err(objection);
    const { entry = {} } = input;
    const isEntry = Object.keys(entry).length > 0;
    const spec = this.#spec(name);
    if (input.trust !== undefined && (trust?.origin === 'config_file' || (!isEntry && spec === undefined)))
      return err({ code: 'GATEWAY_READ_ONLY', name, field: 'trust' });
    if (isEntry) {
      const changed = await this.#changeEntry(found.value, { ...input, entry }, changer);
      if (!changed.ok) return changed;
      await this.#settled(name);
      if (input.imported !== undefined) await waitUntilSettled(this.#options.registered.listed());
    } else if (input.trust !== undefined && spec !== undefined) {
      const trusted = await this.#trust(spec, input.trust, changer);
      if (!trusted.ok) return trusted;
    }
    return this.find(id);
  }

  /** What trust in the hints of a server changes and what it holds for. Error: SERVER_UNKNOWN. */
  async readTrust(idOrName: string): Promise<Result<GatewayTrust, Refusal>> {
    const spec = this.specOf(idOrName);
    if (!spec.ok) return spec;
    const server = this.#server(spec.value.name);
    // A CLI command starts only the servers it needs.
    if (server?.lists.isKnown('tools') === false) await this.#settled(spec.value.name);
    await this.#options.claims.studied(spec.value);
    return this.#trustView(idOrName);
  }

  #trustView(idOrName: string): Result<GatewayTrust, Refusal> {
    const spec = this.specOf(idOrName);
    if (!spec.ok) return spec;
    const { claims, policy, mask } = this.#options;
    const definitions = this.#server(spec.value.name)?.inventory.tools ?? [];
    return ok(toTrustView(spec.value, definitions, { claims, policy: policy.current, mask }));
  }

  /**
   * Changes the trust in the server that the operator has seen: what runs, or its origin, has this identity. Errors:
   * SERVER_UNKNOWN, SERVER_CHANGED, GATEWAY_READ_ONLY.
   */
  async changeTrust(
    idOrName: string,
    { trust, identity }: { readonly trust: boolean | null; readonly identity: string },
    { subject }: Pick<ServerChanger, 'subject'>,
  ): Promise<Result<GatewayTrust, Refusal>> {
    const seen = this.specOf(idOrName);
    if (!seen.ok) return seen;
    const { name } = seen.value;
    const objection = (): Refusal | undefined => {
      const now = this.#trustView(name);
      if (!now.ok) return now.error;
      if (now.value.identity !== identity) return { code: 'SERVER_CHANGED', name, target: now.value.target };
      return now.value.trust.origin === 'config_file'
        ? { code: 'GATEWAY_READ_ONLY', name, field: 'trust' }
        : undefined;
    };
    const refusal = objection();
    if (refusal !== undefined) return err(refusal);
    // Its record is bound to the identity of `seen`, so a swap that nothing here notices is not trusted either.
    const changed = await this.#trust(seen.value, trust, { subject, objection });
    return changed.ok ? this.#trustView(name) : changed;
  }

  /** Records of its tools stay, and apply if it returns. SERVER_UNKNOWN, GATEWAY_READ_ONLY, the changer's objection. */
  async remove(idOrName: string, changer: ServerChanger): Promise<Result<undefined, Refusal>> {
    const found = this.find(idOrName);
    if (!found.ok) return found;
    const { id, name } = found.value;
    const refusal = changer.objection?.(found.value);
    if (refusal !== undefined) return err(refusal);
    // A server that the config file shadows can be removed, too.
    if (this.#options.records.get('gateway', id) === undefined)
      return err({ code: 'GATEWAY_READ_ONLY', name, field: '' });
    const before = this.#spec(name);
    const done = await this.#options.records.change<undefined>(async () => {
      if (this.#options.records.get('gateway', id) === undefined) return this.#unknown(name);
      const objection = await this.#objectionOf(changer, id);
      if (objection !== undefined) return err(objection);
      const event = this.#event(changer.subject, 'gateway.delete', { name, before });
      const expected = before && [toTrustKey(before)];
      return ok({ value: undefined, changes: [entryChange(name, undefined)], audit: [event], expected });
    });
    if (!done.ok) return done;
    await this.#options.registered.settled();
    return ok(undefined);
  }

  /** Reads the lists of a server again and compares them. Errors: SERVER_UNKNOWN, SERVER_UNAVAILABLE. */
  async refresh(idOrName: string): Promise<Result<RefreshResult, Refusal>> {
    const found = this.find(idOrName);
    if (!found.ok) return found;
    const { id, name } = found.value;
    const server = this.#server(name);
    return server === undefined
      ? err(toNotTriedRefusal(name, this.#options))
      : refreshLists(id, server, this.#options);
  }

  async #changeEntry(
    { id, name, origin }: Gateway,
    input: ServerInput & { readonly entry: ConfigEntry },
    changer: ServerChanger,
  ): Promise<Result<undefined, Refusal>> {
    const { records, seal } = this.#options;
    const { entry: edits, trust } = input;
    const [field = ''] = Object.keys(edits);
    if (origin !== 'registered') return err({ code: 'GATEWAY_READ_ONLY', name, field });
    const before = this.#spec(name);
    return records.change<undefined>(async () => {
      const record = records.get('gateway', id);
      if (record === undefined) return this.#unknown(name);
      const objection = await this.#objectionOf(changer, id);
      if (objection !== undefined) return err(objection);
      const opened = await seal.open(name, record);
      // An entry that can no longer be decrypted is replaced entirely.
      const former = opened.ok ? opened.value : {};
      const fault = findElsewhereFault(former, edits);
      if (fault !== undefined) return err({ code: 'GATEWAY_INVALID', name, faults: [fault] });
      const entry = Object.fromEntries(
        Object.entries({ ...former, ...edits }).filter(([, value]) => value !== null),
      );
      const made = await this.#prepareEntry(name, entry, { former, imported: input.imported });
      if (!made.ok) return made;
      const wanted = { trust, subject: changer.subject };
      const trusted = buildTrustChange(this.#options, made.value.spec, wanted);
      // The running server, which keeps running if its new entry cannot be stored.
      const lowers = before && buildTrustChange(this.#options, before, wanted)?.lowers;
      const isSame = JSON.stringify(entry) === JSON.stringify(former);
      const sealed = isSame ? undefined : made.value.sealed;
      const event = this.#event(changer.subject, 'gateway.update', { name, before, after: made.value.spec });
      const isWritten = !isSame || input.imported !== undefined;
      return ok({
        value: undefined,
        changes: [
          ...(isWritten ? [entryChange(name, { ...record, ...pickImportedMs(input), ...sealed })] : []),
          ...(trusted ? [trusted.record] : []),
        ],
        expected: isWritten ? [] : [{ kind: 'gateway', id }],
        audit: [...(isSame ? [] : [event]), ...(trusted ? [trusted.event] : [])],
        lowers,
      });
    });
  }

  /** Checked again on each attempt, because the server may have changed since. */
  async #objectionOf({ objection }: ServerChanger, id: string): Promise<Refusal | undefined> {
    if (objection === undefined) return undefined;
    await this.#options.registered.settled();
    const found = this.find(id);
    return found.ok ? objection(found.value) : found.error;
  }

  async #prepareEntry(
    name: string,
    entry: ConfigEntry,
    { former = {}, imported }: Pick<ServerInput, 'imported'> & { readonly former?: ConfigEntry },
  ): Promise<Result<SealedSpec, Refusal>> {
    const { readEntry, reachFaults, seal } = this.#options;
    const spec = readEntry(name, entry);
    if (!spec.ok) return err({ code: 'GATEWAY_INVALID', name, faults: spec.error });
    const faults = await reachFaults(spec.value, entry, former);
    if (faults.length > 0) return err({ code: 'GATEWAY_INVALID', name, faults });
    this.#options.registered.learn(spec.value); // masks its secrets before anything is reported
    const read = await imported?.read(spec.value);
    if (read?.ok === false) return read;
    const sealed = await seal.seal(name, entry);
    return sealed.ok ? ok({ spec: spec.value, sealed: sealed.value }) : sealed;
  }

  async #trust(
    spec: ServerSpec,
    trust: boolean | null,
    changer: ServerChanger,
  ): Promise<Result<undefined, Refusal>> {
    return this.#options.records.change<undefined>(async () => {
      const objection = await this.#objectionOf(changer, computeGatewayId(spec.name));
      if (objection !== undefined) return err(objection);
      const trusted = buildTrustChange(this.#options, spec, { trust, subject: changer.subject });
      if (trusted === undefined) return ok({ value: undefined, changes: [] });
      const { record, event, lowers } = trusted;
      const expected = [{ kind: 'gateway', id: computeGatewayId(spec.name) } as const];
      return ok({ value: undefined, changes: [record], audit: [event], expected, lowers });
    });
  }

  /** Resolves when a server has had a chance to become ready. */
  async #settled(name: string): Promise<void> {
    await this.#options.registered.settled();
    const server = this.#server(name);
    if (server === undefined) return;
    // A CLI command starts only the servers it needs.
    server.start();
    await waitUntilSettled(server.settled());
    await this.#options.drift.settled(server.spec);
  }

  #server(name: string): Server | undefined {
    return this.#options.catalog.servers.find(({ spec }) => spec.name === name);
  }

  #spec(name: string): ServerSpec | undefined {
    const { disabled } = this.#options.registered;
    return this.#server(name)?.spec ?? disabled.find((spec) => spec.name === name);
  }

  #unknown(name: string): Result<never, Refusal> {
    return err({ code: 'SERVER_UNKNOWN', name, known: this.all().map((view) => view.name) });
  }

  #event(subject: string, action: string, { name, before, after }: ServerChange): AuditEvent {
    const { nowMs, mask } = this.#options;
    const shown = (spec: ServerSpec | undefined): unknown =>
      spec && { name, ...toConnectionView(spec, mask) };
    const target = { kind: 'gateway', id: computeGatewayId(name), name } as const;
    return { atMs: nowMs(), subject, action, target, before: shown(before), after: shown(after) };
  }
}

function entryChange(name: string, body: EntryRecord | undefined): RecordChange<'gateway'> {
  return { kind: 'gateway', id: computeGatewayId(name), body };
}

function pickImportedMs({ imported }: ServerInput): Pick<EntryRecord, 'importedMs'> {
  return imported === undefined ? {} : { importedMs: imported.atMs };
}

interface SealedSpec {
  readonly spec: ServerSpec;
  readonly sealed: { readonly keyId: string; readonly sealed: string };
}

interface ServerChange {
  readonly name: string;
  readonly before?: ServerSpec | undefined;
  readonly after?: ServerSpec | undefined;
}
