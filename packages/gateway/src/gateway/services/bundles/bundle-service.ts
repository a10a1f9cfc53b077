import type { BundleImport, ImportPlan } from '../../../api/bundle.ts';
import {
  type BundleJson,
  type BundleRecord,
  type EntryBundleRecord,
  isEntry,
  KIND_LABELS,
  type LeftOutOfBundle,
  type RecordOf,
  toBundleJson,
  toRecordKey,
} from '../../../core/bundle/bundle.ts';
import { planImport, type Planned } from '../../../core/bundle/bundle-plan.ts';
import { splitEntrySecrets, type EntrySecrets } from '../../../core/bundle/entry-secrets.ts';
import {
  type BundleFile,
  findContradiction,
  readBundle,
  readEntrySecrets,
} from '../../../core/bundle/read-bundle.ts';
import { formatPointerStep } from '@assay-mcp/kit/json-pointer';
import type { FieldError } from '../../../core/field-error.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { MIN_PASSPHRASE_LENGTH } from '../../../core/fixed-limits.ts';
import { isSettingKey, SETTINGS } from '../../../core/settings.ts';
import { TOOLSET_LIMITS } from '../../../core/toolset.ts';
import type { RegisteredServers } from '../../catalog/registered.ts';
import type { PassphraseSeal, SecretMembers } from '../../ports/bundles.ts';
import type { EntrySeal, ReachFaults } from '../../ports/config-entries.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { ToolsetEdit } from '../toolsets/toolset-edits.ts';
import { buildBundleChanges } from './bundle-changes.ts';
import { readBundleState, type BundleState } from './bundle-state.ts';
import { readEntrySpec, takesExecute, type EntryReaders } from './entry-records.ts';
import { fillEntries, type FilledRecords } from './fill-entries.ts';
import { planItems, type PlannedImport, type ImportContext } from './plan-items.ts';
import { findSuspendedHere, type KnownTools } from './suspended-overrides.ts';

export interface BundleServiceOptions extends EntryReaders, ImportContext, Omit<KnownTools, 'records'> {
  readonly records: RecordReplica;
  readonly registered: RegisteredServers;
  readonly seal: EntrySeal;
  readonly reachFaults: ReachFaults;
  readonly passphraseSeal: PassphraseSeal;
  readonly secretMembers: SecretMembers;
  readonly nowMs: () => number;
}

export interface ExportOptions {
  readonly passphrase?: string | undefined;
  /** Names of toolsets. Absent: everything. */
  readonly toolsets?: readonly string[] | undefined;
}

export interface Importer {
  readonly subject: string;
  /** Why the importer may not add commands, modules, or documents from files. */
  readonly executeRefusal: Refusal | undefined;
}

/** Exports and imports everything that operators made. */
export class BundleService {
  readonly #options: BundleServiceOptions;

  constructor(options: BundleServiceOptions) {
    this.#options = options;
  }

  /**
   * A consistent snapshot of everything, or of these toolsets. Includes secrets only with a passphrase. TOOLSET_UNKNOWN,
   * ARGUMENTS_INVALID if the passphrase is too short.
   */
  async export({ passphrase, toolsets }: ExportOptions = {}): Promise<Result<BundleJson, Refusal>> {
    const { passphraseSeal, records, seal, nowMs } = this.#options;
    const fault = passphraseFault(passphrase);
    if (fault !== undefined) return err(fault);
    const read = await records.readAgain();
    if (!read.ok) return read;
    const state = await readBundleState(records, seal);
    const chosen = toolsets === undefined ? ok(state) : pickToolsets(state, toolsets);
    if (!chosen.ok) return chosen;
    const { open, secrets, leftOut } = this.#split(chosen.value);
    const sealed =
      passphrase === undefined || secrets.length === 0
        ? undefined
        : await passphraseSeal.seal(JSON.stringify(secrets), passphrase);
    return ok(toBundleJson(open, { exportedMs: nowMs(), sealed, leftOut }));
  }

  /**
   * Plans an import or, with `apply`, performs it: all or nothing. Errors: BUNDLE_INVALID, HINTS_CONTRADICT,
   * BUNDLE_LOCKED, TOOLSETS_FULL, KEY_UNUSABLE, or the importer's `findExecuteRefusal`.
   */
  async import(input: BundleImport, importer: Importer): Promise<Result<ImportPlan, Refusal>> {
    const read = readBundle(input.bundle, this.#options.nowMs());
    if (!read.ok) return err({ code: 'BUNDLE_INVALID', fieldErrors: read.error });
    const contradiction = findContradiction(read.value);
    if (contradiction !== undefined) return err(contradiction);
    const secrets = await this.#opened(read.value, input.passphrase);
    if (!secrets.ok) return secrets;
    const { records, registered } = this.#options;
    const current = await records.readAgain();
    if (!current.ok) return current;
    const prepare = (): Promise<Result<PlannedImport, Refusal>> =>
      this.#prepare({ file: read.value, secrets: secrets.value, input });
    if (!input.apply) {
      const prepared = await prepare();
      return prepared.ok ? ok(this.#planOf(prepared.value, false)) : prepared;
    }
    const done = await records.change<PlannedImport>(async () => {
      const prepared = await prepare();
      if (!prepared.ok) return prepared;
      const edit = await this.#editOf(prepared.value, importer);
      return edit.ok ? ok({ value: prepared.value, ...edit.value }) : edit;
    });
    if (!done.ok) return done;
    await registered.settled();
    return ok(this.#planOf(done.value, true));
  }

  async #opened(
    { sealed }: BundleFile,
    passphrase: string | undefined,
  ): Promise<Result<readonly EntrySecrets[], Refusal>> {
    if (sealed === undefined || passphrase === undefined) return ok([]);
    const text = await this.#options.passphraseSeal.open(sealed, passphrase);
    const secrets = text === undefined ? undefined : readEntrySecrets(text);
    return secrets === undefined ? err({ code: 'BUNDLE_LOCKED' }) : ok(secrets);
  }

  async #prepare({ file, secrets, input }: ImportInput): Promise<Result<PlannedImport, Refusal>> {
    const { readEntry, readCustom, records, seal } = this.#options;
    const state = await readBundleState(records, seal);
    const refusedSettings = file.records.filter(isStartupSetting);
    const storable = file.records.filter((record) => !isStartupSetting(record));
    const filled = fillEntries(
      { records: storable, pointers: file.pointers },
      { readEntry, readCustom, secrets, there: state.records },
    );
    if (!filled.ok) return err({ code: 'BUNDLE_INVALID', fieldErrors: filled.error });
    const planned = planImport(filled.value.records, state.records, input.onConflict);
    const unreachable = await this.#unreachable(file, filled.value, planned);
    if (unreachable.length > 0) return err({ code: 'BUNDLE_INVALID', fieldErrors: unreachable });
    const added = planned.filter(({ record, action }) => record.kind === 'toolset' && action === 'create');
    const stored = state.records.filter(({ kind }) => kind === 'toolset');
    const limit = TOOLSET_LIMITS.toolsets;
    if (added.length > 0 && stored.length + added.length > limit)
      return err({ code: 'TOOLSETS_FULL', limit });
    const brought = planned.flatMap(({ record, action }) =>
      record.kind === 'tool' && action !== 'kept' ? [record.body] : [],
    );
    const suspended = await findSuspendedHere(brought, this.#options);
    if (!suspended.ok) return suspended;
    const { warnings } = file;
    return ok({ filled: filled.value, planned, refusedSettings, suspended: suspended.value, warnings });
  }

  /** Finds changed entries whose destination the operator may not let Assay reach. */
  async #unreachable(
    { pointers }: BundleFile,
    { specs }: FilledRecords,
    planned: readonly Planned[],
  ): Promise<readonly FieldError[]> {
    const fieldErrors: FieldError[] = [];
    for (const { record, former, action } of planned) {
      if (!isEntry(record) || record.kind === 'function_module') continue;
      if (action === 'unchanged' || action === 'kept') continue;
      const before = former !== undefined && isEntry(former) ? former.body.entry : {};
      const key = toRecordKey(record);
      const spec = specs.get(key);
      const faults =
        spec === undefined ? [] : await this.#options.reachFaults(spec, record.body.entry, before);
      for (const { field, reason } of faults)
        fieldErrors.push({
          at: `${pointers.get(key) ?? ''}/entry${formatPointerStep(field)}`,
          kind: 'invalid',
          reason: reason.replace(/\.$/, ''),
        });
    }
    return fieldErrors;
  }

  async #editOf(
    { filled, planned }: PlannedImport,
    { subject, executeRefusal }: Importer,
  ): Promise<Result<ToolsetEdit, Refusal>> {
    const { records, seal, nowMs, registered } = this.#options;
    const changing = planned.filter(({ action }) => action === 'create' || action === 'update');
    if (executeRefusal !== undefined && changing.some(isExecuting)) return err(executeRefusal);
    // Masks their secrets before anything is reported.
    if (changing.length > 0) for (const spec of filled.specs.values()) registered.learn(spec);
    return buildBundleChanges(planned, {
      records,
      seal,
      author: { by: subject, atMs: nowMs() },
      withoutSecrets: (record) => splitEntrySecrets(record, this.#findSecrets(record)).open,
    });
  }

  #planOf(prepared: PlannedImport, applied: boolean): ImportPlan {
    const items = planItems(prepared, this.#options);
    const counts = { create: 0, update: 0, unchanged: 0, kept: 0, omitted: 0 };
    for (const { action } of items) counts[action] += 1;
    return { applied, counts, items };
  }

  #split({ records, unread }: BundleState): Split {
    const leftOut = [...unread];
    const secrets: EntrySecrets[] = [];
    const open = records.flatMap((record): readonly BundleRecord[] => {
      if (!isEntry(record)) return [record];
      const [kind, { name }] = [KIND_LABELS[record.kind], record.body];
      if (unread.some((one) => one.kind === kind && one.name === name)) return [];
      if (!readEntrySpec(record, this.#options).ok) {
        leftOut.push({ kind, name, reason: 'its entry cannot be used' });
        return [];
      }
      const split = splitEntrySecrets(record, this.#findSecrets(record));
      if (split.secrets !== undefined) secrets.push(split.secrets);
      return [split.open];
    });
    return { open, secrets, leftOut };
  }

  /** All members of an unreadable entry may be secret. */
  #findSecrets(record: EntryBundleRecord): ReadonlySet<string> {
    const { entry } = record.body;
    const spec = readEntrySpec(record, this.#options);
    return new Set(spec.ok ? this.#options.secretMembers(entry, spec.value) : Object.keys(entry));
  }
}

interface ImportInput {
  readonly file: BundleFile;
  readonly secrets: readonly EntrySecrets[];
  readonly input: BundleImport;
}

interface Split {
  readonly open: readonly BundleRecord[];
  readonly secrets: readonly EntrySecrets[];
  readonly leftOut: readonly LeftOutOfBundle[];
}

function pickToolsets({ records }: BundleState, names: readonly string[]): Result<BundleState, Refusal> {
  const all = records.filter((record) => record.kind === 'toolset');
  const known = all.map(({ body }) => body.name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) return err({ code: 'TOOLSET_UNKNOWN', name: unknown, known });
  return ok({ records: all.filter(({ body }) => names.includes(body.name)), unread: [] });
}

function isExecuting({ record, former }: Planned): boolean {
  return [record, former].some(
    (one) => one !== undefined && isEntry(one) && takesExecute(one.kind, one.body.entry),
  );
}

/** Whether only the environment or the config file may set it. */
function isStartupSetting(record: BundleRecord): record is RecordOf<'setting'> {
  return record.kind === 'setting' && isSettingKey(record.id) && SETTINGS[record.id].changedBy === 'startup';
}

function passphraseFault(passphrase: string | undefined): Refusal | undefined {
  if (passphrase === undefined || passphrase.length >= MIN_PASSPHRASE_LENGTH) return undefined;
  return {
    code: 'ARGUMENTS_INVALID',
    reason: `a passphrase has at least ${MIN_PASSPHRASE_LENGTH} characters`,
  };
}
