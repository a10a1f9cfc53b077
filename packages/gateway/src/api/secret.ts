import * as z from 'zod';
import type { Data } from './data.ts';

const SECRET_USE = z.object({
  server: z.string(),
  what: z.string().meta({ description: 'Its command line or origin when it was allowed, secrets masked.' }),
  isCurrent: z.boolean().meta({
    description: 'False: the server now has another command or origin, or is gone, and may not use it.',
  }),
});

/** A server whose entry refers to a secret that it may not use. */
const SECRET_WANTED = z.object({
  server: z.string(),
  what: z.string().meta({ description: 'Its command line or origin, secrets masked.' }),
  identity: z.string().meta({ description: 'Identifies that command or origin. Send it back to allow it.' }),
});

export type SecretWanted = Data<typeof SECRET_WANTED>;

/** A stored secret. Its value is never shown. */
export const SECRET = z
  .object({
    name: z.string(),
    savedAt: z.string(),
    uses: z.array(SECRET_USE).meta({ description: 'The servers that may use it.' }),
    refused: z
      .array(SECRET_WANTED)
      .meta({ description: 'Servers whose entries refer to it and that may not use it.' }),
  })
  .meta({ id: 'Secret' });

export type Secret = Data<typeof SECRET>;

export const SECRET_LIST = z.object({
  secrets: z.array(SECRET),
  missing: z
    .array(SECRET_WANTED.extend({ name: z.string() }))
    .meta({ description: 'References to secrets that are not stored.' }),
});

export type SecretList = Data<typeof SECRET_LIST>;

export const SECRET_INPUT = z
  .object({
    value: z
      .string()
      .min(1)
      .max(65_536)
      .exactOptional()
      .meta({ description: 'Absent: the stored value stays.' }),
    servers: z
      .array(z.string())
      .max(100)
      .exactOptional()
      .meta({ description: 'Servers that may use it from now on, with their present command or origin.' }),
    identities: z.record(z.string(), z.string().max(64)).exactOptional().meta({
      description:
        'The `identity` that you have seen of each of these servers. If one has another by now, nothing is changed.',
    }),
  })
  .meta({ id: 'SecretInput' });

export type SecretInput = Data<typeof SECRET_INPUT>;
