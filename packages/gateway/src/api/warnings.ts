import * as z from 'zod';
import type { Data } from './data.ts';

const WARNING = z.object({
  pointer: z.string().meta({ description: 'JSON pointer into the body as sent.' }),
  detail: z.string(),
  code: z.enum(['ignored', 'read_only']),
});

/** A member of a request body that was accepted and had no effect. */
export type FieldWarning = Data<typeof WARNING>;

/** In the reply about a resource that was just created or changed. */
export const WARNINGS = z
  .array(WARNING)
  .exactOptional()
  .meta({ description: 'Fields of the request body that had no effect. Absent: none.' });
