import * as z from 'zod';
import type { Data } from './data.ts';

const VALUE = z.union([z.string(), z.number(), z.boolean()]);

export type PreferenceValue = Data<typeof VALUE>;

const KIND = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('flag') }),
    z.object({ type: z.literal('choice'), of: z.array(z.string()) }),
    z.object({ type: z.literal('whole'), min: z.int(), max: z.int() }),
    z.object({ type: z.literal('text'), range: z.string() }),
  ])
  .meta({ description: 'The valid values.' });

export type PreferenceKind = Data<typeof KIND>;

/** A setting of the instance. */
const PREFERENCE = z
  .object({
    key: z.string(),
    value: VALUE.meta({ description: 'The value for the next start.' }),
    running: VALUE.meta({ description: 'The value in effect.' }),
    default: VALUE,
    origin: z.enum(['environment', 'config_file', 'store', 'default']),
    isFixed: z.boolean().meta({
      description: 'Whether the environment or the config file sets it, so that it cannot be changed here.',
    }),
    fixedBy: z
      .string()
      .exactOptional()
      .meta({ description: 'The environment variable or the member of the config file that sets it.' }),
    takesEffect: z.enum(['now', 'next start']),
    env: z.string().meta({ description: 'The environment variable for it.' }),
    changedBy: z.enum(['startup', 'admin']).meta({
      description:
        '`startup`: set only by the environment or config file. `admin`: can also be changed here.',
    }),
    ignored: z.unknown().optional().meta({
      description: 'A stored value without effect, because `changedBy` is `startup`; null deletes it.',
    }),
    about: z.string(),
    kind: KIND,
  })
  .meta({ id: 'Preference' });

export type Preference = Data<typeof PREFERENCE>;

/** A setting as it is at a start, as `assay settings` prints it. */
export interface Setting extends Pick<
  Preference,
  'key' | 'value' | 'origin' | 'default' | 'env' | 'changedBy' | 'about'
> {
  /** A stored value has no effect, because `changedBy` is `startup`. */
  readonly isStoredIgnored?: true;
}

export const PREFERENCE_LIST = z.object({ preferences: z.array(PREFERENCE) }).meta({ id: 'Preferences' });

export type PreferenceList = Data<typeof PREFERENCE_LIST>;
