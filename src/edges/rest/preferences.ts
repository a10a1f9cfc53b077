import { z } from '@hono/zod-openapi';
import type { SettingValue } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { SettingFacts } from '../../core/setting-kind.ts';
import { SETTINGS, type SettingKey } from '../../core/settings.ts';
import type { PreferencesView } from '../../gateway/services/preferences/preference-service.ts';
import type { AdminDeps } from './admin-deps.ts';
import type { PreferenceKind, PreferenceList } from '../../api/preference.ts';
import type { Failure } from './failure.ts';
import { route, type RestCall, type Reply, type Route } from './route.ts';

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

type PreferenceDeps = Pick<AdminDeps, 'preferences'>;

export function preferenceRoutes(deps: PreferenceDeps): readonly Route[] {
  return [getRoute(deps), changeRoute(deps, 'put'), changeRoute(deps, 'patch')];
}

function getRoute({ preferences }: PreferenceDeps): Route {
  return route(
    {
      method: 'get',
      path: '/preferences',
      id: 'getPreferences',
      summary: 'List all preferences and the origin of each value',
      answer: ANSWER,
    },
    async () => {
      const viewed = await preferences.view();
      return viewed.ok ? ok(replyOf(viewed.value)) : viewed;
    },
  );
}

function changeRoute({ preferences }: PreferenceDeps, method: 'put' | 'patch'): Route {
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
      const changed = await preferences.change(call.body, {
        by: call.identity.subject,
        unmet: (before) => call.unmet(bodyOf(before)),
      });
      return changed.ok ? ok(replyOf(changed.value)) : atSetting(call, changed.error);
    },
  );
}

/** Reports a refusal of a setting at its field in the body. */
function atSetting({ pointerTo }: RestCall<unknown, unknown>, refusal: Refusal): Result<never, Failure> {
  const isOfSetting = 'name' in refusal && refusal.code.startsWith('SETTING_');
  return err(isOfSetting ? { refusal, pointer: pointerTo(refusal.name) } : refusal);
}

function replyOf(view: PreferencesView): Reply {
  return { kind: 'one', body: bodyOf(view) };
}

function bodyOf({ preferences }: PreferencesView): PreferenceList {
  return { preferences: preferences.map((one) => ({ ...one, kind: shownKind(one.kind) })) };
}

function shownKind(kind: SettingFacts['kind']): PreferenceKind {
  if (kind.type === 'choice') return { type: 'choice', of: kind.of };
  if (kind.type === 'whole') return { type: 'whole', min: kind.min, max: kind.max };
  return kind.type === 'text' ? { type: 'text', range: kind.range } : { type: 'flag' };
}
