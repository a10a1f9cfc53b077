import type { ImportPlan } from '../../../api/bundle.ts';
import { toBundleJson, type BundleJson } from '../../../core/bundle/bundle-json.ts';
import {
  ENTRY_KINDS,
  ENTRY_LISTS,
  MIN_PASSPHRASE_LENGTH,
  type BundledEntry,
  type BundleFile,
  type EntryKind,
  type LeftOutOfBundle,
} from '../../../core/bundle/bundle.ts';
import { planImport, type OnConflict, type Planned } from '../../../core/bundle/bundle-plan.ts';
import { splitEntrySecrets, type EntrySecrets } from '../../../core/bundle/entry-secrets.ts';
import { readBundle } from '../../../core/bundle/read-bundle.ts';
import { findContradiction } from '../../../core/bundle/read-bundled-override.ts';
import { readEntrySecrets } from '../../../core/bundle/read-sealed.ts';
import { formatPointerStep } from '../../../core/json-pointer.ts';
import type { SettingValue } from '../../../core/record.ts';
import type { FieldError } from '../../../core/field-error.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { isSettingKey, SETTINGS, type SettingKey } from '../../../core/settings.ts';
import { TOOLSET_LIMITS } from '../../../core/toolset.ts';
import type { RegisteredServers } from '../../catalog/registered.ts';
import type { PassphraseSeal, SecretMembers } from '../../ports/bundles.ts';
import type { EntrySeal, ReachFaults } from '../../ports/config-entries.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { ToolsetEdit } from '../toolsets/toolset-edits.ts';
import { buildBundleChanges } from './bundle-changes.ts';
import { readBundleState, type BundleState } from './bundle-state.ts';
import { readEntrySpec, takesExecute, type EntryReaders } from './entry-records.ts';
import { toEntryKey, fillEntries, type RefilledBundle } from './fill-entries.ts';
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

export interface BundleInput {
  /** Parsed JSON. */
  readonly bundle: unknown;
  readonly passphrase?: string | undefined;
  /** Whether to apply the import, or only plan it. */
  readonly apply: boolean;
  readonly onConflict: OnConflict;
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

  /** A consistent snapshot. Includes secrets only with a passphrase. ARGUMENTS_INVALID if that is too short. */
  async export(passphrase?: string): Promise<Result<BundleJson, Refusal>> {
    const { passphraseSeal, records, seal, nowMs } = this.#options;
    const fault = passphraseFault(passphrase);
    if (fault !== undefined) return err(fault);
    const read = await records.readAgain();
    if (!read.ok) return read;
    const state = await readBundleState(records, seal);
    const { bundle, secrets, leftOut } = this.#split(state);
    const sealed =
      passphrase === undefined || secrets.length === 0
        ? undefined
        : await passphraseSeal.seal(JSON.stringify(secrets), passphrase);
    return ok(toBundleJson(bundle, { exportedMs: nowMs(), sealed, leftOut }));
  }

  /**
   * Plans an import or, with `apply`, performs it: all or nothing. Errors: BUNDLE_INVALID, HINTS_CONTRADICT,
   * BUNDLE_LOCKED, TOOLSETS_FULL, KEY_UNUSABLE, or the importer's `findExecuteRefusal`.
   */
  async import(input: BundleInput, importer: Importer): Promise<Result<ImportPlan, Refusal>> {
    const read = readBundle(input.bundle);
    if (!read.ok) return err({ code: 'BUNDLE_INVALID', fieldErrors: read.error });
    const contradiction = findContradiction(read.value.overrides);
    if (contradiction !== undefined) return err(contradiction);
    const secrets = await this.#opened(read.value, input.passphrase);
    if (!secrets.ok) return secrets;
    const { records, registered } = this.#options;
    const current = await records.readAgain();
    if (!current.ok) return current;
    const prepare = (): Promise<Result<Prepared, Refusal>> =>
      this.#prepare({ file: read.value, secrets: secrets.value, input });
    if (!input.apply) {
      const prepared = await prepare();
      return prepared.ok ? ok(this.#planOf(prepared.value, false)) : prepared;
    }
    const done = await records.change<Prepared>(async () => {
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

  async #prepare({ file, secrets, input }: ImportInput): Promise<Result<Prepared, Refusal>> {
    const { readEntry, readCustom, records, seal } = this.#options;
    const state = await readBundleState(records, seal);
    const { storable, refusedSettings } = splitSettings(file.preferences);
    const filled = fillEntries(
      { ...file, preferences: storable },
      { readEntry, readCustom, secrets, there: state.bundle },
    );
    if (!filled.ok) return err({ code: 'BUNDLE_INVALID', fieldErrors: filled.error });
    const planned = planImport(filled.value.bundle, state.bundle, input.onConflict);
    const unreachable = await this.#unreachable(file, filled.value, planned);
    if (unreachable.length > 0) return err({ code: 'BUNDLE_INVALID', fieldErrors: unreachable });
    const added = planned.filter(({ item, action }) => item.kind === 'toolset' && action === 'create').length;
    const limit = TOOLSET_LIMITS.toolsets;
    if (added > 0 && state.bundle.toolsets.length + added > limit)
      return err({ code: 'TOOLSETS_FULL', limit });
    const brought = planned.flatMap(({ item, action }) =>
      item.kind === 'override' && action !== 'kept' ? [item.value] : [],
    );
    const suspended = await findSuspendedHere(brought, this.#options);
    if (!suspended.ok) return suspended;
    return ok({ state, filled: filled.value, planned, refusedSettings, suspended: suspended.value });
  }

  /** Finds changed entries whose destination the operator may not let Assay reach. */
  async #unreachable(
    file: BundleFile,
    { specs }: RefilledBundle,
    planned: readonly Planned[],
  ): Promise<readonly FieldError[]> {
    const fieldErrors: FieldError[] = [];
    for (const { item, former, action } of planned) {
      if ((item.kind !== 'gateway' && item.kind !== 'tool') || action === 'unchanged' || action === 'kept')
        continue;
      const { name, entry } = item.value;
      const before = former?.kind === item.kind ? former.value.entry : {};
      const list = ENTRY_LISTS[item.kind];
      const at = `/${list}/${file[list].findIndex((one) => one.name === name)}/entry`;
      const spec = specs.get(toEntryKey(item.kind, name));
      const faults = spec === undefined ? [] : await this.#options.reachFaults(spec, entry, before);
      for (const { field, reason } of faults)
        fieldErrors.push({
          at: at + formatPointerStep(field),
          kind: 'invalid',
          reason: reason.replace(/\.$/, ''),
        });
    }
    return fieldErrors;
  }

  async #editOf(
    { state, filled, planned }: Prepared,
    { subject, executeRefusal }: Importer,
  ): Promise<Result<ToolsetEdit, Refusal>> {
    const { records, seal, nowMs, registered } = this.#options;
    const changing = planned.filter(({ action }) => action === 'create' || action === 'update');
    if (executeRefusal !== undefined && changing.some(isExecuting)) return err(executeRefusal);
    // Masks their secrets before anything is reported.
    if (changing.length > 0) for (const spec of filled.specs.values()) registered.learn(spec);
    return buildBundleChanges(planned, {
      records,
      state,
      seal,
      author: { by: subject, atMs: nowMs() },
      secretIn: (kind, entry) => this.#secretIn(kind, entry),
    });
  }

  #planOf(prepared: Prepared, applied: boolean): ImportPlan {
    const items = planItems(prepared, this.#options);
    const counts = { create: 0, update: 0, unchanged: 0, kept: 0, omitted: 0 };
    for (const { action } of items) counts[action] += 1;
    return { applied, counts, items };
  }

  #split({ bundle, unread }: BundleState): Split {
    const leftOut = [...unread];
    const secrets: EntrySecrets[] = [];
    const splitAll = (kind: EntryKind): readonly BundledEntry[] =>
      bundle[ENTRY_LISTS[kind]].flatMap((entry) => {
        const { name } = entry;
        if (unread.some((one) => one.kind === kind && one.name === name)) return [];
        if (!readEntrySpec({ kind, name, entry: entry.entry }, this.#options).ok) {
          leftOut.push({ kind, name, reason: 'its entry cannot be used' });
          return [];
        }
        const split = splitEntrySecrets(kind, entry, this.#secretIn(kind, entry));
        if (split.secrets !== undefined) secrets.push(split.secrets);
        return [split.open];
      });
    const [gateways = [], tools = [], functions = []] = ENTRY_KINDS.map(splitAll);
    return { bundle: { ...bundle, gateways, tools, functions }, secrets, leftOut };
  }

  /** All members of an unreadable entry may be secret. */
  #secretIn(kind: EntryKind, { name, entry }: BundledEntry): ReadonlySet<string> {
    const spec = readEntrySpec({ kind, name, entry }, this.#options);
    return new Set(spec.ok ? this.#options.secretMembers(kind, entry, spec.value) : Object.keys(entry));
  }
}

interface ImportInput {
  readonly file: BundleFile;
  readonly secrets: readonly EntrySecrets[];
  readonly input: BundleInput;
}

interface Prepared extends PlannedImport {
  readonly state: BundleState;
}

interface Split {
  readonly bundle: BundleState['bundle'];
  readonly secrets: readonly EntrySecrets[];
  readonly leftOut: readonly LeftOutOfBundle[];
}

function isExecuting({ item, former }: Planned): boolean {
  return [item, former].some(
    (one) => (one?.kind === 'gateway' || one?.kind === 'function') && takesExecute(one.kind, one.value.entry),
  );
}

/** Separates settings that only the environment or the config file may set. */
function splitSettings(preferences: ReadonlyMap<string, SettingValue>): {
  readonly storable: ReadonlyMap<string, SettingValue>;
  readonly refusedSettings: ReadonlyMap<SettingKey, unknown>;
} {
  const storable = new Map<string, SettingValue>();
  const refusedSettings = new Map<SettingKey, unknown>();
  for (const [key, value] of preferences)
    if (isSettingKey(key) && SETTINGS[key].changedBy === 'startup') refusedSettings.set(key, value);
    else storable.set(key, value);
  return { storable, refusedSettings };
}

function passphraseFault(passphrase: string | undefined): Refusal | undefined {
  if (passphrase === undefined || passphrase.length >= MIN_PASSPHRASE_LENGTH) return undefined;
  return {
    code: 'ARGUMENTS_INVALID',
    reason: `a passphrase has at least ${MIN_PASSPHRASE_LENGTH} characters`,
  };
}
