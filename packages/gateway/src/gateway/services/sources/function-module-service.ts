import type { FunctionModule } from '../../../api/function-module.ts';
import type { AuditEvent } from '../../../core/audit-event.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { CUSTOM_SERVER } from '../../../core/server-spec.ts';
import { computeModuleId, computeGatewayId } from '../../../core/record-ids.ts';
import type { FunctionModuleSpec } from '../../../core/sources/custom-tools.ts';
import { toCustomServerSpec } from '../../../core/sources/custom-server.ts';
import { computeMark } from '@assay-mcp/kit/digest';
import type { Catalog } from '../../catalog/catalog.ts';
import { toSealName, type RegisteredServers } from '../../catalog/registered.ts';
import { findToolId } from '../../catalog/tool-claims.ts';
import type { EntrySeal, ConfigEntry, ReadCustom } from '../../ports/config-entries.ts';
import type { Server } from '../../catalog/server.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import { waitForCustomServer, findCustomServer, toRemovalChanges } from './custom-tool-server.ts';
import type { ToolServiceOptions } from '../tools/tool-service.ts';
import { getCustomTools } from '../../../core/sources/custom-server.ts';

export interface FunctionModuleServiceOptions {
  readonly catalog: Catalog;
  readonly records: RecordReplica;
  readonly registered: RegisteredServers;
  readonly readCustom: ReadCustom;
  readonly seal: EntrySeal;
  /** Why there is no module at this absolute path. Undefined if there is one. */
  readonly moduleFault: (path: string) => Promise<string | undefined>;
  readonly nowMs: () => number;
  readonly listed: ToolServiceOptions['listed'];
}

/** The function modules that run, including those that operators add at run time. */
export class FunctionModuleService {
  readonly #options: FunctionModuleServiceOptions;

  constructor(options: FunctionModuleServiceOptions) {
    this.#options = options;
  }

  /** With the faults that were found when each was loaded. */
  async list(): Promise<readonly FunctionModule[]> {
    await this.#options.listed({ server: CUSTOM_SERVER });
    return this.#running.map((spec) => this.#view(spec));
  }

  /** Errors: MODULE_EXISTS, MODULE_INVALID, KEY_UNUSABLE. */
  async add(entry: ConfigEntry, subject: string): Promise<Result<FunctionModule, Refusal>> {
    const { readCustom, seal, records, registered, nowMs, moduleFault } = this.#options;
    const read = readCustom.module(entry);
    if (!read.ok) return err({ code: 'MODULE_INVALID', faults: read.error });
    const { path } = read.value;
    const source = toCustomServerSpec({ tools: [], modules: [read.value] });
    // Masks its secrets before anything is reported.
    if (source !== undefined) registered.learn(source);
    if (this.#running.some((spec) => spec.path === path)) return err({ code: 'MODULE_EXISTS', path });
    const fault = await moduleFault(path);
    if (fault !== undefined)
      return err({ code: 'MODULE_INVALID', faults: [{ field: 'module', reason: fault }] });
    // The resolved path is independent of the working directory.
    const sealed = await seal.seal(toSealName('function_module', path), { ...entry, module: path });
    if (!sealed.ok) return sealed;
    const id = computeModuleId(path);
    const done = await records.change(() => {
      if (records.get('function_module', id) !== undefined) return err({ code: 'MODULE_EXISTS', path });
      const body = { name: path, ...sealed.value, createdMs: nowMs(), author: subject };
      const change = { kind: 'function_module', id, body } as const;
      const audit = [this.#event(subject, 'function.add', path)];
      return ok({ value: undefined, changes: [change], audit });
    });
    if (!done.ok) return done;
    await waitForCustomServer(this.#options);
    return ok(this.#view(read.value));
  }

  /** Errors: MODULE_UNKNOWN; MODULE_READ_ONLY if the module is from the config file. */
  async remove(path: string, subject: string): Promise<Result<undefined, Refusal>> {
    const { records } = this.#options;
    const id = computeModuleId(path);
    const isKept = records.get('function_module', id) !== undefined;
    if (!isKept && this.#running.some((spec) => spec.path === path))
      return err({ code: 'MODULE_READ_ONLY', path });
    const unknown = (): Result<never, Refusal> =>
      err({ code: 'MODULE_UNKNOWN', path, known: this.#running.map((spec) => spec.path) });
    if (!isKept) return unknown();
    const done = await records.change(() => {
      if (records.get('function_module', id) === undefined) return unknown();
      const change = { kind: 'function_module', id, body: undefined } as const;
      return ok({
        value: undefined,
        // A tool created later under the same name is a different tool.
        changes: [change, ...toRemovalChanges(records, this.#toolIdsOf(path))],
        audit: [this.#event(subject, 'function.remove', path)],
      });
    });
    if (!done.ok) return done;
    await waitForCustomServer(this.#options);
    return ok(undefined);
  }

  #toolIdsOf(path: string): readonly string[] {
    const server = this.#server;
    const tools = server?.inventory.tools ?? [];
    return tools.flatMap((tool) => {
      const isOfModule = tool.facts?.module === computeMark(path);
      return server === undefined || !isOfModule ? [] : (findToolId(server.spec, tool) ?? []);
    });
  }

  get #running(): readonly FunctionModuleSpec[] {
    return getCustomTools(this.#server?.spec).modules;
  }

  get #server(): Server | undefined {
    return findCustomServer(this.#options.catalog);
  }

  #view({ path, env, reads, writes, memoryMb, timeoutMs }: FunctionModuleSpec): FunctionModule {
    const isKept = this.#options.records.get('function_module', computeModuleId(path)) !== undefined;
    const skipped = this.#server?.link?.skipped ?? [];
    return {
      path,
      origin: isKept ? 'registered' : 'config_file',
      env: Object.keys(env),
      reads,
      writes,
      memoryMb,
      timeoutMs,
      faults: skipped.flatMap(({ of, why }) =>
        of?.module !== path ? [] : [of.tool === undefined ? why : `${of.tool}: ${why}`],
      ),
    };
  }

  #event(subject: string, action: string, path: string): AuditEvent {
    const target = { kind: 'gateway', id: computeGatewayId(CUSTOM_SERVER), name: CUSTOM_SERVER } as const;
    return { atMs: this.#options.nowMs(), subject, action, target, after: { module: path } };
  }
}
