import type { AuditEvent } from '../../../core/audit-event.ts';
import { isMembers } from '@assay-mcp/kit/canonical-json';
import { type Hint, HINTS, isContradiction, pickDeclaredHints } from '@assay-mcp/kit/hint';
import { computeRestToolId, computeToolId } from '../../../core/record-ids.ts';
import { assignPublicNames } from '../../../core/names.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { CUSTOM_SERVER_IDENTITY } from '../../../core/server-identity.ts';
import { CUSTOM_SERVER } from '../../../core/server-spec.ts';
import type { EntryFault } from '@assay-mcp/kit/json-position';
import { toCustomServerSpec } from '../../../core/sources/custom-server.ts';
import type { RestToolSpec } from '../../../core/sources/custom-tools.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { findElsewhereFault } from '../servers/elsewhere-fault.ts';
import { toSealName, type RegisteredServers } from '../../catalog/registered.ts';
import type { DriftDetector } from '../../catalog/drift-detector.ts';
import type { Changer, ToolService } from '../tools/tool-service.ts';
import type { ToolPatch } from '../tools/tool-edit.ts';
import type { Tool } from '../../../api/tool.ts';
import type { EntrySeal, ConfigEntry, ReachFaults, ReadCustom } from '../../ports/config-entries.ts';
import type { Server } from '../../catalog/server.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { EntryRecord } from '../../../core/record.ts';
import type { RecordChange } from '../../ports/records.ts';
import { waitForCustomServer, findCustomServer, toRemovalChanges } from './custom-tool-server.ts';
import { toRestFacts } from '../tools/rest-facts.ts';
import { getCustomTools } from '../../../core/sources/custom-server.ts';

export interface CustomToolServiceOptions {
  readonly catalog: Catalog;
  readonly records: RecordReplica;
  readonly drift: DriftDetector;
  readonly registered: RegisteredServers;
  readonly readCustom: ReadCustom;
  readonly seal: EntrySeal;
  readonly tools: ToolService;
  readonly reachFaults: ReachFaults;
  /** Finds faults in the request of a tool. */
  readonly faultsOf: (spec: RestToolSpec) => Promise<readonly EntryFault[]>;
  /** JSON text of the definition listed for a tool. */
  readonly declaredTextOf: (spec: RestToolSpec) => Promise<string>;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
  readonly nowMs: () => number;
}

/** REST tools that operators create at run time. */
export class CustomToolService {
  readonly #options: CustomToolServiceOptions;

  constructor(options: CustomToolServiceOptions) {
    this.#options = options;
  }

  /** Errors: TOOL_EXISTS, TOOL_INVALID, HINTS_CONTRADICT, KEY_UNUSABLE. */
  async create(name: string, entry: ConfigEntry, { subject }: Changer): Promise<Result<Tool, Refusal>> {
    const { records, nowMs } = this.#options;
    const made = await this.#prepareEntry(name, entry);
    if (!made.ok) return made;
    if (this.#has(name) || this.#isPublic(name)) return err({ code: 'TOOL_EXISTS', name });
    const done = await records.change(() => {
      if (records.get('rest_tool', computeRestToolId(name)) !== undefined)
        return err({ code: 'TOOL_EXISTS', name });
      const { sealed, spec } = made.value;
      const body = { name, ...sealed, createdMs: nowMs(), author: subject };
      const event = this.#event(subject, 'tool.create', { name, after: spec });
      return ok({ value: undefined, changes: [entryChange(name, body)], audit: [event] });
    });
    return done.ok ? this.#shown(name) : done;
  }

  /**
   * Changes the overrides of any tool and, of a tool created here, members of its entry, where null removes one. A hint
   * or title that is reset is removed from the entry, too: whoever created the tool is an operator, not its server.
   * Errors: TOOL_UNKNOWN, TOOL_READ_ONLY, TOOL_INVALID, HINTS_CONTRADICT, TOOL_EXISTS, or the changer's objection.
   */
  async change(
    id: string,
    { request = {}, patch }: { readonly request?: ConfigEntry | undefined; readonly patch: ToolPatch },
    changer: Changer,
  ): Promise<Result<Tool, Refusal>> {
    const found = await this.#own(id);
    const isEntry = found.ok && !this.#isShadowed(found.value) && isReset(patch);
    if (Object.keys(request).length === 0 && !isEntry) return this.#options.tools.change(id, patch, changer);
    if (!found.ok) return found;
    const name = found.value;
    if (this.#isShadowed(name)) return fixed(name, CONFIG_FILE);
    const { records, seal, tools, declaredTextOf } = this.#options;
    const done = await records.change<undefined>(async () => {
      const record = records.get('rest_tool', computeRestToolId(name));
      if (record === undefined) return err({ code: 'TOOL_UNKNOWN', name });
      const objection = await this.#objectionOf(changer, id);
      if (objection !== undefined) return err(objection);
      const opened = await seal.open(toSealName('rest_tool', name), record);
      const former = opened.ok ? opened.value : {};
      const edits = { ...resetMembers(former, patch), ...request };
      const fault = findElsewhereFault(former, edits);
      if (fault !== undefined) return invalid(name, [fault]);
      const members = Object.entries({ ...former, ...edits }).filter(([, value]) => value !== null);
      const entry = Object.fromEntries(members);
      const made = await this.#prepareEntry(name, entry, former);
      if (!made.ok) return made;
      const { sealed, spec } = made.value;
      const patched = await tools.patch(id, patch, {
        subject: changer.subject,
        text: await declaredTextOf(spec),
      });
      if (!patched.ok) return patched;
      const { changes, audit, lowers } = patched.value;
      if (JSON.stringify(entry) === JSON.stringify(former)) {
        const expected = [{ kind: 'rest_tool', id: computeRestToolId(name) } as const];
        return ok({ value: undefined, changes, audit, lowers, expected });
      }
      const event = this.#event(changer.subject, 'tool.change', {
        name,
        before: this.#spec(name),
        after: spec,
      });
      return ok({
        value: undefined,
        changes: [entryChange(name, { ...record, ...sealed }), ...changes],
        audit: [event, ...audit],
        expected: changes.length > 0 ? [] : [{ kind: 'tool', id }],
        lowers,
      });
    });
    return done.ok ? this.#shown(name) : done;
  }

  /**
   * Removes a tool and its overrides. If a tool of the config file shadows it, the overrides belong to that one and
   * stay. Errors: TOOL_UNKNOWN, TOOL_READ_ONLY, or the changer's objection.
   */
  async remove(id: string, changer: Changer): Promise<Result<undefined, Refusal>> {
    const { records } = this.#options;
    const found = await this.#own(id);
    if (!found.ok) return found;
    const name = found.value;
    const isShadowed = this.#isShadowed(name);
    const done = await records.change<undefined>(async () => {
      if (records.get('rest_tool', computeRestToolId(name)) === undefined)
        return err({ code: 'TOOL_UNKNOWN', name });
      const objection = await this.#objectionOf(changer, id);
      if (objection !== undefined) return err(objection);
      const before = isShadowed ? undefined : this.#spec(name);
      const event = this.#event(changer.subject, 'tool.delete', { name, before });
      // A tool created later under the same name is a different tool.
      const overrides = isShadowed ? [] : toRemovalChanges(records, [id]);
      const expected = overrides.length > 0 ? [] : [{ kind: 'tool', id } as const];
      return ok({
        value: undefined,
        changes: [entryChange(name, undefined), ...overrides],
        audit: [event],
        expected,
      });
    });
    if (!done.ok) return done;
    await waitForCustomServer(this.#options);
    return ok(undefined);
  }

  /** The id of a tool made here, by its id or name, whether it is listed or not. An unknown text is returned as it is. */
  idOf(idOrName: string): string {
    const own = this.#options.records.all('rest_tool').find(({ name }) => name === idOrName);
    return own === undefined ? idOrName : toolIdIn(own.name);
  }

  /** The name of a tool created here, even if it is unusable now. TOOL_READ_ONLY names the origin of any other tool. */
  async #own(id: string): Promise<Result<string, Refusal>> {
    const { records, tools } = this.#options;
    const ready = await records.ready();
    if (!ready.ok) return ready;
    const own = records.all('rest_tool').find(({ name }) => toolIdIn(name) === id);
    if (own !== undefined) return ok(own.name);
    const found = await tools.find(id);
    return found.ok ? fixed(found.value.name, this.#makerOf(found.value)) : found;
  }

  #makerOf({ serverName, originalName }: Tool): string {
    if (serverName !== CUSTOM_SERVER) return `the gateway ${JSON.stringify(serverName)}`;
    return this.#spec(originalName) === undefined ? 'a module of functions' : CONFIG_FILE;
  }

  /** Whether the config file has another tool of this name. */
  #isShadowed(name: string): boolean {
    const { rejected } = this.#options.catalog;
    return this.#spec(name) !== undefined && rejected.some((one) => one.name === `${CUSTOM_SERVER}.${name}`);
  }

  /** Checks the current state, not what was listed before a concurrent change. */
  async #objectionOf({ objection }: Changer, id: string): Promise<Refusal | undefined> {
    if (objection === undefined) return undefined;
    await waitForCustomServer(this.#options);
    const now = await this.#options.tools.find(id);
    return now.ok ? objection(now.value) : undefined;
  }

  /** The tool as currently listed. */
  async #shown(name: string): Promise<Result<Tool, Refusal>> {
    const { drift, tools } = this.#options;
    await waitForCustomServer(this.#options);
    const server = this.#server;
    if (server !== undefined) await drift.settled(server.spec);
    return tools.find(toolIdIn(name));
  }

  async #prepareEntry(
    name: string,
    entry: ConfigEntry,
    former: ConfigEntry = {},
  ): Promise<Result<SealedSpec, Refusal>> {
    const { readCustom, seal, registered, faultsOf, reachFaults } = this.#options;
    const { annotations } = entry;
    if (isMembers(annotations) && isContradiction(pickDeclaredHints(annotations)))
      return err({ code: 'HINTS_CONTRADICT', tool: name });
    const spec = readCustom.tool(name, entry);
    if (!spec.ok) return invalid(name, spec.error);
    const faults = await faultsOf(spec.value);
    if (faults.length > 0) return invalid(name, faults);
    const source = toCustomServerSpec({ tools: [spec.value], modules: [] });
    const forbidden = source === undefined ? [] : await reachFaults(source, entry, former);
    if (forbidden.length > 0) return invalid(name, forbidden);
    // Masks its secrets before anything is reported.
    if (source !== undefined) registered.learn(source);
    const sealed = await seal.seal(toSealName('rest_tool', name), entry);
    return sealed.ok ? ok({ spec: spec.value, sealed: sealed.value }) : sealed;
  }

  /** Whether the local source lists a tool of this name, or would. */
  #has(name: string): boolean {
    const isListed = this.#server?.inventory.tools.some(({ key }) => key === name) === true;
    return isListed || this.#spec(name) !== undefined;
  }

  /** Whether another tool has this public name. If two tools claim one name, neither gets it. */
  #isPublic(name: string): boolean {
    const listing = this.#options.catalog.all.listing('tools');
    const [key = name] = assignPublicNames([{ server: CUSTOM_SERVER, name, isPrefixed: false }]).names;
    return listing.find(key) !== undefined || listing.candidates(key) !== undefined;
  }

  #spec(name: string): RestToolSpec | undefined {
    return getCustomTools(this.#server?.spec).tools.find((tool) => tool.name === name);
  }

  get #server(): Server | undefined {
    return findCustomServer(this.#options.catalog);
  }

  #event(subject: string, action: string, { name, before, after }: ToolSpecChange): AuditEvent {
    const { nowMs, mask } = this.#options;
    const shown = (spec: RestToolSpec | undefined): unknown => spec && { name, ...toRestFacts(spec, mask) };
    const target = { kind: 'tool', id: toolIdIn(name), name: `${CUSTOM_SERVER}.${name}` } as const;
    return { atMs: nowMs(), subject, action, target, before: shown(before), after: shown(after) };
  }
}

/** Whether a patch resets a hint or the title. */
function isReset({ annotations, title = annotations?.title }: ToolPatch): boolean {
  return title === null || HINTS.some((hint) => isHintReset(annotations, hint));
}

function isHintReset(annotations: ToolPatch['annotations'], hint: Hint): boolean {
  const value = annotations?.hints[hint];
  return value === null || (value === undefined && annotations?.replaces === true);
}

/** The members of an entry that change if a patch resets hints or the title. */
function resetMembers(
  former: ConfigEntry,
  { annotations, title = annotations?.title }: ToolPatch,
): ConfigEntry {
  const declared = isMembers(former['annotations']) ? Object.entries(former['annotations']) : [];
  const kept = declared.filter(([key]) =>
    key === 'title' ? title !== null : !HINTS.some((hint) => hint === key && isHintReset(annotations, hint)),
  );
  return {
    ...(kept.length < declared.length && {
      annotations: kept.length === 0 ? null : Object.fromEntries(kept),
    }),
    ...(title === null && { title: null }),
  };
}

function entryChange(name: string, body: EntryRecord | undefined): RecordChange<'rest_tool'> {
  return { kind: 'rest_tool', id: computeRestToolId(name), body };
}

interface SealedSpec {
  readonly spec: RestToolSpec;
  readonly sealed: { readonly keyId: string; readonly sealed: string };
}

interface ToolSpecChange {
  readonly name: string;
  readonly before?: RestToolSpec | undefined;
  readonly after?: RestToolSpec | undefined;
}

function toolIdIn(name: string): string {
  return computeToolId(CUSTOM_SERVER, CUSTOM_SERVER_IDENTITY, name);
}

const CONFIG_FILE = 'the config file';

function fixed(tool: string, by: string): Result<never, Refusal> {
  return err({ code: 'TOOL_READ_ONLY', tool, by });
}

function invalid(name: string, faults: readonly EntryFault[]): Result<never, Refusal> {
  return err({ code: 'TOOL_INVALID', name, faults });
}
