import { CUSTOM_SERVER, type ServerSpec } from '../../core/server-spec.ts';
import type { Cause } from '../../core/cause.ts';
import { findNameFault } from '../../core/name-fault.ts';
import type { FunctionModuleSpec, RestToolSpec } from '../../core/sources/custom-tools.ts';
import { toCustomServerSpec } from '../../core/sources/custom-server.ts';
import type { Catalog } from './catalog.ts';
import type { Plan, Rejected } from './server-plan.ts';
import type { Log } from '../ports/log.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { RecordKind } from '../../core/record.ts';
import type { EntrySeal, ConfigEntry, ReadEntry, ReadCustom } from '../ports/config-entries.ts';
import type { RecordReplica } from './record-replica.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';

export interface RegisteredOptions {
  readonly records: RecordReplica;
  readonly readEntry: ReadEntry;
  readonly readCustom: ReadCustom;
  readonly seal: EntrySeal;
  /** Called with each plan before it takes effect, so that its secrets are masked from then on. */
  readonly learn: (plan: Plan) => void;
  readonly log: Log;
}

/** The servers registered at run time, in addition to those of the config file. */
export class RegisteredServers {
  readonly #options: RegisteredOptions;
  #catalog: Catalog | undefined;
  #reading: Promise<void> = Promise.resolve();
  #listing: Promise<void> = Promise.resolve();
  #disabled: readonly ServerSpec[] = [];

  constructor(options: RegisteredOptions) {
    this.#options = options;
    options.records.onChange(({ records }) => {
      if (!records.some(({ kind }) => PLANNED.has(kind))) return;
      const named = records.flatMap((one) => (one.kind === 'gateway' && one.body ? [one.body.name] : []));
      const reading = this.#read().then(() => this.#readLists(new Set(named)));
      this.#listing = Promise.allSettled([this.#listing, reading]).then(() => undefined);
    });
  }

  /** Registered servers that are not in the catalog because they are disabled. */
  get disabled(): readonly ServerSpec[] {
    return this.#disabled;
  }

  /** Masks the server's secrets from now on. */
  learn(spec: ServerSpec): void {
    this.#options.learn({ servers: [spec], rejected: [] });
  }

  /** Adds the registered servers to the catalog from now on. Resolves when it has those known so far. */
  follow(catalog: Catalog): Promise<void> {
    this.#catalog = catalog;
    return this.#read();
  }

  /** Resolves when the catalog has everything known now. */
  settled(): Promise<void> {
    return this.#read();
  }

  /** Resolves when the documents whose records were saved so far have been read again. */
  listed(): Promise<void> {
    return this.#listing;
  }

  /** Re-reads a document when its gateway record is saved: another process may have requested the import. */
  async #readLists(names: ReadonlySet<string>): Promise<void> {
    const servers = this.#catalog?.servers ?? [];
    const saved = servers.filter(
      ({ spec }) => getSourceKind(spec.transport).rereadsOnSave && names.has(spec.name),
    );
    await Promise.all(saved.map(({ lists }) => lists.readAgain()));
  }

  /** Reads run one after another, so the last one wins. */
  #read(): Promise<void> {
    this.#reading = this.#reading
      .then(async () => {
        const { disabled, ...plan } = await this.#plan();
        this.#options.learn({ ...plan, servers: [...plan.servers, ...disabled] });
        this.#disabled = disabled;
        this.#catalog?.follow(plan, 'registered');
      })
      .catch((error: unknown) => {
        this.#options.log.error('registered servers could not be read', { error: String(error) });
      });
    return this.#reading;
  }

  async #plan(): Promise<RegisteredPlan> {
    const { records, readEntry, seal } = this.#options;
    const servers: ServerSpec[] = [];
    const disabled: ServerSpec[] = [];
    const rejected: Rejected[] = [];
    for (const { name, ...sealed } of records.all('gateway')) {
      const entry = await seal.open(name, sealed);
      const spec = entry.ok ? readEntry(name, entry.value) : undefined;
      const isDisabled = entry.ok && entry.value['disabled'] === true;
      if (spec?.ok === true) (isDisabled ? disabled : servers).push(spec.value);
      else rejected.push({ name, cause: nameCause(name) ?? unreadable(entry) });
    }
    const local = await this.#local();
    const spec = toCustomServerSpec(local);
    return {
      servers: spec === undefined ? servers : [...servers, spec],
      rejected: [...rejected, ...local.rejected],
      disabled,
    };
  }

  /** Custom tools and modules of operators, in order of creation. */
  async #local(): Promise<LocalPlan> {
    const { readCustom } = this.#options;
    const rejected: Rejected[] = [];
    const readTool = (name: string, entry: ConfigEntry, author: string): Result<RestToolSpec, unknown> => {
      const read = readCustom.tool(name, entry);
      return read.ok ? ok({ ...read.value, author }) : read;
    };
    const tools = await this.#readEntries('rest_tool', readTool, rejected);
    const modules = await this.#readEntries(
      'function_module',
      (_, entry) => readCustom.module(entry),
      rejected,
    );
    return { tools, modules, rejected };
  }

  async #readEntries<T>(
    kind: CustomKind,
    read: (name: string, entry: ConfigEntry, author: string) => Result<T, unknown>,
    rejected: Rejected[],
  ): Promise<readonly T[]> {
    const { records, seal } = this.#options;
    const made: T[] = [];
    for (const { name, ...sealed } of records
      .all(kind)
      .toSorted((one, other) => one.createdMs - other.createdMs)) {
      const entry = await seal.open(toSealName(kind, name), sealed);
      const spec = entry.ok ? read(name, entry.value, sealed.author) : undefined;
      if (spec?.ok === true) made.push(spec.value);
      else
        rejected.push({
          name: `${CUSTOM_SERVER}.${name}`,
          cause: unreadable(entry),
        });
    }
    return made;
  }
}

/** The entry could not be opened, or its content is invalid. */
function unreadable(entry: Result<unknown, string>): Cause {
  return { code: 'ENTRY_UNREADABLE', reason: entry.ok ? undefined : entry.error };
}

/** An earlier version accepted other names. */
function nameCause(name: string): Cause | undefined {
  const reason = findNameFault(name);
  return reason === undefined ? undefined : { code: 'NAME_INVALID', reason };
}

/** What operators create themselves: REST tools and function modules. */
type CustomKind = 'rest_tool' | 'function_module';

/** The name that an entry is sealed under, so that no entry can be opened as another one. */
export function toSealName(kind: CustomKind, name: string): string {
  return `${kind} ${name}`;
}

interface RegisteredPlan extends Plan {
  readonly disabled: readonly ServerSpec[];
}

interface LocalPlan {
  readonly tools: readonly RestToolSpec[];
  readonly modules: readonly FunctionModuleSpec[];
  readonly rejected: readonly Rejected[];
}

/** The records that a plan is made of. */
const PLANNED: ReadonlySet<RecordKind> = new Set(['gateway', 'rest_tool', 'function_module']);
