import * as z from 'zod';
import { type TokenPreference, TOKEN_PREFERENCE_LIST } from '../../api/token.ts';
import { TOKEN_PREFERENCES } from '../../core/policy/token-preferences.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { SETTINGS } from '../../core/settings.ts';
import type { AdminDeps } from './admin-deps.ts';
import { toPreferenceSchema } from './preferences.ts';
import { route, type Reply, type Route } from './route.ts';

const CHANGES = z
  .object(Object.fromEntries(TOKEN_PREFERENCES.map((key) => [key, toPreferenceSchema(SETTINGS[key])])))
  .meta({ id: 'TokenPreferenceChanges' });

const ANSWER = {
  about: 'The preferences that apply to calls with the token.',
  schema: TOKEN_PREFERENCE_LIST,
  example: { preferences: [{ key: 'policy.confirm', value: 'never', origin: 'token' }] },
};

/** Routes of one token's preferences, which override those of the instance. */
export function tokenPreferenceRoutes({
  tokenPreferences,
}: Pick<AdminDeps, 'tokenPreferences'>): readonly Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/tokens/{id}/preferences',
        id: 'getTokenPreferences',
        summary: 'List the preferences that apply to calls with a token',
        about: 'The id may also be `local`, for stdio, the command line and access without a token.',
        answer: ANSWER,
        refusals: ['TOKEN_UNKNOWN'],
      },
      async ({ param }) => {
        const id = param('id');
        const viewed = isTokenId(id) ? await tokenPreferences.view(id) : unknownToken(id);
        return viewed.ok ? ok(replyOf(viewed.value)) : viewed;
      },
    ),
    route(
      {
        method: 'patch',
        path: '/tokens/{id}/preferences',
        id: 'patchTokenPreferences',
        summary: 'Change the preferences of a token',
        about:
          'Omitted preferences keep their values; null resets one to the value for all callers. Changes take effect at once and are deleted with the token.',
        body: {
          schema: CHANGES,
          examples: { preferences: { 'policy.confirm': 'never', 'policy.outbound': null } },
        },
        answer: ANSWER,
        refusals: ['TOKEN_UNKNOWN', 'SETTING_OVERRIDDEN'],
      },
      async ({ param, body, identity }) => {
        const id = param('id');
        const changed = isTokenId(id)
          ? await tokenPreferences.change(id, body, identity.subject)
          : unknownToken(id);
        return changed.ok ? ok(replyOf(changed.value)) : changed;
      },
    ),
  ];
}

/** Only ids are accepted: a name could belong to another token later. */
function isTokenId(id: string): boolean {
  return id === 'local' || /^[0-9a-f]{12}$/.test(id);
}

function unknownToken(name: string): ReturnType<typeof err<{ code: 'TOKEN_UNKNOWN'; name: string }>> {
  return err({ code: 'TOKEN_UNKNOWN', name });
}

function replyOf(preferences: readonly TokenPreference[]): Reply {
  return { kind: 'one', body: { preferences } };
}
