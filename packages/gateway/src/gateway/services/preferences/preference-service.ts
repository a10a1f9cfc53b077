import type { Preference, PreferenceKind, PreferenceList, Setting } from '../../../api/preference.ts';
import type { AuditEvent } from '../../../core/audit-event.ts';
import type { SettingValue } from '../../../core/record.ts';
import type { Refusal } from '../../../core/refusal.ts';
import {
  findSettingFix,
  isStorable,
  type Resolved,
  resolveSettings,
  findSettingFault,
  type SettingSources,
  parseSettingValue,
} from '../../../core/resolve-settings.ts';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { SettingKind } from '../../../core/setting-kind.ts';
import { toShownSetting, type SettingKey, SETTINGS, type Settings } from '../../../core/settings.ts';
import type { Edit } from '../../catalog/record-edit.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';

/** All settings, by the keys that this version knows. */
interface KnownPreferences {
  readonly preferences: readonly (Preference & { readonly key: SettingKey })[];
}

export interface PreferenceServiceOptions extends Pick<SettingSources, 'env' | 'file'> {
  readonly records: RecordReplica;
  readonly running: Settings;
  readonly nowMs: () => number;
}

/** Null resets one to its default. */
export type PreferenceChanges = Readonly<Partial<Record<SettingKey, SettingValue | null>>>;

interface PreferenceChanger {
  readonly by: string;
  readonly unmet?: (before: PreferenceList) => Refusal | undefined;
}

interface PreferenceChange {
  readonly key: SettingKey;
  readonly value: SettingValue | null;
  readonly former: unknown;
}

const KEYS = Object.keys(SETTINGS) as readonly SettingKey[]; // the keys of the table itself

/** The stored settings of the instance, below environment and config file. */
export class PreferenceService {
  readonly #options: PreferenceServiceOptions;

  constructor(options: PreferenceServiceOptions) {
    this.#options = options;
  }

  /** The values since the start of this process. */
  get running(): Settings {
    return this.#options.running;
  }

  /** All settings in the order of the table. SETTING_INVALID, STORE_UNAVAILABLE */
  async view(): Promise<Result<PreferenceList, Refusal>> {
    const read = await this.#options.records.readAgain();
    return read.ok ? this.#current() : read;
  }

  /** Changes all of them or none. SETTING_READ_ONLY, SETTING_OVERRIDDEN, SETTING_INVALID, or what `unmet` returns */
  async change(
    changes: PreferenceChanges,
    { by, unmet }: PreferenceChanger,
  ): Promise<Result<PreferenceList, Refusal>> {
    const done = await this.#options.records.change((): Result<Edit<undefined>, Refusal> => {
      const before = this.#current();
      if (!before.ok) return before;
      const refusal = unmet?.(before.value);
      if (refusal !== undefined) return err(refusal);
      const wanted = this.#changesIn(changes, before.value);
      if (!wanted.ok) return wanted;
      const changed = new Set<string>(wanted.value.map(({ key }) => key));
      return ok({
        value: undefined,
        changes: wanted.value.map(({ key, value }) => ({
          kind: 'setting',
          id: key,
          body: value ?? undefined,
        })),
        // `unmet` covers all preferences.
        expected:
          unmet === undefined ? [] : KEYS.flatMap((id) => (changed.has(id) ? [] : [{ kind: 'setting', id }])),
        audit: wanted.value.map((change) => this.#eventOf(change, by)),
      });
    });
    return done.ok ? this.#current() : done;
  }

  /** The values that differ from the stored ones. */
  #changesIn(
    changes: PreferenceChanges,
    { preferences }: KnownPreferences,
  ): Result<readonly PreferenceChange[], Refusal> {
    const different: PreferenceChange[] = [];
    for (const former of preferences) {
      const { key, ignored } = former;
      const value = changes[key];
      if (value === undefined) continue;
      const fault = this.#faultOf(key, value);
      if (fault !== undefined) return err(fault);
      const isStored = former.origin === 'store' || ignored !== undefined;
      const isThere = value === null ? !isStored : isStored && former.value === value;
      if (!isThere) different.push({ key, value, former: ignored ?? former.value });
    }
    return ok(different);
  }

  /** Why a setting cannot get this value here. */
  #faultOf(key: SettingKey, value: SettingValue | null): Refusal | undefined {
    const { changedBy, env } = SETTINGS[key];
    // Deleting a value stored by an earlier version has no effect.
    if (changedBy === 'startup')
      return value === null ? undefined : { code: 'SETTING_READ_ONLY', name: key, env };
    const fix = findSettingFix(key, this.#options);
    if (fix !== undefined) return { code: 'SETTING_OVERRIDDEN', name: key, ...fix };
    const reason = value === null ? undefined : findSettingFault(SETTINGS[key], value);
    return reason === undefined ? undefined : { code: 'SETTING_INVALID', name: key, reason };
  }

  /** Records the value for the next start, before and after. */
  #eventOf({ key, value, former }: PreferenceChange, by: string): AuditEvent {
    return {
      atMs: this.#options.nowMs(),
      subject: by,
      action: 'preference.update',
      target: { kind: 'preference', id: key, name: key },
      before: former,
      after: value ?? SETTINGS[key].kind.defaultValue,
    };
  }

  #current(): Result<KnownPreferences, Refusal> {
    const { records, env, file, running } = this.#options;
    const stored = records.settings();
    const fitting = new Map([...stored].filter(([key, value]) => isStorable(key, value)));
    const next = resolveSettings({ env, file, stored: fitting });
    if (!next.ok) return next;
    const preferences = KEYS.map((key): KnownPreferences['preferences'][number] => {
      const { kind, about, env: variable, changedBy, isLive = false } = SETTINGS[key];
      const ignored = changedBy === 'startup' ? stored.get(key) : undefined;
      const fix = findSettingFix(key, this.#options);
      return withoutUndefined({
        key,
        value: toShownSetting(key, next.value.settings[key]),
        running: toShownSetting(key, isLive ? next.value.settings[key] : running[key]),
        default: kind.defaultValue,
        origin: next.value.origins[key],
        isFixed: fix !== undefined,
        fixedBy: fix?.by,
        takesEffect: isLive ? 'now' : 'next start',
        env: variable,
        changedBy,
        ignored,
        about,
        kind: toPreferenceKind(kind),
      });
    });
    return ok({ preferences });
  }
}

/** The valid values, without the default and the functions that check them. */
export function toPreferenceKind(kind: SettingKind): PreferenceKind {
  if (kind.type === 'choice') return { type: 'choice', of: kind.of };
  if (kind.type === 'whole') return { type: 'whole', min: kind.min, max: kind.max };
  return kind.type === 'text' ? { type: 'text', range: kind.range } : { type: 'flag' };
}

/** Parses a value that an operator typed, like one of an environment variable. SETTING_INVALID */
export function parsePreference(key: SettingKey, text: string): Result<SettingValue, Refusal> {
  const value = parseSettingValue(text, SETTINGS[key].kind);
  const reason = findSettingFault(SETTINGS[key], value);
  return reason === undefined ? ok(value) : err({ code: 'SETTING_INVALID', name: key, reason });
}

/** `ignored`: settings with a stored value that has no effect. */
export function toSettings(
  { settings, origins }: Resolved,
  ignored: readonly SettingKey[],
): readonly Setting[] {
  return KEYS.map((key) => {
    const { env, kind, about, changedBy } = SETTINGS[key];
    return withoutUndefined({
      key,
      value: toShownSetting(key, settings[key]),
      origin: origins[key],
      default: kind.defaultValue,
      env,
      changedBy,
      isStoredIgnored: ignored.includes(key) ? (true as const) : undefined,
      about,
    });
  });
}
