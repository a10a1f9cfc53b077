import { z } from '@hono/zod-openapi';
import { TOKEN_PREFERENCES } from '../../core/policy/token-preferences.ts';
import { err, ok } from '../../core/result.ts';
import { SETTINGS } from '../../core/settings.ts';
import type { TokenPreferenceView } from '../../gateway/services/token-preferences.ts';
import type { AdminDeps } from './admin-deps.ts';
import { schemaOf } from './preferences.ts';
import { route, type Reply, type Route } from './route.ts';

const PREFERENCES = z
  .object({
    preferences: z.array(
      z.object({
        key: z.enum(TOKEN_PREFERENCES),
        value: z.union([z.string(), z.number(), z.boolean()]),
        origin: z
          .enum(['environment', 'config_file', 'token', 'store', 'default'])
          .openapi({ description: 'token: set for this token.' }),
      }),
    ),
  })
  .openapi('TokenPreferences');

const CHANGES = z
  .object(Object.fromEntries(TOKEN_PREFERENCES.map((key) => [key, schemaOf(SETTINGS[key])])))
  .openapi('TokenPreferenceChanges');

const ANSWER = {
  about: 'What counts for calls with the token.',
  schema: PREFERENCES,
  example: { preferences: [{ key: 'policy.confirm', value: 'never', origin: 'token' }] },
};

/** Routes of one token's preferences, which override those of the instance. */
export function tokenPreferenceRoutes({ tokenPreferences }: AdminDeps): readonly Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/tokens/{id}/preferences',
        id: 'getTokenPreferences',
        summary: 'The preferences that count for calls with a token',
        about: 'The id may also be `local`: stdio, the command line and open access.',
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
        summary: 'Change preferences of a token',
        about:
          'Those that are not named stay as they are; null returns one to the value of the instance. They take effect at once, and end with the token.',
        body: {
          schema: CHANGES,
          wrapper: 'preferences',
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

function replyOf(preferences: readonly TokenPreferenceView[]): Reply {
  return { kind: 'one', body: { preferences } };
}
