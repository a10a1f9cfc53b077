import * as z from 'zod';
import { PREFERENCE_LIST, type PreferenceList } from '../../api/preference.ts';
import type { SettingValue } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { SettingFacts } from '../../core/setting-kind.ts';
import { SETTINGS, type SettingKey } from '../../core/settings.ts';
import { toPreferenceKind } from '../../gateway/services/preferences/preference-service.ts';
import type { AdminDeps } from './admin-deps.ts';
import type { Failure } from './failure.ts';
import { route, type RestCall, type Reply, type Route } from './route.ts';

const KEYS = Object.keys(SETTINGS) as readonly SettingKey[]; // The keys of the table itself.

const CHANGES = z
  .object(Object.fromEntries(KEYS.map((key) => [key, toPreferenceSchema(SETTINGS[key])])))
  .meta({ id: 'PreferenceChanges' });

/** Null resets it. */
export function toPreferenceSchema({
  kind,
  about,
}: SettingFacts): z.ZodType<SettingValue | null | undefined> {
  return valueSchema(kind).nullable().optional().meta({ description: about });
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

const EXAMPLE: PreferenceList = {
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
      kind: toPreferenceKind(SETTINGS['limits.drainMs'].kind),
    },
  ],
};

const ANSWER = { about: 'All preferences.', schema: PREFERENCE_LIST, example: EXAMPLE };

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
        examples: { drain: { 'limits.drainMs': 5_000, 'notes.review': null } },
      },
      answer: ANSWER,
      refusals: ['SETTING_OVERRIDDEN', 'SETTING_READ_ONLY'],
    },
    async (call) => {
      const changed = await preferences.change(call.body, {
        by: call.identity.subject,
        unmet: (before) => call.unmet(before),
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

function replyOf(view: PreferenceList): Reply {
  return { kind: 'one', body: view };
}
