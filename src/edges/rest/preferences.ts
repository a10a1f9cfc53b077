import { z } from '@hono/zod-openapi';
import type { AuditEvent } from '../../core/audit-event.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { fixOf, isStorable, resolveSettings } from '../../core/resolve-settings.ts';
import type { SettingFacts } from '../../core/setting-kind.ts';
import { SETTINGS, type SettingKey } from '../../core/settings.ts';
import type { SettingValue } from '../../core/record.ts';
import type { Edit } from '../../gateway/catalog/record-edit.ts';
import type { AdminDeps } from './admin-deps.ts';
import type { Preference, PreferenceKind } from './contract/preferences.ts';
import { fieldError, type Failure } from './failure.ts';
import { route, type RestCall, type Route } from './route.ts';

const VALUE = z.union([z.string(), z.number(), z.boolean()]);

const PREFERENCE = z
  .object({
    key: z.string(),
    value: VALUE.openapi({ description: 'The value for the next start.' }),
    running: VALUE.openapi({ description: 'The value in effect.' }),
    default: VALUE,
    origin: z.enum(['environment', 'config_file', 'store', 'default']),
    isFixed: z.boolean().openapi({
      description: 'Whether the environment or the config file sets it, so that it cannot be changed here.',
    }),
    fixedBy: z
      .string()
      .optional()
      .openapi({ description: 'The environment variable or the member of the config file that sets it.' }),
    takesEffect: z.enum(['now', 'next start']),
    env: z.string().openapi({ description: 'The environment variable for it.' }),
    changedBy: z.enum(['startup', 'admin']).openapi({
      description:
        '`startup`: set only by the environment or config file. `admin`: can also be changed here.',
    }),
    ignored: z.unknown().optional().openapi({
      description: 'A stored value without effect, because `changedBy` is `startup`; null deletes it.',
    }),
    about: z.string(),
    kind: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('flag') }),
        z.object({ type: z.literal('choice'), of: z.array(z.string()) }),
        z.object({ type: z.literal('whole'), min: z.int(), max: z.int() }),
        z.object({ type: z.literal('text'), range: z.string() }),
      ])
      .openapi({ description: 'The valid values.' }),
  })
  .openapi('Preference');

const PREFERENCES = z.object({ preferences: z.array(PREFERENCE) }).openapi('Preferences');

const KEYS = Object.keys(SETTINGS) as readonly SettingKey[]; // The keys of the table itself.

const CHANGES = z
  .object(Object.fromEntries(KEYS.map((key) => [key, schemaOf(SETTINGS[key])])))
  .openapi('PreferenceChanges');

/** Null resets it. */
export function schemaOf({ kind, about }: SettingFacts): z.ZodType<SettingValue | null | undefined> {
  return valueSchema(kind).nullable().optional().openapi({ description: about });
}

function valueSchema(kind: SettingFacts['kind']): z.ZodType<SettingValue> {
  if (kind.type === 'flag') return z.boolean();
  if (kind.type === 'choice') return z.enum(kind.of);
  if (kind.type === 'whole') return z.int().min(kind.min).max(kind.max);
  const { fault } = kind;
  return z.string().refine((text) => fault(text) === undefined, {
    error: ({ input }) => fault(String(input)) ?? 'it must be a different text',
  });
}

const EXAMPLE = {
  preferences: [
    {
      key: 'limits.drainMs',
      value: 5_000,
      running: 10_000,
      default: 10_000,
      origin: 'store',
      isFixed: false,
      takesEffect: 'next start',
      env: 'ASSAY_LIMITS_DRAIN_MS',
      changedBy: 'admin',
      about: SETTINGS['limits.drainMs'].about,
      kind: shownKind(SETTINGS['limits.drainMs'].kind),
    },
  ],
};

const ANSWER = { about: 'All preferences.', schema: PREFERENCES, example: EXAMPLE };

export function preferenceRoutes(deps: AdminDeps): readonly Route[] {
  return [getRoute(deps), changeRoute(deps, 'put'), changeRoute(deps, 'patch')];
}

function getRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/preferences',
      id: 'getPreferences',
      summary: 'List all preferences and the origin of each value',
      answer: ANSWER,
    },
    async () => {
      const read = await deps.records.readAgain();
      const shown = read.ok ? shownPreferences(deps) : read;
      return shown.ok ? ok({ kind: 'one', body: shown.value }) : shown;
    },
  );
}

type Changes = RestCall<unknown, z.output<typeof CHANGES>>;

function changeRoute(deps: AdminDeps, method: 'put' | 'patch'): Route {
  return route(
    {
      method,
      path: '/preferences',
      id: method === 'put' ? 'changePreferences' : 'patchPreferences',
      summary: 'Change preferences',
      about:
        'Omitted preferences keep their values; null resets one to its default. If one value is invalid, nothing is changed. Changes take effect at the next start, or at once if `takesEffect` is `now`. Preferences whose `changedBy` is `startup` are refused.',
      isConditional: true,
      body: {
        schema: CHANGES,
        wrapper: 'preferences',
        examples: { drain: { 'limits.drainMs': 5_000, 'notes.review': null } },
      },
      answer: ANSWER,
      refusals: ['SETTING_OVERRIDDEN', 'SETTING_READ_ONLY'],
    },
    async (call) => {
      const done = await deps.records.change(() => editOf(deps, call));
      if (!done.ok) return done;
      const shown = shownPreferences(deps);
      return shown.ok ? ok({ kind: 'one', body: shown.value }) : shown;
    },
  );
}

interface ShownPreferences {
  readonly preferences: readonly Preference[];
}

function editOf(deps: AdminDeps, call: Changes): Result<Edit<undefined>, Failure> {
  const before = shownPreferences(deps);
  if (!before.ok) return before;
  const unmet = call.unmet(before.value);
  if (unmet !== undefined) return err(unmet);
  const wanted = changesOf(deps, call, before.value);
  if (!wanted.ok) return wanted;
  const changed = new Set<string>(wanted.value.map(({ key }) => key));
  return ok({
    value: undefined,
    changes: wanted.value.map(({ key, value }) => ({ kind: 'setting', id: key, body: value ?? undefined })),
    // If-Match covers all preferences.
    expected: KEYS.flatMap((id) => (changed.has(id) ? [] : [{ kind: 'setting', id }])),
    audit: wanted.value.map((one) => eventOf(deps, call, one)),
  });
}

interface PreferenceChange {
  readonly key: SettingKey;
  /** Null resets to the default. */
  readonly value: SettingValue | null;
  readonly former: unknown;
}

/** The values that differ from the stored ones. */
function changesOf(
  { preferences }: AdminDeps,
  call: Changes,
  before: ShownPreferences,
): Result<readonly PreferenceChange[], Failure> {
  const changes: PreferenceChange[] = [];
  for (const key of KEYS) {
    const value = call.body[key];
    if (value === undefined) continue;
    const fault = faultOf({ key, value, preferences }, call.pointerTo(key));
    if (fault !== undefined) return err(fault);
    const former = preferenceOf(before, key);
    const isStored = former?.origin === 'store' || former?.ignored !== undefined;
    const isThere = value === null ? !isStored : isStored && former.value === value;
    if (!isThere) changes.push({ key, value, former: former?.ignored ?? former?.value });
  }
  return ok(changes);
}

/** Why a setting cannot get this value here. */
function faultOf(
  { key, value, preferences }: Omit<PreferenceChange, 'former'> & Pick<AdminDeps, 'preferences'>,
  pointer: string,
): Failure | undefined {
  const { changedBy, env } = SETTINGS[key];
  // Deleting a value stored by an earlier version has no effect.
  if (changedBy === 'startup')
    return value === null ? undefined : { refusal: { code: 'SETTING_READ_ONLY', name: key, env }, pointer };
  const fix = fixOf(key, preferences);
  if (fix !== undefined) return { refusal: { code: 'SETTING_OVERRIDDEN', name: key, ...fix }, pointer };
  return value === null || isStorable(key, value) ? undefined : fieldError(pointer, 'it does not fit');
}

function preferenceOf(
  { preferences }: ShownPreferences,
  key: SettingKey,
): ShownPreferences['preferences'][number] | undefined {
  return preferences.find((one) => one.key === key);
}

/** Records the value for the next start, before and after. */
function eventOf(
  { nowMs }: AdminDeps,
  { identity }: Changes,
  { key, value, former }: PreferenceChange,
): AuditEvent {
  return {
    atMs: nowMs(),
    subject: identity.subject,
    action: 'preference.update',
    target: { kind: 'preference', id: key, name: key },
    before: former,
    after: value ?? SETTINGS[key].kind.defaultValue,
  };
}

function shownPreferences({ preferences, records }: AdminDeps): Result<ShownPreferences, Refusal> {
  const { env, file, running } = preferences;
  const stored = records.settings();
  const fitting = new Map([...stored].filter(([key, value]) => isStorable(key, value)));
  const next = resolveSettings({ env, file, stored: fitting });
  if (!next.ok) return next;
  return ok({
    preferences: KEYS.map((key) => {
      const { kind, about, env: variable, changedBy, isLive = false } = SETTINGS[key];
      const ignored = changedBy === 'startup' ? stored.get(key) : undefined;
      const fix = fixOf(key, preferences);
      return {
        key,
        value: next.value.settings[key],
        running: isLive ? next.value.settings[key] : running[key],
        default: kind.defaultValue,
        origin: next.value.origins[key],
        isFixed: fix !== undefined,
        ...(fix !== undefined && { fixedBy: fix.by }),
        takesEffect: isLive ? 'now' : 'next start',
        env: variable,
        changedBy,
        ...(ignored !== undefined && { ignored }),
        about,
        kind: shownKind(kind),
      };
    }),
  });
}

function shownKind(kind: SettingFacts['kind']): PreferenceKind {
  if (kind.type === 'choice') return { type: 'choice', of: kind.of };
  if (kind.type === 'whole') return { type: 'whole', min: kind.min, max: kind.max };
  return kind.type === 'text' ? { type: 'text', range: kind.range } : { type: 'flag' };
}
