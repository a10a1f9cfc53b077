import * as z from 'zod';
import { TOKEN_PREFERENCES } from '../core/policy/token-preferences.ts';
import { SCOPES } from '../core/subject.ts';
import { type Data, type DataInput, NEXT_CURSOR } from './data.ts';
import type { PreferenceValue } from './preference.ts';

/** A token as operators see it: never its secret or the hash of it. */
export const TOKEN = z
  .object({
    id: z.string().meta({ description: 'The public part of the token.' }),
    name: z.string().meta({ description: 'Identifies the holder in /activity and in the log.' }),
    scopes: z.array(z.enum(SCOPES)),
    state: z.enum(['valid', 'expired', 'revoked', 'unreadable']).meta({
      description:
        '`unreadable`: another program changed the token in the store so that it cannot be read. It is not accepted; revoke it.',
    }),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable().meta({ description: 'null: valid until revoked.' }),
    revokedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Token' });

export type Token = Data<typeof TOKEN>;

export type TokenScope = Token['scopes'][number];

export const TOKEN_INPUT = z
  .object({
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)).min(1).default(['mcp']),
    expiresIn: z.string().optional().meta({ description: '`90m`, `12h`, `30d`, `4w`' }),
    expiresAt: z.iso.datetime({ offset: true }).optional(),
  })
  .meta({ id: 'TokenInput' });

/** The body that creates a token. */
export type TokenInput = DataInput<typeof TOKEN_INPUT>;

export const NEW_TOKEN = TOKEN.extend({
  token: z.string().meta({ description: 'The token itself. It is shown only once.' }),
}).meta({ id: 'NewToken' });

export type NewToken = Data<typeof NEW_TOKEN>;

export const TOKEN_PAGE = z.object({ tokens: z.array(TOKEN), nextCursor: NEXT_CURSOR });

export type TokenPage = Data<typeof TOKEN_PAGE>;

const TOKEN_PREFERENCE = z.object({
  key: z.enum(TOKEN_PREFERENCES),
  value: z.union([z.string(), z.number(), z.boolean()]),
  origin: z
    .enum(['environment', 'config_file', 'token', 'store', 'default'])
    .meta({ description: '`token`: set for this token.' }),
});

/** A preference that a single token may override. */
export type TokenPreference = Data<typeof TOKEN_PREFERENCE>;

/** Null resets one to the value of the instance. */
export type TokenPreferenceChanges = Readonly<
  Partial<Record<TokenPreference['key'], PreferenceValue | null>>
>;

export const TOKEN_PREFERENCE_LIST = z
  .object({ preferences: z.array(TOKEN_PREFERENCE) })
  .meta({ id: 'TokenPreferences' });

export type TokenPreferenceList = Data<typeof TOKEN_PREFERENCE_LIST>;
